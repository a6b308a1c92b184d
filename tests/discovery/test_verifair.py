"""VeriFair: the published bound and sample needs, verdicts that are never wrong, populations, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups.verification import certainty, decide_ratio, decide_share, deviation, ratio_error
from isonomia.errors import DataError, SpecError


def test_the_bound_as_published() -> None:
    assert [round(float(deviation(0.5e-10, n)), 4) for n in (1e3, 1e4, 1e5)] == [0.1324, 0.0421, 0.0134]
    for n in (50, 1000, 10**6):
        assert certainty(float(deviation(1e-6, n)), n) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize(
    ("base", "ratio", "need"),
    [
        *[(0.1, 0.3, 20e3), (0.1, 0.5, 50e3), (0.3, 0.3, 2.2e3), (0.3, 0.7, 30e3), (0.5, 0.5, 2e3), (0.5, 0.7, 11e3)],
        *[(0.5, 0.8, 98e3), (0.5, 0.9, 108e3), (0.5, 1.0, 15e3), (0.3, 1.0, 41e3), (0.1, 1.0, 367e3)],
    ],
)
def test_samples_needed_as_computed_from_the_formula(base: float, ratio: float, need: float) -> None:
    n = np.arange(2, int(need * 2))
    verdict = decide_ratio(np.full(n.size, base * ratio), np.full(n.size, base), n, 0.15, 0.5e-10)
    assert verdict.answer == ("unfair" if ratio < 0.85 else "fair")
    assert verdict.n == pytest.approx(need, rel=0.06)


def test_a_ratio_is_never_further_off_than_its_error(rng: np.random.Generator) -> None:
    a, b, e = rng.uniform(0, 1, 5000), rng.uniform(0.05, 1, 5000), rng.uniform(0, 0.2, 5000)
    off = [(a + s * e) / np.maximum(b + t * e, 1e-9) for s in (-1, 1) for t in (-1, 1)]
    known = b > e
    for value in off:
        assert (np.abs(value - a / b)[known] <= ratio_error(a, b, e)[known] * (1 + 1e-9)).all()
    assert np.isinf(ratio_error(0.5, 0.1, 0.2))


def test_no_wrong_verdict_in_a_thousand_runs() -> None:
    rng = np.random.default_rng(0)
    n = np.arange(2, 2501)
    wrong = decided = 0
    for _ in range(1000):
        b = rng.uniform(0.4, 0.9)
        a = b * rng.uniform(0.3, 1.0)
        means = [np.cumsum(rng.random(2500) < rate)[1:] / n for rate in (a, b)]
        verdict = decide_ratio(*means, n, 0.15, 0.025)
        truth = "fair" if a / b >= 0.85 else "unfair"
        decided += verdict.answer != "not decided"
        wrong += verdict.answer not in (truth, "not decided")
    assert wrong == 0
    assert decided > 300


def test_both_directions_are_looked_at() -> None:
    n = np.arange(2, 5000)
    rates = np.full(n.size, 0.3), np.full(n.size, 0.9)
    for a, b in (rates, rates[::-1]):
        verdict = decide_ratio(a, b, n, 0.15, 0.025)
        assert (verdict.answer, verdict.ratio) == ("unfair", pytest.approx(1 / 3))
    zero = decide_ratio(np.zeros(n.size), np.zeros(n.size), n, 0.15, 0.025)
    assert (zero.answer, zero.ratio, zero.high) == ("not decided", None, None)
    assert decide_share(np.full(n.size, 0.99), n, 0.15, 0.025).answer == "fair"
    assert decide_share(np.full(n.size, 0.5), n, 0.15, 0.025).answer == "unfair"


def people(rng: np.random.Generator, n: int = 3000) -> dict[str, Any]:
    return {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b"], n),
        "income": rng.normal(50, 10, n).round(2),
    }


def harsh(frame: Any) -> np.ndarray:
    """Favours men with a middling income, and everyone with a high one."""
    income = np.asarray(frame["income"], dtype=float)
    return ((income > 58) | ((income > 42) & (np.asarray(frame["sex"]) == "M"))).astype(int)


def test_a_model_is_verified_on_a_generator(rng: np.random.Generator) -> None:
    data = people(rng)
    result = find_subgroups(
        data,
        harsh,
        method="verifair",
        protected=["sex", "race"],
        delta=0.025,
        task="binary",
        y_true=harsh(data),
    )
    rows = list(result.tables["subgroups"].rows())
    assert (rows[0]["slice"], rows[0]["verdict"], rows[0]["compared_with"]) == ("sex = F", "unfair", "sex = M")
    assert rows[0]["ratio"] == pytest.approx(0.21 / 0.79, abs=0.1)
    assert rows[0]["ratio_low"] < rows[0]["ratio"] < rows[0]["ratio_high"] < 0.85
    assert rows[0]["p_adjusted"] < 0.05
    assert len(rows) == result.metrics["DSN"] == 1
    every = list(result.tables["comparisons"].rows())
    assert [row["verdict"].text() for row in every] == ["unfair", "fair"]
    assert result.metrics["n_model_rows"] > 0
    assert [finding.severity for finding in result.findings] == ["warning"]
    assert "sorteados" in result.findings[0].message.text("pt-BR")
    again = find_subgroups(
        data, harsh, method="verifair", protected=["sex", "race"], delta=0.025, task="binary", y_true=harsh(data)
    )
    assert list(again.tables["subgroups"].rows()) == rows


def test_rows_are_used_once_and_the_budget_is_told(rng: np.random.Generator) -> None:
    data = people(rng, 20_000)
    said = harsh(data)
    result = find_subgroups(data, y_pred=said, method="verifair", protected=["sex", "race"], delta=0.025)
    first, second = result.tables["comparisons"].rows()
    assert (first["slice"], first["verdict"].text()) == ("sex = F", "unfair")
    assert second["verdict"].text() in ("fair", "not decided")
    assert second["n"] <= (np.asarray(data["race"]) == "a").sum() + 1000
    few = find_subgroups(data, y_pred=said, method="verifair", protected=["race"], n_max=300, delta=0.025)
    row = next(iter(few.tables["comparisons"].rows()))
    assert (row["verdict"].text(), row["n"], row["error_probability"]) == ("not decided", 300, None)
    assert few.metrics["DSN"] == len(few.subgroups) == 0
    assert any("not decided" in note.text() for note in few.notes)
    assert not few.findings


def test_equal_opportunity_and_individual(rng: np.random.Generator) -> None:
    data = people(rng)
    y = (np.asarray(data["income"]) > 45).astype(int)
    frame = iso.Dataset({**data, "y": y}, target="y", positive=1, protected=["sex"])
    for population in ("copula", "data"):
        result = find_subgroups(
            frame, harsh, method="verifair", spec="equal_opportunity", delta=0.025, population=population
        )
        row = next(iter(result.tables["subgroups"].rows()))
        assert (row["slice"], row["verdict"]) == ("sex = F", "unfair")
    result = find_subgroups(frame, harsh, method="verifair", spec="individual", delta=0.025)
    rows = list(result.tables["subgroups"].rows())
    assert {row["verdict"] for row in rows} == {"unfair"}
    assert rows[0]["ratio_low"] < 1 - 0.576 < rows[0]["ratio_high"]  # an income between 42 and 58
    blind = find_subgroups(
        frame,
        lambda table: (np.asarray(table["income"]) > 50).astype(int),
        method="verifair",
        spec="individual",
        delta=0.025,
    )
    assert {row["verdict"].text() for row in blind.tables["comparisons"].rows()} == {"fair"}
    assert not blind.subgroups


def test_numbers_and_missing_values_as_groups(rng: np.random.Generator) -> None:
    n = 6000
    age = rng.integers(18, 80, n).astype(float)
    age[:600] = np.nan
    data = {"age": age, "income": rng.normal(50, 10, n)}
    said = ((np.nan_to_num(age, nan=30) > 40) | (data["income"] > 60)).astype(int)
    result = find_subgroups(data, y_pred=said, method="verifair", protected=["age"], bins=2, delta=0.025, k=10)
    slices = {row["slice"] for row in result.tables["comparisons"].rows()}
    assert any("missing" in text for text in slices)
    assert any(row["verdict"] == "unfair" for row in result.tables["subgroups"].rows())
    model = find_subgroups(
        data,
        lambda table: (np.nan_to_num(np.asarray(table["age"], dtype=float), nan=30) > 40).astype(int),
        method="verifair",
        protected=["age"],
        bins=2,
        delta=0.025,
        task="binary",
        y_true=said,
        n_max=4000,
    )
    assert any(row["verdict"] == "unfair" for row in model.tables["subgroups"].rows())


def test_fair_decisions_are_seldom_called_unfair() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        data = {"sex": rng.choice(["F", "M"], 800), "race": rng.choice(list("abc"), 800)}
        said = rng.integers(0, 2, 800)
        result = find_subgroups(data, y_pred=said, method="verifair", protected=["sex", "race"], delta=0.025)
        assert result.metrics["DSN"] == 0


def test_a_time_limit_gives_a_partial_result(rng: np.random.Generator, ticking: Callable[[float], None]) -> None:
    data = people(rng, 500)
    ticking(0.1)
    result = find_subgroups(
        data,
        lambda table: (np.asarray(table["income"]) > 50).astype(int),
        method="verifair",
        protected=["sex"],
        max_seconds=0.2,
        task="binary",
        y_true=rng.integers(0, 2, 500),
        n_max=10_000_000,
        c=0.001,
    )
    assert not result.complete
    assert next(iter(result.tables["comparisons"].rows()))["verdict"].text() == "not decided"


def compas(times: int = 1) -> iso.Dataset:
    """Six thousand people: races of 3,175, 2,103, 509, 343, 31 and 11, among the women and men."""
    rng = np.random.default_rng(0)
    sizes, rates = (3175, 2103, 509, 343, 31, 11), (0.12, 0.3, 0.3, 0.31, 0.3, 0.3)
    race = np.repeat(["a", "b", "c", "d", "e", "f"], times * np.array(sizes))
    said = rng.random(race.size) < np.repeat(rates, times * np.array(sizes))
    people = {"race": race, "sex": rng.choice(["F", "M"], race.size), "said": said.astype(int)}
    return iso.Dataset(people, prediction="said", positive=1, protected=["race", "sex"])


def test_a_table_of_thousands_decides_and_undecided_groups_are_not_found() -> None:
    result = find_subgroups(compas(), method="verifair", k=3)
    rows = list(result.tables["comparisons"].rows())
    verdicts = [row["verdict"].text() for row in rows]
    assert verdicts.count("unfair") == result.metrics["DSN"] == len(result.subgroups) > 0
    assert ("race = a", "race = b") in {(row["slice"], row["compared_with"]) for row in rows[: result.metrics["DSN"]]}
    assert verdicts.count("not decided") == result.values["not_decided"] > 0
    by_value = result.metrics["dsn_by_attr_value"]
    assert by_value["total"]["DSN"] == result.metrics["DSN"]
    assert sum(entry["DSN"] for name, entry in by_value.items() if name != "total") == result.metrics["DSN"]
    assert {row["verdict"] for row in result.tables["subgroups"].rows()} == {"unfair"}
    assert repr(result) == f"SubgroupResult(verifair: {result.metrics['DSN']} unfair of 16 comparisons)"


def test_more_unfair_groups_than_are_listed_are_counted() -> None:
    whole = find_subgroups(compas(8), method="verifair", k=10)
    one = find_subgroups(compas(8), method="verifair", k=1)
    assert whole.metrics["DSN"] == one.metrics["DSN"] > 1
    assert len(one.subgroups) == 1
    assert one.metrics["dsn_by_attr_value"]["race=a"]["DSN"] == one.metrics["DSN"]


def test_the_delta_of_the_publication_decides_nothing_there_and_the_note_says_what_would() -> None:
    few = find_subgroups(compas(), method="verifair", delta=0.5e-10)
    assert few.metrics["DSN"] == 0
    rows = [row for row in few.tables["comparisons"].rows() if row["n_needed"] is not None]
    assert all(row["n_needed"] > row["n"] for row in rows)
    row = next(row for row in rows if (row["slice"], row["compared_with"]) == ("race = a", "race = b"))
    sizes = np.arange(2, row["n_needed"] + 1)
    rates = [np.full(sizes.size, row[name]) for name in ("rate", "rate_compared_with")]
    verdict = decide_ratio(*rates, sizes, 0.15, 2 * 0.5e-10 / 8)
    assert (verdict.answer, verdict.n) == ("unfair", row["n_needed"])
    note = next(note.text() for note in few.notes if "not decided" in note.text())
    assert f"{min(row['n_needed'] for row in rows):,}" in note
    assert "não" in next(note.text("pt-BR") for note in few.notes if "not decided" in note.text())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"c": 0}, SpecError, "`c` must be"),
        ({"delta": 0.7}, SpecError, "`delta` must be"),
        ({"n_max": 1}, SpecError, "`n_max` must be"),
        ({"spec": "parity"}, SpecError, "`spec` must be"),
        ({"population": "world"}, SpecError, "`population` must be"),
        ({"population": "copula"}, SpecError, "give a model"),
        ({"spec": "individual"}, SpecError, "give a model"),
        ({"spec": "equal_opportunity"}, DataError, "true outcomes"),
        ({"protected": None}, DataError, "protected"),
        ({"y_pred": None}, DataError, "predictions"),
        ({"protected": ["one"]}, DataError, "two values"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"y_pred": [0, 1, 1, 0], "protected": ["sex"], **options}
    with pytest.raises(error, match=words):
        find_subgroups({"sex": list("FMFM"), "one": list("aaaa")}, method="verifair", **given)
