"""The rows served worst, and why: wrong and confident, unusual features, the slice they lie in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset
from isonomia.events import ProgressLike
from isonomia.evidence import THRESHOLDS, Result
from isonomia.fairness import condition
from isonomia.languages import Message, msg
from isonomia.parameters import ALPHA, LEVEL, NAMES, Integer, Number, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.slices.failure_mode_tables import (
    by_lift,
    findings,
    kind_table,
    pictures,
    row_table,
    slice_table,
)
from isonomia.robustness.slices.row_failures import Pattern, harm_of, patterns, unusual_values, worst_rows
from isonomia.robustness.slices.slicing import learn_cuts
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
    subject = Subject.of(data, model, progress=progress, **given).needs_outcomes()
    sliced = check_features(subject.known, features, subject.known.searchable)
    names = tuple(dict.fromkeys([*sliced, *(subject.known.protected if features is None else ())]))
    harm = harm_of(subject.outcome, confident)
    worst = worst_rows(harm.size, share)
    with subject.progress.stage("features", msg("Slicing features"), total=len(names)) as stage:
        columns = list(stage.over(_slices(subject, names, bins, min_samples)))
        found = patterns(columns, harm.size, worst, subject.weights, min_samples) if worst.any() else []
    order = np.argsort(-harm.size, kind="stable")[:top_k]
    order = order[harm.size[order] > 0]
    overall = float(np.average(harm.size, weights=subject.weights))
    weak = [p for p in found if p.p_error < alpha and p.error > WEAK * overall]
    reasons = _reasons(subject.known, names, columns, weak, order, far, rare)
    backend = subject.known.backend
    tables = {
        "rows": row_table(subject, harm, order, reasons, np.flatnonzero(subject.rows), backend),
        "kinds": kind_table(harm, level, backend),
        "slices": slice_table(found, alpha, backend),
    }
    over = sorted(
        (p for p in found if p.lift > THRESHOLDS["worst_rows"].reported and p.p_adjusted < alpha),
        key=lambda p: -p.lift * np.sqrt(p.n_worst),
    )
    notes = [msg("Reasons describe what is unusual about a row; they do not prove why the model fails on it.")]
    if not (harm.size > 0).any():
        notes = [msg("The model makes no error on these rows, so there is no failure to explain.")]
    values = {
        "worst_rows": int(worst.sum()),
        "confident": int((harm.kind == "wrong_confident").sum()),
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
        findings(over, by_lift(found), worst, harm, level, confident),
        pictures(over),
        (*notes, *subject.notes),
        titles=titles,
    )


def _slices(subject: Subject, names: Sequence[str], bins: int, minimum: int) -> Iterator[Codes]:
    attributes = {column.name: column for column in subject.attributes}
    plain = [name for name in names if name not in attributes]
    if plain:
        for cut in learn_cuts(subject.known, plain, slicing="quantile", bins=bins, min_samples=minimum):
            yield cut.codes(subject.known)
    yield from (attributes[name] for name in names if name in attributes)


def _reasons(
    data: Dataset,
    names: Sequence[str],
    columns: Sequence[Codes],
    found: Sequence[Pattern],
    order: NDArray[np.intp],
    far: float,
    rare: float,
) -> list[list[Message]]:
    """For each row: unusual values, the furthest out first, then the weak slices it lies in, the worst first."""
    unusual = unusual_values(data, names, order, far=far, rare=rare)
    weak = {(p.feature, p.code): p for p in found}
    out = []
    for index, row in enumerate(order):
        reasons = [_unusual(*one, numeric=data.kinds[one[0]] not in ("category", "boolean")) for one in unusual[index]]
        lies = [weak[key] for column in columns if (key := (column.name, int(column.codes[row]))) in weak]
        reasons += [
            msg("{slice} (mean error {error:num})", slice=condition(p.feature, p.text), error=p.error)
            for p in sorted(lies, key=lambda p: -p.error)
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
