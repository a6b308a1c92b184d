"""How many, of what: dictionary-encoded columns, cells and tallies over them, and the bootstrap on counts."""

from isonomia.counting._levels import Level
from isonomia.counting.bins import BINNINGS, Binning, Bins, bin_edges, encode_features
from isonomia.counting.cells import MAX_CELLS, Cells
from isonomia.counting.codes import MISSING, CodeArray, Codes, smallest
from isonomia.counting.lattice import Lattice, Route
from isonomia.counting.resample import resample, resample_counts, resample_sums
from isonomia.counting.tally import Axis, Tally, composite, tally

__all__ = [
    "Axis",
    "BINNINGS",
    "Binning",
    "Bins",
    "Cells",
    "CodeArray",
    "Codes",
    "Lattice",
    "Level",
    "MAX_CELLS",
    "MISSING",
    "Route",
    "Tally",
    "bin_edges",
    "composite",
    "encode_features",
    "resample",
    "resample_counts",
    "resample_sums",
    "smallest",
    "tally",
]
