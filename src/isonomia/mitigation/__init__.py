"""What helps: estimators that make a model more even-handed before, in and after training."""

from isonomia.mitigation.adversarial import Adversarial
from isonomia.mitigation.before_after import BeforeAfter, before_after
from isonomia.mitigation.calibrate import CalibrateByGroup
from isonomia.mitigation.calibrated_odds import CalibratedOdds
from isonomia.mitigation.decorrelate import Decorrelate
from isonomia.mitigation.level_up import LevelUp
from isonomia.mitigation.massaging import Massage
from isonomia.mitigation.match import Match
from isonomia.mitigation.minimax import Minimax
from isonomia.mitigation.mitigate import Mitigated, mitigate
from isonomia.mitigation.reduction import Reduce
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.reject_option import RejectOption
from isonomia.mitigation.repair import Repair
from isonomia.mitigation.representation import Represent
from isonomia.mitigation.reweighing import Reweigh, weights
from isonomia.mitigation.sampling import Resample, sample
from isonomia.mitigation.saving import load, save
from isonomia.mitigation.thresholds import Thresholds

__all__ = [
    "Adversarial",
    "before_after",
    "BeforeAfter",
    "CalibrateByGroup",
    "CalibratedOdds",
    "Decorrelate",
    "LevelUp",
    "load",
    "Massage",
    "Match",
    "Minimax",
    "mitigate",
    "Mitigated",
    "Mitigation",
    "MITIGATIONS",
    "Reduce",
    "RejectOption",
    "Repair",
    "Represent",
    "Resample",
    "Reweigh",
    "sample",
    "save",
    "Thresholds",
    "weights",
]
