"""Fairlearn's exponentiated gradient: demographic parity of a logistic regression, its coin tosses expected."""

import numpy as np
from driver import answer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.linear_model import LogisticRegression


def prepare(frame, options):
    X = frame.drop(columns=["label", "who"]).to_numpy(dtype=float)
    return X, frame["label"].to_numpy(), frame["who"].to_numpy(), options


def work(prepared):
    X, y, who, options = prepared
    # each group within half the gap of everyone
    parity = DemographicParity(difference_bound=options["gap"] / 2)
    model = ExponentiatedGradient(LogisticRegression(max_iter=1000), parity)
    model.fit(X, y, sensitive_features=who)
    shares = model._pmf_predict(X)[:, 1]
    rates = [shares[who == group].mean() for group in np.unique(who)]
    return {"gap": max(rates) - min(rates), "accuracy": 1 - np.abs(shares - y).mean()}


def values(result):
    return result


answer("fairlearn", prepare=prepare, work=work, values=values)
