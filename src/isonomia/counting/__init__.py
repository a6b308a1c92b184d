"""How many, of what: dictionary-encoded columns, cells and tallies over them, and the bootstrap on counts."""

from typing import TYPE_CHECKING

from isonomia.counting._levels import Level
from isonomia.counting.bins import BINNINGS, Binning, Bins, bin_edges, encode_features
from isonomia.counting.by_code import count_by, cross_codes, cross_sum, mean_by, sum_by
from isonomia.counting.cells import MAX_CELLS, Cells
from isonomia.counting.codes import MISSING, CodeArray, Codes, smallest
from isonomia.counting.lattice import Lattice, Route
from isonomia.counting.quantiles import quantiles
from isonomia.counting.resample import resample, resample_counts, resample_sums
from isonomia.counting.tally import Axis, Tally, composite, tally
from isonomia.parameters import face

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
    "count_by",
    "cross_codes",
    "cross_sum",
    "encode_features",
    "mean_by",
    "quantiles",
    "resample",
    "resample_counts",
    "resample_sums",
    "smallest",
    "sum_by",
    "tally",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
