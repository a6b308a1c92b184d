"""Where and when does it break: weak spots, overfitting by slice, drift, and how far predictions can be trusted."""

from isonomia.robustness.meter import Cells, Measured, Meter
from isonomia.robustness.slicing import SLICINGS, Cut, Slicing, change_points, learn_cuts
from isonomia.robustness.weak_spots import weak_spots

__all__ = [
    "Cells",
    "Cut",
    "Measured",
    "Meter",
    "SLICINGS",
    "Slicing",
    "change_points",
    "learn_cuts",
    "weak_spots",
]
