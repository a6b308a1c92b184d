"""OxonFair's thresholds by group for parity; building its predictor (the groups one-hot encoded) is not timed."""

import resource

import numpy as np
from driver import answer
from oxonfair import FairPredictor
from oxonfair.utils import group_metrics


def prepare(frame, options):
    limit = options["gigabytes"] * 10**9
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    score, truth = frame["score"].to_numpy(), frame["label"].to_numpy()
    given = {"data": np.column_stack([1 - score, score]), "target": truth, "groups": frame["group"].to_numpy()}
    return given, FairPredictor(None, given), options["limit"]


def work(prepared):
    given, predictor, limit = prepared
    predictor.fit(group_metrics.accuracy, group_metrics.demographic_parity, limit)
    return given, predictor


def values(result):
    given, predictor = result
    decided = np.asarray(predictor.predict(given)) == 1
    rates = [decided[given["groups"] == group].mean() for group in np.unique(given["groups"])]
    return {"accuracy": (decided == given["target"]).mean(), "gap": max(rates) - min(rates)}


answer("oxonfair", prepare=prepare, work=work, values=values)
