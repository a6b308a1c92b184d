"""What was observed and what was expected, row by row, in each mode of a scan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.scan.families import Direction, Scoring
from isonomia.errors import DataError, SpecError
from isonomia.parameters import Choice, refuse
from isonomia.typing import Floats

Mode = Literal["binary", "ordinal", "continuous", "nominal"]

#: Which scores go with which mode; the first is taken where none is named.
SCORINGS: dict[str, tuple[Scoring, ...]] = {
    "binary": ("Bernoulli", "Poisson", "BerkJones"),
    "nominal": ("Bernoulli", "Poisson", "BerkJones"),
    "ordinal": ("Poisson", "BerkJones"),
    "continuous": ("Gaussian", "BerkJones"),
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """One outcome against one expectation.

    Attributes
    ----------
    observed, expected : arrays
        One number per row; the report is about these.
    scoring : str
        The family of the score.
    mode : str
        The kind of outcome.
    flat : bool
        Nobody predicted: everyone is expected to have the average, and chance is a shuffling of the outcomes.
    about : str
        The class in question, where there are several.
    level : float
        For Berk-Jones: the share of rows below the cut.
    flipped : bool
        Low outcomes are the favourable ones, so "over" and "under" are swapped.
    """

    observed: Floats
    expected: Floats
    scoring: Scoring
    mode: Mode
    flat: bool = False
    about: str = ""
    level: float = 0.5
    flipped: bool = False

    def parts(self, direction: Direction, observed: Floats | None = None) -> tuple[Floats, Floats]:
        """What goes into the score: observed outcomes (the given ones instead of its own) and expectations."""
        y = self.observed if observed is None else observed
        if self.flipped and self.mode != "binary":
            direction = "over" if direction == "under" else "under"
        if self.scoring == "BerkJones":
            if self.mode in ("continuous", "ordinal"):
                cut = float(np.quantile(self.observed, self.level))
                y = (y > cut).astype(float)
                share = 1 - self.level
            else:
                share = float(self.observed.mean())
            if direction == "over":
                y, share = 1 - y, 1 - share
            return y, np.full(len(y), min(max(share, 1e-9), 1 - 1e-9))
        if self.scoring == "Gaussian":
            spread = float(np.mean((self.observed - self.expected) ** 2)) or 1.0
            return y * self.expected / spread, self.expected / np.sqrt(spread)
        return y, self.expected

    def side(self, direction: Direction) -> Direction:
        """The direction of the score, for a direction as reported to the reader."""
        if self.flipped and self.mode != "binary":
            return "over" if direction == "under" else "under"
        return direction

    def draw(self, rng: np.random.Generator) -> Floats:
        """Outcomes as they would be if what was expected were right everywhere."""
        if self.flat or self.scoring == "BerkJones":
            return rng.permutation(self.observed)
        if self.mode in ("binary", "nominal"):
            return np.asarray(rng.random(len(self.expected)) < self.expected, dtype=float)
        if self.scoring == "Poisson":
            return rng.poisson(self.expected).astype(float)
        return np.asarray(self.expected + rng.permutation(self.observed - self.expected), dtype=float)

    @property
    def is_rate(self) -> bool:
        """Whether averages of the outcome are shares."""
        return self.mode in ("binary", "nominal")

    def take(self, rows: NDArray[Any]) -> Comparison:
        """On some of the rows."""
        return replace(self, observed=self.observed[rows], expected=self.expected[rows])


def comparisons(problem: Problem) -> list[Comparison]:
    """The comparisons a scan makes: one, or one per class in nominal mode."""
    mode = _mode(problem)
    scoring = _scoring(problem, mode)
    favourable = problem.options["bias_scan_favorable_value"]
    level = problem.options["alpha"]
    if mode == "nominal":
        return _nominal(problem, scoring, favourable)
    if mode == "binary":
        return [_binary(problem, scoring, favourable)]
    return [_numbers(problem, scoring, mode, favourable, level)]


def _mode(problem: Problem) -> Mode:
    usual: dict[Any, Mode] = {"binary": "binary", "multiclass": "nominal", "regression": "continuous"}
    choice = problem.options["bias_scan_mode"]
    if choice is None:
        return usual[problem.task]
    fits = {
        "binary": problem.task == "binary",
        "nominal": problem.task in ("binary", "multiclass"),
        "continuous": problem.task == "regression",
        "ordinal": problem.task == "regression" or _are_numbers(problem.classes),
    }
    if not fits[choice]:
        raise SpecError(
            f"`bias_scan_mode`={choice!r} does not apply to a {problem.task} task. Choose one of: "
            f"{', '.join(mode for mode, fit in fits.items() if fit)}."
        )
    return cast(Mode, choice)


def _are_numbers(classes: tuple[Any, ...]) -> bool:
    return bool(classes) and all(isinstance(item, int | float | np.number) for item in classes)


def _scoring(problem: Problem, mode: Mode) -> Scoring:
    choice = problem.options["bias_scan_scoring"]
    if choice is None:
        return SCORINGS[mode][0]
    return cast(Scoring, Choice(SCORINGS[mode], hint=f" in {mode} mode, or None").check("bias_scan_scoring", choice))


def _probabilities(problem: Problem) -> Floats | None:
    """Probabilities, all classes of them; None where nobody predicted."""
    if problem.label is None and problem.probability is None:
        return None
    given = problem.probability
    if given is None or bool(((given == 0) | (given == 1)).all()):
        raise DataError(
            "A scan compares outcomes with probabilities, but only decisions were given; with 0 and 1 as expectations "
            "the score is meaningless. Give a model with predict_proba, or y_pred as probabilities (out of fold, where "
            "the model was trained on these rows)."
        )
    return np.column_stack([1 - given, given]) if given.ndim == 1 else given


def _truth(problem: Problem) -> NDArray[Any]:
    if problem.truth is None:
        raise DataError("A scan needs true outcomes: give y_true, or a Dataset with a target.")
    return problem.truth


def _average(observed: Floats, weights: Floats | None) -> Floats:
    return np.full(len(observed), float(np.average(observed, weights=weights)))


def _binary(problem: Problem, scoring: Scoring, favourable: Any) -> Comparison:
    code = 1
    if favourable is not None and favourable != "high":
        codes = {"low": 0, **{label: index for index, label in enumerate(problem.classes)}}
        if favourable not in list(codes):  # a list: what is given need not have a hash
            refuse("bias_scan_favorable_value", f"'high', 'low' or one of {list(problem.classes)}", favourable)
        code = codes[favourable]
    observed = np.asarray(_truth(problem) == code, dtype=float)
    probability = None if scoring == "BerkJones" else _probabilities(problem)
    if probability is None:
        return Comparison(
            observed=observed, expected=_average(observed, problem.weights), scoring=scoring, mode="binary", flat=True
        )
    return Comparison(
        observed=observed, expected=np.ascontiguousarray(probability[:, code]), scoring=scoring, mode="binary"
    )


def _nominal(problem: Problem, scoring: Scoring, favourable: Any) -> list[Comparison]:
    names = list(problem.classes)
    if favourable is not None and favourable not in names:
        wanted = f"one of the classes {names} in nominal mode, or None for all of them"
        refuse("bias_scan_favorable_value", wanted, favourable)
    probability = None if scoring == "BerkJones" else _probabilities(problem)
    out = []
    for code, name in enumerate(names):
        if favourable is not None and name != favourable:
            continue
        observed = np.asarray(_truth(problem) == code, dtype=float)
        if probability is None:
            expected = _average(observed, problem.weights)
            out.append(
                Comparison(
                    observed=observed, expected=expected, scoring=scoring, mode="nominal", flat=True, about=str(name)
                )
            )
        else:
            expected = np.ascontiguousarray(probability[:, code])
            out.append(
                Comparison(observed=observed, expected=expected, scoring=scoring, mode="nominal", about=str(name))
            )
    return out


def _numbers(problem: Problem, scoring: Scoring, mode: Mode, favourable: Any, level: float) -> Comparison:
    truth = _truth(problem)
    expected: Floats | None
    if problem.task == "regression":
        observed = np.asarray(truth, dtype=float)
        expected = None if problem.label is None else np.asarray(problem.label, dtype=float)
    else:
        values = np.array([float(item) for item in problem.classes])
        observed = values[truth.astype(np.int64)]
        probability = None if scoring == "BerkJones" else _probabilities(problem)
        expected = None if probability is None else probability @ values
    if favourable not in (None, "high", "low", float(observed.min()), float(observed.max())):
        refuse("bias_scan_favorable_value", "'high', 'low', or the lowest or highest outcome", favourable)
    flipped = favourable == "low" or (favourable == float(observed.min()) and observed.min() < observed.max())
    flat = expected is None or scoring == "BerkJones"
    reported = _average(observed, problem.weights) if expected is None or flat else expected
    if scoring == "Poisson" and (observed.min() < 0 or reported.min() < 0):
        raise DataError("The Poisson score needs outcomes and predictions of at least 0; some are negative.")
    return Comparison(
        observed=observed, expected=reported, scoring=scoring, mode=mode, flat=flat, level=level, flipped=flipped
    )
