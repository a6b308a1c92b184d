"""AIF360's bias_scan: the highest scoring subset in one direction, by the Bernoulli score."""

import logging

logging.disable(logging.WARNING)

from aif360.detectors.mdss_detector import bias_scan  # noqa: E402
from driver import answer  # noqa: E402


def prepare(frame, options):
    features = frame.drop(columns=["label", "prediction", "error", "expected"])
    return features, frame["label"].astype(float), frame["expected"], options


def work(prepared):
    features, label, expected, options = prepared
    return bias_scan(
        data=features,
        observations=label,
        expectations=expected,
        favorable_value=1.0,
        overpredicted=options["over"],
        scoring="Bernoulli",
        num_iters=options["starts"],
        penalty=options["penalty"],
        mode="binary",
    )


def values(found):
    return {"score": found[1]}


answer("aif360", prepare=prepare, work=work, values=values)
