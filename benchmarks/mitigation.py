"""Mitigation before and in training: reweighing against AIF360, parity of a linear model against Fairlearn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, benchmark, best_of, faster, largest_difference
from benchmarks.binned import people_in_bins
from benchmarks.peer import PeerError, ask

ROWS = 48_842
#: The gap between groups that the reduction must keep to, and how much accuracy it may lose against the peer.
GAP, ACCURACY = 0.01, 0.001


@benchmark("mitigation")
def mitigation(scale: Scale) -> Iterator[Row]:
    """Weights of 48,842 rows, and a logistic regression under demographic parity."""
    frame = people_in_bins(scale.rows(ROWS))
    yield _reweighing(frame, scale)
    yield _reduction(frame, scale)


def _reweighing(frame: Any, scale: Scale) -> Row:
    import isonomia as iso

    table = frame[["sex", "label"]]
    seconds, found = best_of(lambda: iso.mitigation.weights(table["label"], table["sex"]), scale.repeats(7))
    case = "reweighing"
    try:
        answer = ask("aif360_reweighing", table.astype(float), repeats=scale.repeats(5))
    except PeerError as error:
        return Row(case, len(frame), seconds, "aif360", note=str(error))
    cells = {
        f"{sex:g}:{label:g}": float(found[((table["sex"] == sex) & (table["label"] == label)).to_numpy()][0])
        for sex, label in table.drop_duplicates().itertuples(index=False)
    }
    difference, compared = largest_difference(cells, answer.values)
    return faster(
        case,
        len(frame),
        seconds,
        f"aif360 {answer.version}",
        answer.seconds,
        target=20,
        difference=difference,
        compared=compared,
        note="building AIF360's dataset is not timed",
    )


def _reduction(frame: Any, scale: Scale) -> Row:
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    import isonomia as iso

    features = pd.get_dummies(frame.drop(columns=["label", "prediction", "error"]).astype("category"), dtype=float)
    X, y, sex = features.to_numpy(), frame["label"].to_numpy(), frame["sex"].to_numpy()

    def fit() -> Any:
        return iso.mitigation.Reduce(LogisticRegression(max_iter=1000), eps=GAP).fit(X, y, sensitive_features=sex)

    seconds, fair = best_of(fit, scale.repeats(3))
    case = "demographic parity of a logistic regression"
    handed = features.assign(label=y, who=sex)
    try:
        answer = ask("fairlearn_reduction", handed, repeats=1, gap=GAP)
    except PeerError as error:
        return Row(case, len(frame), seconds, "fairlearn", note=str(error))
    accuracy = float((fair.predict(X) == y).mean())
    theirs = answer.values["accuracy"] or np.nan
    short = max(0.0, fair.gap_ - GAP, theirs - accuracy - ACCURACY)
    return faster(
        case,
        len(frame),
        seconds,
        f"fairlearn {answer.version}",
        answer.seconds,
        target=10,
        difference=short,
        compared=2,
        note=f"gap {fair.gap_:.4f} (fairlearn {answer.values['gap']:.4f}), accuracy {accuracy:.4f} ({theirs:.4f})",
    )
