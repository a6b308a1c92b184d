"""The theorems: criteria that exclude each other where base rates differ, and what one forces upon the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.typing import Floats

#: Rates at their overall values, by metric id, and a group's base rate, to what the group's figure would have to be.
Forced = Callable[[Mapping[str, Any], Floats], Floats]


@dataclass(frozen=True)
class Conflict:
    """Criteria that cannot hold together where base rates differ.

    `kept` are the metrics held equal (at their overall values), `forced` the metric that then has to differ and
    `value` its value in a group, as a function of the base rate p.
    """

    id: str
    kept: tuple[str, ...]
    forced: str
    criteria: tuple[Message, Message]
    value: Forced
    formula: Message
    reference: str


def _divide(top: Any, bottom: Any) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(bottom) > 0, np.asarray(top, dtype=float) / bottom, np.nan)


_ODDS, _PARITY = msg("Equalized odds"), msg("Demographic parity")
_PREDICTIVE, _OPPORTUNITY = msg("Predictive parity"), msg("Equal opportunity")
_EQUALITY = msg("Predictive equality")
_CHOULDECHOVA = "A. Chouldechova (2017), Big Data 5:153"
_KLEINBERG = "J. Kleinberg, S. Mullainathan, M. Raghavan (2017), ITCS"

CONFLICTS: tuple[Conflict, ...] = (
    Conflict(
        "predictive_parity_and_opportunity",
        ("ppv", "tpr"),
        "fpr",
        (msg("Predictive parity and equal opportunity"), _EQUALITY),
        lambda r, p: _divide(p * r["tpr"] * (1 - r["ppv"]), (1 - p) * r["ppv"]),
        msg("FPR = p / (1 - p) x (1 - PPV) / PPV x TPR"),
        _CHOULDECHOVA,
    ),
    Conflict(
        "odds_and_predictive_parity",
        ("tpr", "fpr"),
        "ppv",
        (_ODDS, _PREDICTIVE),
        lambda r, p: _divide(p * r["tpr"], p * r["tpr"] + (1 - p) * r["fpr"]),
        msg("PPV = p TPR / (p TPR + (1 - p) FPR)"),
        _CHOULDECHOVA,
    ),
    Conflict(
        "odds_and_parity",
        ("tpr", "fpr"),
        "selection_rate",
        (_ODDS, _PARITY),
        lambda r, p: p * r["tpr"] + (1 - p) * r["fpr"],
        msg("selection rate = p TPR + (1 - p) FPR"),
        "S. Barocas, M. Hardt, A. Narayanan (2023), Fairness and Machine Learning, ch. 3",
    ),
    Conflict(
        "parity_and_predictive_parity",
        ("selection_rate", "ppv"),
        "tpr",
        (msg("Demographic parity and predictive parity"), _OPPORTUNITY),
        lambda r, p: _divide(r["selection_rate"] * r["ppv"], p),
        msg("TPR = selection rate x PPV / p (above 1 it cannot be)"),
        _CHOULDECHOVA,
    ),
)


#: Needs scores: kept are calibration in every group and one mean score of those with a favourable outcome.
BALANCE = Conflict(
    "calibration_and_balance",
    ("mean_score_of_positives",),
    "mean_score",
    (msg("Calibration and balance for the favourable outcome"), msg("Balance for the unfavourable outcome")),
    lambda r, p: p * (1 - r["mean_score_of_positives"]) / (1 - p),
    msg("mean score of negatives = p (1 - mean score of positives) / (1 - p)"),
    _KLEINBERG,
)


def forced_title(conflict: Conflict) -> Message:
    """What is forced apart, as a heading."""
    if conflict.forced == "mean_score":
        return msg("Mean score of those with an unfavourable outcome")
    return METRICS[conflict.forced].title
