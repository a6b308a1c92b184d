"""The copula keeps what it was fitted to, and conditional samples are what rejection sampling would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import isonomia as iso
from isonomia.data.synthetic import Copula, Schema, holds, read_conditions
from isonomia.data.synthetic.dependence import (
    hermite,
    latent_correlation,
    nearest_correlation,
    pairwise_correlation,
)
from isonomia.data.synthetic.marginals import Curve, Levels
from isonomia.data.synthetic.truncated import box_probability, draw_inside, sample_box

pd = pytest.importorskip("pandas")

INF = np.inf


@pytest.fixture(scope="module")
def mixed() -> Any:
    """Every kind of column, dependent on one another, with missing values."""
    rng = np.random.default_rng(5)
    n = 12_000
    z = rng.multivariate_normal(np.zeros(6), 0.5 * np.eye(6) + 0.5, n)
    frame = pd.DataFrame(
        {
            "pay": np.exp(8 + 0.5 * z[:, 0]),
            "gain": np.where(z[:, 1] < 0.5, 0.0, np.exp(z[:, 1] + 3)),
            "age": np.clip(np.rint(40 + 12 * z[:, 2]), 18, 90).astype(int),
            "member": z[:, 3] > 0.3,
            "school": np.array(["none", "high", "college"], dtype=object)[np.digitize(z[:, 4], [-0.6, 0.7])],
            "score": 10 + z[:, 5],
        }
    )
    frame.loc[rng.random(n) < 0.2, "score"] = np.nan
    frame.loc[rng.random(n) < 0.1, "school"] = None
    return frame


@pytest.fixture(scope="module")
def copula(mixed: Any) -> Copula:
    return Copula.fit(mixed, orders={"school": ["none", "high", "college"]})


def spearman(frame: Any) -> Any:
    return frame.corr(method="spearman")


def as_numbers(frame: Any, copula: Copula) -> Any:
    """Categories in the copula's order as numbers, so that ranks can be compared."""
    columns = {}
    for name, marginal in copula.marginals.items():
        if marginal.kind == "category":
            assert isinstance(marginal, Levels)
            place = {value: i for i, value in enumerate(marginal.values)}
            columns[name] = [place[None if value != value else value] for value in frame[name].tolist()]
        else:
            columns[name] = frame[name].astype(float)
    return pd.DataFrame(columns)


def variation(first: Any, second: Any) -> float:
    a, b = (column.astype(object).where(column.notna(), "?").value_counts(normalize=True) for column in (first, second))
    return float(a.subtract(b, fill_value=0).abs().sum() / 2)


def test_marginals_and_rank_correlations_of_the_source_are_kept(mixed: Any, copula: Copula) -> None:
    sample = copula.sample(40_000, seed=1)
    assert list(sample.columns) == list(mixed.columns)
    for name in ("pay", "score"):
        assert stats.ks_2samp(mixed[name].dropna(), sample[name].dropna()).statistic < 0.02
    assert abs((sample["gain"] == 0).mean() - (mixed["gain"] == 0).mean()) < 0.01
    for name in ("age", "member", "school"):
        assert variation(mixed[name], sample[name]) < 0.025
    assert sample["score"].isna().mean() == pytest.approx(mixed["score"].isna().mean(), abs=0.01)
    gap = spearman(as_numbers(mixed, copula)) - spearman(as_numbers(sample, copula))
    assert gap.abs().to_numpy().max() < 0.03


def test_kinds_are_kept(mixed: Any, copula: Copula) -> None:
    sample = copula.sample(50, seed=1)
    assert sample["age"].dtype.kind == "i"
    assert sample["member"].dtype == bool
    assert sample["age"].between(mixed["age"].min(), mixed["age"].max()).all()


@given(
    decimals=st.integers(0, 3),
    low=st.floats(-3, 3),
    width=st.floats(0.02, 2),
    seed=st.integers(0, 100),
    whole=st.booleans(),
)
def test_rounded_numbers_stay_rounded_and_inside(
    decimals: int, low: float, width: float, seed: int, whole: bool
) -> None:
    numbers = np.round(np.random.default_rng(0).normal(0, 5, 4000), decimals)
    curve = Curve.through("x", "integer" if decimals == 0 and whole else "numeric", numbers)
    assert curve.decimals == decimals
    copula = Copula({"x": curve}, {}, np.eye(1), "pandas")
    grid = np.round(np.arange(-4000, 6000) / 10**decimals, decimals)
    if not ((grid >= low) & (grid < low + width)).any():
        with pytest.raises(iso.DataError, match="support is empty"):
            copula.sample(5, given={"x": (low, low + width)})
        return
    drawn = copula.sample(50, seed=seed, given={"x": (low, low + width)})["x"].to_numpy()
    assert ((drawn >= low) & (drawn < low + width)).all()
    assert (np.round(drawn, decimals) == drawn).all()


def test_adult_is_kept(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "adult.csv.gz", na_values="?")
    columns = [name for name in frame.columns if name not in ("income", "education-num")]
    copula = Copula.fit(frame, columns=columns)
    sample = copula.sample(len(frame), seed=2)
    for name in columns:
        if copula.marginals[name].kind == "category":
            assert variation(frame[name], sample[name]) < 0.015, name
        else:
            assert stats.ks_2samp(frame[name], sample[name]).statistic < 0.015, name
    gap = (spearman(as_numbers(frame, copula)) - spearman(as_numbers(sample, copula))).abs().to_numpy()
    assert gap.max() < 0.04


@pytest.mark.parametrize("rho", [-0.8, -0.3, 0.0, 0.4, 0.9])
def test_rank_correlation_of_steps_against_rectangle_probabilities(rho: float) -> None:
    first = Levels("a", "category", (0, 1, 2), np.array([0.2, 0.5, 0.3]))
    second = Levels("b", "category", (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]))
    normal = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    cut = lambda edges: np.clip(edges, -8, 8)  # noqa: E731
    table = np.diff(
        np.diff([[normal.cdf([x, y]) for y in cut(second.edges)] for x in cut(first.edges)], axis=0), axis=1
    )
    g, h = first.cells()[1], second.cells()[1]
    expected = g @ table @ h - (first.shares @ g) * (second.shares @ h)
    expected /= np.sqrt((first.shares @ (g - 0.5) ** 2) * (second.shares @ (h - 0.5) ** 2))
    coefficients = hermite([first.cells(), second.cells()])
    assert latent_correlation(coefficients, np.array([[1, expected], [expected, 1]]))[0, 1] == pytest.approx(
        rho, abs=1e-5
    )


def test_rank_correlation_of_curves_is_the_arcsine_law() -> None:
    curve = Curve.through("x", "numeric", np.linspace(0, 1, 5000))
    coefficients = hermite([curve.cells()] * 2)
    for rho in (-0.7, 0.2, 0.95):
        seen = 6 / np.pi * np.arcsin(rho / 2)
        got = latent_correlation(coefficients, np.array([[1, seen], [seen, 1]]))[0, 1]
        assert got == pytest.approx(rho, abs=1e-4)


def test_pairwise_correlation_is_that_of_pandas(mixed: Any) -> None:
    frame = mixed[["pay", "age", "score"]].iloc[:500].copy()
    frame.loc[::7, "pay"] = np.nan
    assert np.allclose(pairwise_correlation(frame.to_numpy(float)), frame.corr().to_numpy(), atol=1e-12)


def test_nearest_correlation_leaves_a_correlation_alone_and_mends_others(rng: np.random.Generator) -> None:
    good = np.corrcoef(rng.standard_normal((5, 100)))
    assert nearest_correlation(good) is good
    bad = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1.0]])
    mended = nearest_correlation(bad)
    assert np.linalg.eigvalsh(mended).min() > 0
    assert np.allclose(np.diag(mended), 1)
    assert np.allclose(np.abs(mended[np.triu_indices(3, 1)]), 0.5, atol=1e-3)  # by symmetry, the nearest one


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"), [(0, 1, -1, 0.5), (1, 2, 3, INF), (0, 1, -INF, -6), (5, 0.3, 0, 1)]
)
def test_truncated_draws_against_scipy(mean: float, sd: float, low: float, high: float) -> None:
    drawn, logs = draw_inside(
        np.full(4000, float(mean)), sd, (np.array([low]), np.array([high])), np.random.default_rng(1)
    )
    a, b = (low - mean) / sd, (high - mean) / sd
    assert stats.kstest(drawn, stats.truncnorm(a, b, mean, sd).cdf).pvalue > 1e-3
    mass = stats.norm.sf(a) - stats.norm.sf(b) if a > 0 else stats.norm.cdf(b) - stats.norm.cdf(a)
    assert np.exp(logs[0]) == pytest.approx(mass, rel=1e-8)


def test_draws_beyond_what_doubles_can_tell_stay_inside() -> None:
    regions = (np.array([50.0, 70.0]), np.array([60.0, INF]))
    drawn, logs = draw_inside(np.zeros(10), 1.0, regions, np.random.default_rng(0))
    assert ((drawn > 50) & (drawn < 50.001)).all()
    assert np.isfinite(logs).all()
    assert (logs < -1000).all()


def test_a_union_is_drawn_in_proportion() -> None:
    regions = (np.array([-INF, 1.0]), np.array([-1.0, INF]))
    drawn, _ = draw_inside(np.zeros(20_000), 1.0, regions, np.random.default_rng(0))
    assert (np.abs(drawn) >= 1).all()
    assert (drawn > 0).mean() == pytest.approx(0.5, abs=0.02)


def test_boxes_against_rejection() -> None:
    rng = np.random.default_rng(3)
    correlation = np.array([[1, 0.7, -0.4], [0.7, 1, 0.1], [-0.4, 0.1, 1.0]])
    boxes = [
        (np.array([0.5]), np.array([INF])),
        (np.array([-INF, 0.8]), np.array([-0.5, INF])),
        (np.array([-0.2]), np.array([1.0])),
    ]
    z = rng.multivariate_normal(np.zeros(3), correlation, 1_000_000)
    inside = np.all(
        [((z[:, [i]] > low) & (z[:, [i]] <= high)).any(axis=1) for i, (low, high) in enumerate(boxes)], axis=0
    )
    expected = z[inside]
    drawn = sample_box(correlation, boxes, 20_000, rng)
    assert box_probability(correlation, boxes, 20_000, rng) == pytest.approx(inside.mean(), rel=0.03)
    for i in range(3):
        assert stats.ks_2samp(drawn[:, i], expected[:, i]).pvalue > 1e-4
    assert np.allclose(np.corrcoef(drawn.T), np.corrcoef(expected.T), atol=0.03)


@pytest.fixture(scope="module")
def plain(copula: Copula) -> Any:
    return copula.sample(200_000, seed=5)


CONDITIONS = [
    {"school": "college"},
    {"school": ["none", "college"], "member": True},
    {"age": (30, 45), "school": "high"},
    {"pay": (4000, None), "age": (None, 35), "member": False},
    {"score": (9.5, 11), "gain": 0.0},
    {"school": None, "member": True},
    {"score": None, "age": [40, 41, 42]},
]


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
def test_conditional_samples_hold_exactly_and_agree_with_rejection(
    conditions: dict[str, Any], copula: Copula, plain: Any
) -> None:
    wanted = read_conditions(conditions)
    sample = copula.sample(6000, seed=4, given=conditions)
    assert holds(wanted, sample).all()
    kept = plain[holds(wanted, plain)]
    assert copula.probability(conditions) == pytest.approx(len(kept) / len(plain), rel=0.06)
    a, b = as_numbers(sample, copula), as_numbers(kept, copula)
    for name in a.columns:
        if a[name].notna().any():
            assert stats.ks_2samp(a[name].dropna(), b[name].dropna()).statistic < 0.05, name
    varied = [name for name in a.columns if a[name].nunique() > 1]
    gap = (spearman(a[varied]) - spearman(b[varied])).abs().to_numpy()
    assert np.nanmax(gap) < 0.08


@given(
    low=st.integers(18, 80),
    width=st.integers(1, 40),
    schools=st.sets(st.sampled_from(["none", "high", "college"]), min_size=1),
    n=st.integers(1, 60),
    seed=st.integers(0, 1000),
)
def test_any_possible_condition_is_honoured(low: int, width: int, schools: set[str], n: int, seed: int) -> None:
    copula = _small()
    conditions = {"age": (low, low + width), "school": sorted(schools), "pay": (0.5 * low, 200.0)}
    sample = copula.sample(n, seed=seed, given=conditions)
    assert len(sample) == n
    assert sample["age"].between(low, low + width - 1).all()
    assert set(sample["school"]) <= schools
    assert (sample["pay"] >= 0.5 * low).all()
    assert (sample["pay"] < 200).all()


_SMALL: list[Copula] = []


def _small() -> Copula:
    if not _SMALL:
        schema = Schema(
            {
                "age": {"uniform": {"low": 18, "high": 90, "whole": True}},
                "school": {"categories": {"none": 0.3, "high": 0.4, "college": 0.3}},
                "pay": {"lognormal": {"median": 40, "sigma": 0.8}},
            },
            correlation=[("age", "pay", 0.5), ("school", "pay", 0.8)],
        )
        _SMALL.append(Copula.from_schema(schema, rows=20_000))
    return _SMALL[0]


def test_a_schema_gives_what_it_asks_for() -> None:
    schema = Schema(
        {
            "sex": {"categories": {"F": 0.45, "M": 0.55}},
            "age": {"normal": {"mean": 40, "sd": 12, "low": 18, "high": 80, "whole": True}},
            "pay": {"lognormal": {"median": 3000, "sigma": 0.5}, "missing": 0.1},
            "visits": {"categories": {0: 0.7, 1: 0.2, 2: 0.1}},
        },
        correlation={("sex", "pay"): 0.3, ("age", "pay"): 0.5, ("age", "visits"): -0.4},
    )
    copula = Copula.from_schema(schema, seed=1)
    assert np.allclose(copula.correlation[:4, :4], schema.matrix(), atol=0.02)
    sample = copula.sample(20_000, seed=2)
    assert (sample["sex"] == "F").mean() == pytest.approx(0.45, abs=0.015)
    assert np.nanmedian(sample["pay"]) == pytest.approx(3000, rel=0.03)
    assert sample["pay"].isna().mean() == pytest.approx(0.1, abs=0.01)
    truncated = stats.truncnorm((18 - 40) / 12, (80 - 40) / 12, 40, 12)
    assert sample["age"].mean() == pytest.approx(truncated.mean(), abs=0.3)
    assert sample["visits"].dtype.kind == "i"


def test_density_of_normal_columns_is_that_of_the_normal() -> None:
    rng = np.random.default_rng(0)
    covariance = [[1, 0.6], [0.6, 2]]
    rows = rng.multivariate_normal([1, -1], covariance, 60_000)
    copula = Copula.fit({"x": rows[:, 0], "y": rows[:, 1]})
    probe = rng.multivariate_normal([1, -1], covariance, 500)
    got = copula.log_density({"x": probe[:, 0], "y": probe[:, 1]})
    expected = stats.multivariate_normal([1, -1], covariance).logpdf(probe)
    finite = np.isfinite(got)
    assert finite.mean() > 0.99
    assert np.median(np.abs(got - expected)[finite]) < 0.1
    assert np.corrcoef(got[finite], expected[finite])[0, 1] > 0.97


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_density_of_levels_is_the_probability_of_a_rectangle(rho: float) -> None:
    a = Levels("a", "category", ("x", "y"), np.array([0.9, 0.1]))
    b = Levels("b", "category", ("p", "q", "r"), np.array([0.05, 0.15, 0.8]))
    copula = Copula({"a": a, "b": b}, {}, np.array([[1, rho], [rho, 1]]), "pandas")
    rows = pd.DataFrame([(x, y) for x in a.values for y in b.values], columns=["a", "b"])
    normal = stats.multivariate_normal([0, 0], copula.correlation)
    corners = [[normal.cdf([x, y]) for y in np.clip(b.edges, -8, 8)] for x in np.clip(a.edges, -8, 8)]
    expected = np.diff(np.diff(corners, axis=0), axis=1).ravel()
    got = np.exp(copula.log_density(rows, draws=20_000))
    assert got.sum() == pytest.approx(1, abs=0.01)
    assert np.allclose(got, expected, rtol=0.05, atol=1e-4)


def test_density_of_levels_follows_their_probability(rng: np.random.Generator) -> None:
    copula = _small()
    frame = copula.sample(4000, seed=3)
    assert np.isfinite(copula.log_density(frame)).all()
    table = pd.DataFrame(
        {"age": frame["age"], "school": rng.permutation(frame["school"].tolist()), "pay": frame["pay"]}
    )
    assert copula.log_density(frame).mean() > copula.log_density(table).mean() + 0.3
    strange = frame.iloc[:2].assign(school=["none", "martian"])
    assert np.isneginf(copula.log_density(strange)).tolist() == [False, True]


def test_missing_numbers_have_a_density(mixed: Any, copula: Copula) -> None:
    logs = copula.log_density(mixed.iloc[:2000])
    assert np.isfinite(logs).mean() > 0.99


def test_latent_points_become_valid_rows_and_back(copula: Copula) -> None:
    z = np.random.default_rng(1).standard_normal((300, copula.correlation.shape[0])) * 3
    frame = copula.from_latent(z)
    again = copula.to_latent(frame)
    assert np.isnan(again[:, 5]).sum() == frame["score"].isna().sum()
    assert set(frame["school"].dropna()) <= {"none", "high", "college"}
    assert np.nanmin(np.where(np.abs(z[:, 0]) < 2, again[:, 0] - z[:, 0], 0)) > -0.05


def test_the_same_seed_gives_the_same_rows(copula: Copula) -> None:
    pd.testing.assert_frame_equal(copula.sample(100, seed=9), copula.sample(100, seed=9))
    assert not copula.sample(100, seed=9).equals(copula.sample(100, seed=10))
    conditions = {"school": "high", "age": (30, 40)}
    pd.testing.assert_frame_equal(
        copula.sample(100, seed=9, given=conditions), copula.sample(100, seed=9, given=conditions)
    )


def test_any_kind_of_frame(frame_kind: Any) -> None:
    columns = {"sex": ["F", "M", "F", None] * 25, "age": list(range(100)), "pay": [1.5, 2.5, 3.0, 7.25] * 25}
    copula = Copula.fit(frame_kind(columns))
    sample = copula.sample(30, seed=0, given={"sex": "F", "age": (10, 20)})
    assert holds([], sample).size == 30
    assert np.isfinite(copula.log_density(frame_kind(columns))).all()


def test_missing_values_of_nullable_booleans_are_missing():
    smoker = pd.array([True, False, None, True] * 25, dtype="boolean")
    copula = Copula.fit(pd.DataFrame({"smoker": smoker, "age": range(100)}))
    assert copula.marginals["smoker"].values == (False, True, None)
    assert np.isfinite(copula.log_density(pd.DataFrame({"smoker": smoker, "age": range(100)}))).all()
