"""AIF360's consistency and generalized entropy; building its datasets is not timed."""

import logging

logging.disable(logging.WARNING)

from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.metrics import BinaryLabelDatasetMetric, ClassificationMetric  # noqa: E402
from driver import answer  # noqa: E402


def prepare(frame, options):
    if options["what"] == "consistency":
        dataset = BinaryLabelDataset(df=frame, label_names=["label"], protected_attribute_names=["noise"])
        return dataset, None, options
    table = frame[["label"]].astype(float)
    table["sex"] = frame["sex"].astype("category").cat.codes.astype(float)
    truth = BinaryLabelDataset(df=table, label_names=["label"], protected_attribute_names=["sex"])
    said = truth.copy(deepcopy=False)
    said.labels = frame["prediction"].to_numpy(dtype=float).reshape(-1, 1)
    return truth, said, options


def work(prepared):
    truth, said, options = prepared
    if said is None:
        return {"consistency": BinaryLabelDatasetMetric(truth).consistency(n_neighbors=options["k"])}
    groups = [{"sex": 0.0}], [{"sex": 1.0}]
    metric = ClassificationMetric(truth, said, unprivileged_groups=groups[0], privileged_groups=groups[1])
    named = {}
    for alpha in options["alphas"]:
        named[f"total:{alpha}"] = metric.generalized_entropy_index(alpha=alpha)
        named[f"between:{alpha}"] = metric.between_group_generalized_entropy_index(alpha=alpha)
    return named


def values(results):
    return {name: float(value[0]) if hasattr(value, "__len__") else value for name, value in results.items()}


answer("aif360", prepare=prepare, work=work, values=values)
