"""AIF360's ClassificationMetric: two groups at a time, so one contrast by sex and one by sex and race.

It wants numbers; encoding the columns as numbers is not timed, building its datasets is.
"""

import logging

logging.disable(logging.WARNING)

from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.metrics import ClassificationMetric  # noqa: E402
from driver import answer  # noqa: E402


def prepare(frame, options):
    table = frame[["label"]].astype(float)
    codes = {}
    for name in options["reference"]:
        column = frame[name].astype("category")
        table[name] = column.cat.codes.astype(float)
        codes[name] = {str(label): float(code) for code, label in enumerate(column.cat.categories)}
    return table, frame["prediction"].to_numpy(dtype=float).reshape(-1, 1), codes, options


def work(prepared):
    table, prediction, codes, options = prepared
    truth = BinaryLabelDataset(df=table, label_names=["label"], protected_attribute_names=list(codes))
    said = truth.copy(deepcopy=False)
    said.labels = prediction
    results = []
    for by, group in zip(options["by"], options["contrasts"], strict=True):
        metric = ClassificationMetric(
            truth,
            said,
            unprivileged_groups=[{name: codes[name][value] for name, value in zip(by, group, strict=True)}],
            privileged_groups=[{name: codes[name][options["reference"][name]] for name in by}],
        )
        results.append((group, _rates(metric)))
    return results


def _rates(metric):
    named = {}
    for privileged, who in ((True, "reference"), (False, "group")):
        named[f"{who}:selection_rate"] = metric.selection_rate(privileged=privileged)
        named[f"{who}:tpr"] = metric.true_positive_rate(privileged=privileged)
        named[f"{who}:fpr"] = metric.false_positive_rate(privileged=privileged)
        named[f"{who}:precision"] = metric.precision(privileged=privileged)
        named[f"{who}:accuracy"] = metric.accuracy(privileged=privileged)
    named["selection_rate:difference"] = metric.statistical_parity_difference()
    named["selection_rate:ratio"] = metric.disparate_impact()
    named["tpr:difference"] = metric.true_positive_rate_difference()
    named["fpr:difference"] = metric.false_positive_rate_difference()
    named["fpr:ratio"] = metric.false_positive_rate_ratio()
    return named


def values(results):
    named = {}
    for group, rates in results:
        who = "|".join(group)
        for name, value in rates.items():
            side, _, metric = name.partition(":")
            if side == "group":
                named[f"{who}:{metric}"] = value
            elif side != "reference":
                named[f"{who}:{side}:{metric} to reference"] = value
    return named


answer("aif360", prepare=prepare, work=work, values=values)
