"""Do probabilities mean the same for every group?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from isonomia.data import Backend, to_numpy
from isonomia.data.schema import kind_of_values
from isonomia.errors import NotApplicable
from isonomia.evidence import Column, Estimate, Picture, Result, Table, benjamini_hochberg
from isonomia.fairness.groups.grouping import (
    By,
    Groups,
    combinations_of,
    form_groups,
    named_groups,
    rows_with_attributes,
)
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import Reliability, Rows, Strategy, reliability
from isonomia.models import Surface
from isonomia.subject import Subject, SubjectOptions, is_column

#: Class-wise calibration is spelt out for at most this many classes.
MAX_CLASSES = 20


@dataclass(frozen=True, repr=False)
class GroupCalibration(Result):
    """Calibration of each group.

    Attributes
    ----------
    by_group : frame
        A row per group (and class, where there are several): `n`, `predicted`, `observed`, then `ece`, `mce`, `brier`,
        `gap` (observed - predicted: calibration in the large) and `slope`, with `_low` and `_high`, and the p-values
        that the gap is 0.
    curves : frame
        The reliability curve of each group, bin by bin.
    overall : mapping of Estimate
    """

    overall: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def by_group(self) -> Any:
        """Calibration of each group, as a frame of the kind the user gave."""
        return self.tables["by_group"].frame()

    @property
    def curves(self) -> Any:
        """Reliability curves, as a frame of the kind the user gave."""
        return self.tables["curves"].frame()


def group_calibration(
    data: Any = None,
    model: Any = None,
    *,
    by: By | Sequence[Sequence[str]] = "each",
    bins: int = 10,
    strategy: Strategy = "uniform",
    **given: Unpack[SubjectOptions],
) -> GroupCalibration:
    """Reliability curve, ECE, Brier score, calibration in the large and slope of each group, with intervals.

    Parameters
    ----------
    data : Dataset, frame, Subject, or column of true classes
    model : model, Surface, or probabilities
        Probabilities: (n,) of the positive class, or (n, K) in the order of the sorted classes. Several classes are
        judged twice: by the most probable class (top-label), and class by class, each against the rest.
    by, **given
        As in `group_metrics`.
    bins, strategy
        As in `metrics.reliability`.

    Notes
    -----
    Groups with different base rates cannot be calibrated and have equal error rates at once, unless prediction is
    perfect (Kleinberg et al. 2016): a well calibrated model may well fail equalized odds.

    References
    ----------
    G. Pleiss et al. (2017), NeurIPS: On fairness and calibration.

    Examples
    --------
    >>> y, p = [1, 0, 1, 1, 0, 0, 1, 0] * 20, [0.9, 0.1, 0.8, 0.7, 0.9, 0.6, 0.9, 0.7] * 20
    >>> found = group_calibration(y, p, sensitive_features=["a", "a", "a", "a", "b", "b", "b", "b"] * 20, n_boot=0)
    >>> found.by_group["gap"].round(3).tolist()
    [0.125, -0.525]
    """
    if model is not None and (is_column(model) or data is None or is_column(data)) and not isinstance(model, Surface):
        given["y_score"], model = model, None
    y_true = given.get("y_true") if data is None else data
    numeric = y_true is not None and is_column(y_true) and kind_of_values(y_true) == "numeric"
    if numeric and (np.nan_to_num(np.asarray(to_numpy(y_true), dtype=float)) % 1 != 0).any():
        raise NotApplicable(msg("a regression predicts numbers, not probabilities"))
    subject = Subject.of(data, model, counted=True, **given)
    if subject.outcome.truth is None:
        raise NotApplicable(msg("there are no true outcomes to compare probabilities with"))
    if subject.task == "regression":
        raise NotApplicable(msg("a regression predicts numbers, not probabilities"))
    if subject.surface.probability is None:
        raise NotApplicable(msg("there are no probabilities, only decisions or scores"))
    rows, _ = rows_with_attributes(subject.needs_attributes(), subject.settings.missing, subject.counts)
    used = subject if rows is None else subject.take(rows)
    return subject.noted(_calibration(used, by, bins, strategy))


def _calibration(subject: Subject, by: By | Sequence[Sequence[str]], bins: int, strategy: Strategy) -> GroupCalibration:
    """Calibration over rows that all take part."""
    rows, surface = Rows.of(subject.needs_outcomes()), subject.surface
    columns, settings = subject.attributes, subject.settings
    groups = form_groups(columns, by=by)
    options: dict[str, Any] = {
        "bins": bins,
        "strategy": strategy,
        "level": settings.level,
    }
    parts: list[tuple[Message | None, tuple[str, ...], Reliability]] = []
    sets = combinations_of([column.name for column in columns], by)
    for way, code in zip(sets, named_groups(columns, by), strict=True):
        parts.append((None, way, reliability(rows, groups=code, **options)))
        for index, label in enumerate(surface.classes if surface.task == "multiclass" else ()):
            if len(surface.classes) > MAX_CLASSES:
                break
            parts.append(
                (msg("{name}", name=str(label)), way, reliability(_of_class(rows, index), groups=code, **options))
            )
    several = surface.task == "multiclass"
    tables = {
        "by_group": _joined(parts, "by_group", several, subject.backend),
        "curves": _joined(parts, "bins_by_group", several, subject.backend),
    }
    overall = parts[0][2]
    values = dict(overall.values)
    if isinstance(largest := values.get("mce"), Estimate) and largest.low is None and largest.note is None:
        values["mce"] = replace(largest, note=as_text(msg("the largest of many gaps, which has no interval")))
    notes = overall.notes
    if several and len(surface.classes) > MAX_CLASSES:
        notes = (
            *notes,
            msg("There are more than {most:int} classes, so single classes are not shown.", most=MAX_CLASSES),
        )
    return GroupCalibration(
        "group_calibration",
        msg("Calibration by group"),
        tables,
        values,
        (),
        _pictures(groups, several),
        notes,
        dict(values),
    )


def _of_class(rows: Rows, index: int) -> Rows:
    """The rows as a question of two: this class or another."""
    assert rows.surface.probability is not None
    p = rows.surface.probability[:, index]
    surface = Surface("binary", ("other", rows.surface.classes[index]), probability=p)
    return Rows(np.asarray(rows.truth == index, dtype=np.uint8), surface, rows.weights, rows.counts)


def _joined(
    parts: Sequence[tuple[Message | None, tuple[str, ...], Reliability]],
    name: str,
    several: bool,
    backend: Backend | None,
) -> Table:
    tables = [part.tables[name] for _, _, part in parts]
    ways = [way for (_, way, _), table in zip(parts, tables, strict=True) for _ in range(len(table))]
    columns = [Column("by", [" x ".join(way) for way in ways], title=msg("by"), keys=ways)]
    labels = [label for (label, _, _), table in zip(parts, tables, strict=True) for _ in range(len(table))]
    if several:
        columns.append(Column("class", [label or _TOP for label in labels], title=msg("class")))
    joined = Table.stack(tables)
    columns += [replace(joined["group"], title=msg("group")) if c.name == "group" else c for c in joined.columns]
    if name == "by_group":
        p = np.asarray(joined["p_value"].values, dtype=float)
        classes = [None if label is None else label.text() for label in labels]
        keys = [("calibration", *key) for key in zip(classes, ways, joined["group"].values, strict=True)]
        columns[-1] = replace(joined["p_value"], keys=keys)
        columns.append(Column("p_adjusted", benjamini_hochberg(p), format="p", title=msg("p adjusted")))
    return replace(joined, columns=tuple(columns), backend=backend)


_TOP = msg("most probable")


def _pictures(groups: Groups, several: bool) -> tuple[Picture, ...]:
    out = []
    ways = list(dict.fromkeys(group.by for group in groups.groups))
    for way in ways[:6]:
        where: dict[str, Any] = {"by": [way]} | ({"class": [_TOP]} if several else {})
        out.append(
            Picture(
                "reliability",
                "curves",
                msg("Predicted and observed, by {way}", way=" x ".join(way)),
                {
                    "predicted": "predicted",
                    "observed": "observed",
                    "low": "observed_low",
                    "high": "observed_high",
                    "n": "n",
                    "color": "group",
                    "where": where,
                },
            )
        )
    out.append(
        Picture(
            "forest",
            "by_group",
            msg("Calibration in the large of each group"),
            {"labels": ["group"], "value": "gap", "reference": 0.0, "where": {"class": [_TOP]} if several else {}},
        )
    )
    return tuple(out)
