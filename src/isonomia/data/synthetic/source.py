"""Phase 1: from real data, a schema or a fitted copula to a population with roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from isonomia.data.bands import Bands
from isonomia.data.dataset import Dataset
from isonomia.data.synthetic.copula import Copula
from isonomia.data.synthetic.outcome import Outcome, OutcomeKind
from isonomia.data.synthetic.schema import Schema
from isonomia.errors import DataError, SpecError, close_to

#: Columns that tell how a row came about; never features.
ANNOTATIONS = ("_subgroup", "_bias", "_epistemic", "_aleatoric", "_score", "_probability")


@dataclass(frozen=True)
class Source:
    """A population and the roles of its columns."""

    copula: Copula
    features: tuple[str, ...]
    protected: dict[str, Bands | None]
    privileged: dict[str, Any]
    outcome: Outcome
    name: str | None


def read_source(
    source: Any,
    outcome: OutcomeKind | Outcome,
    protected: Any,
    privileged: Mapping[str, Any] | None,
    columns: Sequence[str] | None,
    name: str | None,
    seed: int,
) -> Source:
    """A copula fitted to what was given, and the roles of its columns."""
    wanted = outcome if isinstance(outcome, Outcome) else Outcome(kind=outcome)
    roles: dict[str, Bands | None] = {}
    unseen: list[str] = []
    better: dict[str, Any] = {}
    if isinstance(source, Mapping) and "columns" in source and isinstance(source["columns"], Mapping):
        source = Schema.of(source)
    if isinstance(source, Copula):
        copula = source
    elif isinstance(source, Schema):
        copula = Copula.from_schema(source, seed=seed)
        roles, better = _roles(source.protected), dict(source.privileged)
    else:
        if columns is None and isinstance(source, Dataset):
            columns = (*source.features, *(column for column in source.protected if column not in source.features))
        copula = Copula.fit(source, columns=columns)
        if isinstance(source, Dataset):
            unseen = [column for column in source.protected if column not in source.features]
            roles = {column: source.roles.bands.get(column) for column in source.protected}
            better, wanted, name = dict(source.privileged), _like(wanted, source), name or source.name
    if protected is not None:
        roles = _roles(protected)
        better = {column: value for column, value in better.items() if column in roles}
    if privileged is not None:
        better = dict(privileged)
    if not roles:
        raise SpecError("`protected` must name at least one attribute: subgroups differ in protected attributes.")
    for column in roles:
        if column not in copula.marginals:
            raise DataError(
                f"`protected` must name columns of the generator; got {column!r}.{close_to(column, copula.columns)}"
            )
    target = wanted.target or "outcome"
    clash = [column for column in (target, *ANNOTATIONS) if column in copula.marginals]
    if clash:
        raise DataError(
            f"The source has a column {clash[0]!r}, a name that the generator writes itself. Leave it out with "
            "`columns=`, rename it, or give Outcome(target=...)."
        )
    features = tuple(column for column in copula.columns if column not in unseen)
    return Source(copula, features, roles, better, replace(wanted, target=target), name)


def _roles(protected: Any) -> dict[str, Bands | None]:
    names = [protected] if isinstance(protected, str) else protected
    if isinstance(names, Mapping):
        return {str(c): None if bands is None else Bands.of(bands, str(c)) for c, bands in names.items()}
    return dict.fromkeys(map(str, names))


def _like(outcome: Outcome, data: Dataset) -> Outcome:
    """The outcome named, labelled and rated as the target of real data, unless the caller asked for something else."""
    outcome = replace(outcome, target=outcome.target or data.target)
    if data.target is None or data.task != "binary" or outcome.kind != "binary" or outcome.labels is not None:
        return outcome
    column = data.column(data.target)
    other = [value for value in column.unique().to_list() if value not in (None, data.positive) and value == value]
    rate = float((column == data.positive).sum()) / len(column)
    if len(other) != 1 or not 0 < rate < 1:
        return outcome
    return replace(outcome, labels=(other[0], data.positive), rate=outcome.rate or rate)
