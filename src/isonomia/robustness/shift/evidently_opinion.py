"""A second opinion on drift by Evidently."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from isonomia.data import Dataset, to_frame
from isonomia.errors import DataError, MissingExtraError
from isonomia.evidence import Column, Table
from isonomia.languages import msg


def second_opinion(reference: Dataset, current: Dataset, names: Sequence[str]) -> Table:
    """What Evidently's test of each feature says: Kolmogorov-Smirnov of numbers, chi-square of categories.

    Evidently's chi-square takes the shares of the reference as exact. Ours knows that they are counts of a sample too,
    so where a category has changed Evidently's p-value is smaller.
    """
    try:
        evidently: Any = importlib.import_module("evidently")
        metrics: Any = importlib.import_module("evidently.metrics")
        report_type, drift_type = evidently.Report, metrics.ValueDrift
    except (ImportError, AttributeError, TypeError) as error:  # with pandas 3 it fails in several ways
        raise MissingExtraError(
            f"verify='evidently' needs the package 'evidently' (0.7 or newer), which could not be imported "
            f"({type(error).__name__}: {error}). Install it with: pip install 'evidently>=0.7' (it needs its own "
            "environment beside pandas 3 or plotly 6)."
        ) from error
    kinds = {name: "chisquare" if reference.kinds[name] in ("category", "boolean") else "ks" for name in names}
    frames = [
        to_frame({name: _column(data, name, kinds[name]) for name in names}, "pandas") for data in (reference, current)
    ]
    report = report_type([drift_type(column=name, method=kinds[name]) for name in names])
    answer = report.run(frames[1], frames[0]).dict()
    values = [float(item["value"]) for item in answer["metrics"]]
    if len(values) != len(names):
        raise DataError(
            f"Evidently answered about {len(values)} of {len(names)} features; this version of "
            "Evidently may not be supported."
        )
    return Table(
        (
            Column("variable", list(names), title=msg("Variable")),
            Column("test", [kinds[name] for name in names], title=msg("Test")),
            Column("p_second", values, format="p", title=msg("p-value by Evidently")),
        ),
        msg("Second opinion by Evidently"),
        current.backend,
    )


def _column(data: Dataset, name: str, kind: str) -> Any:
    values = data.column(name).to_list()
    return [None if value is None else str(value) for value in values] if kind == "chisquare" else values
