"""Where samples of a group come from: the rows at hand, each once, or a generator fitted to them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Bands, wrap
from isonomia.data.synthetic import Between, Condition, Copula, OneOf
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import DataError, SpecError
from isonomia.models import Model

Bytes = NDArray[np.uint8]
Spec = Literal["demographic_parity", "equal_opportunity", "individual"]


class Population(Protocol):
    """Gives decisions (1 = favourable) of members of a group, fresh ones every time."""

    name: str

    def draw(self, column: Codes, code: int, n: int) -> Bytes:
        """At most n further decisions about members of a group; fewer where there are no more."""

    def flips(self, column: Codes, code: int, other: int, n: int) -> Bytes:
        """At most n further members of a group: 1 where the decision stays the same with the other group's value."""


class Rows:
    """The rows themselves in random order, each used once: a sample of the population that they come from."""

    name = "data"

    def __init__(self, problem: Problem, spec: Spec) -> None:
        if problem.label is None or problem.task != "binary":
            raise DataError("Verification needs decisions of two classes: give a model, or y_pred.")
        self.label = np.asarray(problem.label, dtype=np.uint8)
        self.order = np.random.default_rng(problem.seed).permutation(problem.n)
        if spec == "equal_opportunity":
            if problem.truth is None:
                raise DataError("Equal opportunity needs true outcomes: give y_true, or a Dataset with a target.")
            self.order = self.order[np.asarray(problem.truth)[self.order] == 1]
        self.used: dict[tuple[str, int], int] = {}

    def draw(self, column: Codes, code: int, n: int) -> Bytes:
        mine = self.order[column.codes[self.order] == code]
        start = self.used.get((column.name, code), 0)
        self.used[column.name, code] = start + n
        return np.asarray(self.label[mine[start : start + n]], dtype=np.uint8)

    def flips(self, column: Codes, code: int, other: int, n: int) -> Bytes:
        raise SpecError(
            "`spec`='individual' asks the model about altered people: give a model and population='copula'."
        )


class Generated:
    """A Gaussian copula fitted to the data, and the model's decisions about whoever it draws."""

    name = "copula"

    def __init__(self, problem: Problem, spec: Spec) -> None:
        if not isinstance(problem.model, Model) or problem.data is None:
            raise SpecError("`population`='copula' asks a model about new people: give a model, or population='data'.")
        self.data, self.model, self.spec = problem.data, problem.model, spec
        names = [*self.data.features]
        self.given: tuple[Condition, ...] = ()
        if spec == "equal_opportunity":
            if self.data.target is None:
                raise DataError("Equal opportunity needs true outcomes to draw from: give a Dataset with a target.")
            names.append(self.data.target)
            self.given = (OneOf(self.data.target, (problem.classes[1],)),)
        self.copula = Copula.fit(self.data, columns=names)
        self.rng = np.random.default_rng(problem.seed)

    def _people(self, column: Codes, code: int, n: int) -> Any:
        seed = int(self.rng.integers(2**31))
        return self.copula.sample(n, seed=seed, given=(*self.given, self._condition(column, code)))

    def _condition(self, column: Codes, code: int) -> Condition:
        return _condition(column, code, self.data.roles.bands.get(column.name))

    def _ask(self, frame: Any) -> Bytes:
        surface = self.model.surface(self.data, frame=frame)
        if surface.label is None or surface.task != "binary":
            raise DataError("Verification needs a model that decides between two classes.")
        return np.asarray(surface.label, dtype=np.uint8)

    def draw(self, column: Codes, code: int, n: int) -> Bytes:
        return self._ask(self._people(column, code, n))

    def flips(self, column: Codes, code: int, other: int, n: int) -> Bytes:
        people = wrap(self._people(column, code, n))
        altered = people.with_columns(wrap(self._people(column, other, n))[column.name])
        before, after = np.split(self._ask(nw.concat([people, altered]).to_native()), 2)
        return np.asarray(before == after, dtype=np.uint8)


def _condition(column: Codes, code: int, bands: Bands | None) -> Condition:
    label = column.labels[code]
    if label is None:
        return OneOf(column.name, (None,))
    if bands is not None:
        ends = (-np.inf, *bands.edges, np.inf)
        band = bands.labels.index(label)
        return Between(column.name, ends[band], ends[band + 1])
    if column.edges is None:
        return OneOf(column.name, (label,))
    high = column.edges[label + 1]
    last = label == len(column.edges) - 2
    return Between(column.name, column.edges[label], float(np.nextafter(high, np.inf)) if last else high)


def population_of(problem: Problem, spec: Spec, name: str | None) -> Population:
    """The requested population; by default the generator if there is a model to ask, else the rows."""
    chosen = ("copula" if isinstance(problem.model, Model) else "data") if name is None else name
    return Rows(problem, spec) if chosen == "data" else Generated(problem, spec)
