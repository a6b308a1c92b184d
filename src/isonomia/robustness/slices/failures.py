"""What `failure_modes` finds, wherever the rows are: kinds of failure, sums over slices, and the worst rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset
from isonomia.languages import Message, msg
from isonomia.robustness.slices.row_failures import Harm, SliceSums, harm_of, worst_rows
from isonomia.robustness.slices.slicing import learn_cuts
from isonomia.robustness.slices.usual_values import Usual, usual_in_rows
from isonomia.subject import Outcome, Subject


@dataclass(frozen=True, kw_only=True)
class FailureOptions:
    """The options of `failure_modes` that say how to look for failures."""

    top_k: int
    share: float
    confident: float
    bins: int
    min_samples: int


@dataclass(frozen=True, eq=False, kw_only=True)
class WorstRows:
    """The rows served worst, the worst first.

    Attributes
    ----------
    numbers : array of int
        Which of the rows given they are, from 0.
    data, outcome, harm
        Their features (None where there are no such rows), true and predicted outcomes, how badly they are served.
    slices : tuple of Codes
        The slices that they lie in.
    """

    numbers: NDArray[np.int64]
    data: Dataset | None
    outcome: Outcome
    harm: Harm
    slices: tuple[Codes, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Failures:
    """What was found.

    Attributes
    ----------
    n, n_worst : int
        All rows, and those that count as the worst.
    overall : float
        How badly rows are served, on average.
    kinds : mapping
        Kind of failure -> (rows, how badly they are served on average).
    slices : tuple of SliceSums
        Sums over the slices of every feature.
    rows : WorstRows
    usual : mapping of Usual
        What is usual of each feature.
    notes : tuple of Message
    """

    n: int
    n_worst: int
    overall: float
    kinds: Mapping[str, tuple[int, float]]
    slices: tuple[SliceSums, ...]
    rows: WorstRows
    usual: Mapping[str, Usual]
    notes: tuple[Message, ...] = ()

    @property
    def confident(self) -> int:
        """Rows that are decided wrongly with confidence."""
        return self.kinds.get("wrong_confident", (0, 0.0))[0]


def failures_in_memory(subject: Subject, names: Sequence[str], options: FailureOptions) -> Failures:
    """Those of rows in memory, by these features and protected attributes."""
    harm = harm_of(subject.outcome, options.confident)
    worst = worst_rows(harm.size, options.share)
    with subject.progress.stage("features", msg("Slicing features"), total=len(names)) as stage:
        columns = list(stage.over(_slices(subject, names, options)))
        squares = harm.size * harm.size
        slices = tuple(SliceSums.of(column, harm.size, squares, worst, subject.weights) for column in columns)
    order = np.argsort(-harm.size, kind="stable")[: options.top_k]
    order = order[harm.size[order] > 0]
    kinds = {str(kind): harm.size[harm.kind == kind] for kind in np.unique(harm.kind.astype(str))}
    return Failures(
        n=harm.size.size,
        n_worst=int(worst.sum()),
        overall=float(np.average(harm.size, weights=subject.weights)),
        kinds={kind: (sizes.size, float(sizes.mean())) for kind, sizes in kinds.items()},
        slices=slices,
        rows=WorstRows(
            numbers=np.flatnonzero(subject.rows)[order],
            data=_shown(subject.known, order) if order.size else None,
            outcome=subject.outcome.take(order),
            harm=Harm(harm.size[order], harm.kind[order], harm.confidence[order]),
            slices=tuple(column.take(order) for column in columns),
        ),
        usual=usual_in_rows(subject.known, names),
        notes=subject.notes,
    )


def _shown(data: Dataset, order: NDArray[np.intp]) -> Dataset:
    """Rows to be looked at, one by one: whatever they weigh."""
    return (data if data.roles.weight is None else data.with_roles(weight=None)).take(order)


def _slices(subject: Subject, names: Sequence[str], options: FailureOptions) -> Iterator[Codes]:
    attributes = {column.name: column for column in subject.attributes}
    if plain := [name for name in names if name not in attributes]:
        cuts = learn_cuts(subject.known, plain, slicing="quantile", bins=options.bins, min_samples=options.min_samples)
        for cut in cuts:
            yield cut.codes(subject.known)
    yield from (attributes[name] for name in names if name in attributes)
