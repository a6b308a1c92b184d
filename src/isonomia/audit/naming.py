"""Codes in tables as people read them: metrics by their titles, everyone instead of "overall"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from isonomia.evidence import Result, Table
from isonomia.languages import Message, OutcomeName, msg
from isonomia.metrics import METRICS
from isonomia.robustness import SCENARIOS

R = TypeVar("R", bound=Result)

#: A metric of one class against the rest: "tpr[class]".
_OF_CLASS = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_REFERENCES = {"overall": msg("everyone")}


def in_words(result: R) -> R:
    """The result whose tables name metrics and references as people read them; frames and JSON keep the codes."""
    return replace(result, tables={name: _named(table) for name, table in result.tables.items()})


def metric_title(code: str) -> Message | None:
    """The title of a metric, also of one class against the rest; None for what is not a metric.

    >>> str(metric_title("tpr[high]"))
    'True positive rate of "high"'
    """
    if code in METRICS:
        return METRICS[code].title
    parts = _OF_CLASS.fullmatch(code)
    if parts is None or parts[1] not in METRICS:
        return None
    return msg('{metric} of "{label}"', metric=METRICS[parts[1]].title, label=OutcomeName(parts[2]))


def class_of(code: str) -> str:
    """The class that a metric of one class against the rest is about; empty for any other.

    >>> class_of("tpr[high]"), class_of("tpr")
    ('high', '')
    """
    parts = _OF_CLASS.fullmatch(code)
    return "" if parts is None else parts[2]


def scenario_title(code: str) -> Message | None:
    """The title of a scenario; None for one that is not in the registry.

    >>> str(scenario_title("label_noise"))
    'Wrong labels'
    """
    return SCENARIOS[code].title if code in SCENARIOS else None


#: Columns of codes, and what says how a code is read.
_CODES: Mapping[str, Callable[[str], Message | None]] = {
    **dict.fromkeys(("metric", "metric_1", "metric_2", "worst_metric"), metric_title),
    **dict.fromkeys(("scenario", "worst_scenario"), scenario_title),
}


def _named(table: Table) -> Table:
    columns = []
    for name, title_of in _CODES.items():
        if name in table:
            codes = {code for code in table[name].values if isinstance(code, str)}
            names = {code: title for code in sorted(codes) if (title := title_of(code)) is not None}
            columns.append(replace(table[name], names={**names, **table[name].names}))
    if "reference" in table and not table["reference"].names:
        columns.append(replace(table["reference"], names=_REFERENCES))
    return table.with_columns(*columns)
