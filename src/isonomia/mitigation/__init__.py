"""What helps: estimators that make a model more even-handed before, in and after training."""

from typing import TYPE_CHECKING

from isonomia.mitigation.after.calibrate import CalibrateByGroup
from isonomia.mitigation.after.calibrated_odds import CalibratedOdds
from isonomia.mitigation.after.level_up import LevelUp
from isonomia.mitigation.after.match import Match
from isonomia.mitigation.after.reject_option import RejectOption
from isonomia.mitigation.after.thresholds import Thresholds
from isonomia.mitigation.before.decorrelate import Decorrelate
from isonomia.mitigation.before.massaging import Massage
from isonomia.mitigation.before.repair import Repair
from isonomia.mitigation.before.representation import Represent
from isonomia.mitigation.before.reweighing import Reweigh, weights
from isonomia.mitigation.before.sampling import Resample, sample
from isonomia.mitigation.found_groups import subgroup_columns
from isonomia.mitigation.judging.before_after import BeforeAfter, before_after
from isonomia.mitigation.judging.durability import Durability, durability
from isonomia.mitigation.judging.mitigate import mitigate
from isonomia.mitigation.judging.mitigated import Mitigated
from isonomia.mitigation.own_fixes import own_fix
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.saving import load, save
from isonomia.mitigation.training.adversarial import Adversarial
from isonomia.mitigation.training.minimax import Minimax
from isonomia.mitigation.training.reduction import Reduce
from isonomia.parameters import face

__all__ = [
    "Adversarial",
    "before_after",
    "BeforeAfter",
    "CalibrateByGroup",
    "CalibratedOdds",
    "Decorrelate",
    "durability",
    "Durability",
    "LevelUp",
    "load",
    "Massage",
    "Match",
    "Minimax",
    "mitigate",
    "Mitigated",
    "Mitigation",
    "MITIGATIONS",
    "own_fix",
    "Reduce",
    "RejectOption",
    "Repair",
    "Represent",
    "Resample",
    "Reweigh",
    "sample",
    "save",
    "subgroup_columns",
    "Thresholds",
    "weights",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
