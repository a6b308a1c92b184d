"""AIF360's RejectOptionClassification of two groups; building its datasets is not timed."""

import logging

logging.disable(logging.WARNING)

from aif360.algorithms.postprocessing import RejectOptionClassification  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from driver import answer  # noqa: E402


def prepare(frame, options):
    truth = BinaryLabelDataset(
        df=frame[["sex", "label"]].astype(float), label_names=["label"], protected_attribute_names=["sex"]
    )
    scored = truth.copy(deepcopy=True)
    scored.scores = frame[["score"]].to_numpy()
    scored.labels = (scored.scores > 0.5).astype(float)
    return truth, scored, options["limit"]


def work(prepared):
    truth, scored, limit = prepared
    fix = RejectOptionClassification(
        unprivileged_groups=[{"sex": 0.0}],
        privileged_groups=[{"sex": 1.0}],
        metric_name="Statistical parity difference",
        metric_ub=limit,
        metric_lb=-limit,
    )
    return fix.fit(truth, scored)


def values(fix):
    return {"threshold": fix.classification_threshold, "margin": fix.ROC_margin}


answer("aif360", prepare=prepare, work=work, values=values)
