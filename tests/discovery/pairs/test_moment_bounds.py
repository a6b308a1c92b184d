"""Bounds from the moments of scores, against asking about everyone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.exact import moments
from isonomia.discovery.pairs.exact.box_descent import BoxDescent
from isonomia.discovery.pairs.exact.branch_and_bound import Search
from isonomia.discovery.pairs.exact.domain_trees import read_domain_trees
from isonomia.discovery.pairs.exact.leaf_cells import Leaves
from isonomia.discovery.pairs.exact.moment_bounds import bracket
from isonomia.discovery.pairs.exact.moments import Moments, Part, View
from isonomia.probing import Domain, Oracle, Probe

from .test_exact_families import EVERYONE, WORLD, learn

pytest.importorskip("pandas")

KINDS = ("forest", "boosting", "binned", "extra")


def search_of(model: Any, domain: Domain = WORLD, protected: tuple[str, ...] = ("sex",)) -> Search:
    probe = Probe(Oracle(model, domain), list(protected))
    descent = BoxDescent(
        read_domain_trees(probe.oracle, probe.columns, probe.variants), domain, probe.columns, probe.variants
    )
    return Search(descent, [np.arange(len(probe.variants))], 0.0, lambda rows: np.zeros(len(rows), dtype=bool))


def scores(search: Search, rows: Any) -> Any:
    """Raw scores (n, V) of rows in every variant, less the cut."""
    descent = search.descent
    spread = np.repeat(rows, len(descent.variants), axis=0)
    spread[:, descent.protected] = np.tile(descent.variants, (len(rows), 1))
    return search.trees.raw(spread).reshape(len(rows), -1) - search.trees.decide


@pytest.mark.parametrize(("protected", "encoder"), [(("sex",), "one_hot"), (("sex", "town"), "ordinal")])
@pytest.mark.parametrize("kind", KINDS)
def test_variants_that_descend_together_arrive_where_each_one_does(
    kind: str, protected: tuple[str, ...], encoder: str
) -> None:
    search = search_of(learn(kind, encoder, 5), protected=protected)
    rows = EVERYONE[:: max(1, len(EVERYONE) // 300)]
    assert np.allclose(search.descent.raw(rows)[:, :, 0] - search.trees.decide, scores(search, rows), atol=1e-12)


def differ(said: Any) -> Any:
    """Whose variants are decided differently."""
    return (said > 0).any(axis=1) & (said <= 0).any(axis=1)


def everyone(search: Search) -> Any:
    """One row for everyone, whatever the protected values."""
    first = np.all(EVERYONE[:, search.descent.protected] == search.descent.variants[0], axis=1)
    return EVERYONE[first]


def cells_of(leaves: Leaves, rows: Any) -> Any:
    """Whether each row (n, cells) stands in each cell."""
    held = np.zeros((len(rows), len(leaves.weight)), dtype=bool)
    for place, (feature, cuts) in enumerate(zip(leaves.features, leaves.cuts, strict=True)):
        low = leaves.descent.domain.low[feature]
        cell = rows[:, feature] - low if cuts is None else np.searchsorted(cuts, rows[:, feature])
        held[np.arange(len(rows)), leaves.start[place] + cell.astype(int)] = True
    return held


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    encoder=st.sampled_from(["one_hot", "ordinal"]),
    two=st.booleans(),
)
def test_means_and_covariances_of_any_box_are_those_of_its_people(
    seed: int, kind: str, encoder: str, two: bool
) -> None:
    search = search_of(learn(kind, encoder, seed), protected=("sex", "town") if two else ("sex",))
    leaves = Leaves(search.descent)
    rng = np.random.default_rng(seed)
    cells = rng.random(len(leaves.weight)) < 0.7
    for place in range(len(leaves.features)):
        cells[leaves.start[place] + rng.integers(leaves.start[place + 1] - leaves.start[place])] = True
    rows = everyone(search)
    inside = (cells_of(leaves, rows) <= cells).all(axis=1)
    said = scores(search, rows[inside])
    volume = float(inside.mean())
    part = Part(cells, volume, np.arange(len(leaves.value), dtype=np.int32))
    view = View(leaves, part)
    judged = Moments(leaves, search.lines)
    least, most = view.ends()
    assert np.allclose(view.mean + judged.offset, said.mean(axis=0), atol=1e-9)
    assert (least + judged.offset <= said.min(axis=0) + 1e-9).all()
    assert (most + judged.offset >= said.max(axis=0) - 1e-9).all()
    spread = view.covariance(judged.scale)
    truth = np.cov(said.T, bias=True).reshape(spread.shape)
    assert np.allclose(spread, truth, rtol=1e-3, atol=1e-4 * judged.scale**2)
    assert (np.diag(spread) >= np.diag(truth)).all()
    judged.judge(part)
    assert part.low - 1e-9 <= differ(said).mean() <= part.high + 1e-9


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    encoder=st.sampled_from(["one_hot", "ordinal", "sparse"]),
    two=st.booleans(),
)
def test_bounds_hold_the_share_and_only_narrow_with_more_work(seed: int, kind: str, encoder: str, two: bool) -> None:
    search = search_of(learn(kind, encoder, seed), protected=("sex", "town") if two else ("sex",))
    said = scores(search, everyone(search))
    share = float(differ(said).mean())
    found = [bracket(search, work, lambda: False) for work in (0, 10_000, 100_000, 1_000_000)]
    for one in found:
        assert one.low - 1e-9 <= share <= one.high + 1e-9
    for before, after in itertools.pairwise(found):
        assert after.low >= before.low
        assert after.high <= before.high
        assert after.cost >= before.cost
    assert found[-1].high - found[-1].low < 1 or share in (0, 1)


def test_they_close_where_every_box_can_be_decided() -> None:
    search = search_of(learn("boosting", "ordinal", 3))
    said = scores(search, everyone(search))
    share = float(differ(said).mean())
    found = bracket(search, 10**9, lambda: False)
    assert found.low == pytest.approx(share, abs=1e-8)
    assert found.high == pytest.approx(share, abs=1e-8)


def test_many_features_are_bracketed_long_before_boxes_are_decided() -> None:
    rng = np.random.default_rng(0)
    domain = Domain({f"x{place}": (0.0, 1.0) for place in range(12)} | {"sex": (0, 1)}, backend="pandas")
    rows = domain.sample(1500, rng)
    y = rows[:, :12] @ rng.uniform(0.5, 1.5, 12) + 0.4 * rows[:, 12] + rng.normal(0, 0.5, 1500) > 7.3
    model = RandomForestClassifier(30, max_depth=5, random_state=0).fit(domain.decode(rows), y)
    people = domain.sample(20_000, rng)
    said = scores(search := search_of(model, domain), people)
    share = float(differ(said).mean())
    alone = search.shares(2000, lambda: False)
    found = bracket(search, 10_000_000, lambda: False)
    assert alone.share + alone.waiting > 0.95
    assert found.high < 0.7
    assert found.low < share + 0.01
    assert found.high > share - 0.01
    metrics = find_pairs(domain, model, method="exact", protected="sex", max_boxes=2000).metrics
    assert metrics["share_high"] <= found.high + 0.05
    assert metrics["share_estimate_low"] - 0.01 <= share <= metrics["share_estimate_high"] + 0.01
    assert metrics["tail_boxes"] > 1


def test_the_same_work_gives_the_same_bounds() -> None:
    search = search_of(learn("forest", "one_hot", 8))
    one, other = (bracket(search, 300_000, lambda: False) for _ in "ab")
    assert one == other


def test_what_is_too_large_or_of_another_kind_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    several = search_of(learn("forest", "ordinal", 1, classes=3))
    assert bracket(several, 10**6, lambda: False).high == 1.0
    search = search_of(learn("forest", "ordinal", 1))
    assert bracket(search, 10**6, lambda: False).high < 1.0
    monkeypatch.setattr("isonomia.discovery.pairs.exact.leaf_cells.MAX_ENTRIES", 100)
    assert bracket(search, 10**6, lambda: False).high == 1.0


def test_where_many_boxes_wait_those_that_leave_little_open_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(learn("forest", "one_hot", 4))
    share = float(differ(scores(search, everyone(search))).mean())
    free = bracket(search, 2_000_000, lambda: False)
    monkeypatch.setattr("isonomia.discovery.pairs.exact.moment_bounds.MAX_WAITING", 8)
    found = bracket(search, 2_000_000, lambda: False)
    assert found.low - 1e-9 <= share <= found.high + 1e-9
    assert found.high >= free.high


def test_boxes_with_too_many_leaves_are_cut_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "MAX_LIVE", 20)
    names = {"job": (0, 4), "age": (18, 24), "sex": (0, 1), "town": (0, 3), "debt": (-2, 3)}
    numbers = Domain(names, backend="pandas")
    rows = numbers.sample(400, np.random.default_rng(2))
    for maker in (GradientBoostingClassifier, HistGradientBoostingClassifier):
        model = maker(random_state=0).fit(numbers.decode(rows), rows @ [1, 0.2, 2, 1, -1] > 9)
        search = search_of(model, numbers)
        share = float(differ(scores(search, everyone(search))).mean())
        found = bracket(search, 3_000_000, lambda: False)
        assert found.low - 1e-9 <= share <= found.high + 1e-9
        assert found.high < 1.0
