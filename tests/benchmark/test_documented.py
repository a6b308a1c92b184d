"""What docs/benchmark.md states and what "auto" does are what was measured: docs/benchmark/*.csv."""

from __future__ import annotations

import csv
import re
from inspect import signature
from pathlib import Path

import pytest

from isonomia.benchmark import CONTESTANTS
from isonomia.benchmark.summary import PRIMARY, Finds
from isonomia.discovery import find_pairs
from isonomia.discovery.subgroups._choosing import CHOICES

DOCS = Path(__file__).parents[2] / "docs"


def rows(name: str) -> list[dict[str, str]]:
    with (DOCS / "benchmark" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def measured(finds: Finds) -> dict[str, dict[str, str]]:
    return {row["method"]: row for row in rows("summary.csv") if row["finds"] == finds}


def not_clearly_below_the_best(finds: Finds, name: str) -> bool:
    score, found = PRIMARY[finds], measured(finds)
    best = max(float(row[score]) for row in found.values() if row[score])
    return float(found[name][f"{score}_high"]) >= best


def test_auto_for_subgroups_is_what_was_measured() -> None:
    chosen = [choice for choice in CHOICES if choice.contestant is not None]
    assert chosen
    for choice in chosen:
        who = CONTESTANTS[str(choice.contestant)]
        limits = {name: value for name, value in choice.settings.items() if name != "metric"}
        assert (who.method, dict(who.options)) == (choice.method, {**choice.options, **limits})
        assert not_clearly_below_the_best("subgroups", who.id)


def test_auto_for_pairs_is_what_was_measured() -> None:
    default = signature(find_pairs).parameters["method"].default
    assert CONTESTANTS[default].method == default
    assert not_clearly_below_the_best("pairs", default)


@pytest.mark.parametrize(
    ("finds", "columns"),
    [
        ("subgroups", ("f1", "recall_realised", "coverage", "confirmed", "seconds")),
        ("pairs", ("recall", "recall_many", "attributed", "dsr", "seconds")),
    ],
)
def test_the_page_states_the_table(finds: Finds, columns: tuple[str, ...]) -> None:
    """Every method that is ranked has a row with its figures, the best first."""
    text = (DOCS / "benchmark.md").read_text(encoding="utf-8")
    found, nulls = measured(finds), {row["method"]: row for row in rows("nulls.csv")}
    lines = re.findall(r"^\| `(\w+)` \| (\d\.\d\d \[.*) \|$", text, re.MULTILINE)
    stated = {name: cells.split(" | ") for name, cells in lines if name in found}
    assert set(stated) == {name for name in found if CONTESTANTS[name].ranked}
    for name, cells in stated.items():
        first, low, high = (f"{float(found[name][columns[0] + end]):.2f}" for end in ("", "_low", "_high"))
        others = [found[name][column] for column in columns[1:]]
        assert cells[0] == f"{first} [{low}, {high}]"
        assert cells[1:-1] == ["-" if value == "" else f"{float(value):.2f}" for value in others]
        assert cells[-1] == f"{nulls[name]['claims']} of {nulls[name]['runs']}"
    order = [float(found[name][columns[0]]) for name in stated]
    assert order == sorted(order, reverse=True)
