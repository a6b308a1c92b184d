"""A fingerprint of true outcomes, predictions and groups that were given as columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.models import GroupThresholds, Surface


def fingerprint_of(
    truth: NDArray[Any] | None,
    surface: Surface,
    extra: Sequence[NDArray[Any] | None],
    attributes: Sequence[Codes],
) -> str:
    """A sha256 over columns (weights and counts in `extra`), their classes, the names of the groups and thresholds."""
    digest = hashlib.sha256()
    predicted = [getattr(surface, kind) for kind in surface.kinds]
    for part in (truth, *predicted, *extra, *(column.codes for column in attributes)):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    threshold = surface.threshold
    cut = threshold.to_dict() if isinstance(threshold, GroupThresholds) else threshold
    named = [(column.name, column.labels) for column in attributes]
    digest.update(repr((named, surface.task, surface.classes, cut)).encode())
    return digest.hexdigest()
