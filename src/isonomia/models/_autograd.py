"""Gradients of PyTorch modules, by automatic differentiation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from isonomia.typing import Floats

#: Rows differentiated at once.
ROWS = 1 << 14

_Shape = Literal["number", "negated", "table", "softmax"]


class Autograd:
    """The gradient of a module's score.

    The score is one number per row, or of several outputs that of the positive class (with more than two classes: of
    the predicted class), after softmax where the model's scores are.
    """

    def __init__(self, module: Any, *, exported: bool) -> None:
        self.module, self.exported = module, exported
        self.shape: _Shape = "number"
        self.column: int | None = None

    @classmethod
    def of(
        cls, model: Any, examples: Callable[[], Floats], score: Callable[[Floats], Floats | None]
    ) -> Autograd | None:
        """For a PyTorch module; None for other models, and where the score cannot be computed from its output."""
        torch = sys.modules.get("torch")  # where nobody imported it, there is no module
        if torch is None:
            return None
        exported = isinstance(model, torch.export.ExportedProgram)
        module = model.module() if exported else model
        if not isinstance(module, torch.nn.Module):
            return None
        rows = examples()
        scores = score(rows)
        made = cls(module, exported=exported)
        try:
            output = made._forward(rows).detach().cpu().double().numpy()
        except (RuntimeError, TypeError, ValueError, AssertionError):
            return None  # a program for a fixed number of rows, for example
        if scores is None or output.ndim != 2 or len(output) != len(rows):
            return None
        for shape, column, candidate in _candidates(output):
            if candidate.shape != scores.shape:
                continue
            made.shape, made.column = shape, column
            if np.allclose(candidate, scores, rtol=1e-4, atol=1e-5):
                return made
            # classes in another order: the predicted one has the largest score
            a, b = np.sort(candidate, axis=-1), np.sort(scores, axis=-1)
            if candidate.ndim == 2 and np.allclose(a, b, rtol=1e-4, atol=1e-5):
                return made
        return None

    def __call__(self, rows: Floats) -> Floats:
        """Gradients (n, d) of rows."""
        parts = [self._part(rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)]
        return np.concatenate(parts) if parts else np.zeros_like(rows)

    def _part(self, rows: Floats) -> Floats:
        torch = sys.modules["torch"]
        with torch.enable_grad():
            x = self._tensor(rows).requires_grad_(True)
            output = self._forward(rows, x)
            score = self._score(torch, output)
            (gradient,) = torch.autograd.grad(score.sum(), x)
        return np.asarray(gradient.detach().cpu().double().numpy())

    def _score(self, torch: Any, output: Any) -> Any:
        if self.shape in ("number", "negated"):
            return output[:, 0] if self.shape == "number" else -output[:, 0]
        table = torch.softmax(output, dim=1) if self.shape == "softmax" else output / output.sum(dim=1, keepdim=True)
        return table[:, self.column] if self.column is not None else table.max(dim=1).values

    def _tensor(self, rows: Floats) -> Any:
        torch = sys.modules["torch"]
        first = next((item for item in self.module.parameters() if item.is_floating_point()), None)
        dtype, device = (torch.float32, "cpu") if first is None else (first.dtype, first.device)
        return torch.as_tensor(rows).to(device=device, dtype=dtype)

    def _forward(self, rows: Floats, x: Any = None) -> Any:
        """The module's output as a matrix, in evaluation mode."""
        with _evaluating(self.module, self.exported):
            output = self.module(self._tensor(rows) if x is None else x)
        return output[:, None] if output.ndim == 1 else output


def _candidates(output: Floats) -> Iterator[tuple[_Shape, int | None, Floats]]:
    """The scores that a module's output may stand for."""
    if output.shape[1] == 1:
        number = output[:, 0]
        yield from (("number", None, number), ("negated", None, -number), ("negated", None, 1.0 - number))
        return
    powers = np.exp(output - output.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        tables: tuple[tuple[_Shape, Floats], ...] = (
            ("table", output / output.sum(axis=1, keepdims=True)),
            ("softmax", powers / powers.sum(axis=1, keepdims=True)),
        )
    for shape, table in tables:
        if table.shape[1] > 2:
            yield shape, None, table
        else:
            yield from ((shape, column, np.asarray(table[:, column])) for column in (1, 0))


@contextmanager
def _evaluating(module: Any, exported: bool) -> Iterator[None]:
    """Switch a module to evaluation mode and back; an exported program has one mode only."""
    training = bool(module.training) and not exported
    if training:
        module.eval()
    try:
        yield
    finally:
        if training:
            module.train()
