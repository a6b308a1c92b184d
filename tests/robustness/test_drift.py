"""Drift: distances against scipy, a planted shift found and nothing else, alarms no more often than promised."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

import isonomia as iso
from isonomia import DataError, Dataset, MissingExtraError, SpecError
from isonomia.evidence import holm
from isonomia.robustness import category_distances, drift, numeric_distances

NUMBERS = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 1e6]), min_size=2, max_size=40)


@given(a=NUMBERS, b=NUMBERS)
def test_distances_of_numbers_are_those_of_scipy(a: list[float], b: list[float]) -> None:
    x, y = np.array(a), np.array(b)
    found = numeric_distances(x, y)
    expected = stats.ks_2samp(x, y, method="asymp")
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert found.wasserstein.value == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-9, abs=1e-9)
    turned = numeric_distances(y, x)
    assert turned.statistic == pytest.approx(found.statistic, abs=1e-12)
    assert turned.wasserstein.value == pytest.approx(found.wasserstein.value, rel=1e-9, abs=1e-9)


@given(a=NUMBERS, b=NUMBERS)
def test_weights_of_one_change_nothing(a: list[float], b: list[float]) -> None:
    x, y = np.array(a), np.array(b)
    plain, weighted = numeric_distances(x, y), numeric_distances(x, y, weights=(np.ones(x.size), None))
    assert weighted.statistic == pytest.approx(plain.statistic, abs=1e-12)
    assert weighted.wasserstein.value == pytest.approx(plain.wasserstein.value, rel=1e-9, abs=1e-9)
    assert weighted.p_value == pytest.approx(plain.p_value, abs=1e-9)


def test_weighted_distances_are_those_of_repeated_rows(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=50), rng.normal(0.5, size=70)
    times = rng.integers(1, 4, 50)
    weighted = numeric_distances(x, y, weights=(times.astype(float), None))
    repeated = numeric_distances(np.repeat(x, times), y)
    assert weighted.statistic == pytest.approx(repeated.statistic)
    assert weighted.wasserstein.value == pytest.approx(repeated.wasserstein.value)
    assert weighted.wasserstein.value == pytest.approx(stats.wasserstein_distance(x, y, times))


@pytest.mark.parametrize("n", [600, 1500, 40_000])
def test_p_values_of_many_rows_are_near_those_of_scipy(n: int, rng: np.random.Generator) -> None:
    for shift in (0.0, 0.03, 0.1):
        x, y = rng.normal(size=n), rng.normal(shift, size=2 * n)
        expected = stats.ks_2samp(x, y, method="asymp")
        found = numeric_distances(x, y)
        assert found.statistic == pytest.approx(expected.statistic, abs=1e-12)
        assert found.p_value == pytest.approx(expected.pvalue, abs=5e-5)


@given(
    n=st.integers(1500, 6000),
    m=st.integers(1, 6000),
    values=st.sampled_from([7, 300, 10**5, 10**10]),
    shift=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_whole_numbers_and_ties_have_the_statistic_of_scipy(
    n: int, m: int, values: int, shift: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-values, values, n)
    y = rng.integers(-values, values, m) + int(shift * values)
    expected = stats.ks_2samp(x, y, method="asymp").statistic
    for a, b in ((x, y), (x / 3.0, y / 3.0)):
        assert numeric_distances(a, b).statistic == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("dtype", "low"), [(np.int8, -128), (np.uint8, 0), (np.int16, 32_512), (np.uint64, 2**40)])
def test_whole_numbers_of_any_type_are_counted(dtype: type[Any], low: int, rng: np.random.Generator) -> None:
    one, two = ((low + rng.integers(0, 256, 3000)).astype(dtype) for _ in range(2))
    row = next(drift(Dataset({"x": one}), Dataset({"x": two}), joint=False).tables["variables"].rows())
    assert row["statistic"] == pytest.approx(stats.ks_2samp(one, two, method="asymp").statistic, abs=1e-12)


def test_counted_integers_are_as_sorted_numbers(rng: np.random.Generator) -> None:
    one, two = rng.poisson(40, 700) - 20, rng.poisson(43, 900) - 20
    rows = [
        next(drift(Dataset({"x": a}), Dataset({"x": b}), joint=False).tables["variables"].rows())
        for a, b in ((one, two), (one.astype(float), two.astype(float)))
    ]
    for name in ("statistic", "p_value", "wasserstein", "wasserstein_sd", "mean_reference", "mean_current"):
        assert rows[0][name] == pytest.approx(rows[1][name])
    assert rows[0]["psi"] == pytest.approx(rows[1]["psi"], abs=0.05)


def test_distances_of_categories_are_those_of_scipy() -> None:
    a, b = np.array([40, 30, 0, 10]), np.array([20, 30, 25, 45])
    found = category_distances(a, b)
    expected = stats.chi2_contingency(np.stack([a, b]), correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.jensen_shannon == pytest.approx(jensenshannon(a, b, base=2))
    p, q = (a + 0.5) / (a + 0.5).sum(), (b + 0.5) / (b + 0.5).sum()
    assert found.psi == pytest.approx(stats.entropy(p, q) + stats.entropy(q, p))
    noise = 3 * (1 / a.sum() + 1 / b.sum())
    assert found.stability.value == pytest.approx(found.psi - noise)
    assert category_distances([5], [9]).p_value == 1.0


def test_psi_is_the_index_of_the_textbook_and_what_exceeds_noise_has_a_name_of_its_own() -> None:
    """The index of 200 rows crosses the usual line of 0.1; less what noise adds to it, it does not."""
    rng = np.random.default_rng(1)
    one, two = (rng.normal(mean, 1, 200) for mean in (0, 0.3))
    deciles = np.sort(one)[np.linspace(0, 199, 11)[1:-1].round().astype(int)]
    edges = [-np.inf, *deciles, np.inf]
    p, q = (np.histogram(part, edges)[0] / 200 for part in (one, two))
    textbook = float(((q - p) * np.log(q / p)).sum())
    found = drift({"x": one}, {"x": two}, joint=False)
    row = next(found.tables["variables"].rows())
    assert row["psi"] == pytest.approx(textbook)
    assert row["psi"] == numeric_distances(one, two).psi
    p, q = ((200 * share + 0.5) / 205 for share in (p, q))
    assert row["psi_beyond_noise"] == pytest.approx(float(((q - p) * np.log(q / p)).sum()) - 9 * 2 / 200)
    assert row["psi_beyond_noise_low"] <= row["psi_beyond_noise"] <= row["psi_beyond_noise_high"]
    moved = drift({"x": one}, {"x": two + 1}, joint=False)
    (finding,), row = moved.findings, next(moved.tables["variables"].rows())
    assert "stability index" in str(finding.message)
    assert "beyond noise" in str(finding.message)
    assert finding.estimate.value == pytest.approx(row["psi_beyond_noise"])


@pytest.mark.parametrize("as_file", [True, False])
@pytest.mark.parametrize("predicted", ["model", "column"])
def test_an_audit_compares_a_reference_without_the_target(tmp_path: Path, as_file: bool, predicted: str) -> None:
    rng = np.random.default_rng(0)
    x, sex = rng.normal(size=300), rng.choice(["F", "M"], 300)
    reference = pd.DataFrame({"f": x, "sex": sex, "p": (x > 0).astype(int)})
    current = reference.assign(f=x + 1, p=(x > -1).astype(int), y=rng.integers(0, 2, 300))
    given: Any = reference
    if as_file:
        given = str(tmp_path / "before.csv")
        reference.to_csv(given, index=False)
    how: dict[str, Any] = {"prediction": "p"} if predicted == "column" else {}
    model = None if how else (lambda rows: (rows["f"] > 0).astype(int))
    report = iso.audit(
        current, model, target="y", protected=["sex"], checks=["drift"], options={"drift": {"reference": given}}, **how
    )
    found = report["drift"]
    roles = {row["variable"]: str(row["role"]) for row in found.tables["variables"].rows()}
    assert roles["f"] == "feature"
    assert "target" not in roles.values()
    assert "The target 'y' was not compared: the reference does not have it." in [str(note) for note in found.notes]
    both = iso.audit(current, model, target="y", checks=["drift"], options={"drift": {"reference": current}}, **how)[
        "drift"
    ]
    assert "target" in [str(row["role"]) for row in both.tables["variables"].rows()]


def test_rare_categories_are_tested_as_one(rng: np.random.Generator) -> None:
    """Identifiers that never come back prove nothing; the chi-square of few expected counts would be off."""
    rare = np.ones(500)
    a, b = np.r_[300, 200, rare, 0 * rare], np.r_[310, 190, 0 * rare, rare]
    expected = stats.chi2_contingency([[300, 200, 500], [310, 190, 500]], correction=False)
    assert category_distances(a, b).p_value == pytest.approx(expected.pvalue)
    assert category_distances(rare, rare).p_value == 1.0


def sample(n: int, rng: np.random.Generator, shift: float = 0.0) -> dict[str, Any]:
    frame: dict[str, Any] = {f"x{i}": rng.normal(size=n) for i in range(9)}
    frame |= {f"c{i}": rng.choice(["a", "b", "c"], n) for i in range(4)}
    frame["x0"] = frame["x0"] + shift
    return frame


def test_a_shift_of_half_a_standard_deviation_is_found_and_nothing_else() -> None:
    """100 repetitions: x0 always found; any of the 12 others told in at most 5% of them (Holm), give or take."""
    rng = np.random.default_rng(7)
    missed = false = 0
    for _ in range(100):
        one, two = sample(500, rng), sample(500, rng, 0.5)
        p = [
            numeric_distances(one[name], two[name]).p_value
            if name[0] == "x"
            else category_distances(*(np.unique(side[name], return_counts=True)[1] for side in (one, two))).p_value
            for name in one
        ]
        told = holm(p) < 0.05
        missed += not told[0]
        false += bool(told[1:].any())
    assert missed == 0
    assert false <= 10  # 5 expected at most; 10 or fewer with probability 0.99; 16 in 100 would be seen


def test_the_shifted_feature_is_told(rng: np.random.Generator) -> None:
    others = 0
    for _ in range(6):
        one, two = sample(800, rng), sample(800, rng, 0.5)
        result = drift(Dataset(one), Dataset(two), joint=False)
        rows = {row["variable"]: row for row in result.tables["variables"].rows()}
        assert rows["x0"]["drifted"]
        far = stats.wasserstein_distance(one["x0"], two["x0"]) / one["x0"].std()
        assert rows["x0"]["wasserstein_sd"] == pytest.approx(far)
        assert rows["x0"]["mean_current"] == pytest.approx(two["x0"].mean())
        assert result.findings[0].code == "drift.feature"
        others += sum(row["drifted"] for row in rows.values()) - 1
    assert others <= 2


def test_joint_drift_that_no_variable_shows_is_found(rng: np.random.Generator) -> None:
    x = rng.normal(size=(3000, 2))
    turned = np.column_stack([x[:, 0], 0.8 * x[:, 0] + 0.6 * x[:, 1]])
    before = Dataset({"a": x[:1500, 0], "b": x[:1500, 1]})
    after = Dataset({"a": turned[1500:, 0], "b": turned[1500:, 1]})
    result = drift(before, after)
    assert not any(row["drifted"] for row in result.tables["variables"].rows())
    assert [finding.code for finding in result.findings] == ["drift.joint"]
    assert result.values["auc"].low > 0.6
    assert result.values["dataset_drift"]
    calm = drift(before, Dataset({"a": x[1500:, 0], "b": x[1500:, 1]}))
    assert calm.values["auc"].low < 0.5
    assert not calm.findings


def test_target_predictions_and_groups_are_compared(rng: np.random.Generator) -> None:
    def people(n: int, share: float) -> Dataset:
        sex = np.where(rng.random(n) < share, "F", "M")
        y = (rng.random(n) < np.where(sex == "F", 0.2, 0.6)).astype(int)
        return Dataset(
            {"sex": sex, "x": rng.normal(size=n), "y": y, "p": np.clip(y * 0.6 + rng.random(n) * 0.4, 0, 1)},
            target="y",
            protected=["sex"],
            score="p",
        )

    result = drift(people(2000, 0.5), people(2000, 0.2), joint=False)
    rows = {(str(row["role"]), row["variable"]): row for row in result.tables["variables"].rows()}
    assert rows["group", "sex"]["drifted"]
    assert rows["target", "y"]["drifted"]
    assert rows["prediction", "prediction"]["drifted"]
    assert not rows["feature", "x"]["drifted"]
    groups = {row["group"]: row for row in result.tables["groups"].rows()}
    assert groups["F"]["difference"] == pytest.approx(-0.3, abs=0.05)
    assert groups["F"]["n_reference"] + groups["M"]["n_reference"] == 2000


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_other_tasks(make_broken: Any, task: str) -> None:
    result = drift(make_broken(n=800, task=task), make_broken(n=800, task=task), joint=False)
    assert {str(row["role"]) for row in result.tables["variables"].rows()} == {"feature", "target", "prediction"}
    assert not result.findings


def test_a_model_is_asked_about_both(rng: np.random.Generator) -> None:
    before = Dataset({"x": rng.normal(size=400), "y": rng.normal(size=400)}, target="y")
    after = Dataset({"x": rng.normal(size=400) + 3, "y": rng.normal(size=400)}, target="y")
    result = drift(before, after, lambda frame: np.asarray(frame["x"]) * 2.0, joint=False)
    rows = {str(row["role"]): row for row in result.tables["variables"].rows()}
    assert rows["prediction"]["drifted"]
    assert not rows["target"]["drifted"]


def test_missing_values_drift_too(rng: np.random.Generator) -> None:
    x = rng.normal(size=1000)
    after = Dataset({"x": np.where(rng.random(1000) < 0.2, np.nan, rng.normal(size=1000))})
    row = next(drift(Dataset({"x": x}), after, joint=False).tables["variables"].rows())
    assert row["drifted"]
    assert row["missing_current"] == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_column_without_numbers_is_compared_by_how_often_it_has_none(value: float, rng: np.random.Generator) -> None:
    frame = {"x": rng.normal(size=400), "z": rng.normal(size=400)}
    none = {**frame, "x": np.full(400, value)}
    gone = {row["variable"]: row for row in drift(Dataset(frame), Dataset(none)).tables["variables"].rows()}
    assert gone["x"]["drifted"]
    assert (gone["x"]["missing_reference"], gone["x"]["missing_current"]) == (0.0, 1.0)
    assert not gone["z"]["drifted"]
    never = drift(Dataset(none), Dataset(none))
    assert not any(row["drifted"] for row in never.tables["variables"].rows())
    alone = drift(Dataset({"x": none["x"]}), Dataset({"x": none["x"]}))
    assert str(alone.values["auc"].note) == "no column has a finite number"


def test_infinite_numbers_count_as_missing(rng: np.random.Generator) -> None:
    x = rng.normal(size=500)
    some = np.where(np.arange(500) < 100, np.where(np.arange(500) % 2, np.inf, -np.inf), x)
    row = next(drift(Dataset({"x": x}), Dataset({"x": some}), joint=False).tables["variables"].rows())
    same = next(drift(Dataset({"x": x}), Dataset({"x": x[100:]}), joint=False).tables["variables"].rows())
    assert row["drifted"]
    assert row["missing_current"] == 0.2
    assert row["wasserstein"] == same["wasserstein"]


def test_bad_input_is_named() -> None:
    before = Dataset({"x": [1.0, 2.0], "c": ["a", "b"]})
    with pytest.raises(DataError, match="`current` lacks columns that `reference` has: 'c'"):
        drift(before, Dataset({"x": [1.0, 2.0]}))
    with pytest.raises(DataError, match="'x' is numeric in `reference` and category in `current`"):
        drift(before, Dataset({"x": ["1", "2"], "c": ["a", "b"]}))
    with pytest.raises(SpecError, match="`adjust` must be one of"):
        drift(before, before, adjust="none")  # type: ignore[arg-type]
    assert drift(before, before).values["auc"].value is None  # too few rows to learn from


def test_constant_features_do_not_drift() -> None:
    data = Dataset({"x": np.ones(50), "c": ["a"] * 50})
    result = drift(data, data, joint=False)
    assert [row["p_value"] for row in result.tables["variables"].rows()] == [1.0, 1.0]
    assert next(result.tables["variables"].rows())["wasserstein_sd"] is None


def test_evidently_is_asked_for_when_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset({"x": [1.0, 2.0, 3.0]})
    monkeypatch.setitem(sys.modules, "evidently", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evidently>=0\.7'"):
        drift(data, data, joint=False, verify="evidently")


def test_evidently_is_shown_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its interface of 0.7: a report of metrics, run on current and reference, read as a mapping."""

    class Report:
        def __init__(self, metrics: list[Any]) -> None:
            self.metrics = metrics

        def run(self, current: Any, reference: Any) -> Any:
            values = [
                stats.ks_2samp(reference[m.column], current[m.column]).pvalue if m.method == "ks" else 1.0
                for m in self.metrics
            ]
            return SimpleNamespace(dict=lambda: {"metrics": [{"value": value} for value in values]})

    package, metrics = ModuleType("evidently"), ModuleType("evidently.metrics")
    package.Report = Report  # type: ignore[attr-defined]
    metrics.ValueDrift = lambda column, method: SimpleNamespace(column=column, method=method)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "evidently", package)
    monkeypatch.setitem(sys.modules, "evidently.metrics", metrics)
    before, after = (
        Dataset({"x": np.arange(50.0), "c": ["a"] * 50}),
        Dataset({"x": np.arange(50.0) + 40, "c": ["a"] * 50}),
    )
    table = drift(before, after, joint=False, verify="evidently").tables["evidently"]
    assert [row["p_second"] < 0.05 for row in table.rows()] == [True, False]


def test_the_level_reaches_the_interval_of_the_stability_index() -> None:
    rng = np.random.default_rng(0)
    reference = {"x": rng.normal(size=800), "c": rng.choice(["a", "b"], 800)}
    current = {"x": rng.normal(0.4, size=800), "c": rng.choice(["a", "b"], 800, p=[0.7, 0.3])}
    widths = []
    for level in (0.8, 0.99):
        column = drift(reference, current, level=level, joint=False).tables["variables"]["psi_beyond_noise"]
        widths.append([estimate.high - estimate.low for estimate in map(column.estimate, range(2))])
    assert (np.array(widths[1]) > np.array(widths[0])).all()


def test_numbers_too_large_for_a_mean_are_missing_with_the_reason() -> None:
    before = {"x": [1e308] * 5 + [0.0] * 3, "y": np.arange(8.0)}
    after = {"x": [1e308] * 3 + [0.0] * 5, "y": np.arange(8.0)}
    with np.errstate(over="ignore", invalid="ignore"):
        table = drift(before, after).tables["variables"]
    huge, plain = sorted(table.rows(), key=lambda row: row["variable"])
    assert huge["mean_reference"] is None
    assert huge["wasserstein_sd"] is None
    assert "too large" in str(huge["note"])
    assert plain["mean_reference"] == pytest.approx(3.5)
