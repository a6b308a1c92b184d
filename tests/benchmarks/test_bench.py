"""The frame of the benchmarks: results first, outcomes told rightly."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks.__main__ import discover, main
from benchmarks.bench import BENCHMARKS, Row, Scale, Target, benchmark, best_of, faster, largest_difference
from benchmarks.peer import PeerError, ask
from benchmarks.people import people
from benchmarks.results import line


def test_every_file_of_the_folder_is_found() -> None:
    discover()
    assert {"group_metrics", "group_metrics_intervals", "tally", "start"} <= BENCHMARKS.keys()
    assert all(entry.purpose for entry in BENCHMARKS.values())


def test_a_name_is_taken_once() -> None:
    discover()
    with pytest.raises(ValueError, match="tally"):
        benchmark("tally")(lambda scale: iter(()))


def test_an_unknown_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["taly"])
    assert ended.value.code == 2
    assert "unknown benchmark 'taly'" in capsys.readouterr().err


def test_only_names_in_common_are_compared() -> None:
    assert largest_difference({"a": 1.0, "b": 2.0}, {"b": 2.5, "c": 0.0}) == (0.5, 1)


def test_missing_on_both_sides_is_equal_and_on_one_side_is_not() -> None:
    assert largest_difference({"a": None}, {"a": math.nan}) == (0.0, 1)
    assert largest_difference({"a": None}, {"a": 0.0}) == (math.inf, 1)


def test_nothing_in_common_is_an_error() -> None:
    with pytest.raises(ValueError, match="No result in common"):
        largest_difference({"a": 1.0}, {"b": 1.0})


def test_results_that_differ_have_no_ratio() -> None:
    equal = faster("case", 10, 1.0, "peer", 20.0, target=10, difference=0.0, compared=3)
    other = faster("case", 10, 1.0, "peer", 20.0, target=10, difference=1e-3, compared=3)
    assert (equal.value, equal.outcome) == (20.0, "met")
    assert (other.value, other.outcome) == (None, "differs")


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (Row("x", 1, 1.0, value=2.0, target=Target("at least", 3)), "missed"),
        (Row("x", 1, 1.0, value=2.0, target=Target("at most", 3)), "met"),
        (Row("x", 1, 1.0, value=2.0), ""),
        (Row("x", 1, None, note="could not be asked"), "not measured"),
        (Row("x", 1, 1.0, value=2.0, difference=math.nan), "differs"),
    ],
)
def test_outcome(row: Row, outcome: str) -> None:
    assert row.outcome == outcome
    assert outcome in line(row.to_dict())


def test_the_shortest_run_counts() -> None:
    seconds, result = best_of(lambda: sum(range(100)), 3)
    assert 0 < seconds < 1
    assert result == 4950


def test_quick_is_small() -> None:
    assert Scale(quick=True).rows(1_000_000) == 1_000
    assert (Scale().rows(1_000_000), Scale().repeats(7), Scale(quick=True).repeats(7)) == (1_000_000, 7, 1)


def test_people_are_the_same_however_they_are_kept() -> None:
    frames = [people(1000, columns=kind) for kind in ("category", "str", "object")]
    assert all((frame.astype(str) == frames[0].astype(str)).all(axis=None) for frame in frames)


def test_a_missing_environment_of_peers_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, environment in (("ISONOMIA_PEERS", ""), ("ISONOMIA_PEERS_EVIDENTLY", "evidently")):
        monkeypatch.setenv(name, str(tmp_path / name))
        with pytest.raises(PeerError, match=f"no environment of peers at {name}; `make bench`"):
            ask("fairlearn_groups", people(10, columns="category"), repeats=1, environment=environment)
