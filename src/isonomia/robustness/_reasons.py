"""Why a number is missing, in the words of a table's last column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.languages import Message, msg
from isonomia.metrics import Metric

#: A reason as it comes: a message of ours, or the text of an error.
Reason = Message | str


def no_value(reason: Reason, missing: int, trials: int) -> Message:
    """That a metric has no value in some trials, or in all of them, and why.

    >>> str(no_value("nobody is accepted", 3, 10)), str(no_value("nobody is accepted", 1, 1))
    ('no value in 3 of 10 trials: nobody is accepted', 'no value: nobody is accepted')
    """
    if trials == 1:
        return msg("no value: {reason}", reason=reason)
    return msg("no value in {missing:int} of {trials:int} trials: {reason}",
               missing=missing, trials=trials, reason=reason)  # fmt: skip


def of_trials(metric: Metric, baseline: float, values: NDArray[np.float64]) -> Message | None:
    """Why a metric's figures over trials are missing in part; None where they are all there."""
    missing = int(np.isnan(values).sum())
    if np.isnan(baseline):
        return msg("no value as it is: {reason}", reason=metric.undefined)
    if missing:
        return no_value(metric.undefined, missing, len(values))
    if metric.higher_is_better is None:
        return msg("it only describes: neither higher nor lower is better")
    return _spread(len(values))


def _spread(trials: int) -> Message | None:
    return msg("one trial: there is no spread") if trials == 1 else None


def of_effect(reason: Reason | None, base: float, values: NDArray[np.float64], low: float) -> Message | None:
    """The same for a disturbance, whose loss may also be without an interval."""
    missing = int(np.isnan(values).sum())
    if np.isnan(base):
        return msg("no value as it is: {reason}", reason=reason)
    if missing:
        return no_value(reason or msg("it is not defined"), missing, len(values))
    if np.isnan(low):
        return msg("no interval is known for it")
    return _spread(len(values))


def of_slices(metric: Metric, value: Any, n: Any, least: int) -> list[Message | None]:
    """For each slice: why it has no value, or why it was not tested."""
    few = msg("fewer than {least:int} rows: not tested", least=least)
    none = msg("no value: {reason}", reason=metric.undefined)
    return [
        none if np.isnan(one) else few if size < least else None
        for one, size in zip(np.ravel(value), np.ravel(n), strict=True)
    ]
