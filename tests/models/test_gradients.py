"""Gradients of scores: exact where the formula is known, compared with differences."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from isonomia import Dataset, Model
from isonomia.discovery import find_pairs
from isonomia.probing import Domain, Oracle

torch = pytest.importorskip("torch", reason="torch is not installed; pip install 'isonomia[torch]'")

WORLD = Domain({"age": (18, 60), "sex": (0, 1), "hours": (0, 50), "pay": (0.0, 9.0)}, backend="polars")


def module(outputs: int, *last: Any, double: bool = True) -> Any:
    torch.manual_seed(3)
    net = torch.nn.Sequential(
        torch.nn.BatchNorm1d(4),
        torch.nn.Linear(4, 8),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(8, outputs),
        *last,
    )
    net[0].running_mean += torch.tensor([39.0, 0.5, 25.0, 4.5])
    net[0].running_var *= torch.tensor([150.0, 0.25, 200.0, 7.0])
    return net.double() if double else net


def people(n: int = 400) -> Dataset:
    rows = WORLD.sample(n, np.random.default_rng(0))
    frame = WORLD.decode(rows)
    import polars as pl

    classes = (rows[:, 0] + rows[:, 2] > 60).astype(int) + 0
    return Dataset(frame.with_columns(pl.Series("y", classes)), target="y", protected=["sex"])


def measured(oracle: Oracle, rows: np.ndarray, of: Any, step: float = 1e-4) -> np.ndarray:
    """Central differences far smaller than a unit, by asking the model."""
    gradient = np.zeros_like(rows)
    for column in range(rows.shape[1]):
        up, down = rows.copy(), rows.copy()
        up[:, column] += step
        down[:, column] -= step
        gradient[:, column] = (of(oracle.ask(up)) - of(oracle.ask(down))) / (2 * step)
    return gradient


#: The world with every number real, so that it can be asked between whole numbers.
REALS = Domain(
    {name: (float(low), float(high)) for name, low, high in zip(WORLD.names, WORLD.low, WORLD.high, strict=True)},
    backend="polars",
)


@pytest.mark.parametrize(
    ("net", "options"),
    [
        (module(1, torch.nn.Sigmoid()), {}),
        (module(1), {"output": "score", "threshold": 0.0}),
        (module(2, torch.nn.Softmax(dim=1)), {}),
        (module(2), {"output": "score"}),
        (module(1, torch.nn.Sigmoid(), torch.nn.Flatten(0)), {}),
    ],
    ids=["probability", "logit", "table", "logits", "flat"],
)
def test_gradients_are_those_of_differences(net: Any, options: dict[str, Any]) -> None:
    data = people()
    oracle = Oracle(Model.of(net, **options), REALS, data)
    gradients = oracle.gradients()
    assert gradients.kind == "autograd"
    rows = REALS.sample(50, np.random.default_rng(1))
    assert net.training  # as it was given, and as it is left
    expected = measured(oracle, rows, lambda said: said.score)
    assert np.abs(expected).max() > 1e-3
    assert np.allclose(gradients(rows, np.arange(4)), expected, rtol=1e-5, atol=1e-8)


def test_the_other_class_may_be_the_positive_one() -> None:
    data = people()
    other = Dataset(data.frame, target="y", positive=0, protected=["sex"])
    net = module(2, torch.nn.Softmax(dim=1))
    rows = REALS.sample(20, np.random.default_rng(1))
    found = []
    for one in (data, other):
        oracle = Oracle(Model.of(net), REALS, one)
        found.append(oracle.gradients()(rows, np.arange(4)))
    assert np.allclose(found[0], -found[1])
    assert np.abs(found[0]).max() > 0


def test_of_several_classes_the_decided_one_counts() -> None:
    import polars as pl

    rows = REALS.sample(50, np.random.default_rng(1))
    frame = REALS.decode(rows)
    data = Dataset(frame.with_columns(pl.Series("y", np.arange(50) % 3)), target="y", protected=["sex"])
    oracle = Oracle(Model.of(module(3, torch.nn.Softmax(dim=1))), REALS, data)
    gradients = oracle.gradients()
    assert gradients.kind == "autograd"
    decided = oracle.ask(rows).label
    expected = measured(oracle, rows, lambda said: said.score[np.arange(50), decided])
    assert np.allclose(gradients(rows, np.arange(4)), expected, rtol=1e-5, atol=1e-8)


def test_single_precision_and_an_exported_program() -> None:
    net = module(1, torch.nn.Sigmoid(), double=False).eval()
    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(net, (torch.zeros(4, 4),), dynamic_shapes=({0: rows},))
    data = people()
    some = REALS.sample(50, np.random.default_rng(1))
    found = []
    for thing in (net, program):
        oracle = Oracle(Model.of(thing), REALS, data)
        gradients = oracle.gradients()
        assert gradients.kind == "autograd"
        found.append(gradients(some, np.arange(4)))
    assert np.allclose(found[0], found[1], rtol=1e-4, atol=1e-6)


def test_adf_follows_the_gradients_of_a_live_module() -> None:
    data = people()
    net = module(1, torch.nn.Sigmoid())
    result = find_pairs(data, net, method="adf", max_global=60, max_local=30, max_tests=3000)
    assert result.metrics["gradients"] == "autograd"
    assert not any("estimated" in note.text() for note in result.notes)
    assert result.metrics["DSN"] > 0
    with torch.no_grad():
        said = [
            net.eval()(torch.as_tensor(side)).numpy().ravel() > 0.5
            for side in (result.pairs.first, result.pairs.second)
        ]
    assert (said[0] != said[1]).all()


def test_a_function_around_a_module_is_measured_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    net = module(1, torch.nn.Sigmoid()).eval()

    def ask(frame: Any) -> np.ndarray:
        with torch.no_grad():
            return net(torch.as_tensor(frame.to_numpy().astype(float))).numpy().ravel()

    data = people()
    result = find_pairs(data, ask, method="adf", max_global=20, max_local=5, max_tests=500)
    assert result.metrics["gradients"] == "differences"
    assert any("estimated" in note.text() for note in result.notes)
    monkeypatch.delitem(sys.modules, "torch")  # as where it is not installed
    oracle = Oracle(lambda frame: frame["age"].to_numpy() / 100, REALS, data)
    assert oracle.gradients().kind == "differences"


@pytest.mark.parametrize("positive", [1, 0])
@pytest.mark.parametrize("kind", ["linear", "margin", "network"])
def test_formulas_of_scikit_learn_behind_a_scaler(kind: str, positive: int) -> None:
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    makers: dict[str, Any] = {
        "linear": LogisticRegression(),
        "margin": RidgeClassifier(),
        "network": MLPClassifier((6, 4), activation="tanh", solver="lbfgs", max_iter=20, alpha=1.0, random_state=0),
    }
    data = people()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the network need not have converged
        fitted = make_pipeline(StandardScaler(), makers[kind]).fit(data.frame[list(REALS.names)], data.frame["y"])
    oracle = Oracle(fitted, REALS, Dataset(data.frame, target="y", positive=positive, protected=["sex"]))
    gradients = oracle.gradients()
    assert gradients.kind == ("network" if kind == "network" else "linear")
    rows = REALS.sample(40, np.random.default_rng(1))
    expected = measured(oracle, rows, lambda said: said.score)
    assert np.abs(expected).max() > 1e-3
    assert np.allclose(gradients(rows, np.arange(4)), expected, rtol=1e-4, atol=1e-7)
