"""A search for subgroups as a record of a store, and the same result again without a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.result import SubgroupResult
from isonomia.errors import SpecError
from isonomia.evidence import Result
from isonomia.languages import decode, encode

if TYPE_CHECKING:
    from isonomia.discovery.subgroups.problem import Problem

_PLAIN = ("estimate", "overall", "p_value", "p_adjusted", "text", "message", "measure")


class KeptSubgroups(SubgroupResult):
    """A result from a store. The rows are read again, and the model asked, where `mask` or `around` need them."""

    def __init__(self, read: Callable[[], Problem], names: tuple[str, ...], **parts: Any) -> None:
        super().__init__(**parts)
        self.__dict__.update(_read_problem=read, _names=names)
        for name in ("features", "outcome"):  # set by the dataclass; computed on first use here
            del self.__dict__[name]

    @cached_property
    def _problem(self) -> Problem:
        return self.__dict__["_read_problem"]()  # type: ignore[no-any-return]

    @cached_property
    def features(self) -> Mapping[str, Codes]:
        """The encoded features."""
        return self._problem.by_name

    @cached_property
    def outcome(self) -> NDArray[np.float64] | None:
        """The outcome of each row."""
        return self._problem.outcome

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that conditions may be on."""
        return tuple(self.__dict__["_names"])


def record_of(result: SubgroupResult) -> dict[str, Any]:
    """What the tables of the result do not hold: conditions as codes, and the names of the features."""
    return {
        "complete": result.complete,
        "features": list(result.feature_names),
        "subgroups": [
            {
                "conditions": {name: list(codes) for name, codes in one.conditions.items()},
                "without": [{name: list(codes) for name, codes in other.items()} for other in one.without],
                "stats": encode({name: value for name, value in one.stats.items() if not name.startswith("_")}),
                "rule": one.member is not None,
                **{name: encode(getattr(one, name)) for name in _PLAIN},
            }
            for one in result.subgroups
        ],
    }


def result_of(values: Mapping[str, Any], read: Callable[[], Problem]) -> SubgroupResult:
    """The result that was kept; `read` gives the rows of the question, which are the same."""
    given, again = values["result"], values["again"]
    base = Result.from_dict(given)
    return KeptSubgroups(
        read,
        tuple(again["features"]),
        **{field.name: getattr(base, field.name) for field in fields(Result)},
        method=given["method"],
        metrics=given["metrics"],
        complete=again["complete"],
        subgroups=tuple(_subgroup(one) for one in again["subgroups"]),
    )


def _subgroup(given: Mapping[str, Any]) -> Subgroup:
    return Subgroup(
        conditions=_codes(given["conditions"]),
        without=tuple(_codes(one) for one in given["without"]),
        stats=decode(given["stats"]),
        member=_not_kept if given["rule"] else None,
        **{name: decode(given[name]) for name in _PLAIN},
    )


def _codes(given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(codes) for name, codes in given.items()}


def _not_kept(features: Mapping[str, Codes]) -> NoReturn:
    raise SpecError("A store does not keep which rows a rule covers; search again without reuse=True.")
