"""How many, of what: dictionary-encoded columns, tallies over them, and the bootstrap on counts."""

from isonomia.counting.codes import CodeArray, Codes, smallest
from isonomia.counting.resample import resample, resample_counts, resample_sums
from isonomia.counting.tally import MAX_CELLS, Axis, Tally, composite, tally

__all__ = [
    "Axis",
    "CodeArray",
    "Codes",
    "MAX_CELLS",
    "Tally",
    "composite",
    "resample",
    "resample_counts",
    "resample_sums",
    "smallest",
    "tally",
]
