"""Group metrics: ours with intervals, peers mostly without, from the same frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.bench import Row, Scale, benchmark, best_of, faster, largest_difference
from benchmarks.peer import Answer, PeerError, ask
from benchmarks.people import Columns, people

METRICS = ["selection_rate", "tpr", "fpr", "precision", "accuracy"]
BY = [["sex"], ["sex", "race"]]
REFERENCE = {"sex": "Male", "race": "White"}
#: Peers that know two groups only are asked for these, against the reference.
CONTRASTS = [["Female"], ["Female", "Black"]]
ADULT, MILLION = 48_842, 1_000_000
#: How many times faster we have to be: by size, by kind of column. Strings: ahead of everyone.
TARGETS = {
    (ADULT, "category"): {"fairlearn": 300, "others": 3},
    (MILLION, "category"): {"fairlearn": 4000, "others": 20},
}
STRINGS = {"fairlearn": 1, "others": 1}
KINDS: tuple[Columns, ...] = ("category", "str", "object")
PEERS = {
    "fairlearn": ("fairlearn_groups", "without intervals"),
    "aequitas": ("aequitas_groups", "without intervals; intersection given as a ready string column"),
    "aif360": ("aif360_groups", "without intervals; two contrasts; columns given as numbers"),
    "holisticai": ("holisticai_groups", "without intervals; two contrasts"),
}


@benchmark("group_metrics")
def group_metrics(scale: Scale) -> Iterator[Row]:
    """Five rates by sex and by sex x race, differences, ratios; ours with intervals (goal: 5 and 12 ms)."""
    for size in (ADULT, MILLION):
        rows = scale.rows(size)
        for columns in KINDS:
            frame = people(rows, columns=columns)
            seconds, values = _ours(frame, scale)
            targets = TARGETS.get((size, columns), STRINGS)
            for name, (script, note) in PEERS.items():
                answer = _ask(script, frame, scale)
                target = targets["fairlearn" if name == "fairlearn" else "others"]
                yield _row(f"by group, {columns} columns", rows, seconds, values, name, answer, target, note)


@benchmark("group_metrics_intervals")
def group_metrics_intervals(scale: Scale) -> Iterator[Row]:
    """The same against Fairlearn with its own intervals, of 100 replicates only."""
    rows = scale.rows(ADULT)
    frame = people(rows, columns="category")
    seconds, values = _ours(frame, scale)
    answer: Answer | PeerError
    try:
        answer = ask("fairlearn_groups", frame, repeats=1, by=BY, n_boot=3 if scale.quick else 100)
    except PeerError as error:
        answer = error
    note = "Fairlearn with 100 replicates, ours in closed form"
    yield _row("by group with intervals", rows, seconds, values, "fairlearn", answer, 10_000, note)


def _ask(script: str, frame: Any, scale: Scale) -> Answer | PeerError:
    """A peer's answer; the slowest is asked once."""
    repeats = 1 if script == "fairlearn_groups" and len(frame) == MILLION else scale.repeats(5)
    try:
        return ask(script, frame, repeats=repeats, by=BY, reference=REFERENCE, contrasts=CONTRASTS)
    except PeerError as error:
        return error


def _ours(frame: Any, scale: Scale) -> tuple[float, dict[str, float | None]]:
    """Seconds with everything a user looks at built as frames, and the values by name."""
    import isonomia as iso

    label, prediction, groups = frame["label"], frame["prediction"], frame[["sex", "race"]]

    def work() -> tuple[Any, ...]:
        result = iso.fairness.group_metrics(
            label,
            prediction,
            sensitive_features=groups,
            metrics=METRICS,
            by=BY,
            reference=REFERENCE,
            min_per_group=1,
            n_boot=1000,
            seed=0,
        )
        return result.by_group, result.overall, result.comparisons, result.disparities

    seconds, (by_group, overall, comparisons, disparities) = best_of(work, scale.repeats(60))
    values = {f"overall:{name}": estimate.value for name, estimate in overall.items()}
    for row in by_group.to_dict("records"):
        who = "|".join(str(row[name]) for name in ("sex", "race") if isinstance(row[name], str))
        values |= {f"{who}:{metric}": row[metric] for metric in METRICS}
    for row in comparisons.to_dict("records"):
        who = "|".join(part.partition("=")[2] for part in row["group"].split(", "))
        values[f"{who}:{row['metric']}:difference to reference"] = row["difference"]
        values[f"{who}:{row['metric']}:ratio to reference"] = row["ratio"]
    for row in disparities.to_dict("records"):
        values[f"{row['by'].replace(' x ', '|')}:{row['metric']}:between"] = row["difference"]
        values[f"{row['by'].replace(' x ', '|')}:{row['metric']}:ratio"] = row["ratio"]
    return seconds, values


def _row(
    case: str,
    rows: int,
    seconds: float,
    values: dict[str, float | None],
    name: str,
    answer: Answer | PeerError,
    target: float,
    note: str,
) -> Row:
    if isinstance(answer, PeerError):
        return Row(case, rows, seconds, name, note=str(answer))
    difference, compared = largest_difference(values, answer.values)
    return faster(
        case,
        rows,
        seconds,
        f"{name} {answer.version}",
        answer.seconds,
        target=target,
        difference=difference,
        compared=compared,
        note=note,
    )
