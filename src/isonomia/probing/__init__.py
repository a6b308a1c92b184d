"""What if this row were different: valid people, all their protected variants, one call of the model."""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.probing.binned_columns import BinnedColumns
from isonomia.probing.constraints import Constraint
from isonomia.probing.dependencies import Dependencies
from isonomia.probing.domain import Domain
from isonomia.probing.features import Feature
from isonomia.probing.key_map import KeyMap
from isonomia.probing.keys import Keyer
from isonomia.probing.ledger import Ledger
from isonomia.probing.loop import Answer, Loop, Request, Script, Search, Strategy, Untested
from isonomia.probing.oracle import Oracle, Predictions
from isonomia.probing.probe import Probe, ProbeResult

__all__ = [
    "Answer",
    "BinnedColumns",
    "Constraint",
    "Dependencies",
    "Domain",
    "Feature",
    "KeyMap",
    "Keyer",
    "Ledger",
    "Loop",
    "Oracle",
    "Predictions",
    "Probe",
    "ProbeResult",
    "Request",
    "Script",
    "Search",
    "Strategy",
    "Untested",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
