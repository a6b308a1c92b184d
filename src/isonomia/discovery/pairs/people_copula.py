"""A Gaussian copula of people: how likely they are, and new people like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.data import Kind, from_columns
from isonomia.data.synthetic import MAX_LEVELS, Copula
from isonomia.data.synthetic.marginals import Levels
from isonomia.probing import Domain
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class PeopleCopula:
    """A copula of rows of a domain.

    It is fitted to the indices of categories, not to their values: a generator cannot model dates, for example. Columns
    of more categories than it can tell apart are taken for numbers; those without any number here are left out.
    """

    domain: Domain
    copula: Copula

    @classmethod
    def of(cls, domain: Domain, people: Floats, *, orders: Mapping[str, Sequence[float]] | None = None) -> PeopleCopula:
        """Fitted to people; `orders` has the indices of categories in an order of the caller's."""
        kinds: dict[str, Kind] = {}
        for feature, column in zip(domain.features, people.T, strict=True):
            if not np.isnan(column).all():
                listed = feature.kind == "category" and len(feature.levels) <= MAX_LEVELS
                kinds[feature.name] = "category" if listed else "numeric" if feature.kind == "real" else "integer"
        known = {name: order for name, order in (orders or {}).items() if kinds.get(name) == "category"}
        return cls(domain, Copula.fit(_table(domain, people, kinds), kinds=kinds, orders=known))

    def log_density(self, people: Floats) -> Floats:
        """How likely each of these people is."""
        return self.copula.log_density(_table(self.domain, people, self.copula.marginals))

    def people(self, normals: Floats) -> Floats:
        """Rows of the domain for correlated normals, a column for each dimension of the copula."""
        rows = np.full((len(normals), len(self.domain)), np.nan)
        for name, codes in self.copula.decode(normals).items():
            marginal = self.copula.marginals[name]
            values = (
                np.append(np.asarray(marginal.values, dtype=float), np.nan) if isinstance(marginal, Levels) else None
            )
            rows[:, self.domain.index(name)] = (
                codes if values is None else values[codes]
            )  # code -1, missing, is the last
        return self.domain.snap(rows)


def _table(domain: Domain, people: Floats, names: Mapping[str, Any]) -> Any:
    return from_columns({name: people[:, domain.index(name)] for name in names}, domain.backend)
