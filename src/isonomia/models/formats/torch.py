"""PyTorch modules: live ones, TorchScript files and exported programs; a matrix of numbers in, numbers out."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import FAULTS, ModelError, require
from isonomia.models._predictors import Answer
from isonomia.models.columns import number_matrix
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat
from isonomia.models.surface import SurfaceKind

#: How many rows a module is handed at a time: what lies between its layers is much wider than the rows are.
_BATCH = 1 << 16

TorchKind = Literal["torchscript", "torch_export", "torch_pickle"]


def is_torch_module(obj: object) -> bool:
    """Whether this is a torch.nn.Module; found without importing torch."""
    home = "torch.nn.modules.module"
    return any(base.__name__ == "Module" and base.__module__ == home for base in type(obj).__mro__)


def is_exported_program(obj: object) -> bool:
    """Whether this is what torch.export.export returns."""
    return type(obj).__name__ == "ExportedProgram" and type(obj).__module__.split(".")[0] == "torch"


def torch_kind(names: Sequence[str]) -> TorchKind | None:
    """Which of PyTorch's archives these members belong to; all of them lie in one folder.

    >>> torch_kind(["m/data.pkl", "m/code/__torch__.py"]), torch_kind(["m/data.pkl"]), torch_kind(["schema.json"])
    ('torchscript', 'torch_pickle', None)
    """
    inside = {name.partition("/")[2] for name in names}
    if "archive_format" in inside or any(name.startswith("models/") for name in inside):
        return "torch_export"
    if "data.pkl" in inside:
        return "torchscript" if any(name.startswith("code/") for name in inside) else "torch_pickle"
    return None


def load_torch(content: bytes, *, name: str) -> Any:
    """The module in a file that is trusted: TorchScript, an exported program, or a pickled module.

    Notes
    -----
    None of the three can be read without trusting its author. A pickle runs any code. `torch.export.load` unpickles too
    (where its reader of plain weights refuses, it goes on with the full one), evaluates shape expressions as Python and
    loads compiled libraries out of the archive. TorchScript is a program with operators that write files.
    """
    torch = require("torch", extra="torch", purpose="reading PyTorch models")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        kind = torch_kind(archive.namelist())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.jit is deprecated; files written with it are not gone
            if kind == "torchscript":
                loaded = torch.jit.load(io.BytesIO(content), map_location="cpu")
            elif kind == "torch_export":
                loaded = torch.export.load(io.BytesIO(content))
            else:
                loaded = torch.load(io.BytesIO(content), map_location="cpu", weights_only=False)
    except FAULTS as error:  # whatever is wrong in the file, in any of torch's layers
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise ModelError(f"'{name}' is not a readable PyTorch model: {type(error).__name__}: {reason}") from error
    if not (is_torch_module(loaded) or is_exported_program(loaded)):
        raise ModelError(
            f"'{name}' contains {type(loaded).__name__}, not a model: weights alone cannot predict. Build the module, "
            "load the weights into it, and give the module; or save the whole with torch.export."
        )
    return loaded


@dataclass
class TorchPredictor:
    """A module, called in batches without gradients and in evaluation mode; its own mode is restored afterwards."""

    given: Any
    make: str = field(init=False)
    names: tuple[str, ...] | None = None
    n_features: int | None = field(init=False, default=None)
    task: Task | None = None
    alias: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        self.batch: int | None = None
        exported = is_exported_program(self.given)
        self.module = self.given.module() if exported else self.given
        own = getattr(self.given, "original_name", None) or type(self.given).__name__
        self.make = "PyTorch exported program" if exported else f"PyTorch {own}"
        if exported:
            shapes = _input_shapes(self.given)
            if len(shapes) != 1:
                raise ModelError(
                    f"The exported program takes {len(shapes)} inputs; a table's rows are one matrix. Export a module "
                    "whose forward(rows) takes one."
                )
            if len(shapes[0]) == 2:
                rows, width = shapes[0]
                self.batch, self.n_features = rows, width

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """All rows, some ten thousand at a time; scores in several columns are logits and become probabilities."""
        torch = require("torch", extra="torch", purpose="predicting with a PyTorch model")
        first = next((item for item in self.module.parameters() if item.is_floating_point()), None)
        dtype, device = (torch.float32, "cpu") if first is None else (first.dtype, first.device)
        matrix = number_matrix(table, make=self.make)
        # what was exported keeps the mode it was exported in
        training = bool(getattr(self.module, "training", False)) and not is_exported_program(self.given)
        if training:
            self.module.eval()
        try:
            with torch.inference_mode():
                parts = [self._part(torch, block, dtype, device) for block in self._blocks(matrix)]
        finally:
            if training:
                self.module.train()
        return _read(np.concatenate(parts), kind)

    def _blocks(self, matrix: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        step = self.batch or _BATCH
        return [matrix[start : start + step] for start in range(0, max(len(matrix), 1), step)]

    def _part(self, torch: Any, block: NDArray[np.float64], dtype: Any, device: Any) -> NDArray[np.float64]:
        n = len(block)
        if self.batch is not None and n < self.batch:  # exported for one number of rows: the last row fills up
            block = np.concatenate([block, np.repeat(block[-1:], self.batch - n, axis=0)])
        returned = self.module(torch.as_tensor(block).to(device=device, dtype=dtype))
        if not isinstance(returned, torch.Tensor):
            raise ModelError(
                f"The model ({self.make}) returned {type(returned).__name__}; one tensor with a row for each row is "
                "read. Wrap it in a module or a function that returns the one that decides."
            )
        values: NDArray[np.float64] = returned.detach().to(device="cpu", dtype=torch.float64).numpy()
        if values.ndim not in (1, 2) or len(values) != len(block):
            raise ModelError(
                f"The model ({self.make}) was asked about {len(block)} rows and returned a tensor of shape "
                f"{tuple(values.shape)}; expected ({len(block)},) or ({len(block)}, classes)."
            )
        return values[:n]


def _read(values: NDArray[np.float64], kind: SurfaceKind | None) -> Answer:
    wide = values.ndim == 2 and values.shape[1] > 1
    if wide and kind == "label":
        return Answer(values.argmax(axis=1), "label", tuple(range(values.shape[1])))
    if wide and kind == "score":
        return Answer(_softmax(values), "probability")
    if wide and kind in (None, "probability"):
        return Answer(_whole(values), "probability")
    return Answer(values, kind)


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = grown / grown.sum(axis=1, keepdims=True)
    return shares


def _whole(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities in single precision sum to 1 but for rounding; logits do not, and are reported as logits."""
    totals = values.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        fits = (values >= -1e-6).all() and (np.abs(totals - 1) <= 1e-3).all()
    if not fits and np.isfinite(values).all():
        raise ModelError(
            "The PyTorch model returned several columns that are not probabilities (a row must sum to 1). If they are "
            "logits, say output='score' (softmax is taken) or output='label' (the largest decides)."
        )
    shares: NDArray[np.float64] = np.clip(values, 0, None) / totals
    return shares


def _input_shapes(program: Any) -> list[tuple[int | None, ...]]:
    """The shapes of the inputs a caller gives; None where a size is free."""
    mine = set(program.graph_signature.user_inputs)
    shapes = []
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in mine:
            value = node.meta.get("val")
            shape = () if value is None else value.shape
            shapes.append(tuple(size if isinstance(size, int) else None for size in shape))
    return shapes


def _is_archive(content: bytes) -> bool:
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return torch_kind(archive.namelist()) is not None
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False  # the reader of skops files says what is wrong with the archive


MODEL_FORMATS.add(
    ModelFormat(
        id="torch",
        title="PyTorch",
        purpose="modules of PyTorch: exported, scripted or pickled; loading one runs the code in the file",
        suffixes=(".pt2", ".pt", ".pth"),
        load=load_torch,
        starts=_is_archive,
        extra="torch",
        trust="a PyTorch program",
        instead="Save the model as ONNX (torch.onnx.export)",
        owns=lambda obj: is_torch_module(obj) or is_exported_program(obj),
        predictor=TorchPredictor,
    )
)
