"""The finding of `sensitive`: the model uses the attribute itself, and this moves groups apart."""

from __future__ import annotations

import numpy as np

from isonomia.evidence import THRESHOLDS, Estimate, Finding
from isonomia.explain.outputs import MEAN_NAMES
from isonomia.explain.prepare import Prepared
from isonomia.languages import ColumnName, Message, People, msg


def attribute_used(
    prepared: Prepared, column: str, names: tuple[str, ...], disparity: Estimate, rank: Estimate
) -> tuple[Finding, ...]:
    """A finding where the disparity is surely large enough to be reported; none elsewhere.

    Disparities of probabilities and decisions are compared with the thresholds as they are, others in standard
    deviations of the output.
    """
    if disparity.low is None or disparity.high is None or disparity.low <= 0 <= disparity.high:
        return ()
    points, limits = prepared.output in ("probability", "decision", "rescaled"), THRESHOLDS["attribute_use"]
    scale = 1.0 if points else spread(prepared)
    surely = min(abs(disparity.low), abs(disparity.high)) / scale
    if surely < limits.reported:
        return ()
    return (
        Finding(
            "explain_sensitive.used",
            limits.severity(surely),
            prepared.about(_sentence(prepared, column, names, float(disparity), rank, points=points)),
            disparity,
            n=disparity.n,
            magnitude=surely / limits.reported,
            threshold=limits.reported * scale,
            evidence="explain_sensitive/groups",
            format="points" if points else "num",
            columns=(column,),
            topic="use",
            remedy="remove_attribute",
        ),
    )


def spread(prepared: Prepared) -> float:
    """The standard deviation of the output over up to 1,000 people; 1 where it does not vary."""
    some = prepared.located[:: max(1, len(prepared.located) // 1000)]
    return float(np.std(prepared.space.ask(some)[:, 0])) or 1.0


def _sentence(
    prepared: Prepared, column: str, names: tuple[str, ...], disparity: float, rank: Estimate, *, points: bool
) -> Message:
    given = {"attribute": ColumnName(column), "what": MEAN_NAMES[prepared.output]}
    size = msg("{size:points} points", size=abs(disparity)) if points else msg("{size:num}", size=abs(disparity))
    if len(names) > 2:
        used = msg(
            "The model uses {attribute} itself: that alone makes {what} differ between groups by up to {by}",
            by=size,
            **given,
        )
    else:
        reference, group = (People.of({column: name}) for name in names)
        used = msg(
            "The model uses {attribute} itself: that alone makes {what} {by} {lower} for {group} than for {reference}",
            by=size,
            lower=msg("lower") if disparity < 0 else msg("higher"),
            group=group,
            reference=reference,
            **given,
        )
    if rank.value is None:
        return msg("{sentence}.", sentence=used)
    return msg(
        "{sentence} (rank {rank:int} of {columns:# column|# columns}).",
        sentence=used,
        rank=rank.value,
        columns=len(prepared.space.players),
    )
