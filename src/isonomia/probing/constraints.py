"""Rules a valid person obeys, written as text and read without ever running it.

``age >= 18 and education_years <= age - 5``. Allowed are column names (in backticks where they are not plain words),
numbers, texts, ``+ - * /``, comparisons, ``in (..., ...)``, ``and``, ``or``, ``not``. Nothing else is understood, so
a hostile rule can do nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError, close_to

_MATH: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_MAX_LENGTH = 2000


class Constraint:
    """A rule over columns, applied to whole columns at once.

    Examples
    --------
    >>> rule = Constraint("age >= 18 and `years-of-school` <= age - 5", columns=["age", "years-of-school"])
    >>> rule.holds({"age": np.array([17, 30, 20]), "years-of-school": np.array([5, 12, 16])}).tolist()
    [False, True, False]
    """

    def __init__(self, text: str, *, columns: list[str]) -> None:
        self.text = text
        if len(text) > _MAX_LENGTH:
            raise SpecError(f"A constraint may have at most {_MAX_LENGTH} characters; this one has {len(text)}.")
        self._quoted: dict[str, str] = {}
        try:
            self._tree = ast.parse(re.sub(r"`([^`]+)`", self._quote, text), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise SpecError(f"The constraint {text!r} could not be read: {error}.") from None
        self.columns = tuple(dict.fromkeys(self._names(self._tree, columns)))

    def holds(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Where the rule holds. A comparison with a missing value does not hold."""
        with np.errstate(divide="ignore", invalid="ignore"):
            answer = np.asarray(self._value(self._tree, columns))
        if answer.dtype != bool:
            raise SpecError(f"The constraint {self.text!r} gives numbers, not yes or no; compare them with something.")
        return np.broadcast_to(answer, (len(next(iter(columns.values()))),)) if columns else answer

    def _quote(self, match: re.Match[str]) -> str:
        name = f"quoted_{len(self._quoted)}_"
        self._quoted[name] = match.group(1)
        return name

    def _names(self, node: ast.AST, known: list[str]) -> list[str]:
        found = []
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                name = self._quoted.get(part.id, part.id)
                if name not in known:
                    raise SpecError(
                        f"The constraint {self.text!r} names {name!r}, which is not a feature.{close_to(name, known)}"
                    )
                found.append(name)
            elif not isinstance(part, _ALLOWED):
                raise SpecError(
                    f"The constraint {self.text!r} has an unsupported part ({type(part).__name__}). "
                    "Use column names, numbers, texts, + - * /, comparisons, in (...), and, or, not."
                )
        return found

    def _value(self, node: ast.AST, columns: Mapping[str, NDArray[Any]]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return columns[self._quoted.get(node.id, node.id)]
            case ast.Tuple() | ast.List():
                return [self._value(item, columns) for item in node.elts]
            case ast.UnaryOp(op=ast.Not()):
                return ~np.asarray(self._value(node.operand, columns), dtype=bool)
            case ast.UnaryOp(op=ast.USub()):
                return -self._value(node.operand, columns)
            case ast.BinOp():
                return _MATH[type(node.op)](self._value(node.left, columns), self._value(node.right, columns))
            case ast.BoolOp():
                parts = [np.asarray(self._value(item, columns), dtype=bool) for item in node.values]
                combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return combine.reduce(np.broadcast_arrays(*parts))
            case ast.Compare():
                return self._compare(node, columns)
        raise SpecError(f"The constraint {self.text!r} could not be read.")  # pragma: no cover, _names refused it

    def _compare(self, node: ast.Compare, columns: Mapping[str, NDArray[Any]]) -> Any:
        left, answer = self._value(node.left, columns), None
        for sign, item in zip(node.ops, node.comparators, strict=True):
            right = self._value(item, columns)
            if isinstance(sign, ast.In | ast.NotIn):
                inside = np.logical_or.reduce([np.asarray(left == value) for value in right])
                holds = inside if isinstance(sign, ast.In) else ~inside
            else:
                try:
                    holds = np.asarray(_COMPARE[type(sign)](left, right))
                except TypeError:
                    raise SpecError(f"The constraint {self.text!r} compares texts with numbers.") from None
            answer = holds if answer is None else answer & holds
            left = right
        return answer


_ALLOWED = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.UnaryOp,
    ast.Not,
    ast.USub,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.Compare,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.Eq,
    ast.NotEq,
    ast.In,
    ast.NotIn,
    ast.Load,
)
