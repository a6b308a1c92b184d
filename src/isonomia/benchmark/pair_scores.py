"""How good claimed pairs are: asked again, and attributed to the biases that were planted."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.benchmark.contestants import NUMBERS_DIFFER, Answer
from isonomia.benchmark.grids import Budget
from isonomia.benchmark.scenes import Scene, with_roles, wrapped
from isonomia.data import wrap
from isonomia.data.synthetic import holds
from isonomia.discovery import PairResult
from isonomia.typing import Bools, Floats

#: Shares of the budget at which the number of pairs is given.
SHARES = (0.1, 0.25, 0.5, 1.0)
#: Truths count as found with 1 pair, and as well covered with this many.
MANY = 10
#: Pairs whose naturalness is looked at.
_LOOKED_AT = 100


def score_pairs(scene: Scene, answer: Answer, budget: Budget) -> dict[str, Any]:
    """The scores of an answer; those that need a truth are None where there is none.

    A pair is valid where the two differ in protected attributes alone and the model, asked again, treats them
    differently. It is attributed to a planted bias where one of the two satisfies the biased subgroup's conditions, the
    other does not, and the first is treated worse (or better) as the bias says. Valid pairs that are not attributed
    are real too, but not planted.
    """
    result = answer.pairs
    assert result is not None  # the contestant finds pairs
    first, second = (_frame(result, rows) for rows in (result.pairs.first, result.pairs.second))
    gap = _gaps(scene, first, second)
    valid = _differ_fairly(scene, first, second) & (gap != 0)
    tested, asked = int(answer.metrics["TSN"]), int(answer.metrics["n_model_rows"])
    n, kept = len(valid), int(valid.sum())
    scores: dict[str, Any] = {
        "n_claims": n,
        "n_truths": len(scene.truths),
        "n_realised": len(scene.realised),
        "claimed": kept > 0,
        "decision": (kept > 0) == bool(scene.truths),
        "valid": kept,
        "validity": kept / n if n else None,
        "dsr": kept / tested if tested else None,
        "rows_per_pair": asked / kept if kept else None,
        "naturalness": _naturalness(scene, first, valid),
        **_curve(result, budget, kept / n if n else 0.0),
    }
    if not scene.truths:
        return scores
    attributed = np.array([_attributed(truth, first, second, gap) for truth in scene.truths])
    counts, anyone = attributed[:, valid].sum(axis=1), np.asarray(attributed.any(axis=0))
    share = float(anyone[valid].mean()) if kept else 0.0
    recall = float((counts >= 1).mean())
    real = np.array([truth.realised for truth in scene.truths])
    return {
        **scores,
        "precision": share * kept / n if n else 0.0,
        "recall": recall,
        "f1": _harmonic(share * kept / n if n else 0.0, recall),
        "recall_many": float((counts >= MANY).mean()),
        "recall_realised": float((counts[real] >= 1).mean()) if real.any() else None,
        "attributed": share,
        "unattributed": kept - int(anyone[valid].sum()),
    }


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def _frame(result: PairResult, rows: Floats) -> nw.DataFrame[Any]:
    return wrap(result.domain.decode(rows))


def _gaps(scene: Scene, first: nw.DataFrame[Any], second: nw.DataFrame[Any]) -> Floats:
    """How the model treats the first of each pair compared with the second: their difference where decisions differ."""
    if not len(first):
        return np.zeros(0)
    model = wrapped(scene)
    asked = [model.surface(with_roles(scene.people, one.to_native())) for one in (first, second)]
    if scene.setting.task == "regression":
        gap = np.asarray(asked[0].continuous, dtype=float) - np.asarray(asked[1].continuous, dtype=float)
        return np.where(np.abs(gap) > NUMBERS_DIFFER, gap, 0.0)
    codes = [np.asarray(one.label, dtype=float) for one in asked]
    return np.asarray(codes[0] - codes[1], dtype=float)


def _differ_fairly(scene: Scene, first: nw.DataFrame[Any], second: nw.DataFrame[Any]) -> Bools:
    """Whether the two of each pair are the same but for protected attributes."""
    same = np.ones(len(first), dtype=bool)
    moved = np.zeros(len(first), dtype=bool)
    for name in scene.people.features:
        equal = np.asarray((first[name] == second[name]).to_numpy(), dtype=bool)
        if name in scene.people.protected:
            moved |= ~equal
        else:
            same &= equal
    return same & moved


def _attributed(truth: Any, first: nw.DataFrame[Any], second: nw.DataFrame[Any], gap: Floats) -> Bools:
    """Pairs of which one side alone is in the biased subgroup, and is treated as the bias says."""
    inside = [holds(truth.subgroup.conditions, one.to_native()) for one in (first, second)]
    return np.asarray(
        (inside[0] & ~inside[1] & (gap * truth.sign > 0)) | (inside[1] & ~inside[0] & (gap * truth.sign < 0))
    )


def _naturalness(scene: Scene, first: nw.DataFrame[Any], valid: Bools) -> float | None:
    """The mean percentile of found people's density among fresh people: 0.5 where they are as usual as others."""
    rows = np.flatnonzero(valid)[:_LOOKED_AT]
    if not rows.size:
        return None
    found = scene.copula.log_density(first[rows.tolist()].to_native(), draws=16)
    usual = scene.usual_density
    return float((np.searchsorted(usual, found) / usual.size).mean())


def _curve(result: PairResult, budget: Budget, validity: float) -> dict[str, Any]:
    """Pairs by shares of the budget of model rows, and the area under that curve, in pairs per 1,000 rows."""
    rows = np.array([0, *(at for at, _ in result.trace)], dtype=float)
    found = np.array([0, *(n for _, n in result.trace)], dtype=float)
    if not result.trace and len(result.pairs):  # known at the end alone
        rows, found = np.array([0.0, budget.model_rows]), np.array([0.0, len(result.pairs)])
    points = np.arange(1, 101) / 100 * budget.model_rows
    at = found[np.searchsorted(rows, points, side="right") - 1] * validity
    return {
        "pairs_at": [float(at[round(100 * share) - 1]) for share in SHARES],
        "area": float(at.mean() / budget.model_rows * 1000),
    }
