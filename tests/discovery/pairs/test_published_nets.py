"""The published experiments on the census codes that rest on a net, an explanation or a generator.

What depends on the net of a paper, which is not to be had, is compared with the spread over nets of its shape; other
bands are those of the papers and of re-runs of them, as printed. `docs/published-figures.md` has the list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from isonomia import Dataset
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.searches.limi import CopulaGenerator, PcaGenerator
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Ledger, Loop, Oracle, Probe

from .conftest import NOMINAL, Census, Credit
from .people import recheck

#: Nets of the published shape.
NETS = range(5)
#: ADF on the census: seeds of 1,000 that end at someone found, steps of those found, steps of all.
ADF = {"age": (658, 1.5, 4.4), "race": (456, 2.3, 6.4), "sex": (334, 3.5, 7.8)}


def run(census: Census, model: Any, method: str, **options: Any) -> Any:
    options = {"domain": census.domain, "dependencies": False, "max_tests": None, "seed": 0, **options}
    return find_pairs(census.data, model, method=method, **options)


def likely(published: float, seen: Any) -> bool:
    """Whether a figure lies within two standard deviations of what different models show."""
    return bool(abs(published - np.mean(seen)) < 2 * np.std(seen, ddof=1))


def test_adf_follows_gradients(census: Census) -> None:
    """Successes of 1,000 seeds within 0.5 to 2 times those published, most by age; local rate > global rate."""
    found = {}
    for name, (published, _, _) in ADF.items():
        options = {"protected": name, "max_global": 1000, "cluster_num": 4}
        ascent = run(census, census.model("net"), "adf", max_local=0, **options).metrics
        result = run(census, census.model("net"), "adf", max_local=8, **options)
        recheck(result, census.model("net"), (name,))
        assert result.metrics["gradients"] == "network"
        assert result.metrics["global_found"] == ascent["global_found"]
        found[name] = ascent["global_found"]
        assert published / 2 < found[name] < 2 * published
        local = (result.metrics["DSN"] - ascent["DSN"]) / (result.metrics["TSN"] - ascent["TSN"])
        assert local > ascent["SUR"]
    assert found["age"] > max(found["race"], found["sex"])


def test_adf_takes_as_many_steps_as_published(census: Census) -> None:
    """Five nets of the published shape on average: steps until found within 40% of those published; age > race >= sex.

    How many of 1,000 seeds end at someone found, and so the steps of all seeds, depends on the net by more than the
    printed band: in one of them, half of the people have no gradient at all. For these too, the published figure is as
    likely as another net's.
    """
    shown: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ADF}
    for seed in NETS:
        for name in ADF:
            options = {"protected": name, "max_global": 1000, "max_local": 0, "cluster_num": 4}
            metrics = run(census, census.published_net(seed), "adf", **options).metrics
            found, steps = metrics["global_found"], metrics["steps_to_found"]
            shown[name].append((found, steps, (found * steps + (1000 - found) * 10) / 1000))
    for name, published in ADF.items():
        figures = np.array(shown[name])
        assert figures[:, 1].mean() == pytest.approx(published[1], rel=0.4)
        for place, figure in enumerate(published):
            assert likely(figure, figures[:, place])
    mean = {name: np.mean(shown[name], axis=0)[0] for name in ADF}
    assert mean["age"] > mean["race"] >= mean["sex"]


def test_adf_on_credit(credit: Credit) -> None:
    """Five nets on average: 594 (age) and 451 (sex) of 600 seeds, within 0.5 to 2 times; 3.7 steps by sex within 40%.

    Not the 1.3 steps by age: the authors' code tries ages there that the data do not have.
    """
    shown: dict[str, list[tuple[float, float]]] = {"age": [], "sex": []}
    for seed in NETS:
        model = credit.published_net(seed)
        for name, figures in shown.items():
            data = Dataset(credit.frame, target="good", protected=[name])
            options: dict[str, Any] = {"max_global": 600, "max_local": 0, "cluster_num": 4, "max_tests": None}
            result = find_pairs(data, model, method="adf", seed=0, **options)
            recheck(result, model, (name,))
            figures.append((result.metrics["global_found"], result.metrics["steps_to_found"]))
    mean = {name: np.mean(figures, axis=0) for name, figures in shown.items()}
    assert 594 / 2 < mean["age"][0] < 2 * 594
    assert 451 / 2 < mean["sex"][0] < 2 * 451
    assert mean["sex"][1] == pytest.approx(3.7, rel=0.4)


def test_adf_leaves_flat_ground() -> None:
    """Two units before the step of this model there is no slope at all; steps at random find where it begins."""

    class Step:
        classes_ = np.array([0, 1])

        def predict_proba(self, frame: Any) -> Any:
            p = np.where(frame["a"].to_numpy() >= 5, 0.45 + 0.1 * (frame["sex"].to_numpy() == "M"), 0.1)
            return np.stack([1 - p, p], axis=1)

        def predict(self, frame: Any) -> Any:
            return self.predict_proba(frame).argmax(axis=1)

    data = Dataset({"a": np.full(40, 3), "b": np.arange(40), "sex": ["F", "M"] * 20}, protected=["sex"])
    result = find_pairs(data, Step(), method="adf", domain={"a": (0, 9)}, max_local=0, max_tests=None)
    recheck(result, Step())
    assert result.metrics["global_found"] > 5


def test_adf_says_where_gradients_come_from(census: Census) -> None:
    linear = run(census, census.model("linear"), "adf", max_global=300, max_local=8)
    assert linear.metrics["gradients"] == "linear"
    forest = run(census, census.model("forest"), "adf", max_global=100, max_local=8)
    assert forest.metrics["gradients"] == "differences"
    assert any("no gradients" in note.text() for note in forest.notes)


def test_expga_on_the_authors_settings(census: Census) -> None:
    """56.9% (forest) and 28.7% (net) are published for the census and sex: as likely as other models'."""
    forests = [RandomForestClassifier(10, random_state=seed).fit(census.X, census.y) for seed in range(3)]
    nets = [census.published_net(seed) for seed in NETS]
    for published, models in ((0.569, forests), (0.287, nets)):
        results = [run(census, model, "expga", max_tests=5000) for model in models]
        assert likely(published, [result.metrics["SUR"] for result in results])
        recheck(results[0], models[0])


@pytest.mark.parametrize("kind", ["net", "forest"])
@pytest.mark.parametrize("generator", ["copula", "pca"])
def test_limi_looks_at_the_boundary(census: Census, generator: Any, kind: str) -> None:
    """AUC of the surrogate at least 0.85; 1.5 times what its generator finds alone; both sides beat the boundary alone.

    The copula is told which codes are categories where the model is a forest, which does not read them as numbers.
    """
    model, spoken = census.model(kind), generator == "copula" and kind == "forest"
    data = census.categories if spoken else census.data
    domain = {name: bounds for name, bounds in census.domain.items() if not (spoken and name in NOMINAL)}
    options: dict[str, Any] = {"domain": domain, "max_tests": None, "seed": 0, "method": "limi"}
    found = {}
    for width in (0.0, 0.1, 0.4, 0.3):
        result = find_pairs(data, model, generator=generator, lambda_val=width, n_approx_samples=20_000, **options)
        found[width] = result.metrics["DSN"]
        assert result.metrics["surrogate_auc"] >= 0.85
        recheck(result, model)
    assert min(found[0.1], found[0.3], found[0.4]) > found[0.0]
    space = Space(
        Loop(Probe(Oracle(model, result.domain, data), ["sex"]), Ledger()),
        result.domain.snap(result.domain.encode(data.frame)),
        np.random.default_rng(0),
    )
    blind = _Blind({"copula": CopulaGenerator, "pca": PcaGenerator}[generator](space))
    plain = find_pairs(data, model, generator=blind, lambda_val=0.0, n_test_samples=10_000, **options)
    assert result.metrics["SUR"] > 1.5 * plain.metrics["SUR"]


class _Blind:
    """The same generator with its latent points shuffled, so that no boundary can be learnt."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.size = inner, inner.size
        self.rng = np.random.default_rng(1)

    def people(self, latent: Any) -> Any:
        return self.inner.people(self.rng.standard_normal(latent.shape))
