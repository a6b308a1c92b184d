"""How far predictions can be trusted: intervals and sets that hold the truth as often as promised, for every group?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import composite
from isonomia.errors import DataError, NotApplicable
from isonomia.events import ProgressLike
from isonomia.evidence import (
    Result,
)
from isonomia.languages import Message, msg
from isonomia.models import Surface
from isonomia.parameters import ALPHA, LEVEL, MIN_PER_GROUP, SEED, Boolean, Choice, File, validated
from isonomia.robustness.conformal_coverage import Coverage
from isonomia.subject import Outcome, Reading, Subject
from isonomia.typing import Floats

Score = Literal["auto", "absolute", "threshold", "adaptive"]


@validated(
    calibration=File().or_none(),
    alpha=ALPHA,
    score=Choice(("auto", "absolute", "threshold", "adaptive")),
    by_group=Boolean(),
    min_per_group=MIN_PER_GROUP,
    level=LEVEL,
    seed=SEED,
)
def conformal(  # type: ignore[misc]  # a score column of a plain frame is named in a Dataset: `score` is taken
    data: Any,
    model: Any = None,
    *,
    calibration: Any = None,
    alpha: float = 0.1,
    score: Score = "auto",
    by_group: bool = False,
    min_per_group: int = 30,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Split conformal intervals (numbers) or sets (classes), and how often they hold the truth.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; with predictions where no model is given.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : optional
        Anything that predicts; called once.
    calibration : Dataset, optional
        Rows that were not used to train the model, on which the width is set; `data` is then all examined. By default
        a random half of `data` sets it, and the other half is examined.
    alpha : float
        The share of true values that may be missed; 0.1 promises 90% coverage.
    score : "auto", "absolute", "threshold" or "adaptive"
        The nonconformity score. Numbers: "absolute", its distance from the prediction. Classes: "threshold",
        1 - its probability (the smallest sets), or "adaptive", the probability of all classes at least as probable
        (sets that grow where the model is unsure; randomised). "auto" is "absolute" or "threshold".
    by_group : bool
        Whether each protected group (their intersections) has a width of its own, which makes the promise hold group
        by group.
    min_per_group : int
        Smaller groups are shown and make no findings; groups with fewer calibration rows use the width of everyone.
    level, seed
        Of the intervals; of the halves and of randomised sets.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``coverage`` (overall and for each value of each protected attribute: coverage with its interval, mean
        width or set size) and, for classes, ``by_class`` and ``set_sizes``.

    Notes
    -----
    With n calibration scores the width is the ceil((n + 1)(1 - alpha))-th smallest: for exchangeable rows coverage is
    at least 1 - alpha (and at most 1 - alpha + 1/(n + 1) without ties). It is a promise on average over everyone, not
    for a group, which is what the table shows. With weights the quantile is weighted, coverage is, and intervals use
    effective numbers of rows.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer (2005), Algorithmic Learning in a Random World; Y. Romano, M. Sesia, E. Candes
    (2020), NeurIPS: Classification with valid and adaptive coverage; R. F. Barber et al. (2021), Inf. Inference 10:455.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=2000)
    >>> data = Dataset({"x": y, "y": y, "predicted": y + rng.normal(size=2000)}, target="y", prediction="predicted")
    >>> result = conformal(data, alpha=0.2)
    >>> 0.75 < result.values["coverage"].value < 0.85
    True
    """
    rng = np.random.default_rng(seed)
    subject = Subject.of(data, model, progress=progress, counted=True, **given).fitting().needs_outcomes()
    if _kind(score, subject.surface) == "adaptive":  # each row draws a number of its own
        subject = subject.in_rows()
    if calibration is None:
        if len(subject) < 4:
            raise DataError(f"Two halves of {len(subject)} rows are too small; give at least 4 rows.")
        calib, evaluated = _halves(subject, rng)
    else:
        calib, evaluated = subject.like(calibration), subject
        if (
            calib.outcome.task != evaluated.outcome.task
            or calib.outcome.surface.classes != evaluated.outcome.surface.classes
        ):
            got = [f"{one.outcome.task} {list(one.outcome.surface.classes)}" for one in (calib, evaluated)]
            raise DataError(
                f"`calibration` and `data` must have the same task and classes; got {got[0]} and {got[1]}. Give rows "
                "with the same target."
            )
    kind = _kind(score, evaluated.outcome.surface)
    stage = subject.progress.stage("coverage", msg("Setting widths and counting coverage"), total=3)
    stage.at(0)
    nonconformity = _scores(calib.outcome, kind, rng)
    stage.advance()
    widths, basis, own = _widths(nonconformity, calib, evaluated, alpha, by_group, min_per_group)
    stage.advance()
    covered, size = _covered(evaluated.outcome, kind, widths, rng)
    found = Coverage(
        evaluated, covered, size, widths, basis, alpha, level, min_per_group, len(calib), own, kind
    ).result()
    return replace(found, notes=(*found.notes, *_bin_notes(subject)))


def _halves(subject: Subject, rng: np.random.Generator) -> tuple[Subject, Subject]:
    """Two random halves of the rows; of counted rows each goes to either with the same chance."""
    if subject.counts is None:
        first = rng.permutation(len(subject)) % 2 == 0
        return subject.take(first), subject.take(~first)
    n = rng.binomial(subject.counts, 0.5)
    one, two = (replace(subject.take(half > 0), given_counts=half[half > 0]) for half in (n, subject.counts - n))
    return one, two


def _bin_notes(subject: Subject) -> tuple[Message, ...]:
    edges = None if subject.counts is None or subject.dataset is None else subject.dataset.score_edges
    if edges is None:
        return ()
    return (
        msg(
            "Scores were counted in {bins:int} bins: widths are exact to {width:num}, and so is who is covered.",
            bins=edges.size - 1,
            width=float(np.diff(edges).max()),
        ),
    )


def conformal_quantile(
    scores: Floats, alpha: float, weights: Floats | None = None, counts: NDArray[np.int64] | None = None
) -> float:
    """The ceil((n + 1)(1 - alpha))-th smallest score; infinite where n is too small for the promise.

    With weights: the smallest score whose weight and that of all smaller ones reach (1 - alpha) of the total and of
    one more row of mean weight. `counts` say how many rows each score stands for.

    >>> conformal_quantile(np.arange(1.0, 10.0), 0.1), conformal_quantile(np.arange(1.0, 9.0), 0.1)
    (9.0, inf)
    """
    n = scores.size if counts is None else int(counts.sum())
    rank = int(np.ceil(round((n + 1) * (1 - alpha), 9)))
    if weights is None and counts is None:
        return float("inf") if rank > n else float(np.partition(scores, rank - 1)[rank - 1])
    order = np.argsort(scores, kind="stable")
    if weights is None:
        assert counts is not None
        return float("inf") if rank > n else float(scores[order][np.searchsorted(np.cumsum(counts[order]), rank)])
    w = weights if counts is None else weights * counts
    reached = np.cumsum(w[order]) / (w.sum() + w.sum() / n)
    index = int(np.searchsorted(reached, 1 - alpha - 1e-12))
    return float("inf") if index >= scores.size else float(scores[order][index])


def _kind(score: Score, surface: Surface) -> Literal["absolute", "threshold", "adaptive"]:
    if surface.task == "regression":
        if score not in ("auto", "absolute"):
            raise DataError(f"`score={score!r}` is for classes; numbers take 'absolute'.")
        return "absolute"
    if score == "absolute":
        raise DataError("`score='absolute'` is for numbers; classes take 'threshold' or 'adaptive'.")
    if surface.probability is None:
        raise NotApplicable(msg("sets of classes need probabilities, and the predictions have none"))
    return "adaptive" if score == "adaptive" else "threshold"


def _probabilities(surface: Surface) -> Floats:
    table = surface.probability
    assert table is not None
    return np.stack([1 - table, table], axis=1) if table.ndim == 1 else table


def _strangeness(surface: Surface, kind: str, rng: np.random.Generator) -> Floats:
    """How strange each class would be on each row: (n, K)."""
    table = _probabilities(surface)
    if kind == "threshold":
        return 1 - table
    order = np.argsort(-table, axis=1, kind="stable")
    ranked = np.take_along_axis(table, order, axis=1)
    through = np.cumsum(ranked, axis=1) - rng.random((len(table), 1)) * ranked
    out = np.empty_like(table)
    np.put_along_axis(out, order, through, axis=1)
    return out


def _scores(outcome: Outcome, kind: str, rng: np.random.Generator) -> Floats:
    assert outcome.truth is not None
    if kind == "absolute":
        assert outcome.surface.continuous is not None
        return np.asarray(np.abs(outcome.surface.continuous - outcome.truth), dtype=float)
    table = _strangeness(outcome.surface, kind, rng)
    return np.take_along_axis(table, outcome.truth[:, None].astype(np.int64), axis=1)[:, 0]


def _covered(outcome: Outcome, kind: str, widths: Floats, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Floats]:
    """Whether the truth is covered, and how wide the interval or large the set is, row by row."""
    assert outcome.truth is not None
    if kind == "absolute":
        assert outcome.surface.continuous is not None
        return np.abs(outcome.surface.continuous - outcome.truth) <= widths, 2 * widths
    inside = _strangeness(outcome.surface, kind, rng) <= widths[:, None]
    covered = np.take_along_axis(inside, outcome.truth[:, None].astype(np.int64), axis=1)[:, 0]
    return covered, inside.sum(axis=1).astype(float)


def _widths(
    nonconformity: Floats, calib: Subject, evaluated: Subject, alpha: float, by_group: bool, minimum: int
) -> tuple[Floats, Floats, int]:
    """The width each examined row is given, how many rows it was set on, and how many groups have their own."""
    height = len(evaluated.outcome)
    widths = np.full(height, conformal_quantile(nonconformity, alpha, calib.weights, calib.counts))
    basis = np.full(height, float(len(calib)))
    if not by_group:
        return widths, basis, 0
    if not evaluated.known.protected:
        raise DataError("`by_group=True` needs protected attributes: name them in the dataset (protected=[...]).")
    both = [composite(side.attributes) for side in (calib, evaluated)]
    own = 0
    for code, label in enumerate(both[1].labels):
        if label not in both[0].labels:
            continue
        rows = both[0].codes == both[0].labels.index(label)
        weights, counts = (None if part is None else part[rows] for part in (calib.weights, calib.counts))
        n = int(rows.sum() if counts is None else counts.sum())
        if n >= minimum:
            widths[both[1].codes == code] = conformal_quantile(nonconformity[rows], alpha, weights, counts)
            basis[both[1].codes == code] = n
            own += 1
    return widths, basis, own
