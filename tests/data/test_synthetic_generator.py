"""What was injected can be measured; nothing injected measures as nothing; the ground truth tells the rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

import isonomia as iso
from isonomia import Event
from isonomia.data.synthetic import ANNOTATIONS, Copula, GroundTruth, Outcome, Schema, credit, generate
from isonomia.data.synthetic.pairs import choices

pd = pytest.importorskip("pandas")

SCHEMA = Schema(
    {
        "sex": {"categories": {"F": 0.5, "M": 0.5}},
        "race": {"categories": {"A": 0.2, "B": 0.3, "C": 0.5}},
        "age": {"normal": {"mean": 40, "sd": 12, "low": 18, "high": 80, "whole": True}},
        "pay": {"normal": {"mean": 3, "sd": 1}},
        "debt": {"uniform": {"low": 0, "high": 1}},
        "owner": {"categories": {False: 0.4, True: 0.6}},
        "school": {"categories": {"none": 0.3, "high": 0.4, "college": 0.3}},
    },
    correlation=[("sex", "pay", 0.3), ("race", "pay", 0.2), ("age", "owner", 0.4), ("school", "pay", 0.5)],
    protected={"sex": None, "race": None, "age": [30, 60]},
    privileged={"sex": "M", "race": "C"},
)


@pytest.fixture(scope="module")
def copula() -> Copula:
    return Copula.from_schema(SCHEMA, seed=0, rows=20_000)


def make(copula: Copula, **options: Any) -> Any:
    return generate(copula, protected=SCHEMA.protected, privileged=SCHEMA.privileged, **options)


def design(frame: Any, truth: GroundTruth) -> np.ndarray[Any, Any]:
    """An intercept, the legitimate columns, and an indicator for each biased subgroup from its conditions alone."""
    columns = [np.ones(len(frame)), frame["pay"], frame["debt"], frame["owner"].astype(float)]
    columns += [(frame["school"] == level).astype(float) for level in ("high", "college")]
    columns += [subgroup.matches(frame).astype(float) for subgroup in truth.biased]
    return np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)


def least_squares(x: Any, y: Any) -> tuple[Any, Any]:
    coefficients, *_ = np.linalg.lstsq(x, y, rcond=None)
    residual = y - x @ coefficients
    inverse = np.linalg.inv(x.T @ x)
    # the noise differs from row to row (epistemic): sandwich errors
    return coefficients, np.sqrt(np.diag(inverse @ (x.T * residual**2) @ x @ inverse))


def logistic(x: Any, y: Any) -> tuple[Any, Any]:
    def loss(w: Any) -> tuple[float, Any]:
        p = special.expit(x @ w)
        return float(-(special.log_expit(np.where(y, 1, -1) * (x @ w))).sum()), x.T @ (p - y)

    found = optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-3})
    p = special.expit(x @ found.x)
    return found.x, np.sqrt(np.diag(np.linalg.inv((x.T * (p * (1 - p))) @ x)))


BIASES = [
    {"a": {"sex": "F", "race": "A"}, "b": {"sex": "M", "race": "C"}, "bias": -1.2},
    {"a": {"age": (60, None)}, "b": {"age": (30, 60)}, "bias": 0.7},
    {
        "a": {"sex": "F", "school": "none", "debt": (0.5, None)},
        "b": {"sex": "M", "school": "none"},
        "bias": [-0.8, 0.4],
    },
]


@pytest.mark.parametrize("seed", [1, 2])
def test_bias_is_recovered_from_the_score_within_its_interval(copula: Copula, seed: int) -> None:
    made = make(copula, pairs=BIASES, n_samples=400, n_background=8000, outcome="regression", seed=seed)
    x, frame = design(made.frame, made.truth), made.frame
    found, errors = least_squares(x, frame["outcome"].to_numpy())
    k = len(made.truth.biased)
    assert k == 4
    expected = np.array([subgroup.bias for subgroup in made.truth.biased])
    assert (np.abs(found[-k:] - expected) < 4 * errors[-k:]).all()
    assert errors[-k:].max() < 0.05


def test_bias_is_recovered_from_labels_alone(copula: Copula) -> None:
    made = make(copula, pairs=BIASES, n_samples=1500, n_background=15_000, aleatoric=0.0, epistemic=0.0, seed=4)
    found, errors = logistic(design(made.frame, made.truth), made.frame["outcome"].to_numpy())
    expected = np.array([subgroup.bias for subgroup in made.truth.biased])
    assert (np.abs(found[-4:] - expected) < 4 * errors[-4:]).all()
    assert (np.abs(expected) > 3 * errors[-4:]).all(), "strong enough to be seen"


@pytest.mark.parametrize("outcome", ["binary", "regression"])
def test_no_bias_measures_as_none(copula: Copula, outcome: Any) -> None:
    pairs = [{**pair, "bias": 0.0} for pair in BIASES]
    made = make(copula, pairs=pairs, n_samples=1000, n_background=8000, outcome=outcome, epistemic=0.0, seed=7)
    assert made.truth.biased == ()
    assert (made.frame["_bias"] == 0).all()
    x = design(made.frame, made.truth)
    x = np.column_stack([x, *(subgroup.matches(made.frame) for subgroup in made.truth.subgroups[::2])]).astype(float)
    found, errors = (least_squares if outcome == "regression" else logistic)(x, made.frame["outcome"].to_numpy())
    assert (np.abs(found[-3:]) < 4 * errors[-3:]).all()


def test_the_gap_to_the_partner_is_the_bias_once_columns_are_adjusted_for(copula: Copula) -> None:
    made = make(
        copula, n_pairs=6, n_samples=800, n_background=8000, bias=-1.5, applies="members", outcome="regression", seed=11
    )
    frame = made.frame
    x, y = design(frame, GroundTruth((), 0)), frame["outcome"].to_numpy()
    plain = (frame["_subgroup"] == "background").to_numpy()
    residual = y - x @ least_squares(x[plain], y[plain])[0]
    for subgroup in made.truth.biased:
        own, other = residual[subgroup.rows], residual[made.truth.partner(subgroup.id).rows]
        interval = stats.ttest_ind(own, other, equal_var=False).confidence_interval(0.9999)
        assert interval.low < -1.5 < interval.high
        assert interval.high - interval.low < 0.3


def test_annotations_are_right_and_never_features(copula: Copula) -> None:
    made = make(copula, pairs=BIASES, n_samples=300, n_background=1000, seed=3)
    frame, data = made.frame, made.dataset
    assert set(ANNOTATIONS) <= set(frame.columns)
    assert data.features == copula.columns
    assert data.protected == ("sex", "race", "age")
    assert data.privileged == {"sex": ("M",), "race": ("C",)}
    assert data.positive == 1
    total = np.zeros(len(frame))
    for subgroup in made.truth.subgroups:
        matches = subgroup.matches(frame)
        assert np.array_equal(np.flatnonzero(matches), subgroup.rows)
        assert matches[subgroup.members].all()
        assert (frame["_subgroup"].iloc[subgroup.members] == subgroup.id).all()
        assert len(subgroup.members) == 300
        total += subgroup.bias * matches
    assert np.allclose(frame["_bias"], total)
    assert (frame["_subgroup"] == "background").sum() == 1000
    assert frame["_probability"].between(0, 1).all()
    assert np.ptp(frame["_score"] - special.logit(frame["_probability"])) < 1e-6


def test_uncertainty_is_in_the_data_as_annotated(copula: Copula) -> None:
    options = {"n_pairs": 2, "n_samples": 500, "n_background": 20_000, "outcome": "regression", "seed": 5, "bias": 0.0}
    quiet = make(copula, aleatoric=0.0, epistemic=0.0, **options)
    loud = make(copula, aleatoric=0.8, epistemic=0.0, **options)
    doubtful = make(copula, aleatoric=0.0, epistemic=0.5, **options)
    assert (quiet.frame["_epistemic"] == 0).all()
    noise = loud.frame["outcome"] - quiet.frame["outcome"]
    assert noise.std() == pytest.approx(0.8, rel=0.02)
    spread = (doubtful.frame["outcome"] - quiet.frame["outcome"]) / doubtful.frame["_epistemic"]
    assert spread.std() == pytest.approx(1.0, rel=0.03)
    assert abs(spread.mean()) < 0.03


def test_epistemic_is_the_deviation_over_the_ensemble(copula: Copula) -> None:
    from isonomia.data.synthetic.outcome import Scorer

    rng = np.random.default_rng(0)
    scorer = Scorer.make(copula, Outcome(), ("sex", "race", "age"), rng)
    x = scorer.design(copula.draw(50, rng))
    _, deviation = scorer.score(x, np.full(50, 0.3), rng)
    by_member = x @ (scorer.weights + 0.3 * scorer.deltas).T
    assert np.allclose(deviation, by_member.std(axis=1))
    assert np.allclose(by_member.mean(axis=1), x @ scorer.weights)


def test_outcomes_of_every_task(copula: Copula) -> None:
    ordered = make(
        copula,
        n_pairs=1,
        n_background=6000,
        bias=0.0,
        outcome=Outcome("multiclass", labels=("low", "mid", "high", "top")),
    )
    assert ordered.dataset.task == "multiclass"
    shares = ordered.frame["outcome"].value_counts(normalize=True)
    assert set(shares.index) == {"low", "mid", "high", "top"}
    assert shares.between(0.2, 0.3).all()
    score = ordered.frame.groupby("outcome")["_score"].mean()
    assert score["low"] < score["mid"] < score["high"] < score["top"]
    wanted = make(copula, n_pairs=1, n_background=6000, bias=0.0, outcome=Outcome(rate=0.2))
    assert wanted.frame["outcome"].mean() == pytest.approx(0.2, abs=0.03)
    sharp = make(copula, n_pairs=1, n_background=500, outcome=Outcome(decision="threshold", labels=("no", "yes")))
    assert ((sharp.frame["_probability"] > 0.5) == (sharp.frame["outcome"] == "yes")).all()
    assert sharp.dataset.positive == "yes"
    assert make(copula, n_pairs=1, outcome="regression").dataset.task == "regression"


def test_pairs_are_as_asked_for(copula: Copula) -> None:
    made = make(copula, n_pairs=12, n_samples=5, n_background=10, intersectionality=2, granularity=2, similarity=0.5)
    protected = set(made.dataset.protected)
    seen = set()
    for subgroup in made.truth.subgroups[::2]:
        partner = made.truth.partner(subgroup.id)
        a, b = ({c.column: c for c in side.conditions} for side in (subgroup, partner))
        assert len(a) == 4
        assert len(protected & set(a)) == 2
        assert set(a) == set(b)
        assert any(a[name] != b[name] for name in protected & set(a))
        assert subgroup.similarity == 0.5 == sum(a[name] == b[name] for name in a) / 4
        assert subgroup.share > 0
        seen.add(frozenset(subgroup.conditions))
    assert len(seen) == 12
    assert not seen & {frozenset(subgroup.conditions) for subgroup in made.truth.subgroups[1::2]}
    alike = make(copula, n_pairs=3, n_samples=5, intersectionality=1, granularity=2, similarity=1.0)
    assert all(subgroup.similarity == pytest.approx(2 / 3) for subgroup in alike.truth.subgroups)
    other = make(copula, n_pairs=3, n_samples=5, intersectionality=2, granularity=1, similarity=0.0)
    assert all(subgroup.similarity == 0 for subgroup in other.truth.subgroups)


def test_columns_with_decimals_are_sources_as_well() -> None:
    """Quartiles leave the first and the last band open; few columns give as many pairs as there can be."""
    for seed in range(5):
        draw = np.random.default_rng(seed)
        frame = pd.DataFrame({"sex": draw.choice(["F", "M"], 1000), "debt": draw.random(1000).round(3)})
        frame["y"] = draw.choice(["no", "yes"], 1000)
        data = iso.Dataset(frame, target="y", positive="yes", protected=["sex"])
        made = iso.synth(data, seed=seed, n_background=500, n_samples=50)
        assert 1 <= len(made.truth.biased) < 10
        assert made.frame["debt"].between(frame["debt"].min(), frame["debt"].max()).all()
        with pytest.raises(iso.SpecError, match="of 10 distinct subgroup pairs"):
            iso.synth(data, seed=seed, n_pairs=10, n_background=500)


def test_sizes_and_biases_by_pair(copula: Copula) -> None:
    made = make(copula, n_pairs=3, n_samples=[10, 20, 30], bias=[-1, (-0.5, 0.25), 0], n_background=0)
    assert [subgroup.members.size for subgroup in made.truth.subgroups] == [10, 10, 20, 20, 30, 30]
    assert [subgroup.bias for subgroup in made.truth.subgroups] == [-1, 0, -0.5, 0.25, 0, 0]
    ranged = make(copula, n_pairs=20, n_samples=(3, 9), bias={"low": -2.0, "high": -1.0}, n_background=0, granularity=2)
    sizes = {subgroup.members.size for subgroup in ranged.truth.subgroups}
    assert sizes <= set(range(3, 10))
    assert len(sizes) > 2
    assert all(-2 <= subgroup.bias <= -1 for subgroup in ranged.truth.biased)


def test_numbers_are_cut_into_bands_or_quartiles(copula: Copula) -> None:
    from isonomia.data import Bands

    assert [str(c) for c in choices(copula.marginals["age"], Bands((30, 60)))] == [
        "age < 30",
        "30 <= age < 60",
        "age >= 60",
    ]
    assert len(choices(copula.marginals["pay"])) == 4
    assert [str(c) for c in choices(copula.marginals["owner"])] == ["owner = False", "owner = True"]


def test_the_same_seed_gives_the_same_data(copula: Copula) -> None:
    first, again, other = (make(copula, n_pairs=2, n_samples=50, n_background=100, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first.frame, again.frame)
    assert first.truth.to_dict() == again.truth.to_dict()
    assert first.dataset.fingerprint != other.dataset.fingerprint


def test_the_truth_survives_json(copula: Copula) -> None:
    made = make(copula, pairs=BIASES, n_samples=20, n_background=50)
    again = GroundTruth.from_dict(json.loads(made.truth.to_json()))
    assert again.to_dict() == made.truth.to_dict()
    assert np.array_equal(again.matches(made.frame, "P01A"), made.truth["P01A"].matches(made.frame))
    table = made.truth.table("polars")
    assert table["id"].to_list() == ["P01A", "P01B", "P02A", "P02B", "P03A", "P03B"]


def test_progress_is_reported(copula: Copula) -> None:
    events: list[Event] = []
    make(copula, n_pairs=2, n_samples=5, n_background=5, progress=events.append)
    assert (events[-1].path, events[-1].done, events[-1].total) == (("populate",), 5, 5)


def test_a_dataset_is_its_own_source() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 2000),
            "x": rng.normal(size=2000),
            "hired": rng.choice(["no", "yes"], 2000, p=[0.7, 0.3]),
        }
    )
    data = iso.Dataset(frame, target="hired", positive="yes", protected=["sex"], privileged={"sex": "M"}, name="jobs")
    made = iso.synth(data, n_pairs=1, n_samples=20, n_background=3000, bias=0.0)
    assert repr(made.dataset) == "Dataset(3040 rows, binary target 'hired' (positive: 'yes'), protected: sex)"
    assert made.dataset.name == "jobs"
    assert (made.frame["hired"] == "yes").mean() == pytest.approx(0.3, abs=0.04)
    blind = iso.synth(data.with_roles(features=["x"]), n_pairs=1, n_samples=20, n_background=30)
    assert blind.dataset.features == ("x",)
    assert set(blind.frame["sex"]) == {"F", "M"}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_kind_given(backend: str) -> None:
    from isonomia.data import to_frame

    source = to_frame({"sex": ["F", "M"] * 50, "age": list(range(100)), "on": [True, False, True, True] * 25}, backend)
    made = generate(source, protected=["sex"], n_pairs=1, n_samples=10, n_background=20)
    assert type(made.frame).__module__.split(".")[0] == backend
    assert made.truth["P01A"].matches(made.frame).sum() >= 10


def test_the_credit_data_reads_well_and_shows_its_biases() -> None:
    made = credit(12_000, seed=1)
    frame = made.frame
    assert len(made.dataset.features) == 13
    assert len(frame) == 12_000
    assert (frame["age"] >= 18).all()
    assert frame["late_payments"].isin(range(5)).all()
    assert (frame["income"] == frame["income"].round()).all()
    assert (frame["debt_ratio"] == frame["debt_ratio"].round(3)).all()
    granted = frame["decision"] == "granted"
    assert 0.45 < granted.mean() < 0.7
    for subgroup in made.truth.biased:
        inside, partner = granted.iloc[subgroup.rows], granted.iloc[made.truth.partner(subgroup.id).rows]
        assert len(inside) > 400
        assert inside.mean() < partner.mean() - 0.12
        assert stats.fisher_exact([[inside.sum(), (~inside).sum()], [partner.sum(), (~partner).sum()]]).pvalue < 1e-8
    fair = credit(4000, seed=1, bias=0.0)
    assert fair.truth.biased == ()
