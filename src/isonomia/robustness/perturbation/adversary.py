"""The worst case within a box around each row: by the model's gradient, by its scores, or by its decisions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isonomia.errors import DataError
from isonomia.models import Gradients, Surface
from isonomia.parameters import Integer, validated
from isonomia.probing import Domain, Oracle
from isonomia.robustness.perturbation.altered_rows import Altering, spliced
from isonomia.robustness.perturbation.columns import Columns
from isonomia.robustness.perturbation.perturbation_trials import Trials, differences
from isonomia.typing import Bools, Floats, Indices

Way = Literal["gradient", "scores", "decisions"]

#: Steps along a gradient that changes from point to point.
STEPS = 6


@dataclass(frozen=True, eq=False)
class Box:
    """How far each value of each row may be moved: both ends, the value itself where it may not; which are whole."""

    low: Floats
    high: Floats
    whole: Bools

    @classmethod
    def around(cls, columns: Columns, level: float) -> Box:
        """Numbers within `level` standard deviations and within what was seen, whole where they are whole.

        >>> from isonomia.probing import Feature
        >>> box = Box.around(Columns((Feature.of("age", (18, 40)),), np.array([[18.0], [28.0], [38.0]])), 0.5)
        >>> box.low.ravel().tolist(), box.high.ravel().tolist()
        ([18.0, 24.0, 34.0], [22.0, 32.0, 40.0])
        """
        reach = level * columns.spread
        low, high = columns.rows - reach, columns.rows + reach
        for index, feature in enumerate(columns.features):
            if columns.numeric[index]:
                low[:, index] = np.maximum(low[:, index], feature.low)
                high[:, index] = np.minimum(high[:, index], feature.high)
                if feature.kind == "integer":
                    low[:, index], high[:, index] = np.ceil(low[:, index]), np.floor(high[:, index])
        return cls(low, high, np.array([feature.kind == "integer" for feature in columns.features], dtype=bool))

    def hold(self, moved: Floats, rows: Indices, base: Floats, moves: Indices) -> Floats:
        """Rows whose columns `moves` are moved, brought back into their box; missing values stay missing."""
        out = base.copy()
        inside = np.clip(moved, self.low[rows], self.high[rows])
        inside = np.where(self.whole, np.rint(inside), inside)
        out[:, moves] = np.where(np.isnan(base[:, moves]), np.nan, inside[:, moves])
        return out


@dataclass(frozen=True, eq=False)
class Attack:
    """The worst case found at one level.

    Attributes
    ----------
    level, way : how far, and how it was searched for
    rows : (n, k) the worst rows found; the row itself where none is worse
    flipped : (n,) whose decision changes (all False for a regression)
    flips, flips_low, flips_high : share of them
    value, drop, low, high : the main metric under attack, its loss and interval
    change : mean size of the change of the prediction
    queries : queries of the model per row on average, with those of lower levels
    """

    level: float
    way: Way
    rows: Floats
    flipped: Bools
    flips: float
    flips_low: float
    flips_high: float
    value: float
    drop: float
    low: float
    high: float
    change: float
    queries: float


@validated(budget=Integer(1))
def attack(trials: Trials, levels: Sequence[float], *, budget: int = 100) -> tuple[Attack, ...]:
    """The worst case at each level, from the lowest up; what was found stays found in a wider box.

    A row is attacked until its decision flips; for numbers the error is made as large as can be. With numbers to move,
    categories stay; with categories alone, one of them is exchanged. Nothing but valid values is tried. The metric
    under attack counts flips of right decisions, and none of a wrong one turned right. What is reported is what was
    found: the true worst case can only be worse.

    Parameters
    ----------
    trials : Trials
    levels : sequence of float
    budget : int
        Queries per row and level.

    References
    ----------
    I. Goodfellow, J. Shlens, C. Szegedy (2015), ICLR (gradient signs); C. Guo et al. (2019), ICML, and M.
    Andriushchenko et al. (2020), ECCV (random search on scores).
    """
    search = _Search(trials, budget)
    return tuple(search.at(level) for level in sorted(levels))


class _Search:
    """The state of the search over rising levels: the best rows so far, how good they are, who has flipped."""

    def __init__(self, trials: Trials, budget: int) -> None:
        self.trials, self.altering, self.budget = trials, trials.altering, budget
        predicted = self.altering.predicted
        self.rng = np.random.default_rng([trials.seed, 7])
        self.gradients = known_gradients(self.altering)
        self.way: Way = "gradient" if self.gradients is not None else "decisions"
        if self.gradients is None and any(kind in predicted.kinds for kind in ("probability", "score", "continuous")):
            self.way = "scores"
        self.best = self.altering.rows.copy()
        self.predicted = predicted
        everyone = np.arange(len(self.best))
        self.gain, _ = self._judge(predicted, everyone)
        self.flipped = np.zeros(len(self.best), dtype=bool)
        self.queries = 0

    def at(self, level: float) -> Attack:
        """Search within one more box, and measure."""
        columns = self.altering.columns
        moves = np.flatnonzero(columns.numeric & ~columns.constant & self.altering.read)
        if moves.size:
            self._numbers(Box.around(columns, level), moves, level)
        else:
            self._categories()
        return self._measured(level)

    # what counts as worse ------------------------------------------------------------------------------------------

    def _judge(self, predicted: Surface, rows: Indices) -> tuple[Floats, Bools]:
        """How close each answer is to another decision (or how far from the truth a number is), and who flipped."""
        base = self.altering.predicted
        if predicted.continuous is not None:
            return np.abs(predicted.continuous - self.trials.measures.truth[rows]), np.zeros(len(rows), dtype=bool)
        if base.label is None or predicted.label is None:
            score = predicted.probability if predicted.probability is not None else predicted.score
            before = base.probability if base.probability is not None else base.score
            assert score is not None
            assert before is not None
            apart = np.abs(score - before[rows])
            return apart if apart.ndim == 1 else apart.sum(axis=1), np.zeros(len(rows), dtype=bool)
        own = base.label[rows]
        won = np.asarray(predicted.label != own)
        score = predicted.probability if predicted.probability is not None else predicted.score
        if score is None:
            return won.astype(float), won
        if score.ndim == 1:
            return np.where(own == 1, -score, score), won
        at = np.arange(len(rows))
        rest = score.copy()
        rest[at, own] = -np.inf
        return rest.max(axis=1) - score[at, own], won

    def _try(self, new: Floats, rows: Indices) -> None:
        """Ask about one new version of some rows, and keep those that are worse."""
        if not len(rows):
            return
        predicted = self.altering.ask(new, rows)
        self.queries += len(rows)
        gain, won = self._judge(predicted, rows)
        better = won | (gain > self.gain[rows])
        kept = rows[better]
        self.best[kept], self.gain[kept] = new[better], gain[better]
        self.flipped[kept] = won[better]
        self.predicted = spliced(self.predicted, kept, predicted.take(np.flatnonzero(better)))

    @property
    def _open(self) -> Indices:
        return np.flatnonzero(~self.flipped)

    # numbers ---------------------------------------------------------------------------------------------------------

    def _numbers(self, box: Box, moves: Indices, level: float) -> None:
        spent = self._along_gradient(box, moves, level)
        if self.way == "scores" and 2 * moves.size < self.budget - spent:
            spent += self._one_by_one(box, moves)
        while spent < self.budget and self._open.size:
            self._random(box, moves)
            spent += 1

    def _along_gradient(self, box: Box, moves: Indices, level: float) -> int:
        """Steps along the signs of the gradient; one step to the corner is exact where the model is linear."""
        if self.gradients is None:
            return 0
        rows = self._open
        gradient = np.sign(self.gradients(self.altering.rows[rows], moves)) if rows.size else np.empty((0, 0))
        for side in (1.0, -1.0):
            still = ~self.flipped[rows]
            base = self.altering.rows[rows[still]]
            end = np.where(side * gradient[still] > 0, box.high[rows[still]], box.low[rows[still]])
            self._try(box.hold(np.where(gradient[still] == 0, base, end), rows[still], base, moves), rows[still])
        spent = 2
        if self.gradients.kind == "linear" and gradient.any(axis=1).all():
            return self.budget  # the corner is the worst case: nothing is left to search for
        reach = level * self.altering.columns.spread
        for _ in range(min(STEPS, self.budget - spent)):
            rows = self._open
            if not rows.size:
                break
            here = self.best[rows]
            away = np.where(self._positive(rows), -1.0, 1.0)[:, None]
            moved = here + 0.5 * reach * away * np.sign(self.gradients(here, moves))
            self._try(box.hold(moved, rows, here, moves), rows)
            spent += 1
        return spent

    def _positive(self, rows: Indices) -> Bools:
        label = self.altering.predicted.label
        return np.zeros(len(rows), dtype=bool) if label is None else np.asarray(label[rows] == 1)

    def _one_by_one(self, box: Box, moves: Indices) -> int:
        """Each number to both ends alone, in one call; then all that helped together."""
        rows = self._open
        if not rows.size:
            return 0
        ends = (box.low, box.high)
        base, before = self.best[rows], self.gain[rows]
        tried = [_with(base, index, end[rows, index]) for index in moves for end in ends]
        predicted = self.altering.ask(np.concatenate(tried), np.tile(rows, len(tried)))
        self.queries += len(rows) * len(tried)
        gain, hits = self._judge(predicted, np.tile(rows, len(tried)))
        table, flips = gain.reshape(len(tried), -1), hits.reshape(len(tried), -1)
        won = np.asarray(flips.any(axis=0))
        pick = np.where(won, flips.argmax(axis=0), table.argmax(axis=0))
        at = np.arange(len(rows))
        better = won | (table[pick, at] > before)
        chosen = np.stack(tried)[pick, at]
        kept = rows[better]
        self.best[kept], self.gain[kept] = chosen[better], table[pick, at][better]
        self.flipped[kept] = won[better]
        self.predicted = spliced(self.predicted, kept, predicted.take((pick * len(rows) + at)[better]))
        together = base.copy()
        for step, index in enumerate(moves):
            two = table[2 * step : 2 * step + 2]
            side = two.argmax(axis=0)
            helps = two[side, at] > before
            end = np.where(side == 0, box.low[rows, index], box.high[rows, index])
            together[:, index] = np.where(helps & ~np.isnan(end), end, together[:, index])
        still = ~self.flipped[rows]
        self._try(together[still], rows[still])
        return len(tried) + 1

    def _random(self, box: Box, moves: Indices) -> None:
        """A few numbers of each row to an end of their box or anywhere in it; kept where that is worse."""
        rows = self._open
        shape = (len(rows), moves.size)
        low, high = box.low[rows][:, moves], box.high[rows][:, moves]
        draw = self.rng.random(shape)
        fraction = np.where(self.rng.random(shape) < 0.8, np.rint(draw), draw)
        value = low + fraction * (high - low)
        # where only decisions are known nothing is learnt between steps: every number is drawn again
        wanted = 1.0 if self.way == "decisions" else max(1.0 / moves.size, 0.25)
        hit = self.rng.random(shape) < wanted
        base = self.altering.rows[rows] if self.way == "decisions" else self.best[rows]
        new = base.copy()
        new[:, moves] = np.where(hit & ~np.isnan(value), value, new[:, moves])
        self._try(box.hold(new, rows, base, moves), rows)

    # categories ------------------------------------------------------------------------------------------------------

    def _categories(self) -> None:
        """One category exchanged for another that occurs, every one in turn."""
        columns = self.altering.columns
        spent = 0
        for index in np.flatnonzero(~columns.numeric & self.altering.read):
            for code in np.flatnonzero(columns.shares[index] > 0):
                rows = self._open
                rows = rows[self.altering.rows[rows, index] != code]
                if spent >= self.budget:
                    return
                self._try(_with(self.altering.rows[rows], int(index), float(code)), rows)
                spent += 1

    # results ---------------------------------------------------------------------------------------------------------

    def _measured(self, level: float) -> Attack:
        trials, base = self.trials, self.altering.predicted
        right = np.ones(len(self.best), dtype=bool)
        if base.label is not None:
            right = (base.label == trials.measures.truth) & self.flipped
        worst = spliced(base, np.flatnonzero(right), self.predicted.take(np.flatnonzero(right)))
        reading = trials.measures.read(worst)
        change = differences(base, self.predicted)[1][0]
        w, total = trials.measures.w, trials.measures.total
        flips = float(w @ self.flipped) / total if base.label is not None else float("nan")
        drop, low, high = trials.loss(reading)
        return Attack(
            level,
            self.way,
            self.best.copy(),
            self.flipped.copy(),
            flips,
            *trials.flip_interval(flips),
            float(reading.value[0, 0]),
            drop,
            low,
            high,
            float(w @ change) / total,
            self.queries / len(self.best),
        )


def _with(rows: Floats, index: int, value: Floats | float) -> Floats:
    out = rows.copy()
    out[:, index] = np.where(np.isnan(out[:, index]), np.nan, value)
    return out


def known_gradients(altering: Altering) -> Gradients | None:
    """The model's exact gradients, where its formula is known and all that it reads may be moved."""
    if not altering.covers_model or not hasattr(altering.model.estimator, "classes_"):
        return None
    try:
        domain = Domain.from_data(altering.data, features=altering.names)
    except DataError:
        return None
    oracle = Oracle(altering.model.estimator, domain, altering.data)
    gradients = oracle.gradients()
    return None if gradients.kind == "differences" else gradients
