"""AIF360's Reweighing of two groups; building its dataset is not timed."""

import logging

logging.disable(logging.WARNING)

from aif360.algorithms.preprocessing import Reweighing  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from driver import answer  # noqa: E402


def prepare(frame, options):
    return BinaryLabelDataset(df=frame, label_names=["label"], protected_attribute_names=["sex"])


def work(dataset):
    groups = {"unprivileged_groups": [{"sex": 0.0}], "privileged_groups": [{"sex": 1.0}]}
    return Reweighing(**groups).fit_transform(dataset)


def values(dataset):
    sex, label = dataset.protected_attributes[:, 0], dataset.labels[:, 0]
    weights = dataset.instance_weights
    cells = sorted({(s, y) for s, y in zip(sex, label, strict=True)})
    return {f"{s:g}:{y:g}": weights[(sex == s) & (label == y)][0] for s, y in cells}


answer("aif360", prepare=prepare, work=work, values=values)
