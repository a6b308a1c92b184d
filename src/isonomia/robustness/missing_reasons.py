"""Why a number is missing, in the words of a table's last column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import Metric

#: A reason as it comes: a message of ours, or the text of an error.
Reason = Message | str

ALONE = msg("not tested: there are no other rows to compare with, or nothing varies")
DESCRIBES = msg("it is descriptive: neither higher nor lower is better")
NO_INTERVAL = msg("no method is known for its interval")


def no_value(reason: Reason, missing: int, trials: int) -> Message:
    """That a metric has no value in some trials, or in all of them, and why.

    >>> str(no_value("nobody is accepted", 3, 10)), str(no_value("nobody is accepted", 1, 1))
    ('no value in 3 of 10 trials: nobody is accepted', 'no value: nobody is accepted')
    """
    if trials == 1:
        return msg("no value: {reason}", reason=reason)
    return msg(
        "no value in {missing:int} of {trials:int} trials: {reason}", missing=missing, trials=trials, reason=reason
    )


def of_trials(metric: Metric, baseline: float, values: NDArray[np.float64]) -> Message | None:
    """Why a metric's figures over trials are missing in part; None where they are all there."""
    missing = int(np.isnan(values).sum())
    if np.isnan(baseline):
        return msg("no baseline value: {reason}", reason=metric.undefined)
    if missing:
        return no_value(metric.undefined, missing, len(values))
    if metric.higher_is_better is None:
        return DESCRIBES
    return _spread(len(values))


def _spread(trials: int) -> Message | None:
    return msg("one trial: no standard deviation") if trials == 1 else None


def of_effect(reason: Reason | None, base: float, values: NDArray[np.float64], low: float) -> Message | None:
    """The same for a perturbation, whose loss may also be without an interval."""
    missing = int(np.isnan(values).sum())
    if np.isnan(base):
        return msg("no baseline value: {reason}", reason=reason)
    if missing:
        return no_value(reason or msg("it is not defined"), missing, len(values))
    if np.isnan(low):
        return NO_INTERVAL
    return _spread(len(values))


def of_slices(metric: Metric, value: Any, n: Any, minimum: int, p_value: Any = None) -> list[Message | None]:
    """For each slice: why it has no value, or why it was not tested (where `p_value` is missing)."""
    few = msg("fewer than {least:int} rows: not tested", least=minimum)
    none = msg("no value: {reason}", reason=metric.undefined)
    tests = np.zeros(np.size(value)) if p_value is None else np.ravel(p_value)
    return [
        none if np.isnan(one) else few if size < minimum else ALONE if np.isnan(p) else None
        for one, size, p in zip(np.ravel(value), np.ravel(n), tests, strict=True)
    ]


def of_value(metric: Metric, value: float, low: float, reason: Reason | None = None) -> str | None:
    """Why a figure has no value, or no interval; also that a metric is only descriptive."""
    if np.isnan(value):
        return as_text(reason or metric.undefined)
    if metric.higher_is_better is None:
        return as_text(DESCRIBES)
    return as_text(NO_INTERVAL) if np.isnan(low) else None
