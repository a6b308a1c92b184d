"""What FlipTest reports: pairs, counts by protected attribute, and what differs between those who flip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.result import Pairs
from isonomia.discovery.pairs.searches.matched_groups import MatchedGroups
from isonomia.discovery.pairs.space import Space
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.typing import Floats

_ATTRIBUTE = Column("attribute", title=msg("Protected attribute"))
_COLUMNS = (
    _ATTRIBUTE,
    Column("group", title=msg("Group")),
    Column("counterpart", title=msg("Matched with")),
    Column("flips", title=msg("Flips")),
    Column("feature", title=msg("Feature")),
    Column("difference", format="num", title=msg("Mean difference (standard deviations)")),
    Column("sign", format="num", title=msg("Mean sign")),
    Column("n", format="int", title=msg("People")),
)
_GROUP_COLUMNS = (
    _ATTRIBUTE,
    Column("group", title=msg("Group")),
    Column("counterpart", title=msg("Matched with")),
    Column("matched", format="int", title=msg("People matched")),
    Column("flips", format="int", title=msg("Flips")),
    Column("share", format="pct", title=msg("Share")),
    Column("better", format="int", title=msg("Treated better")),
    Column("worse", format="int", title=msg("Treated worse")),
    Column("distance", format="num", title=msg("Mean distance")),
)


def report(space: Space, groups: Sequence[MatchedGroups], tried: int, outcome: Floats, score: Floats) -> None:
    """Pairs, counts and the transparency report of everyone who was matched; `tried` attributes were to be."""
    space.facts["pairs"] = _pairs(space, groups, outcome, score)
    columns = list(dict.fromkeys(one.column for one in groups))
    metrics = {}
    for column in columns:
        name = space.domain.names[column]
        metrics[name] = _of_attribute(space, name, [one for one in groups if one.column == column])
    total = space.loop.ledger.elapsed
    overall = _counts(groups, total)
    space.facts.update(
        {name: overall[name] for name in ("TSN", "DSN", "SUR", "DSS", "positive_flips", "negative_flips")},
        mean_distance=overall["mean_distance"],
        attribute_metrics=metrics,
        solver=groups[0].how,
        total_runs=tried,
        successful_runs=len(columns),
    )
    backend = space.domain.backend
    space.tables["groups"] = Table.from_rows(
        [_as_row(name, pair) for name, entry in metrics.items() for pair in entry["value_pairs"]],
        _GROUP_COLUMNS,
        title=msg("Groups that were matched"),
        backend=backend,
    )
    sides = [(one, name, side) for one in groups for name, side in zip(("F+", "F-"), one.flips, strict=True)]
    rows = [row for one, name, side in sides for row in _transparency(one, name, side)]
    title = msg("What differs between those who flip and their counterparts")
    space.tables["transparency"] = Table.from_rows(rows, _COLUMNS, title=title, backend=backend)


def _pairs(space: Space, groups: Sequence[MatchedGroups], outcome: Floats, score: Floats) -> Pairs:
    """Everyone who flips beside the counterpart: of each two groups first F+, then F-."""
    parts = [(one, side) for one in groups for side in one.flips]
    a = np.concatenate([one.first[side] for one, side in parts])
    b = np.concatenate([one.partner[side] for one, side in parts])
    kind = float if space.loop.probe.oracle.task == "regression" else np.int64
    return Pairs(
        first=space.people[a],
        columns=np.arange(len(space.domain)),
        other=space.people[b],
        outcome_first=outcome[a].astype(kind),
        outcome_second=outcome[b].astype(kind),
        score_first=score[a],
        score_second=score[b],
        gap=np.abs(score[a] - score[b]) if not np.isnan(score).any() else np.ones(len(a)),
        attribute=np.concatenate([np.full(int(side.sum()), one.column) for one, side in parts]),
    )


def _counts(groups: Sequence[MatchedGroups], seconds: float) -> dict[str, Any]:
    """The counts of some matches together, and what a flip took."""
    plus, minus = (int(sum(one.flips[side].sum() for one in groups)) for side in (0, 1))
    matched, distance = sum(len(one.first) for one in groups), np.concatenate([one.distance for one in groups])
    return {
        "TSN": matched,
        "DSN": plus + minus,
        "SUR": (plus + minus) / matched if matched else None,
        "DSS": seconds / (plus + minus) if plus + minus else None,
        "total_time": seconds,
        "positive_flips": plus,
        "negative_flips": minus,
        "mean_distance": float(distance.mean()) if matched else None,
        "mean_squared_distance": float((distance**2).mean()) if matched else None,
    }


def _of_attribute(space: Space, name: str, groups: Sequence[MatchedGroups]) -> dict[str, Any]:
    """The counts of an attribute, and of each two of its values; where it has two, they are named beside the counts."""
    feature = space.domain.features[groups[0].column]
    pairs = [
        {
            **_counts([one], one.seconds),
            "group1_val": feature.text(one.a),
            "group2_val": feature.text(one.b),
            "solver": one.how,
        }
        for one in groups
    ]
    alone = pairs[0] if len(pairs) == 1 else {}
    return {
        **_counts(groups, sum(one.seconds for one in groups)),
        "protected_attribute": name,
        "group1_val": alone.get("group1_val"),
        "group2_val": alone.get("group2_val"),
        "value_pairs": pairs,
    }


def _as_row(attribute: str, pair: dict[str, Any]) -> dict[str, Any]:
    return {
        "attribute": attribute,
        "group": pair["group1_val"],
        "counterpart": pair["group2_val"],
        "matched": pair["TSN"],
        "flips": pair["DSN"],
        "share": pair["SUR"],
        "better": pair["positive_flips"],
        "worse": pair["negative_flips"],
        "distance": pair["mean_distance"],
    }


def _transparency(run: MatchedGroups, name: str, members: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Mean difference (in standard deviations of both groups) and mean sign, feature by feature, largest first."""
    space = run.space
    attribute = space.domain.features[run.column]
    everyone = space.people[np.concatenate([run.first, run.second])]
    rows: list[dict[str, Any]] = []
    n = int(members.sum())
    for index in run.features if n else ():
        change = space.people[run.first[members], index] - space.people[run.partner[members], index]
        if np.isnan(change).all():  # a number that none of these people and their counterparts both have
            continue
        if space.domain.nominal[index]:
            different, sign = float((change != 0).mean()), None
        else:
            spread = float(np.nanstd(everyone[:, index]))
            different = float(np.nanmean(change)) / spread if spread > 0 else 0.0
            sign = float(np.nanmean(np.sign(change)))
        people = {
            "attribute": attribute.name,
            "group": attribute.text(run.a),
            "counterpart": attribute.text(run.b),
            "flips": name,
            "n": n,
        }
        feature = space.domain.features[int(index)]
        rows.append({**people, "feature": feature.name, "difference": different, "sign": sign})
    return sorted(rows, key=lambda row: -abs(row["difference"]))
