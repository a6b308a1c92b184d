"""Who is searched: the people in the data, the model that decides about them, and which people are valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.data import Dataset, numbers
from isonomia.discovery.pairs._proxies import proxies_of
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.languages import msg
from isonomia.models import Model
from isonomia.probing import Domain
from isonomia.subject import Subject, read_dataset
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Population:
    """The people that a search for pairs starts from, and all who could exist.

    Attributes
    ----------
    dataset : Dataset or None
        The people in the data, without those who have infinite numbers; None where only a domain was given.
    model : estimator, callable or Model
        Who decides about them.
    domain : Domain
        All valid people.
    protected : tuple of str
        The attributes to change.
    spanned : bool
        Whether the domain is the range of the data, so that nobody in the data is outside.
    n_infinite : int
        How many people were left out because of an infinite number.
    """

    dataset: Dataset | None
    model: Any
    domain: Domain
    protected: tuple[str, ...]
    spanned: bool
    n_infinite: int = 0

    @classmethod
    def of(
        cls,
        data: Any,
        model: Any,
        *,
        roles: Mapping[str, Any],
        domain: Domain | Mapping[str, Any] | None,
        constraints: Sequence[Any],
        dependencies: bool,
    ) -> Population:
        """Read data, model and domain; with `dependencies` the domain learns what the data rule out."""
        given = roles["protected"]
        if isinstance(data, Domain):
            return cls(dataset=None, model=model, domain=data, protected=_protected(None, given, data), spanned=False)
        dataset, model = _read(data, model, roles)
        n = 0
        if isinstance(domain, Domain):
            valid = domain
        else:
            features = _features(dataset, model)
            dataset, n = _with_finite_numbers(dataset, features)
            valid = Domain.from_data(dataset, features=features, constraints=constraints, overrides=domain)
        names = _protected(dataset, given, valid)
        if dependencies and not isinstance(domain, Domain):
            valid.learn_dependencies(valid.encode(dataset.frame), leading=names)
        return cls(dataset=dataset, model=model, domain=valid, protected=names, spanned=domain is None, n_infinite=n)

    def listed(self) -> tuple[str, ...]:
        """Columns of numbers of which the values in the data are valid, and none between them."""
        kinds = {} if self.dataset is None or not self.spanned else self.dataset.kinds
        return tuple(
            feature.name
            for feature in self.domain.features
            if feature.kind == "category"
            and len(feature.levels) > 1
            and kinds.get(feature.name) in ("integer", "numeric")
        )

    def people(self) -> tuple[Floats, int]:
        """The rows of the data as valid people, and how many had to be moved to the edge of the domain."""
        domain = self.domain
        if self.dataset is None:
            return np.empty((0, len(domain))), 0
        rows = domain.encode(self.dataset.frame)
        if self.spanned:  # only constraints may exclude people
            return rows[domain.valid(rows)] if domain.rules else rows, 0
        snapped = domain.snap(rows)
        changed = (rows != snapped) & ~np.isnan(rows)
        moved = int(changed.any(axis=1).sum()) if changed.any() else 0
        return snapped[domain.valid(snapped)], moved


def _read(data: Any, model: Any, roles: Mapping[str, Any]) -> tuple[Dataset, Any]:
    """The dataset and the model, which a subject has already."""
    if not isinstance(data, Subject):
        given = {name: value for name, value in roles.items() if value is not None}
        if isinstance(data, Dataset):
            given.pop("protected", None)
        return read_dataset(data, given), model
    repeated = ["model"] * (model is not None) + [n for n in ("target", "positive", "task") if roles[n] is not None]
    if repeated:
        raise SpecError(f"A Subject already has its data and model; leave out {', '.join(repeated)}.")
    return data.data, data.needs_model()


def _features(dataset: Dataset, model: Any) -> list[str]:
    """The columns that the model takes."""
    takes = model.features if isinstance(model, Model) else getattr(model, "feature_names_in_", None)
    features = [str(name) for name in takes] if takes is not None else list(dataset.features)
    for name in features:
        if name not in dataset.columns:
            raise SpecError(
                f"The model needs a feature {name!r} that is not in the data.{close_to(name, dataset.columns)}"
            )
    return features


def _with_finite_numbers(dataset: Dataset, names: Sequence[str]) -> tuple[Dataset, int]:
    """The people without infinite numbers, and how many have one: no valid person is like them."""
    infinite = np.zeros(len(dataset), dtype=bool)
    for name in names:
        if dataset.kinds[name] == "numeric":
            infinite |= np.isinf(numbers(dataset.column(name)))
    if infinite.all():
        raise NotApplicable(msg("everyone has an infinite number in some feature"))
    return (dataset.take(~infinite), int(infinite.sum())) if infinite.any() else (dataset, 0)


def _protected(dataset: Dataset | None, protected: str | Sequence[str] | None, domain: Domain) -> tuple[str, ...]:
    """The attributes to alter, all of them features that the model takes."""
    given = (protected,) if isinstance(protected, str) else tuple(protected or ())
    names = given or (dataset.protected if dataset is not None else ())
    if not names:
        raise SpecError("No protected attribute is given; name at least one, for example protected=['sex'].")
    for name in names:
        if name in domain.names:
            continue
        if dataset is None or name not in dataset.columns:
            known = domain.names if dataset is None else dataset.columns
            raise SpecError(f"`protected` must name columns of the data; got {name!r}.{close_to(name, known)}")
        near = proxies_of(dataset, name, domain.names)
        raise NotApplicable(
            f"the model does not use '{name}', so no two people can differ in it alone. Closest features: "
            f"{', '.join(near)}. Examine pairs that differ in one of them, or group fairness by '{name}'"
        )
    return names
