"""Weights in the measures of people and data: a row of weight 3 is a row that is there three times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import isonomia as iso
from isonomia import fairness
from isonomia.counting import Codes
from isonomia.fairness.labels import attribute_prediction
from isonomia.fairness.labels import mutual_information as mi
from isonomia.fairness.people.encoding import Points
from isonomia.fairness.people.neighbours import nearest

TASKS = ("binary", "multiclass", "regression")


def people(n: int, task: str, seed: int, low: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y: Any = {
        "binary": rng.choice(["no", "yes"], n),
        "multiclass": rng.choice(list("xyz"), n),
        "regression": rng.integers(0, 9, n) / 4,
    }[task]
    return pd.DataFrame(
        {
            "sex": rng.choice(list("FM"), n),
            "race": rng.choice(list("abc"), n),
            "job": rng.choice(list("pqr"), n),
            "level": rng.integers(0, 3, n),
            "y": y,
            "w": rng.integers(low, 4, n),
        }
    )


def as_data(frame: pd.DataFrame, task: str, **roles: Any) -> iso.Dataset:
    positive = {"positive": "yes"} if task == "binary" else {}
    features = ["sex", "race", "job", "level"]
    privileged = {"sex": "M", "race": "a"}
    return iso.Dataset(
        frame,
        target="y",
        task=task,
        protected=list(privileged),
        privileged=privileged,
        features=features,
        **positive,
        **roles,
    )


def repeated(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.loc[frame.index.repeat(frame["w"])].reset_index(drop=True)


def values_of(table: Any, *names: str) -> np.ndarray[Any, Any]:
    return np.array([[np.nan if row[name] is None else row[name] for name in names] for row in table.rows()], float)


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000))
def test_duplicates_are_weighted_by_repeating_rows(task: str, seed: int) -> None:
    frame = people(150, task, seed)
    weighted, plain = (
        fairness.duplicates(as_data(frame, task, weight="w")),
        fairness.duplicates(as_data(repeated(frame), task)),
    )
    # repeating a row makes it its own equal, but not one of another label
    assert weighted.in_conflict.value == pytest.approx(plain.in_conflict.value)
    assert weighted.values["sets_in_conflict"] == plain.values["sets_in_conflict"]
    names = ("own", "others", "difference")
    left, right = weighted.tables["by_group"], plain.tables["by_group"]
    assert list(left["group"].values) == list(right["group"].values)
    np.testing.assert_allclose(values_of(left, *names), values_of(right, *names), atol=1e-12)
    scaled = fairness.duplicates(as_data(frame.assign(w=frame["w"] * 8), task, weight="w"))
    ends = ("difference_low", "difference_high", "p_value")
    np.testing.assert_allclose(values_of(scaled.tables["by_group"], *ends), values_of(left, *ends), atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_equals_of_other_groups_by_hand(task: str) -> None:
    frame = people(120, task, 3, low=1)
    table = fairness.duplicates(as_data(frame, task, weight="w")).tables["by_group"]
    worth = frame["y"] if task == "regression" else (frame["y"] == {"binary": "yes", "multiclass": "y"}[task])
    row = next(row for row in table.rows() if row["group"] == "sex=F, race=b" and row.get("class", "y") == "y")
    own = (frame["sex"] == "F") & (frame["race"] == "b")
    sums = np.zeros(4)
    for _, part in frame.assign(own=own, v=worth.astype(float)).groupby(["job", "level"]):
        mine, rest = part[part["own"]], part[~part["own"]]
        if len(mine) and len(rest) and part["y"].nunique() > 1:
            a, b = (np.average(side["v"], weights=side["w"]) for side in (mine, rest))
            w = mine["w"].sum()
            spread = sum(float((side["w"] ** 2).sum() / side["w"].sum() ** 2) for side in (mine, rest))
            sums += [w, w * a, w * b, w**2 * part["v"].var() * spread]
    assert row["own"] == pytest.approx(sums[1] / sums[0])
    assert row["others"] == pytest.approx(sums[2] / sums[0])
    error = np.sqrt(sums[3]) / sums[0]
    assert row["difference_high"] - row["difference"] == pytest.approx(1.959964 * error, rel=1e-6)
    # chance within sets has exactly this spread
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(150):
        shuffled = frame.assign(y=frame.groupby(["job", "level"])["y"].transform(lambda part: rng.permutation(part)))
        found = fairness.duplicates(as_data(shuffled, task, weight="w"), by=[["sex", "race"]]).tables["by_group"]
        same = (r for r in found.rows() if r["group"] == "sex=F, race=b" and r.get("class", "y") == "y")
        drawn.append(next(same)["difference"])
    assert np.mean(drawn) == pytest.approx(0.0, abs=4 * error / np.sqrt(150))
    assert np.std(drawn) == pytest.approx(error, rel=0.15)  # known to 6%


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_information_is_weighted_by_repeating_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, a, y = (Codes.encode(rng.integers(0, k, 200)) for k in (3, 3, 2))
    w = rng.integers(1, 5, 200)
    often = np.repeat(np.arange(200), w)
    weighted = mi.table(s, a, y, w.astype(float))
    plain = mi.table(*(column.take(often) for column in (s, a, y)), None)
    np.testing.assert_allclose(weighted, plain)
    assert float(mi.information(8 * weighted)) == pytest.approx(float(mi.information(plain)))
    entropy = stats.entropy(plain.sum(axis=(1, 2)))
    parts = [stats.entropy(plain.sum(axis=axis).ravel()) for axis in (2, 1, ())]
    assert float(mi.information(plain)) == pytest.approx(parts[0] + parts[1] - parts[2] - entropy)


def test_permuted_information_is_that_of_shuffled_rows() -> None:
    rng = np.random.default_rng(1)
    s, a, y = (Codes.encode(rng.integers(0, k, 300)) for k in (2, 3, 2))
    for w in (None, rng.integers(1, 5, 300).astype(float)):
        drawn = np.concatenate([mi.permuted(s, a, y, w, np.random.default_rng(seed)) for seed in range(5)])
        slow = []
        for _ in range(1000):
            codes = a.codes.copy()
            for stratum in range(2):
                inside = np.flatnonzero(s.codes == stratum)
                codes[inside] = rng.permutation(codes[inside])
            slow.append(float(mi.information(mi.table(s, Codes("", codes, a.labels), y, w))))
        assert stats.ks_2samp(drawn, slow).pvalue > 0.001
    many = rng.random(300)
    few = mi.permuted(s, a, y, many, np.random.default_rng(0))
    assert few.mean() == pytest.approx(np.mean(slow), rel=0.3)


def test_the_spread_of_information_is_that_of_drawing_rows_anew() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([[[0.2, 0.05], [0.05, 0.1]], [[0.1, 0.1], [0.1, 0.3]]])
    drawn = [mi.information(rng.multinomial(2000, truth.ravel()).reshape(truth.shape)) for _ in range(2000)]
    assert mi.spread(truth * 2000, 2000) == pytest.approx(float(np.std(drawn)), rel=0.1)


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_label_bias_takes_weights(task: str, seed: int) -> None:
    frame = people(160, task, seed, low=1)
    found = fairness.label_bias(as_data(frame, task, weight="w"), given=["job"], by="all", n_boot=20)
    scaled = fairness.label_bias(
        as_data(frame.assign(w=frame["w"] * 4), task, weight="w"), given=["job"], by="all", n_boot=20
    )
    plain = fairness.label_bias(as_data(repeated(frame), task), given=["job"], by="all", n_boot=20)
    names = ("own", "similar", "difference", "difference_low", "difference_high", "disagreement", "p_value")
    np.testing.assert_allclose(
        values_of(found.tables["neighbours"], *names), values_of(scaled.tables["neighbours"], *names), atol=1e-9
    )
    both = [values_of(result.tables["neighbours"], "own") for result in (found, plain)]
    np.testing.assert_allclose(both[0], both[1], atol=1e-12)
    rates = [values_of(result.tables["base_rates"], "difference") for result in (found, plain)]
    np.testing.assert_allclose(rates[0], rates[1], atol=1e-12)
    information = [values_of(result.tables["information"], "alone", "given", "p_value") for result in (found, scaled)]
    np.testing.assert_allclose(information[0], information[1], atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_labels_of_similar_people_by_hand(task: str) -> None:
    frame = people(90, task, 5, low=1)
    k = 7
    table = fairness.label_bias(as_data(frame, task, weight="w"), by="all", k=k, n_boot=20).tables["neighbours"]
    kinds: dict[Any, Any] = {None: frame["y"]} if task == "regression" else {None: frame["y"] == "yes"}
    if task == "multiclass":
        kinds = {name: frame["y"] == name for name in "xyz"}
    x = np.column_stack(
        [frame["level"] / frame["level"].std(ddof=0), pd.get_dummies(frame["job"]).to_numpy(float) * np.sqrt(0.5)]
    )
    w = frame["w"].to_numpy(float)
    groups = {"sex=F": frame["sex"] == "F", "sex=M, race=c": (frame["sex"] == "M") & (frame["race"] == "c")}
    for (name, own), (kind, values) in ((g, v) for g in groups.items() for v in kinds.items()):
        y, inside = values.to_numpy(float), own.to_numpy()
        gaps = []
        for i in np.flatnonzero(inside):
            d = np.sqrt(((x[~inside] - x[i]) ** 2).sum(axis=1)).round(9)
            edge = np.sort(d)[k - 1]
            places = np.where(d < edge, 1.0, np.where(d == edge, (k - (d < edge).sum()) / (d == edge).sum(), 0.0))
            gaps.append(y[i] - np.average(y[~inside], weights=places * w[~inside]))
        row = next(row for row in table.rows() if row["group"] == name and row.get("class") == kind)
        assert row["difference"] == pytest.approx(np.average(gaps, weights=w[inside]))
        assert row["disagreement"] == pytest.approx(np.average(np.abs(gaps), weights=w[inside]))


def test_neighbours_of_some_among_some_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, (200, 2)).astype(float)
    rows, pool = np.array([3, 9, 150, 3]), rng.random(200) < 0.5
    values = rng.random((200, 2))
    found = nearest(Points(x, (), 1), 6, rows=rows, pool=pool).mean(values)
    for place, row in enumerate(rows):
        d = np.abs(x[pool] - x[row]).sum(axis=1)
        edge = np.sort(d)[5]
        share = np.where(d < edge, 1.0, np.where(d == edge, (6 - (d < edge).sum()) / (d == edge).sum(), 0.0))
        np.testing.assert_allclose(found[place], np.average(values[pool], axis=0, weights=share), atol=1e-12)


def test_consistency_takes_weights_and_samples() -> None:
    rng = np.random.default_rng(0)
    x, said, w = rng.normal(size=(400, 2)), rng.integers(0, 2, 400), rng.integers(1, 4, 400).astype(float)
    found = fairness.consistency(x, said, weights=w)
    assert fairness.consistency(x, said, weights=4 * w).value.value == pytest.approx(found.value.value)
    # with everyone as neighbours a row is there as often as its weight says
    often = np.repeat(np.arange(400), w.astype(int))
    whole = fairness.consistency(x, said, weights=w, k=400).value.value
    assert whole == pytest.approx(fairness.consistency(x[often], said[often], k=often.size).value.value)
    some = fairness.consistency(x, said, weights=w, max_rows=100, seed=1)
    looked = ~np.isnan(some.rows)
    assert looked.sum() == some.value.n == 100
    np.testing.assert_allclose(some.rows[looked], found.rows[looked])
    assert some.value.low < found.value.value < some.value.high


def test_pairs_are_weighted() -> None:
    rng = np.random.default_rng(0)
    x, p, w = rng.random((40, 2)), rng.random(40), rng.integers(0, 4, 40)
    s = {"s": rng.choice(list("ab"), 40)}
    found = fairness.awareness(x, y_score=p, weights=w, sensitive_features=s, standardise="range")
    often = np.repeat(np.arange(40), w)
    plain = fairness.awareness(x[often], y_score=p[often], sensitive_features={"s": s["s"][often]}, standardise="range")
    # copies of a row are pairs that do not violate: as many violating pairs, among more
    pairs = (w.sum() ** 2 - (w**2).sum()) / 2
    n = w.sum()
    assert found.share.value * pairs == pytest.approx(plain.share.value * n * (n - 1) / 2)
    scaled = fairness.awareness(x, y_score=p, weights=5 * w, sensitive_features=s, standardise="range")
    assert (scaled.share.value, scaled.share.low) == pytest.approx((found.share.value, found.share.low))
    assert scaled.near.value == pytest.approx(found.near.value)
    across = found.values["across_groups"].value
    assert across == pytest.approx(plain.values["across_groups"].value)  # nobody is in two groups
    drawn = fairness.awareness(x, y_score=p, weights=w, max_pairs=700, k=2, seed=1, standardise="range").share
    assert drawn.low < found.share.value < drawn.high


def test_the_interval_of_pairs_covers_as_often_as_it_says() -> None:
    """Pairs share people: as many draws of people as it takes to see that the interval is neither narrow nor idle."""
    rng = np.random.default_rng(0)
    x, p = rng.random((1500, 2)), rng.random(1500) ** 2
    truth = fairness.awareness(x, y_score=p, unit=1.0, max_pairs=2_000_000).share.value
    hits = 0
    for _ in range(100):
        some = rng.choice(1500, 60)
        share = fairness.awareness(x[some] + 1e-9 * rng.random((60, 2)), y_score=p[some]).share
        hits += share.low <= truth <= share.high
    assert 85 <= hits <= 100


def test_what_is_told_is_weighted_by_repeating_rows() -> None:
    rng = np.random.default_rng(0)
    for k in (2, 3):
        y, w = rng.integers(0, k, 300), rng.integers(1, 4, 300)
        proba = rng.dirichlet(np.ones(k), 300) + 0.3 * np.eye(k)[y]
        proba = (proba / proba.sum(axis=1, keepdims=True)).round(2)
        often = np.repeat(np.arange(300), w)
        auc, right = attribute_prediction.judge(y, proba, w.astype(float), 0.95)
        exact = [roc_auc_score(y[often] == code, proba[often, code]) for code in range(k)]
        assert auc.value == pytest.approx(exact[1] if k == 2 else np.mean(exact))
        repeated_auc, repeated = attribute_prediction.judge(y[often], proba[often], None, 0.95)
        assert auc.value == pytest.approx(repeated_auc.value)
        said = proba.argmax(axis=1)
        assert right.value == pytest.approx(balanced_accuracy_score(y[often], said[often]))
        assert right.high - right.value > repeated.high - right.value


def test_proxies_take_weights_and_intersections() -> None:
    frame = people(600, "binary", 0, low=1)
    frame["height"] = 165 + 13 * (frame["sex"] == "M") + np.random.default_rng(0).normal(scale=6, size=600)
    roles = {"target": "y", "positive": "yes", "protected": ["sex", "race"], "weight": "w"}
    features = ["sex", "race", "job", "level", "height"]
    found = fairness.proxies(iso.Dataset(frame, features=features, **roles), folds=2, by="all")
    assert set(found.auc) == {"sex", "race", "sex x race"}
    assert found.auc["sex"].low > 0.8 > found.auc["race"].high
    scaled = fairness.proxies(iso.Dataset(frame.assign(w=4 * frame["w"]), features=features, **roles), folds=2)
    assert scaled.auc["sex"].value == pytest.approx(found.auc["sex"].value)
    counts = {row["attribute"]: row["values"] for row in found.tables["attributes"].rows()}
    assert counts == {"sex": 2, "race": 3, "sex x race": 6}
    information = {
        row["column"]: row["information"] for row in found.tables["columns"].rows() if row["attribute"] == "sex"
    }
    again = {row["column"]: row["information"] for row in scaled.tables["columns"].rows() if row["attribute"] == "sex"}
    assert information == pytest.approx(again)
    # weights that undo the difference: nothing is told any more
    even = frame.assign(height=np.where(frame["sex"] == "M", 1.0, 0.0))
    even.loc[::2, "height"] = 1 - even["height"]
    even["w"] = np.where(even["height"] == (even["sex"] == "M"), 1.0, 0.0) + 1e-9
    told = fairness.proxies(iso.Dataset(even, features=["sex", "race", "height"], **roles), folds=2).auc["sex"].value
    assert told > 0.95


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    metric=st.sampled_from(["gower", "euclidean", "manhattan"]),
    how=st.sampled_from(["std", "range", "none"]),
    digits=st.integers(0, 2),
    k=st.integers(1, 9),
)
def test_rows_of_the_same_categories_settle_what_a_search_among_everyone_finds(
    seed: int, metric: Any, how: Any, digits: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    frame = pd.DataFrame(
        {
            "a": rng.choice(list("abc"), n),
            "b": rng.choice(list("xy"), n),
            "c": rng.choice(["p", None], n),
            "u": rng.normal(size=n).round(digits),
            "v": rng.integers(0, 3, n),
        }
    )
    frame = frame[["a", "b", "c"]] if seed % 5 == 0 else frame
    points = fairness.encode_people(frame, metric=metric, standardise=how)
    assert points.codes is not None
    values, pool, rows = rng.random(n), rng.random(n) < 0.8, rng.choice(n, 20)
    found = nearest(points, k, rows=rows, pool=pool).mean(values)
    everyone = nearest(replace(points, codes=None), k, rows=rows, pool=pool).mean(values)
    np.testing.assert_allclose(found, everyone, atol=1e-12)


def test_too_many_of_the_same_categories_are_left_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    from isonomia.fairness.people import exact_neighbours

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.choice(["x"] * 8 + ["y"], 300), "b": rng.choice(list("pq"), 300), "u": rng.normal(size=300)}
    )
    points, values = fairness.encode_people(frame), rng.random(300)
    whole = nearest(points, 6).mean(values)
    for most in (0, 20, 60, 140):
        monkeypatch.setattr(exact_neighbours, "MOST_ALIKE", most)
        np.testing.assert_allclose(nearest(points, 6).mean(values), whole, atol=1e-12)


def test_awareness_tells_how_many_people_were_asked(rng: np.random.Generator) -> None:
    x, said = rng.normal(size=(400, 3)), rng.random(400)
    notes = [note.text() for note in fairness.awareness(x, said, max_rows=50, max_pairs=1000).notes]
    assert "50 rows, sampled at random, were compared with their neighbours among all 400." in notes
    assert not any("sampled at random" in note.text() for note in fairness.awareness(x, said, max_pairs=1000).notes)
