"""Names of array types that every room uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: Positions in an array, as NumPy indexes with them.
Indices = NDArray[np.intp]

__all__ = ["Bools", "Floats", "Indices"]
