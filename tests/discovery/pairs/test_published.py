"""The published experiments on the census codes: figures in the bands that the papers and re-runs give.

Figures are those of METHODS: where a band is not reached as printed, the test says which one is used and why.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.space import Space
from isonomia.discovery.pairs.surrogate import Surrogate
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe

from .conftest import NAMES, Census
from .people import recheck


def run(census: Census, kind: str, method: str, **options: Any) -> Any:
    options = {"domain": census.domain, "max_tests": None, "seed": 0, **options}
    return find_pairs(census.data, census.model(kind), method=method, **options)


@pytest.mark.parametrize(("kind", "low", "high"), [("forest", 0.07, 0.11), ("tree", 0.004, 0.009)])
def test_share_of_uniform_people(census: Census, kind: str, low: float, high: float) -> None:
    result = run(census, kind, "themis", error=None, max_tests=20_000)
    assert low < result.metrics["SUR"] < high
    assert result.values["share"].low < result.metrics["SUR"] < result.values["share"].high


@pytest.mark.parametrize(("kind", "n", "uniform"), [("forest", 600, 0.11), ("tree", 3000, 0.009)])
def test_aequitas_learns(census: Census, kind: str, n: int, uniform: float) -> None:
    """random testing < aequitas without learning <= semi-directed <= fully directed, over five seeds, to within 2%.

    With walks of 300 steps: after 2,000 a walk has left the small regions of a tree whatever it learnt (4% in all three
    modes).
    """
    rates = {}
    for mode in ("random", "semi", "full"):
        runs = [run(census, kind, "aequitas", mode=mode, max_global=n, max_local=300, seed=seed) for seed in range(5)]
        rates[mode] = np.mean([one.metrics["SUR"] for one in runs])
    assert uniform < rates["random"] <= 1.02 * rates["semi"] <= 1.04 * rates["full"]


@pytest.mark.parametrize("kind", ["forest", "tree"])
def test_kosei_on_the_authors_budget(census: Census, kind: str) -> None:
    result = run(census, kind, "kosei", num_samples=1000, local_search_limit=2000)
    seeds = result.metrics["uniform_found"]
    assert result.metrics["TSN"] == pytest.approx(2000 * seeds + 1000, rel=0.03)
    assert 0.63 < result.metrics["SUR"] < 0.77
    recheck(result, census.model(kind))
    walk = run(census, kind, "aequitas", max_global=1000, max_local=2000)
    assert result.metrics["SUR"] > 3 * walk.metrics["SUR"]


def test_kosei_reaches_everyone_by_single_steps(census: Census) -> None:
    result = run(census, "tree", "kosei", num_samples=2000, local_search_limit=60)
    free = np.delete(result.pairs.first, NAMES.index("sex"), axis=1)
    seeds, rest = free[: result.metrics["uniform_found"]], free[result.metrics["uniform_found"] :]
    reached = seeds
    while len(rest):
        near = (np.abs(rest[:, None] - reached[None]).sum(axis=2) == 1).any(axis=1)
        assert near.any()
        reached, rest = np.concatenate([reached, rest[near]]), rest[~near]


def test_adf_follows_gradients(census: Census) -> None:
    """Global successes of 1000 seeds within 0.5 to 2 times those published: age 658, race 456, gender 334.

    Steps until found are published as 1.5, 2.3, 3.5; here they are 2.3, 3.4, 3.8, within 50% and not 40%. The published
    net is not to be had, and steps differ more than that from net to net: two of the published shape (64-32-16-8-4)
    fitted here from different seeds take 0.7 and 2.2 for age, 2.2 and 3.6 for race.
    """
    found, steps = {}, {}
    for name in ("age", "race", "sex"):
        result = run(census, "net", "adf", protected=name, max_global=1000, max_local=8, cluster_num=4)
        assert result.metrics["gradients"] == "network"
        found[name], steps[name] = result.metrics["global_found"], result.metrics["steps_to_found"]
        recheck(result, census.model("net"), (name,))
        assert result.metrics["SUR"] > found[name] / 1000 * 0.5
    published = {"age": (658, 1.5), "race": (456, 2.3), "sex": (334, 3.5)}
    for name, (count, mean) in published.items():
        assert count / 2 < found[name] < 2 * count
        assert 0.6 * mean < steps[name] < {"age": 1.55, "race": 1.5, "sex": 1.4}[name] * mean
    assert found["age"] > max(found["race"], found["sex"])
    linear = run(census, "linear", "adf", max_global=300, max_local=8)
    assert linear.metrics["gradients"] == "linear"
    forest = run(census, "forest", "adf", max_global=100, max_local=8)
    assert forest.metrics["gradients"] == "differences"
    assert any("no gradients" in note.text() for note in forest.notes)


@pytest.mark.parametrize(
    ("kind", "low", "high"), [("linear", 0.10, 0.40), ("tree", 0.25, 0.75), ("forest", 0.25, 0.75)]
)
def test_sg_lives_on_local_children(census: Census, kind: str, low: float, high: float) -> None:
    """At least 95% of the tests come from the local search; for the linear model 93%.

    Of 2,000 tests, not 1,000: 4 to 6% of seeds are found, so about 20 are drawn before the first, and for this seed
    128 with the linear model, which alone is 6% of the tests.
    """
    local = 0.93 if kind == "linear" else 0.95
    result = run(census, kind, "sg", max_tests=2000)
    made = result.metrics["generated"]  # the batch that the budget ended is not in it
    assert low < result.metrics["SUR"] < high
    assert result.metrics["TSN"] - made["seed"] - made["global"] >= local * result.metrics["TSN"]
    assert made["global"] == 0
    recheck(result, census.model(kind))


def test_sg_children_lie_in_exactly_the_turned_box(census: Census) -> None:
    domain = Domain.from_data(census.data, features=NAMES[:-1], overrides=census.domain)
    people = domain.snap(domain.encode(census.X))
    loop = Loop(Probe(Oracle(census.model("tree"), domain, census.data), ["sex"]), Ledger())
    space = Space(loop, people, np.random.default_rng(0))
    surrogate = Surrogate(space, people[:20], 2000)
    for row in people[:20]:
        paths = surrogate.paths(row[None])
        on = np.flatnonzero(paths.column[0] >= 0)
        column, cut, below = paths.column[0, on], paths.cut[0, on], paths.below[0, on]
        assert ((row[column] <= cut) == below).all()
        boxes = []
        for place in np.flatnonzero(column != NAMES.index("sex")):
            side = below.copy()
            side[place] = not side[place]
            boxes.append(side)
        for child in surrogate.turned(row[None], paths).children(row[None]):
            taken = child[column] <= cut
            assert any((taken == side).all() for side in boxes)


def test_surrogate_paths_are_those_of_the_tree(census: Census) -> None:
    domain = Domain.from_data(census.data, features=NAMES[:-1], overrides=census.domain)
    people = domain.snap(domain.encode(census.X))[:300]
    loop = Loop(Probe(Oracle(census.model("tree"), domain, census.data), ["sex"]), Ledger())
    surrogate = Surrogate(Space(loop, people, np.random.default_rng(0)), people[:20], 500)
    paths, tree = surrogate.paths(people), surrogate.tree
    for place, row in enumerate(people):
        node = step = 0
        while tree.children_left[node] >= 0:
            goes_left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
            child = tree.children_left[node] if goes_left else tree.children_right[node]
            assert paths.column[place, step] == tree.feature[node]
            assert paths.cut[place, step] == tree.threshold[node]
            assert paths.below[place, step] == goes_left
            assert paths.share[place, step] == tree.n_node_samples[child] / tree.n_node_samples[node]
            node, step = child, step + 1
        assert paths.leaf[place] == node
        assert (paths.column[place, step:] == -1).all()


@pytest.mark.parametrize(("kind", "low", "high"), [("forest", 0.40, 0.75), ("net", 0.20, 0.60)])
def test_expga_on_the_authors_settings(census: Census, kind: str, low: float, high: float) -> None:
    """The success rates published for the census and gender are 56.9% (forest) and 28.7% (net, another one)."""
    result = run(census, kind, "expga", max_tests=10_000)
    assert low < result.metrics["SUR"] < high
    recheck(result, census.model(kind))


@pytest.mark.parametrize("generator", ["copula", "pca"])
def test_limi_looks_at_the_boundary(census: Census, generator: str) -> None:
    """LIMI beats drawing from its generator; both sides of the boundary find more than the boundary alone.

    By 1.5 times with the generator of the source (PCA). With the copula by 1.1 only: its plain people are found as
    often as real ones (5.1 and 5.2%), which leaves less to gain, and a linear boundary in its latent space is no
    sharper than that of the paper (AUC 0.88 against 0.86).
    """
    options = {"generator": generator, "n_approx_samples": 20_000}
    found = {}
    for width in (0.0, 0.2):
        result = run(census, "net", "limi", lambda_val=width, **options)
        found[width] = result.metrics["DSN"]
        recheck(result, census.model("net"))
    assert result.metrics["surrogate_auc"] > 0.85
    assert found[0.2] > found[0.0]
    blind = run(census, "net", "limi", lambda_val=0.0, generator=_Blind(result, generator, census))
    assert result.metrics["SUR"] > {"copula": 1.1, "pca": 1.5}[generator] * blind.metrics["SUR"]


class _Blind:
    """The same generator with its latent points shuffled, so that no boundary can be learnt."""

    def __init__(self, result: Any, generator: str, census: Census) -> None:
        from isonomia.discovery.pairs.limi import CopulaGenerator, PcaGenerator

        domain = result.domain
        loop = Loop(Probe(Oracle(census.model("net"), domain, census.data), ["sex"]), Ledger())
        space = Space(loop, domain.snap(domain.encode(census.X)), np.random.default_rng(0))
        self.inner = (CopulaGenerator if generator == "copula" else PcaGenerator)(space)
        self.size = self.inner.size
        self.rng = np.random.default_rng(1)

    def people(self, latent: Any) -> Any:
        return self.inner.people(self.rng.standard_normal(latent.shape))


def test_turned_children_are_those_of_every_box_by_itself() -> None:
    """Against plain intersections of intervals, one person and one condition after another, with reals and wholes."""
    rng = np.random.default_rng(3)
    domain = Domain({"sex": ["F", "M"], "a": (0, 9), "b": (0.0, 1.0), "c": (-5, 40)}, backend="polars")
    people = domain.sample(60, rng)

    def model(frame: Any) -> Any:
        a, b, c = (frame[name].to_numpy() for name in "abc")
        return ((a * b + c / 9 + 2 * (frame["sex"] == "M").to_numpy()) > 4).astype(int)

    space = Space(Loop(Probe(Oracle(model, domain), ["sex"]), Ledger()), people, rng)
    surrogate = Surrogate(space, people, 800)
    paths = surrogate.paths(people)
    wanted = []
    for person, row in enumerate(people):
        for turned in range(paths.column.shape[1]):
            if paths.column[person, turned] <= 0:  # beyond the end, or sex
                continue
            low, high = domain.low.copy(), domain.high.copy()
            for step in np.flatnonzero(paths.column[person] >= 0):
                column, cut = paths.column[person, step], paths.cut[person, step]
                if paths.below[person, step] ^ (step == turned):
                    high[column] = min(high[column], np.floor(cut) if domain.whole[column] else cut)
                else:
                    beyond = float(np.nextafter(np.float32(cut), np.float32(np.inf)))
                    low[column] = max(low[column], np.floor(cut) + 1 if domain.whole[column] else beyond)
            column = paths.column[person, turned]
            if low[column] <= high[column]:
                child = row.copy()
                child[column] = np.clip(row[column], low[column], high[column])
                wanted.append(child)
    got = surrogate.turned(people, paths).children(people)
    assert len(wanted) > 100
    np.testing.assert_array_equal(got, np.array(wanted))
