"""PyTorch modules, live, exported and scripted: the same numbers on every task, and no file without trust.

They run where torch is installed; the tests of the rest of the package do not need it (see CONTRIBUTING.md).
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomia import Dataset, Model, ModelError, UntrustedError, load_model
from isonomia.models import TrustWarning

torch = pytest.importorskip("torch", reason="torch is not installed; pip install 'isonomia[torch]'")

NUMBERS = ["age", "income"]


def network(last: Any, outputs: int) -> Any:
    torch.manual_seed(4)
    layers = [torch.nn.Linear(2, 6), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(6, outputs)]
    return torch.nn.Sequential(*layers, *([] if last is None else [last])).eval()


def expected(module: Any, people: pd.DataFrame) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        rows = torch.tensor(people[NUMBERS].to_numpy(dtype=np.float32))
        return module(rows).to(torch.float64).numpy()


def live(module: Any, folder: Path, **options: Any) -> Model:
    return Model.of(module, **options)


def exported(module: Any, folder: Path, **options: Any) -> Model:
    shapes = ({0: torch.export.Dim("rows")},)
    program = torch.export.export(module, (torch.zeros(3, 2),), dynamic_shapes=shapes)
    torch.export.save(program, folder / "model.pt2")
    return trusted(folder / "model.pt2", **options)


def scripted(module: Any, folder: Path, **options: Any) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.script(module), folder / "model.pt")
    return trusted(folder / "model.pt", **options)


def trusted(path: Path, **options: Any) -> Model:
    with pytest.warns(TrustWarning, match="a PyTorch program"):
        model = load_model(path, trust=True, **options)
    assert model.trusted
    assert model.format == "torch"
    return model


@pytest.fixture(params=[live, exported, scripted])
def way(request: pytest.FixtureRequest) -> Callable[..., Model]:
    return request.param


def test_every_kind_of_frame(people, as_frame):
    module = network(torch.nn.Sigmoid(), 1)
    surface = Model.of(module, features=NUMBERS).surface(Dataset(as_frame(people), target="loan", positive="granted"))
    assert surface.classes == ("refused", "granted")
    np.testing.assert_allclose(surface.probability, expected(module, people)[:, 0], atol=1e-6)


def test_the_order_of_the_columns_is_the_callers(people, tmp_path, way):
    module = network(torch.nn.Sigmoid(), 1)
    model = way(module, tmp_path, features=NUMBERS)
    turned = Dataset(people[["loan", "income", "age"]], target="loan", positive="granted")
    np.testing.assert_allclose(model.surface(turned).probability, expected(module, people)[:, 0], atol=1e-6)


def test_several_classes(people, tmp_path, way):
    module = network(torch.nn.Softmax(dim=1), 3)
    surface = way(module, tmp_path, features=NUMBERS).surface(Dataset(people, target="band"))
    assert surface.classes == ("low", "mid", "top")
    np.testing.assert_allclose(surface.probability, expected(module, people), atol=1e-6)


@pytest.mark.parametrize("way", [live, scripted])
def test_logits(people, tmp_path, way):
    module = network(None, 3)
    data = Dataset(people, target="band")
    with pytest.raises(ModelError, match=r"not probabilities.*output='score'"):
        way(module, tmp_path, features=NUMBERS).surface(data)
    shares = torch.softmax(torch.tensor(expected(module, people)), dim=1).numpy()
    surface = way(module, tmp_path, features=NUMBERS, output="score").surface(data)
    np.testing.assert_allclose(surface.probability, shares, atol=1e-6)
    decided = way(module, tmp_path, features=NUMBERS, output="label", classes=["low", "mid", "top"]).surface(data)
    assert decided.label.tolist() == expected(module, people).argmax(axis=1).tolist()


def test_numbers(people, tmp_path, way):
    module = network(None, 1)
    surface = way(module, tmp_path, features=NUMBERS).surface(Dataset(people, target="limit"))
    np.testing.assert_allclose(surface.continuous, expected(module, people)[:, 0], atol=1e-5)


def test_a_module_in_training_is_asked_in_evaluation_and_put_back(people):
    module = network(torch.nn.Sigmoid(), 1).train()
    data = Dataset(people, target="loan", positive="granted", features=NUMBERS)
    model = Model.of(module)
    first, second = model.surface(data).probability, model.surface(data).probability
    assert (first == second).all()  # dropout would make them differ
    assert module.training


def test_many_rows_go_in_batches_and_double_precision_is_kept():
    seen = []

    class Sum(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))

        def forward(self, rows: Any) -> Any:
            seen.append(len(rows))
            return rows @ self.weight

    matrix = np.random.default_rng(0).normal(size=(150_000, 2))
    np.testing.assert_array_equal(Model.of(Sum()).predict_frame(matrix), matrix.sum(axis=1))
    assert sum(seen) == 150_000
    assert len(seen) == 3


def test_a_program_exported_for_one_number_of_rows(people, tmp_path):
    module = network(torch.nn.Sigmoid(), 1)
    torch.export.save(torch.export.export(module, (torch.zeros(7, 2),)), tmp_path / "seven.pt2")
    model = trusted(tmp_path / "seven.pt2", features=NUMBERS)
    surface = model.surface(Dataset(people, target="loan", positive="granted"))
    np.testing.assert_allclose(surface.probability, expected(module, people)[:, 0], atol=1e-6)
    with pytest.raises(ModelError, match="trained on 2 unnamed columns"):
        trusted(tmp_path / "seven.pt2", features=["age"]).surface(Dataset(people, target="limit"))


def test_answers_that_are_none(people):
    class Pair(torch.nn.Module):
        def forward(self, rows: Any) -> Any:
            return rows, rows

    class Mean(torch.nn.Module):
        def forward(self, rows: Any) -> Any:
            return rows.mean()

    data = Dataset(people, target="limit", features=NUMBERS)
    with pytest.raises(ModelError, match="returned tuple"):
        Model.of(Pair()).surface(data)
    with pytest.raises(ModelError, match=r"asked about 240 rows and returned a tensor of shape \(\)"):
        Model.of(Mean()).surface(data)
    with pytest.raises(ModelError, match="takes numbers, but 'job' contains texts"):
        Model.of(network(None, 1), features=["age", "job"]).surface(Dataset(people, target="limit"))
    with pytest.raises(ModelError, match="takes 2 inputs"):
        Model.of(torch.export.export(Two(), (torch.zeros(3, 2), torch.zeros(3, 2))))


class Two(torch.nn.Module):
    def forward(self, one: Any, other: Any) -> Any:
        return one + other


# what the files can do ---------------------------------------------------------------------------------------------


class Writer(torch.nn.Module):
    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        torch.save(rows, self.place)
        return rows[:, 0]


class Bomb:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return (Path.touch, (self.place,))


def test_torchscript_can_write_files_and_needs_trust(people, tmp_path):
    """Why trust is asked for: the file is a program, and this one writes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.script(Writer(str(tmp_path / "written"))), tmp_path / "model.pt")
    with pytest.raises(UntrustedError, match=r"'model.pt' is a PyTorch program.*torch.onnx.export"):
        load_model(tmp_path / "model.pt")
    trusted(tmp_path / "model.pt", features=NUMBERS).surface(Dataset(people, target="limit"))
    assert (tmp_path / "written").exists()


def test_an_exported_program_can_run_any_code_and_needs_trust(tmp_path):
    """Why trust is asked for: the example inputs in the archive are unpickled when it is opened."""
    torch.export.save(torch.export.export(network(None, 1), (torch.zeros(3, 2),)), tmp_path / "plain.pt2")
    buffer = io.BytesIO()
    torch.save(Bomb(tmp_path / "written"), buffer)
    with zipfile.ZipFile(tmp_path / "plain.pt2") as old, zipfile.ZipFile(tmp_path / "bomb.pt2", "w") as new:
        for name in old.namelist():
            new.writestr(name, buffer.getvalue() if "sample_inputs" in name else old.read(name))
    with pytest.raises(UntrustedError, match=r"'bomb.pt2' is a PyTorch program"):
        load_model(tmp_path / "bomb.pt2")
    assert not (tmp_path / "written").exists()
    with pytest.warns(TrustWarning), pytest.raises(ModelError, match="not a readable PyTorch model"):
        load_model(tmp_path / "bomb.pt2", trust=True)
    assert (tmp_path / "written").exists()


def test_pickled_modules_and_weights(people, tmp_path):
    module = network(torch.nn.Sigmoid(), 1)
    torch.save(module, tmp_path / "whole.pt")
    torch.save(module.state_dict(), tmp_path / "weights.pth")
    with pytest.raises(UntrustedError):
        load_model(tmp_path / "whole.pt")
    model = trusted(tmp_path / "whole.pt", features=NUMBERS)
    surface = model.surface(Dataset(people, target="loan", positive="granted"))
    np.testing.assert_allclose(surface.probability, expected(module, people)[:, 0], atol=1e-6)
    with pytest.warns(TrustWarning), pytest.raises(ModelError, match="weights alone cannot predict"):
        load_model(tmp_path / "weights.pth", trust=True)


@pytest.mark.parametrize("name", ["model.skops", "model.onnx", "model.pkl"])
def test_a_torch_archive_under_another_name_stays_closed(tmp_path, name):
    torch.save(Bomb(tmp_path / "written"), tmp_path / name)
    with pytest.raises(ModelError, match="begins like PyTorch"):
        load_model(tmp_path / name, trust=True)
    assert not (tmp_path / "written").exists()


def test_damaged_archives(tmp_path):
    module = network(None, 1)
    torch.export.save(torch.export.export(module, (torch.zeros(3, 2),)), tmp_path / "model.pt2")
    with zipfile.ZipFile(tmp_path / "model.pt2") as old, zipfile.ZipFile(tmp_path / "half.pt2", "w") as new:
        for name in old.namelist()[-6:]:
            new.writestr(name, old.read(name))
    with pytest.warns(TrustWarning), pytest.raises(ModelError, match=r"'half.pt2' is not a readable PyTorch model"):
        load_model(tmp_path / "half.pt2", trust=True)
    (tmp_path / "none.pt2").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(ModelError, match="named as PyTorch"):
        load_model(tmp_path / "none.pt2", trust=True)
