"""Findings as tables, pictures and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by, sum_by
from isonomia.discovery.by_value import TOTAL, shares
from isonomia.discovery.method import Method
from isonomia.discovery.pairs.result import PairResult, Pairs
from isonomia.discovery.pairs.space import Space
from isonomia.evidence import THRESHOLDS, Change, Column, Estimate, Finding, Picture, Table, free_name, wilson
from isonomia.languages import Message, column_names, msg
from isonomia.languages.naming import UNWRITTEN, at_least, between, either, is_value, number
from isonomia.probing import Domain
from isonomia.typing import Floats

#: Pairs shown in a report; all of them are in the result's own table.
WITNESSES = 50
#: People drawn from the domain to compare findings with, where there is no data.
BACKGROUND = 20_000
#: Whole numbers with more values than this are sorted instead of counted.
MAX_COUNTED = 100_000
_VALUE_COLUMNS = (
    Column("value", title=msg("Protected value")),
    Column("tests", format="int", title=msg("People tested")),
    Column("found", format="int", title=msg("Treated differently")),
    Column("share", format="pct", title=msg("Share")),
    Column("worse", format="int", title=msg("Treated worse")),
    Column("better", format="int", title=msg("Treated better")),
)
_FEATURE_COLUMNS = (
    Column("feature", title=msg("Feature")),
    Column("distance", format="num", title=msg("Distance")),
    Column("value", title=msg("Most over-represented")),
    Column("found", format="pct", title=msg("Share among those found")),
    Column("everyone", format="pct", title=msg("Share among everyone")),
)


def build_result(space: Space, pairs: Pairs, *, method: Method) -> PairResult:
    """The result of a search that has ended."""
    metrics = {**space.loop.ledger.metrics(), **space.facts}
    if metrics.pop("uniform", False):
        metrics.update(uniform_tests=metrics["TSN"], uniform_found=metrics["DSN"])
    metrics["dsn_by_attr_value"] = by_value(space, pairs, metrics)
    metrics.setdefault("stopped", _stopped(space))
    if metrics["stopped"] == "seconds":
        space.notes.append(
            msg(
                "The time limit ended the search after {tested:int} people: with more time it may find others.",
                tested=metrics["TSN"],
            )
        )
    tables = {"witnesses": witnesses(space, pairs), **space.tables}
    if len(pairs):
        tables["values"] = values_table(metrics["dsn_by_attr_value"], space)
        tables["features"] = features_table(space, pairs)
    share = share_of(metrics, observed=method.id == "observed")
    figures = {"share": share, "share_estimate": estimated(metrics)}
    classes = () if space.probe.oracle.task == "regression" else space.probe.oracle.classes
    return PairResult(
        code="pairs",
        title=msg("Pairs of people treated differently ({method})", method=method.id),
        tables=tables,
        values={name: figure for name, figure in figures.items() if figure is not None},
        findings=_findings(space, pairs, metrics, share),
        pictures=_pictures(tables),
        notes=tuple(space.notes),
        method=method.id,
        metrics=metrics,
        pairs=pairs,
        trace=tuple(space.loop.ledger.trace),
        domain=space.domain,
        classes=classes,
    )


def share_of(metrics: dict[str, Any], *, observed: bool) -> Estimate | None:
    """The share of people treated differently, where people were drawn fairly, with a Wilson interval.

    Exact answers draw where nothing is proved; with everything proved the share is exact. They count where they say the
    same more narrowly.
    """
    found, tested = metrics["DSN"], metrics["TSN"]
    if not observed:
        found, tested = metrics.get("uniform_found", 0), metrics.get("uniform_tests", 0)
    if not tested:
        return estimated(metrics)
    low, high = map(float, wilson(found, tested))
    proved = estimated(metrics)
    if proved is not None and low <= (proved.low or 0.0) <= (1.0 if proved.high is None else proved.high) <= high:
        return proved
    return Estimate(found / tested, low, high, n=tested, method="wilson")


def estimated(metrics: dict[str, Any]) -> Estimate | None:
    """The share estimated beside what is proved; exact where everything is."""
    if metrics.get("share_estimate") is None:
        return None
    ends, drawn = (metrics["share_estimate_low"], metrics["share_estimate_high"]), metrics["share_drawn"]
    return Estimate(metrics["share_estimate"], *ends, n=drawn, method="wilson" if drawn else "exact")


def witnesses(space: Space, pairs: Pairs) -> Table:
    """The widest pairs in original units, one per row; changed cells read "before → after"."""
    widest = _widest(pairs.gap, WITNESSES)
    some = pairs.take(widest)
    columns: dict[str, Any] = {"case_id": [int(index) for index in widest]}
    for index, feature in enumerate(space.domain.features):
        columns[free_name(feature.name, {"case_id", "outcome", "gap"})] = [
            before if before == after else Change(before, after)
            for before, after in zip(
                map(feature.localized, some.first[:, index].tolist()),
                map(feature.localized, some.second[:, index].tolist()),
                strict=True,
            )
        ]
    columns["outcome"] = [
        Change(_outcome(space, before), _outcome(space, after))
        for before, after in zip(some.outcome_first.tolist(), some.outcome_second.tolist(), strict=True)
    ]
    columns["gap"] = some.gap
    return Table.of(
        columns,
        (
            Column("case_id", format="int", title=msg("Pair")),
            Column("outcome", title=msg("Outcome")),
            Column("gap", format="num", title=msg("Difference")),
        ),
        title=msg("Pairs treated most differently (changed cells: before → after)"),
        backend=space.domain.backend,
    )


def _widest(gap: Floats, n: int) -> NDArray[np.intp]:
    """Indices of the `n` largest, of equal ones the first."""
    some = np.arange(len(gap)) if len(gap) <= n else np.flatnonzero(gap >= np.partition(gap, -n)[-n])
    return some[np.argsort(-gap[some], kind="stable")[:n]]


def _outcome(space: Space, value: float) -> str:
    oracle = space.probe.oracle
    return number(value) if oracle.task == "regression" else str(oracle.classes[int(value)])


def by_value(space: Space, pairs: Pairs, metrics: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """For every protected value: tests it took part in, findings whose pair it is one side of, and on which side.

    "total" has the counts of all of them. "worse" and "better" count the sides with the lower and the higher outcome
    (not given for several classes).
    """
    counts: dict[str, dict[str, Any]] = {TOTAL: {name: metrics[name] for name in ("TSN", "DSN", "SUR", "DSS")}}
    ordered = space.probe.oracle.task != "multiclass"
    lower = _lower_first(pairs)
    for column, values in zip(space.protected, space.probe.values, strict=True):
        feature = space.domain.features[int(column)]
        a, b = pairs.column(int(column))
        differ = a != b if pairs.attribute is None else pairs.attribute == column
        whole = metrics.get("attribute_metrics", {}).get(feature.name, metrics)
        for value in values:
            on_a, on_b = (a == value) & differ, (b == value) & differ
            entry = shares(whole["TSN"], int((on_a | on_b).sum()), whole["total_time"])
            if ordered:
                entry["worse"] = int((on_a & lower).sum() + (on_b & ~lower).sum())
                entry["better"] = entry["DSN"] - entry["worse"]
            counts[is_value(feature.name, feature.text(float(value)))] = entry
    return counts


def _lower_first(pairs: Pairs) -> Any:
    if np.array_equal(pairs.outcome_first, pairs.outcome_second):  # scores compared, decisions equal
        return pairs.score_first < pairs.score_second
    return (pairs.outcome_first < pairs.outcome_second) | (
        (pairs.outcome_first == pairs.outcome_second) & (pairs.score_first < pairs.score_second)
    )


def values_table(counts: dict[str, dict[str, Any]], space: Space) -> Table:
    """The counts by protected value as a table."""
    described = _VALUE_COLUMNS[: 6 if any("worse" in entry for entry in counts.values()) else 4]
    names = {"TSN": "tests", "DSN": "found", "SUR": "share"}
    rows = [
        {"value": value, **{names.get(key, key): n for key, n in entry.items()}}
        for value, entry in counts.items()
        if value != TOTAL
    ]
    title = msg("Protected values in the pairs found")
    return Table.from_rows(rows, described, title=title, backend=space.domain.backend)


def features_table(space: Space, pairs: Pairs) -> Table:
    """Which features go with being treated differently.

    For each feature the total variation distance between those found and everyone (the data, or the domain where
    there is none), and the value (or tenth of the range) that is most over-represented.
    """
    against = space.people if len(space.people) else space.domain.sample(BACKGROUND, np.random.default_rng(0))
    rows: list[dict[str, Any]] = []
    every, those_found = _value_counts(against, space.domain), _value_counts(pairs.first, space.domain)
    for column in space.movable:
        feature, (values, counts) = space.domain.features[int(column)], every[int(column)]
        edges = _cells(values, counts, feature.size)
        everyone = _shares(values, counts, edges)
        found = _shares(*those_found[int(column)], edges)
        index = int((found - everyone).argmax())
        low, high = edges[index], edges[index + 1]
        name = feature.text(float(low)) if feature.kind == "category" else _range(feature, low, high)
        distance = 0.5 * float(np.abs(found - everyone).sum())
        shares = {"found": float(found[index]), "everyone": float(everyone[index])}
        rows.append({"feature": feature.name, "distance": distance, "value": name, **shares})
    rows.sort(key=lambda row: -row["distance"])
    title = msg("Features that go with being treated differently")
    return Table.from_rows(rows, _FEATURE_COLUMNS, title=title, backend=space.domain.backend)


Counts = tuple[Floats, NDArray[np.intp]]


def _value_counts(people: Floats, domain: Domain) -> list[Counts]:
    """For each feature the distinct values in order, without missing ones, and how often each occurs."""
    sizes = [0 if f.size is None or f.size > MAX_COUNTED or f.missing else f.size for f in domain.features]
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    listed = np.array(sizes) > 0  # whole numbers: all these columns are counted together, in portions
    shift = np.where(listed, domain.low - ends + sizes, 0.0)
    every = np.zeros(total, dtype=np.intp)
    portion = max(8192, total // 4)
    for start in range(0, len(people) if total else 0, portion):
        codes = people[start : start + portion] - shift
        codes = codes if listed.all() else codes[:, listed]
        every += count_by(codes.astype(np.intp).ravel("K"), total)
    counts: list[Counts] = []
    for index, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        if size:
            there = np.flatnonzero(every[end - size : end])
            counts.append((np.asarray(domain.low[index] + there, dtype=float), every[end - size + there]))
        else:
            known = people[:, index]
            counts.append(np.unique(known[~np.isnan(known)], return_counts=True))
    return counts


def _cells(values: Floats, counts: NDArray[np.intp], size: int | None) -> Floats:
    """Bins of values: each value where there are few, else tenths of the people."""
    if size is not None and len(values) <= 30:
        return np.append(values, np.inf)
    upto = np.cumsum(counts)
    index = (upto[-1] - 1) * np.linspace(0, 0.9, 10)  # as numpy.quantile of all of them
    below = np.floor(index)
    low = values[np.searchsorted(upto, below, side="right")]
    high = values[np.searchsorted(upto, np.minimum(below + 1, upto[-1] - 1), side="right")]
    return np.append(np.unique(low + (high - low) * (index - below)), np.inf)


def _shares(values: Floats, counts: NDArray[np.intp], edges: Floats) -> Floats:
    cell = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    inside = sum_by(cell, counts, len(edges) - 1)
    return np.asarray(inside / max(1, inside.sum()))


def _range(feature: Any, low: float, high: float) -> str:
    if feature.kind == "integer" and high == low + 1:
        return feature.text(low)  # type: ignore[no-any-return]
    return at_least(low) if np.isinf(high) else between(low, high)


def _findings(space: Space, pairs: Pairs, metrics: dict[str, Any], share: Estimate | None) -> tuple[Finding, ...]:
    if len(pairs) == 0:
        return ()
    names = either([column_names([name]) for name in space.probe.protected])
    rate = share if share is not None else Estimate(metrics["SUR"], n=metrics["TSN"], note="share of a directed search")
    message = msg(
        "For {found:int} of {tested:int} people tested, another {attributes} alone changes the decision.",
        found=metrics["DSN"],
        tested=metrics["TSN"],
        attributes=names,
    )
    if share is not None and (share.n, share.value) != (metrics["TSN"], metrics["SUR"]):  # not those of the search
        message = msg(
            "For an estimated {share:pct} of possible people, another {attributes} alone changes the decision. The "
            "search looks where that is likely: {found:int} of {tested:int} people tested.",
            share=share.value,
            found=metrics["DSN"],
            tested=metrics["TSN"],
            attributes=names,
        )
    if share is not None and (share.value or 0.0) < UNWRITTEN and share.high is not None:  # "0.0%" of people were found
        message = msg(
            "For at most {share:pct} of possible people, another {attributes} alone changes the decision. The search "
            "looks where that is likely: {found:int} of {tested:int} people tested.",
            share=share.high,
            found=metrics["DSN"],
            tested=metrics["TSN"],
            attributes=names,
        )
    if "positive_flips" in metrics:  # FlipTest compares different people
        message = msg(
            "{found:int} of {tested:int} people get a different decision from a counterpart with another {attributes}.",
            found=metrics["DSN"],
            tested=metrics["TSN"],
            attributes=names,
        )
    size = rate.value or 0.0
    return (
        Finding(
            code="pairs.discrimination",
            severity=THRESHOLDS["pairs"].severity(size) if share is not None else "warning",
            message=_with_side(message, metrics),
            estimate=rate,
            n=metrics["DSN"],
            magnitude=size / (THRESHOLDS["pairs"].critical or 1.0) if share is not None else 1.0,
            threshold=0.0,
            remedy="retrain_without_pairs",
            evidence="pairs/witnesses",
            people=Estimate.missing(msg("it is about possible people, not about those in the data"), n=metrics["DSN"]),
            topic="use",
        ),
    )


def _with_side(message: Message, metrics: dict[str, Any]) -> Message:
    """The statement, and which side is treated worse most often, where one is."""
    worse = {name: entry.get("worse", 0) for name, entry in metrics["dsn_by_attr_value"].items() if name != TOTAL}
    name = max(worse, key=lambda value: worse[value])
    if not worse[name]:
        return message
    return msg("{statement} Most often {value} come off worse.", statement=message, value=name)


def _pictures(tables: dict[str, Table]) -> tuple[Picture, ...]:
    if "features" not in tables:
        return ()
    return (
        Picture(
            "bars",
            "features",
            msg("Distance between those treated differently and everyone, by feature"),
            {"labels": "feature", "value": "distance"},
        ),
    )


def _stopped(space: Space) -> str:
    ledger = space.loop.ledger
    if ledger.tests_left == 0:
        return "tests"
    if ledger.max_model_rows is not None and ledger.rows_left(space.probe.n_variants) == 0:
        return "model rows"
    if ledger.max_seconds is not None and ledger.elapsed >= ledger.max_seconds:
        return "seconds"
    return "ended"
