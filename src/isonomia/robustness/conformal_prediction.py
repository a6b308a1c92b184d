"""How far predictions can be trusted: intervals and sets that hold the truth as often as promised, for every group?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite, count_by, sum_by
from isonomia.data import Backend
from isonomia.errors import DataError, NotApplicable
from isonomia.events import ProgressLike
from isonomia.evidence import (
    Column,
    Estimate,
    Finding,
    Format,
    Picture,
    Result,
    Table,
    benjamini_hochberg,
    normal_p,
    wilson,
)
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import Message, msg
from isonomia.models import Surface
from isonomia.parameters import ALPHA, LEVEL, MIN_PER_GROUP, SEED, Boolean, Choice, File, validated
from isonomia.subject import Outcome, Reading, Subject
from isonomia.typing import Floats

Score = Literal["auto", "absolute", "threshold", "adaptive"]
#: Coverage that lacks this much of the promise is reported.
NOTABLE = 0.02
INFINITE = msg("there are too few calibration rows for this coverage: every interval is infinite")


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
        The share of truths that may be missed; 0.1 promises 90% coverage.
    score : "auto", "absolute", "threshold" or "adaptive"
        How strange a truth is. Numbers: "absolute", its distance from the prediction. Classes: "threshold",
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
    subject = Subject.of(data, model, progress=progress, **given).needs_outcomes()
    if calibration is None:
        if len(subject) < 4:
            raise DataError(f"Two halves of {len(subject)} rows are too small; give at least 4 rows.")
        first = rng.permutation(len(subject)) % 2 == 0
        calib, evaluated = subject.take(first), subject.take(~first)
    else:
        calib, evaluated = subject.like(calibration), subject
        if (
            calib.outcome.task != evaluated.outcome.task
            or calib.outcome.surface.classes != evaluated.outcome.surface.classes
        ):
            raise DataError("`calibration` and `data` must have the same task and the same classes.")
    kind = _kind(score, evaluated.outcome.surface)
    stage = subject.progress.stage("coverage", msg("Setting widths and counting coverage"), total=3)
    stage.at(0)
    nonconformity = _scores(calib.outcome, kind, rng)
    stage.advance()
    widths, basis, own = _widths(nonconformity, calib, evaluated, alpha, by_group, min_per_group)
    stage.advance()
    covered, size = _covered(evaluated.outcome, kind, widths, rng)
    return _Coverage(
        evaluated, covered, size, widths, basis, alpha, level, min_per_group, len(calib), own, kind
    ).result()


def conformal_quantile(scores: Floats, alpha: float, weights: Floats | None = None) -> float:
    """The ceil((n + 1)(1 - alpha))-th smallest score; infinite where n is too small for the promise.

    With weights: the smallest score whose weight and that of all smaller ones reach (1 - alpha) of the total and of
    one more row of mean weight.

    >>> conformal_quantile(np.arange(1.0, 10.0), 0.1), conformal_quantile(np.arange(1.0, 9.0), 0.1)
    (9.0, inf)
    """
    n = scores.size
    if weights is None:
        rank = int(np.ceil(round((n + 1) * (1 - alpha), 9)))
        return float("inf") if rank > n else float(np.partition(scores, rank - 1)[rank - 1])
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order]) / (weights.sum() + weights.mean())
    index = int(np.searchsorted(reached, 1 - alpha - 1e-12))
    return float("inf") if index >= n else float(scores[order][index])


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
    widths = np.full(len(evaluated), conformal_quantile(nonconformity, alpha, calib.weights))
    basis = np.full(len(evaluated), float(len(calib)))
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
        if rows.sum() >= minimum:
            weights = None if calib.weights is None else calib.weights[rows]
            widths[both[1].codes == code] = conformal_quantile(nonconformity[rows], alpha, weights)
            basis[both[1].codes == code] = rows.sum()
            own += 1
    return widths, basis, own


@dataclass(frozen=True, eq=False)
class _Coverage:
    """What was covered, as tables, findings and pictures."""

    subject: Subject
    covered: NDArray[np.bool_]
    size: Floats
    widths: Floats
    basis: Floats
    alpha: float
    level: float
    minimum: int
    n_calibration: int
    own: int
    kind: str

    def result(self) -> Result:
        """The result that a user sees."""
        backend = self.subject.known.backend
        everyone = Codes("", np.zeros(len(self.subject), dtype=np.uint8), ("everyone",))
        overall = self._rows(everyone)[0]
        rows = [{**overall, "attribute": msg("everyone"), "group": msg("everyone")}]
        for column in self.subject.attributes:
            rows += self._rows(column)
        p = benjamini_hochberg([row["p_value"] for row in rows])
        for row, adjusted in zip(rows, p, strict=True):
            row["p_adjusted"] = float(adjusted)
        tables = {"coverage": self._table(rows, msg("Coverage, overall and by group"), backend)}
        if self.kind != "absolute":
            surface = self.subject.surface
            truth = Codes("class", self.subject.truth, surface.classes)
            tables["by_class"] = self._table(self._rows(truth), msg("Coverage by true class"), backend, tested=False)
            tables["set_sizes"] = self._sizes(backend)
        values: dict[str, Any] = {
            "coverage": self._estimate(overall),
            "promised": 1 - self.alpha,
            "size": float(overall["size"]) if np.isfinite(overall["size"]) else Estimate.missing(INFINITE),
            "calibration_rows": self.n_calibration,
        }
        wide = msg("Mean width of intervals") if self.kind == "absolute" else msg("Mean size of sets")
        titles = {
            "coverage": msg("Coverage"),
            "promised": msg("Nominal coverage"),
            "size": wide,
            "calibration_rows": msg("Calibration rows"),
        }
        findings = tuple(self._finding(row, index) for index, row in enumerate(rows) if self._short(row))
        return Result(
            "conformal",
            msg("Coverage of predictions"),
            tables,
            values,
            findings,
            (self._picture(),),
            self._notes(),
            titles=titles,
        )

    def _rows(self, column: Codes) -> list[dict[str, Any]]:
        w = self.subject.weights
        n = column.counts()
        mass, square, hit, size, basis = (
            sum_by(column.codes, x, column.size)
            for x in (
                np.ones(len(column)) if w is None else w,
                np.ones(len(column)) if w is None else w * w,
                self.covered * (1.0 if w is None else w),
                self.size * (1.0 if w is None else w),
                self.basis * (1.0 if w is None else w),
            )
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(square > 0, mass**2 / square, 0.0)
            share, mean = hit / mass, size / mass
            z = (share - (1 - self.alpha)) / np.sqrt(self.alpha * (1 - self.alpha) * (1 / effective + mass / basis))
        low, high = wilson(np.nan_to_num(share) * effective, effective, self.level)
        return [
            {
                "attribute": column.name,
                "group": column.text(i),
                "n": int(n[i]),
                "coverage": float(share[i]),
                "low": float(low[i]),
                "high": float(high[i]),
                "size": float(mean[i]),
                "p_value": float(normal_p(z[i])) if n[i] >= self.minimum else float("nan"),
                "small": bool(n[i] < self.minimum),
                "note": self._why_missing(int(n[i]), float(mean[i])),
            }
            for i in range(column.size)
            if n[i] and mass[i] > 0
        ]

    def _why_missing(self, n: int, size: float) -> Message | None:
        if not np.isfinite(size):
            return INFINITE
        return msg("fewer than {least:int} rows: not tested", least=self.minimum) if n < self.minimum else None

    def _short(self, row: dict[str, Any]) -> bool:
        return (
            not row["small"]
            and row["coverage"] < 1 - self.alpha - NOTABLE
            and row["high"] < 1 - self.alpha
            and row["p_adjusted"] < 0.05
        )

    def _table(self, rows: Sequence[dict[str, Any]], title: Message, backend: Backend, *, tested: bool = True) -> Table:
        wide = msg("Mean width of intervals") if self.kind == "absolute" else msg("Mean size of sets")
        titles = {
            "attribute": msg("protected attribute"),
            "group": msg("group"),
            "n": msg("Rows"),
            "coverage": msg("Coverage"),
            "low": msg("from"),
            "high": msg("to"),
            "size": wide,
            "p_value": msg("p-value"),
            "p_adjusted": msg("Adjusted p-value"),
            "small": msg("small group"),
            "note": msg("note"),
        }
        names = [name for name in titles if tested or name not in ("p_value", "p_adjusted")]
        formats: dict[str, Format] = {
            "n": "int",
            "coverage": "pct",
            "low": "pct",
            "high": "pct",
            "size": "num",
            "p_value": "p",
            "p_adjusted": "p",
        }
        columns = {
            name: [None if isinstance(row[name], float) and not np.isfinite(row[name]) else row[name] for row in rows]
            for name in names
        }
        return Table.of(columns, {name: formats[name] for name in names if name in formats}, titles, title, backend)

    def _sizes(self, backend: Backend) -> Table:
        counts = count_by(self.size.astype(int), int(self.size.max(initial=0)) + 1)
        return Table(
            (
                Column("size", np.arange(counts.size), format="int", title=msg("Classes in the set")),
                Column("n", counts, format="int", title=msg("Rows")),
                Column("share", counts / counts.sum(), format="pct", title=msg("Share of rows")),
            ),
            msg("Size of the sets"),
            backend,
        )

    def _estimate(self, row: dict[str, Any]) -> Estimate:
        return Estimate(row["coverage"], row["low"], row["high"], n=row["n"], method="wilson", level=self.level)

    def _picture(self) -> Picture:
        return Picture(
            "forest",
            "coverage",
            msg("Coverage of each group and nominal coverage"),
            {
                "labels": ["attribute", "group"],
                "value": "coverage",
                "low": "low",
                "high": "high",
                "flag": "small",
                "reference": 1 - self.alpha,
                "reference_label": msg("nominal"),
            },
        )

    def _notes(self) -> tuple[Message, ...]:
        notes = [msg("The width was set on {n:int} rows that are not examined here.", n=self.n_calibration)]
        if self.own:
            notes.append(msg("{n:# group has|# groups have} a width of their own.", n=self.own))
        if not np.isfinite(self.widths).all():
            notes.append(msg("There are too few calibration rows for this coverage: some intervals are infinite."))
        return tuple(notes)

    def _finding(self, row: dict[str, Any], index: int) -> Finding:
        everyone = isinstance(row["group"], Message)
        gaps = {"coverage": row["coverage"], "promised": 1 - self.alpha, "n": row["n"]}
        message = (
            msg(
                "Intervals or sets contain the true value for {coverage:pct} of rows; the nominal coverage is "
                "{promised:pct} ({n:# row|# rows}).",
                **gaps,
            )
            if everyone
            else msg(
                "Intervals or sets contain the true value for {coverage:pct} of {group}; the nominal coverage is "
                "{promised:pct} ({n:# row|# rows}).",
                group=condition(row["attribute"], row["group"]),
                **gaps,
            )
        )
        lack = 1 - self.alpha - row["coverage"]
        return Finding(
            "conformal.coverage",
            "warning",
            message,
            self._estimate(row),
            who={} if everyone else {row["attribute"]: row["group"]},
            n=row["n"],
            magnitude=lack / NOTABLE,
            p_value=row["p_value"],
            test=("conformal", "coverage", index),
            p_adjusted=row["p_adjusted"],
            threshold=1 - self.alpha,
            evidence="conformal/coverage",
            format="pct",
            remedy="calibrate_width_by_group",
        )
