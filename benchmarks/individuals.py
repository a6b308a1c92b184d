"""Individual fairness against AIF360: consistency of Adult's people, and the inequality of benefits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, benchmark, best_of, faster, largest_difference
from benchmarks.peer import PeerError, ask
from benchmarks.people import people

K = 5
ALPHAS = [1, 2, 3]
CONSISTENCY_TARGET = 5.0
MIXED_TARGET = 3.0


def adult(rows: int, seed: int = 0) -> Any:
    """Adult one-hot as pandas makes it, without protected columns, and a decision by years of education.

    A column of noise sets equal and equally distant people apart: of tied neighbours AIF360 takes those that its tree
    happens to meet first, and only without ties is there one right answer to compare with.
    """
    import pandas as pd

    from isonomia.data import catalog

    frame = pd.DataFrame(catalog.load("adult").frame).head(rows)
    label = (frame["education-num"] >= 13).astype(float)
    frame = frame.drop(columns=["income", "sex", "race", "fnlwgt"], errors="ignore")
    table = pd.get_dummies(frame).astype(float)
    table["noise"] = np.random.default_rng(seed).uniform(0, 0.5, len(table))
    table["label"] = label.to_numpy()
    return table


@benchmark("consistency")
def consistency(scale: Scale) -> Iterator[Row]:
    """Consistency of 48,842 people with 5 neighbours, on the same one-hot encoding."""
    from isonomia import fairness

    frame = adult(scale.rows(48_842))
    X, label = frame.drop(columns="label"), frame["label"].astype(int)

    def work() -> float | None:
        return fairness.consistency(X, label, k=K, standardise="none").value.value

    seconds, value = best_of(work, scale.repeats(3))
    case = "consistency, 5 neighbours"
    try:
        answer = ask("aif360_individuals", frame, repeats=1, timeout=3600, what="consistency", k=K)
    except PeerError as error:
        yield Row(case, len(frame), seconds, "aif360", note=str(error))
        return
    difference, compared = largest_difference({"consistency": value}, answer.values)
    yield faster(
        case,
        len(frame),
        seconds,
        f"aif360 {answer.version}",
        answer.seconds,
        target=CONSISTENCY_TARGET,
        difference=difference,
        compared=compared,
        note="Adult, one-hot, one column of noise so that there are no ties",
    )


@benchmark("mixed_neighbours")
def mixed_neighbours(scale: Scale) -> Iterator[Row]:
    """Consistency of Adult's people by Gower's distance over mixed columns, against scikit-learn's search of all."""
    import pandas as pd
    from sklearn.neighbors import NearestNeighbors

    from isonomia import fairness
    from isonomia.data import catalog

    frame = pd.DataFrame(catalog.load("adult").frame).head(scale.rows(16_000))
    said = (frame["education-num"] >= 13).to_numpy().astype(int)
    X = frame.drop(columns=["income", "sex", "race"])
    X["noise"] = np.random.default_rng(0).uniform(0, 1, len(X))  # without ties there is one right answer

    def work() -> float | None:
        return fairness.consistency(X, said, k=K, metric="gower").value.value

    seconds, value = best_of(work, scale.repeats(3))
    # as people do it by hand: numbers by their range, categories as half a one-hot each
    numbers = X.select_dtypes("number")
    one_hot = pd.get_dummies(X.select_dtypes(exclude="number"), dummy_na=True)
    columns = np.hstack([numbers / (numbers.max() - numbers.min()), one_hot / 2])

    def brute() -> float:
        found = NearestNeighbors(n_neighbors=K, metric="manhattan", algorithm="brute").fit(columns)
        near = found.kneighbors(columns, return_distance=False)
        return float(1 - np.abs(said - said[near].mean(axis=1)).mean())

    peer_seconds, expected = best_of(brute, 1)
    difference, compared = largest_difference({"consistency": value}, {"consistency": expected})
    yield faster(
        "consistency, Gower's distance",
        len(X),
        seconds,
        "scikit-learn, everyone with everyone",
        peer_seconds,
        target=MIXED_TARGET,
        difference=difference,
        compared=compared,
        note="Adult, numbers and categories mixed",
    )


@benchmark("generalized_entropy")
def generalized_entropy(scale: Scale) -> Iterator[Row]:
    """The generalized entropy index and its part between groups, three alphas; ours with the decomposition."""
    from isonomia import fairness

    rows = scale.rows(1_000_000)
    frame = people(rows, columns="category")

    def work() -> dict[str, float | None]:
        values: dict[str, float | None] = {}
        for alpha in ALPHAS:
            found = fairness.generalized_entropy(
                frame["label"], frame["prediction"], sensitive_features=frame[["sex"]], alpha=alpha, n_boot=0
            )
            values |= {f"total:{alpha}": found.total, f"between:{alpha}": found.between}
        return values

    seconds, values = best_of(work, scale.repeats(3))
    case = "generalized entropy, three alphas"
    try:
        answer = ask("aif360_individuals", frame, repeats=scale.repeats(3), what="entropy", alphas=ALPHAS)
    except PeerError as error:
        yield Row(case, rows, seconds, "aif360", note=str(error))
        return
    difference, compared = largest_difference(values, answer.values)
    yield faster(
        case,
        rows,
        seconds,
        f"aif360 {answer.version}",
        answer.seconds,
        target=None,
        difference=difference,
        compared=compared,
        note="between the groups of sex; ours gives the part within as well",
    )
