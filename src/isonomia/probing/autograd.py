"""Slopes of PyTorch modules, by automatic differentiation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from isonomia.probing.domain import Domain
from isonomia.probing.oracle import Oracle, Said
from isonomia.typing import Floats

#: Rows differentiated at once, and rows on which the module is compared with what the oracle says.
ROWS, COMPARED = 1 << 14, 16

_Shape = Literal["number", "turned", "table", "softmax"]


class Autograd:
    """The slope of a module's score in every column of a domain.

    The score is the one that the oracle gives: a number a row, or of several columns the positive class's (the decided
    class's of more than two), after softmax where the oracle takes it.
    """

    def __init__(self, module: Any, domain: Domain, shape: _Shape, column: int | None, fixed: bool) -> None:
        self.module, self.domain, self.shape, self.column, self.fixed = module, domain, shape, column, fixed

    @classmethod
    def of(cls, oracle: Oracle, consult: Callable[[Floats], Said]) -> Autograd | None:
        """For an oracle whose model is a module; None where it is none, or its score is no output of it."""
        torch = sys.modules.get("torch")  # where nobody imported it, there is no module
        if torch is None:
            return None
        thing = oracle.estimator
        fixed = isinstance(thing, torch.export.ExportedProgram)
        module = thing.module() if fixed else thing
        if not isinstance(module, torch.nn.Module) or not _is_numeric(oracle.domain):
            return None
        rows = oracle.domain.sample(COMPARED, np.random.default_rng(0))
        score = consult(rows).score
        made = cls(module, oracle.domain, "number", None, fixed)
        try:
            output = made._forward(rows).detach().cpu().double().numpy()
        except (RuntimeError, TypeError, ValueError, AssertionError):
            return None  # a program for one number of rows, for example
        if score is None or output.ndim != 2 or len(output) != len(rows):
            return None
        for shape, column, said in _readings(output):
            if said.shape == score.shape and np.allclose(said, score, rtol=1e-4, atol=1e-5):
                made.shape, made.column = shape, column
                return made
            ranked = said.shape == score.shape and said.ndim == 2
            if ranked and np.allclose(np.sort(said, axis=1), np.sort(score, axis=1), rtol=1e-4, atol=1e-5):
                made.shape = shape  # classes in another order: the decided one is the largest
                return made
        return None

    def __call__(self, rows: Floats) -> Floats:
        """Slopes (n, d) of rows."""
        parts = [self._part(rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)]
        return np.concatenate(parts) if parts else np.zeros_like(rows)

    def _part(self, rows: Floats) -> Floats:
        torch = sys.modules["torch"]
        with torch.enable_grad():
            x = self._tensor(rows).requires_grad_(True)
            output = self._forward(rows, x)
            score = self._score(torch, output)
            (slope,) = torch.autograd.grad(score.sum(), x)
        return np.asarray(slope.detach().cpu().double().numpy())

    def _score(self, torch: Any, output: Any) -> Any:
        if self.shape in ("number", "turned"):
            return output[:, 0] if self.shape == "number" else -output[:, 0]
        table = torch.softmax(output, dim=1) if self.shape == "softmax" else output / output.sum(dim=1, keepdim=True)
        return table[:, self.column] if self.column is not None else table.max(dim=1).values

    def _tensor(self, rows: Floats) -> Any:
        torch = sys.modules["torch"]
        first = next((item for item in self.module.parameters() if item.is_floating_point()), None)
        dtype, device = (torch.float32, "cpu") if first is None else (first.dtype, first.device)
        return torch.as_tensor(rows).to(device=device, dtype=dtype)

    def _forward(self, rows: Floats, x: Any = None) -> Any:
        """The module's output as a matrix, asked in the mode in which it predicts."""
        with _evaluating(self.module, self.fixed):
            output = self.module(self._tensor(rows) if x is None else x)
        return output[:, None] if output.ndim == 1 else output


def _readings(output: Floats) -> Iterator[tuple[_Shape, int | None, Floats]]:
    """The ways an output may have become the oracle's score."""
    if output.shape[1] == 1:
        number = output[:, 0]
        yield from (("number", None, number), ("turned", None, -number), ("turned", None, 1.0 - number))
        return
    lifted = np.exp(output - output.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        tables: tuple[tuple[_Shape, Floats], ...] = (
            ("table", output / output.sum(axis=1, keepdims=True)),
            ("softmax", lifted / lifted.sum(axis=1, keepdims=True)),
        )
    for shape, table in tables:
        if table.shape[1] > 2:
            yield shape, None, table
        else:
            yield from ((shape, column, np.asarray(table[:, column])) for column in (1, 0))


def _is_numeric(domain: Domain) -> bool:
    """Whether every column of a row is the number that the module gets."""
    places = [feature.levels for feature in domain.features if feature.kind == "category"]
    in_order = all(list(levels) == list(range(len(levels))) for levels in places)
    return in_order and not domain.may_miss.any()


@contextmanager
def _evaluating(module: Any, fixed: bool) -> Iterator[None]:
    """Evaluation mode for a while; what was exported keeps its own."""
    training = bool(module.training) and not fixed
    if training:
        module.eval()
    try:
        yield
    finally:
        if training:
            module.train()
