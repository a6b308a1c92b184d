"""How good claimed subgroups are: compared with the truth on fresh people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from isonomia.benchmark.contestants import Answer, Claim, K
from isonomia.benchmark.matching import RELATIONS, assign, jaccard, relation
from isonomia.benchmark.scenes import REALISED, Scene, Truth
from isonomia.typing import Floats

#: An adjusted p-value below this is a claim.
ALPHA = 0.05
#: Overlaps at which recall is given beside the one that counts.
CURVE = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def score_subgroups(scene: Scene, answer: Answer) -> dict[str, Any]:
    """The scores of an answer; those that need a truth are None where there is none.

    With k the number of truths: precision, recall and F1 among the first k claims (and, as ``_10``, among the first
    10), average precision, reciprocal rank, the best overlap per truth, people covered, and how claims describe truths.
    Recall and F1 are also given for the truths that the model realises.
    """
    claims, truths = answer.claims, scene.truths
    unfair = any(claim.p is not None and claim.p < ALPHA for claim in claims)
    claimed = answer.unfair if answer.unfair is not None else unfair
    scores: dict[str, Any] = {
        "n_claims": len(claims),
        "n_truths": len(truths),
        "n_realised": len(scene.realised),
        "claimed": claimed,
        "decision": claimed == bool(scene.realised),
        "confirmed": _confirmed(scene, claims),
    }
    if not truths:
        return scores
    overlap = signed_overlap(claims, truths)
    k = len(truths)
    first = _at(overlap[:k], k)
    ten = _at(overlap[:K], k)
    real = [index for index, truth in enumerate(truths) if truth.realised]
    realised = _at(overlap[: len(real), real], len(real)) if real else dict.fromkeys(("precision", "recall", "f1"))
    return {
        **scores,
        **first,
        **{f"{name}_10": value for name, value in ten.items()},
        **{f"{name}_realised": value for name, value in realised.items()},
        **_ranking(overlap[:K]),
        "best_jaccard": float(overlap[:k].max(axis=0, initial=0.0).mean()),
        **_people(claims[:k], truths),
        "redundancy": _redundancy(claims[:k]),
        "recall_by_jaccard": [len(assign(overlap[:k], least=least)) / k for least in CURVE],
        "descriptions": _descriptions(claims[:k], truths),
    }


def signed_overlap(claims: Sequence[Claim], truths: Sequence[Truth]) -> Floats:
    """Intersection over union of claims and truths; 0 where the sign is wrong."""
    overlap = jaccard([claim.rows for claim in claims], [truth.rows for truth in truths])
    right = np.equal.outer([claim.sign for claim in claims], [truth.sign for truth in truths])
    return np.where(right, overlap, 0.0) if overlap.size else overlap


def _at(overlap: Floats, truths: int) -> dict[str, float]:
    """Precision, recall and F1 of some claims."""
    hits = len(assign(overlap))
    precision = hits / len(overlap) if len(overlap) else 0.0
    recall = hits / truths
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if hits else 0.0,
    }


def _ranking(overlap: Floats) -> dict[str, float]:
    """Average precision and reciprocal rank; a claim is a hit where it lets one more truth be matched."""
    hits = [len(assign(overlap[: rank + 1])) for rank in range(len(overlap))]
    new = np.diff([0, *hits])
    precision = np.asarray(hits, dtype=float) / np.arange(1, len(hits) + 1)
    ranks = np.flatnonzero(new)
    return {
        "ap": float(precision[new > 0].sum() / overlap.shape[1]),
        "mrr": 1.0 / (1 + int(ranks[0])) if ranks.size else 0.0,
    }


def _people(claims: Sequence[Claim], truths: Sequence[Truth]) -> dict[str, float]:
    """The share of wronged (or favoured) people who are in a claim of that sign, and of claimed people who are."""
    found_true = found = true = 0
    for sign in (-1, 1):
        theirs = np.any([truth.rows for truth in truths if truth.sign == sign] or [np.zeros(1, bool)], axis=0)
        ours = np.any([claim.rows for claim in claims if claim.sign == sign] or [np.zeros(1, bool)], axis=0)
        found_true += int((theirs & ours).sum())
        found += int(ours.sum())
        true += int(theirs.sum())
    return {"coverage": found_true / true if true else 0.0, "row_precision": found_true / found if found else 0.0}


def _redundancy(claims: Sequence[Claim]) -> float | None:
    """The mean overlap among claims of one sign; None with fewer than two."""
    overlap = jaccard([claim.rows for claim in claims], [claim.rows for claim in claims])
    pairs = [overlap[i, j] for i, j in combinations(range(len(claims)), 2) if claims[i].sign == claims[j].sign]
    return float(np.mean(pairs)) if pairs else None


def _confirmed(scene: Scene, claims: Sequence[Claim]) -> float | None:
    """The share of claims about people whom the model really shifts that way, planted or not; None without a claim."""
    shifts = [float(scene.shift[claim.rows].mean()) * claim.sign if claim.rows.any() else 0.0 for claim in claims[:K]]
    return float(np.mean(np.asarray(shifts) >= REALISED)) if shifts else None


def _descriptions(claims: Sequence[Claim], truths: Sequence[Truth]) -> dict[str, int]:
    """How each claim describes the truth it overlaps most with."""
    counts: dict[str, int] = dict.fromkeys(RELATIONS, 0)
    overlap = signed_overlap(claims, truths)
    for claim, row in zip(claims, overlap, strict=True):
        best = int(row.argmax())
        counts[relation(claim.rows, truths[best].rows) if row[best] > 0 else "miss"] += 1
    return counts
