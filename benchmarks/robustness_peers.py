"""Weak spots beside deepchecks' weak segments, drift beside Evidently's preset; each in an environment of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference
from benchmarks.peer import PeerError, ask
from benchmarks.robustness import ADULT, drifts, scored

#: Rows of the search for weak segments; deepchecks did not end within ten minutes on 48,842.
ROWS = 5_000
#: Rows that neither has seen, on which both worst segments are measured.
FRESH = 200_000
#: Two segments are the same when this share of the rows in either is in both.
SAME = 0.9
SEGMENTS_FASTER, DRIFT_FASTER = 20.0, 50.0


@benchmark("weak_segments")
def weak_segments(scale: Scale) -> Iterator[Row]:
    """The worst segment of 13 features and 78 pairs, beside deepchecks; measured on rows that neither has seen."""
    import isonomia as iso

    frame, case = scored(ROWS), "13 features, 78 pairs, adaptive"
    data = iso.Dataset(frame, target="y", score="p")
    seconds, result = best_of(
        lambda: iso.robustness.weak_spots(data, pairs=True, slicing="adaptive", metric="error_rate"), scale.repeats(5)
    )
    categories = [name for name in frame if name.startswith("c")]
    try:
        peer = ask("deepchecks_segments", frame, repeats=1, environment="deepchecks", categories=categories)
    except PeerError as error:
        yield _unanswered(case, ROWS, seconds, "deepchecks", SEGMENTS_FASTER, error)
        return
    fresh = scored(FRESH, seed=1)
    wrong = (fresh["p"] > 0.5) != (fresh["y"] == 1)
    first = next(result.tables["weak_spots"].rows())["slice"]
    ours, theirs = _inside_slice(first, fresh), _inside_segment(peer.values, fresh)
    errors = [float(wrong[inside].mean()) for inside in (ours, theirs)]
    overlap = float((ours & theirs).sum() / (ours | theirs).sum())
    note = (
        f"on fresh rows: ours ({first}) errs in {errors[0]:.1%}, theirs in {errors[1]:.1%}; {overlap:.0%} the same rows"
    )
    right = overlap >= SAME or errors[0] >= errors[1]
    yield faster(
        case,
        ROWS,
        seconds,
        f"deepchecks {peer.version}",
        peer.seconds,
        target=SEGMENTS_FASTER,
        difference=0.0 if right else float("inf"),
        compared=1,
        note=note,
    )


@benchmark("drift_preset")
def drift_preset(scale: Scale) -> Iterator[Row]:
    """Every test and distance of 13 columns, beside Evidently's preset; one column is shifted by half its spread."""
    import pandas as pd

    for rows, one, two, seconds, result in drifts(scale):
        case = "6 columns of numbers, 7 of categories; one shifted"
        both = pd.concat([one.assign(current=False), two.assign(current=True)], ignore_index=True)
        try:
            peer = ask(
                "evidently_drift", both, repeats=scale.repeats(3 if rows == ADULT else 1), environment="evidently"
            )
        except PeerError as error:
            yield _unanswered(case, rows, seconds, "evidently", DRIFT_FASTER, error)
            continue
        table = list(result.tables["variables"].rows())
        verdicts = {row["variable"]: float(row["drifted"]) for row in table}
        difference, compared = largest_difference(verdicts, peer.values)
        moved = ", ".join(name for name, drifted in verdicts.items() if drifted)
        note = f"verdicts compared: {moved} has drifted, nothing else; {_distances(table, peer.values)}"
        yield faster(
            case,
            rows,
            seconds,
            f"evidently {peer.version}",
            peer.seconds,
            target=DRIFT_FASTER,
            difference=difference,
            compared=compared,
            note=note,
        )


def _unanswered(case: str, rows: int, seconds: float, name: str, target: float, error: PeerError) -> Row:
    return Row(case, rows, seconds, name, target=Target("at least", target), note=str(error))


def _distances(table: list[Mapping[str, Any]], theirs: Mapping[str, float | None]) -> str:
    """How far the two Wasserstein distances, in standard deviations, lie apart."""
    gaps = [
        abs(row["wasserstein_sd"] - value)
        for row in table
        if (value := theirs.get(f"{row['variable']}: Wasserstein distance (normed)")) is not None
    ]
    return f"{len(gaps)} Wasserstein distances agree to {max(gaps):.0e}" if gaps else "no distance in common"


def _inside_slice(text: str, frame: Any) -> Any:
    """The rows of a slice as it is written: ``x2 in [0.5, 1)``, ``x2 < 1``, ``x2 >= 1``, ``c1 = a``, joined by and."""
    inside = np.ones(len(frame), dtype=bool)
    for part in text.split(" and "):
        if told := re.fullmatch(r"(\w+) in \[(.+), (.+)\)", part):
            column = frame[told[1]]
            inside &= (column >= float(told[2])) & (column < float(told[3]))
        elif told := re.fullmatch(r"(\w+) (<|>=) (\S+)", part):
            column, edge = frame[told[1]], float(told[3])
            inside &= column < edge if told[2] == "<" else column >= edge
        elif told := re.fullmatch(r"(\w+) = (\S+)", part):
            inside &= frame[told[1]].astype(str) == told[2]
        else:
            raise ValueError(f"a slice that is written in an unknown way: {part!r}")
    return inside


def _inside_segment(values: Mapping[str, float | None], frame: Any) -> Any:
    """The rows of deepchecks' segment: (from, to] of numbers, a list of categories."""
    inside = np.ones(len(frame), dtype=bool)
    listed: dict[str, list[str]] = {}
    for key, value in values.items():
        name, _, what = key.partition(" ")
        if what == "from":
            inside &= frame[name] > value
        elif what == "to":
            inside &= frame[name] <= value
        elif what.startswith("= "):
            listed.setdefault(name, []).append(what.removeprefix("= "))
    for name, categories in listed.items():
        inside &= frame[name].astype(str).isin(categories)
    return inside
