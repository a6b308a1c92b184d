"""The fairness measures of the study: one number per model, unprivileged - privileged where they have a sign."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from isonomia.errors import IsonomiaError, SpecError
from isonomia.evidence import finite
from isonomia.fairness import consistency, counterfactual, generalized_entropy, group_metrics
from isonomia.languages import Message, msg
from isonomia.registry import Registry
from isonomia.subject import Subject

#: Neighbours that decisions are compared with, the person included.
NEIGHBOURS = 5


@dataclass(frozen=True)
class StudyMeasure:
    """A fairness measure of the study.

    Attributes
    ----------
    id, purpose : str
    title : Message
    compute : callable
        From the subject (test rows and decisions) to a number; None where it is not defined.
    unsigned : bool
        Whether it has a size but no sign.
    published : callable or None
        From a row of the published result files to the published value.
    version : str
        What tells a user's function from others of the same name.
    """

    id: str
    purpose: str
    title: Message
    compute: Callable[[Subject], float | None]
    unsigned: bool = False
    published: Callable[[Any], float] | None = None
    version: str = ""


STUDY_MEASURES: Registry[StudyMeasure] = Registry("study_measure", word="measure")


def _difference(metric: str) -> Callable[[Subject], float | None]:
    def compute(subject: Subject) -> float | None:
        table = group_metrics(subject, metrics=[metric], by="each").tables["by_group"]
        by_group = dict(zip(map(float, table[subject.attributes[0].name].values), table[metric].values, strict=True))
        low, high = finite(by_group.get(0.0)), finite(by_group.get(1.0))
        return None if low is None or high is None else low - high

    return compute


def _counterfactual(subject: Subject) -> float | None:
    """The mean change of the decisions on privileged people who become unprivileged."""
    model, data = subject.needs_model(), subject.data

    def decide(frame: Any) -> Any:
        return model.surface(data, frame=frame).label

    found = counterfactual(data, decide, attributes=[data.protected[0]], through_proxies=False).tables["changes"]
    rows = [row for row in found.rows() if (float(row["from"]), float(row["to"])) == (1.0, 0.0)]
    return finite(rows[0]["change"]) if rows else 0.0


def _inconsistency(subject: Subject) -> float | None:
    found = consistency(subject, k=NEIGHBOURS).value.value
    return None if found is None else 1 - found


def _entropy(subject: Subject) -> float | None:
    return finite(generalized_entropy(subject, alpha=2, n_boot=0).total)


STUDY_MEASURES.add(
    StudyMeasure(
        id="statistical_parity",
        purpose="difference of the rates of favourable decisions",
        title=msg("statistical parity"),
        compute=_difference("selection_rate"),
        published=lambda row: row["stat_parity"],
    ),
    StudyMeasure(
        id="equal_opportunity",
        purpose="the same among people with the favourable outcome",
        title=msg("equal opportunity"),
        compute=_difference("tpr"),
        published=lambda row: row["equal_opport"],
    ),
    StudyMeasure(
        id="counterfactual",
        purpose="change of decisions on privileged people who become unprivileged",
        title=msg("counterfactual difference"),
        compute=_counterfactual,
        published=lambda row: row["counterfactual"],
    ),
    StudyMeasure(
        id="inconsistency",
        purpose="1 - consistency with the 5 nearest neighbours, the person included",
        title=msg("1 - consistency"),
        compute=_inconsistency,
        unsigned=True,
        published=lambda row: 1 - row["consistency"],
    ),
    StudyMeasure(
        id="generalized_entropy",
        purpose="generalized entropy of benefits, alpha = 2",
        title=msg("generalized entropy"),
        compute=_entropy,
        unsigned=True,
        published=lambda row: row["entropy_index"],
    ),
)


def own_measure(name: str, compute: Any, *, unsigned: bool) -> StudyMeasure:
    """A user's function of a `Subject` as a measure of the study."""
    if not callable(compute):
        raise SpecError(f"The measure {name!r} of the study must be a function of a Subject; got {compute!r:.80}.")

    def checked(subject: Subject) -> float | None:
        try:
            found = compute(subject)
        except IsonomiaError:
            raise
        except Exception as error:  # a user's function may raise anything
            raise SpecError(f"The measure {name!r} failed. {type(error).__name__}: {error}") from error
        if found is not None and not np.isscalar(found):
            raise SpecError(f"The measure {name!r} must return one number; got {type(found).__name__}.")
        return finite(found)

    return StudyMeasure(
        id=name,
        purpose="of your own",
        title=Message.literal(name),
        compute=checked,
        unsigned=unsigned,
        version=_version(compute),
    )


def _version(function: Any) -> str:
    """A digest of the source; of the name alone where there is no source, as of what is written in C."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = getattr(function, "__qualname__", type(function).__qualname__)
    return sha256(text.encode()).hexdigest()[:16]
