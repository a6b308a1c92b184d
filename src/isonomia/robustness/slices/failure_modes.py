"""The rows served worst, and why: wrong and confident, unusual features, the slice they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from isonomia.data import Dataset
from isonomia.errors import NotApplicable
from isonomia.events import ProgressLike
from isonomia.evidence import THRESHOLDS, Result
from isonomia.fairness import condition
from isonomia.languages import Message, msg
from isonomia.parameters import ALPHA, LEVEL, NAMES, Integer, Number, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.slices.counted_failures import counted_failures, is_counted
from isonomia.robustness.slices.failure_mode_tables import (
    by_lift,
    findings,
    kind_table,
    pictures,
    row_table,
    slice_table,
)
from isonomia.robustness.slices.failures import FailureOptions, Failures, failures_in_memory
from isonomia.robustness.slices.row_failures import Pattern, patterns, rounded
from isonomia.robustness.slices.usual_values import unusual_values
from isonomia.subject import Reading, Subject

#: A slice is a reason where its mean error is this many times the overall one.
WEAK = 1.25
#: Maximum number of reasons per row.
REASONS = 3


@validated(
    top_k=Integer(1),
    share=Number(above=0, below=1),
    features=NAMES.or_none(),
    confident=Number(above=0, below=1),
    far=Number(at_least=0),
    rare=Number(above=0, below=1),
    bins=Integer(2),
    min_samples=Integer(1),
    alpha=ALPHA,
    level=LEVEL,
)
def failure_modes(
    data: Any,
    model: Any = None,
    *,
    top_k: int = 20,
    share: float = 0.05,
    features: Sequence[str] | None = None,
    confident: float = 0.9,
    far: float = 3.0,
    rare: float = 0.01,
    bins: int = 10,
    min_samples: int = 30,
    alpha: float = 0.05,
    level: float = 0.95,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """The rows served worst with what is unusual about them, and the slices that hold more than their share of them.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; with predictions where no model is given. Rows without a target are left out.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : optional
        Anything that predicts; called once.
    top_k : int
        Rows listed.
    share : float
        The part of the rows that counts as the worst (with all rows tied with the last of them).
    features : sequence of str, optional
        Features examined for reasons; by default all features and protected attributes.
    confident : float
        A wrong decision of at least this probability is "wrong and confident".
    far, rare : float
        A number this many robust standard deviations from the median, a category of less than this share of rows, is
        unusual.
    bins, min_samples, alpha, level
        Slices of a number at most, smallest slice, false discovery rate, level of the intervals.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``rows`` (the worst: position, true and predicted outcome, harm, kind of failure, reasons), ``kinds``
        (how many rows fail in which way) and ``slices`` (shares of all rows and of the worst ones, with tests).

    Notes
    -----
    How badly a row is served: for probabilities 1 - p(what happened), and 1 more where the decision is wrong; for
    decisions alone 1 where wrong; for scores alone the share of the other class on the wrong side; for numbers the size
    of the error. Reasons describe, they do not prove: an unusual row may fail for another cause.

    Examples
    --------
    >>> y, p = [0, 1, 0, 1] * 50, [0.1, 0.9, 0.2, 0.8] * 50
    >>> p[4], x = 0.99, list(range(99, -100, -1)) + [5000]
    >>> data = Dataset({"x": x, "y": y, "p": p}, target="y", score="p")
    >>> row = next(failure_modes(data).tables["rows"].rows())
    >>> row["row"], row["kind"]
    (4, 'wrong_confident')
    """
    whole = Subject.of(data, model, progress=progress, counted=True, **given)
    subject = whole.fitting().needs_outcomes()
    options = FailureOptions(top_k=top_k, share=share, confident=confident, bins=bins, min_samples=min_samples)
    failures = _failures(subject, features, options)
    found = patterns(failures.slices, min_samples) if failures.n_worst else []
    weak = [p for p in found if p.p_error < alpha and p.error > WEAK * failures.overall]
    backend = subject.backend
    tables = {
        "rows": row_table(failures.rows, _reasons(failures, weak, far, rare), backend),
        "kinds": kind_table(failures, level, backend),
        "slices": slice_table(found, alpha, backend),
    }
    over = sorted(
        (p for p in found if p.lift > THRESHOLDS["worst_rows"].reported and p.p_adjusted < alpha),
        key=lambda p: -rounded(p.lift * np.sqrt(p.n_worst)),
    )
    notes = [msg("Reasons describe what is unusual about a row; they do not prove why the model fails on it.")]
    if not failures.n_worst:
        notes = [msg("The model makes no error on these rows, so there is no failure to explain.")]
    engine = None if whole.dataset is None else whole.dataset.engine
    if failures.rows.numbers.size and engine is not None and engine.numbering is not None:
        notes.append(engine.numbering)
    values = {
        "worst_rows": failures.n_worst,
        "confident": failures.confident,
        "slices": len(over),
    }
    titles = {
        "worst_rows": msg("Worst rows"),
        "confident": msg("Wrong and confident"),
        "slices": msg("Over-represented slices"),
    }
    return Result(
        "failure_modes",
        msg("Failure modes"),
        tables,
        values,
        findings(over, by_lift(found), failures, level, confident),
        pictures(over),
        (*notes, *failures.notes),
        titles=titles,
    )


def _failures(subject: Subject, features: Sequence[str] | None, options: FailureOptions) -> Failures:
    """What is found, counted where the rows are or in memory."""
    notes: tuple[Message, ...] = ()
    if is_counted(subject):
        try:
            return counted_failures(subject, _names(subject.data, features), options)
        except NotApplicable as error:  # more combinations than memory allows: rows, which may be a sample
            notes = (msg("Rows were read instead of counted: {reason}.", reason=error.message),)
    subject = subject.in_rows()
    found = failures_in_memory(subject, _names(subject.known, features), options)
    return replace(found, notes=(*found.notes, *notes))


def _names(data: Dataset, features: Sequence[str] | None) -> tuple[str, ...]:
    """The features that are sliced, and the protected attributes."""
    sliced = check_features(data, features, data.searchable)
    return tuple(dict.fromkeys([*sliced, *(data.protected if features is None else ())]))


def _reasons(found: Failures, weak: Sequence[Pattern], far: float, rare: float) -> list[list[Message]]:
    """For each row: unusual values, the furthest out first, then the weak slices it lies in, the worst first."""
    if found.rows.data is None:
        return []
    unusual = unusual_values(found.usual, found.rows.data, far=far, rare=rare)
    patterns_of = {(p.feature, p.text): p for p in weak}
    out = []
    for row, values in enumerate(unusual):
        reasons = [_unusual(*one, numeric=found.usual[one[0]].shares is None) for one in values]
        own = ((column.name, column.text(int(column.codes[row]))) for column in found.rows.slices)
        patterns = [patterns_of[key] for key in own if key in patterns_of]
        reasons += [
            msg("{slice} (mean error {error:num})", slice=condition(p.feature, p.text), error=p.error)
            for p in sorted(patterns, key=lambda p: -rounded(p.error))
        ]
        out.append(reasons[:REASONS])
    return out


def _unusual(name: str, value: str, how: float | None, *, numeric: bool) -> Message:
    if how is None:
        return msg("{name} is missing", name=name)
    if numeric:
        return msg(
            "{name} = {value} ({how:num} robust standard deviations from the median)", name=name, value=value, how=how
        )
    return msg("{name} = {value} ({how:pct} of rows)", name=name, value=value, how=how)
