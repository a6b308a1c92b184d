"""The quantities of a fairness suite through Fairlearn (rates, gaps, ratios, intervals) and AIF360 (contrasts).

AIF360 wants numbers; encoding the columns as numbers is not timed, building its datasets is.
"""

import logging

logging.disable(logging.WARNING)

from itertools import product  # noqa: E402

from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.metrics import ClassificationMetric  # noqa: E402
from driver import answer  # noqa: E402
from fairlearn.metrics import (  # noqa: E402
    MetricFrame,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.metrics import accuracy_score, precision_score  # noqa: E402


def npv(y_true, y_pred):
    return precision_score(y_true, y_pred, pos_label=0, zero_division=0)


METRICS = {
    "selection_rate": selection_rate,
    "tpr": true_positive_rate,
    "fpr": false_positive_rate,
    "ppv": precision_score,
    "npv": npv,
    "accuracy": accuracy_score,
}


def prepare(frame, options):
    table = frame[["label"]].astype(float)
    codes = {}
    for name in options["attributes"]:
        column = frame[name].astype("category")
        table[name] = column.cat.codes.astype(float)
        codes[name] = {str(label): float(code) for code, label in enumerate(column.cat.categories)}
    return frame, table, frame["prediction"].to_numpy(dtype=float).reshape(-1, 1), codes, options


def work(prepared):
    frame, table, prediction, codes, options = prepared
    y, p = frame["label"], frame["prediction"]
    by_way = []
    for by in options["by"]:
        measured = MetricFrame(
            metrics=METRICS,
            y_true=y,
            y_pred=p,
            sensitive_features=frame[by],
            n_boot=options["n_boot"],
            ci_quantiles=[0.025, 0.975],
            random_state=0,
        )
        odds = [
            equalized_odds_difference(y, p, sensitive_features=frame[by], agg=how) for how in ("worst_case", "mean")
        ]
        parts = (measured.by_group, measured.difference(), measured.ratio(), odds)
        by_way.append((by, *parts, measured.by_group_ci, measured.difference_ci(), measured.ratio_ci()))
    truth = BinaryLabelDataset(df=table, label_names=["label"], protected_attribute_names=list(codes))
    said = truth.copy(deepcopy=False)
    said.labels = prediction
    contrasts = []
    for by in options["by"]:
        reference = {name: options["reference"][name] for name in by}
        for values in product(*(codes[name] for name in by)):
            group = dict(zip(by, values, strict=True))
            if group != reference:
                contrasts.append((group, _contrast(truth, said, codes, group, reference)))
    return by_way, contrasts


def _contrast(truth, said, codes, group, reference):
    metric = ClassificationMetric(
        truth,
        said,
        unprivileged_groups=[{name: codes[name][value] for name, value in group.items()}],
        privileged_groups=[{name: codes[name][value] for name, value in reference.items()}],
    )
    return {
        "selection_rate:difference": metric.statistical_parity_difference(),
        "selection_rate:ratio": metric.disparate_impact(),
        "tpr:difference": metric.equal_opportunity_difference(),
        "fpr:difference": metric.false_positive_rate_difference(),
    }


def values(results):
    by_way, contrasts = results
    named = {}
    for by, by_group, difference, ratio, odds, *_ in by_way:
        way = " x ".join(by)
        for metric in METRICS:
            for group, value in by_group[metric].items():
                key = group if isinstance(group, tuple) else (group,)
                named[f"{'|'.join(map(str, key))}:{metric}"] = value
            named[f"{way}:{metric}:difference"] = difference[metric]
            named[f"{way}:{metric}:ratio"] = ratio[metric]
        named[f"{way}:equalized_odds"], named[f"{way}:average_odds"] = odds
    for group, rates in contrasts:
        who = "|".join(group.values())
        named |= {f"{who}:{name} to reference": value for name, value in rates.items()}
    return named


answer("fairlearn", prepare=prepare, work=work, values=values)
