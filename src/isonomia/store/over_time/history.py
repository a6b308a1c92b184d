"""A figure over the runs of an analysis."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import numpy as np
from sqlalchemy import Connection, select

from isonomia.errors import StoreError, close_to
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.store import tables
from isonomia.store.over_time.charts import chart_of

#: The newest runs that a history shows where nothing else is asked for.
LIMIT = 500


def read_history(
    connection: Connection,
    *,
    analysis: str,
    metric: str,
    measure: str,
    attribute: str | None,
    who: str,
    limit: int,
) -> Result:
    """The values of a figure with their intervals, the oldest first, and where its chart alerts."""
    rows = _rows(connection, analysis, metric, measure, attribute, who, limit)
    if not rows:
        raise StoreError(_nothing(connection, analysis, metric))
    if len({row.attribute for row in rows}) > 1:
        names = sorted({unquote(row.attribute) for row in rows})
        raise StoreError(f"Several figures match. Name the attributes, one of: {', '.join(names)}.")
    return Result(
        code="history",
        title=msg("{metric} over the runs of {analysis}", metric=metric_title(metric), analysis=analysis),
        tables={"history": _table(rows)},
        values={"runs": len(rows)},
        pictures=(
            Picture(
                kind="lines",
                table="history",
                title=msg("Value by run, with its interval"),
                options={"x": "at", "value": "value"},
            ),
        ),
        titles={"runs": msg("runs")},
        formats={"runs": "int"},
    )


def metric_title(escaped: str) -> Message | str:
    """What a metric is called, from its name as the store writes it."""
    name = unquote(escaped)
    return METRICS[name].title if name in METRICS else name.replace("_", " ")


def _table(rows: list[Any]) -> Table:
    alerts = np.zeros(len(rows), dtype=bool)
    usable = [index for index, row in enumerate(rows) if row.value is not None and row.se]
    if usable:
        chart = chart_of(*(np.array([getattr(rows[i], name) for i in usable], dtype=float) for name in ("value", "se")))
        alerts[usable] = chart.alerts
    missing = [None if row.value is not None else msg("not available; the report of the run says why") for row in rows]
    return Table(
        (
            Column("at", [row.at.strftime("%Y-%m-%d %H:%M:%S") for row in rows], title=msg("time (UTC)")),
            Column(
                "value",
                [row.value for row in rows],
                [row.low for row in rows],
                [row.high for row in rows],
                missing if any(missing) else None,
                format="num4",
                title=msg("value"),
            ),
            Column("se", [row.se for row in rows], format="num4", title=msg("standard error")),
            Column("n", [row.n for row in rows], format="int", title=msg("rows")),
            Column("alert", [msg("outside the limits") if one else "" for one in alerts], title=msg("chart")),
            Column("run", [row.run for row in rows], title=msg("run")),
        ),
        msg("The figure in each run"),
    )


def _rows(
    connection: Connection, analysis: str, metric: str, measure: str, attribute: str | None, who: str, limit: int
) -> list[Any]:
    columns = (tables.figure.c[name] for name in ("at", "run", "attribute", "value", "low", "high", "se", "n"))
    query = select(*columns).where(
        tables.figure.c.analysis == analysis,
        tables.figure.c.metric == metric,
        tables.figure.c.measure == measure,
        tables.figure.c.who_key == who,
    )
    if attribute is not None:
        query = query.where(tables.figure.c.attribute == attribute)
    newest = connection.execute(
        query.order_by(tables.figure.c.at.desc(), tables.figure.c.run.desc()).limit(limit)
    ).all()
    return list(newest[::-1])


def _nothing(connection: Connection, analysis: str, metric: str) -> str:
    """Why no figure fits: the metrics, measures and people of the last run."""
    last = select(tables.run.c.id).where(tables.run.c.analysis == analysis, tables.run.c.kind == "audit")
    last = last.order_by(tables.run.c.created.desc(), tables.run.c.id.desc()).limit(1)
    columns = (tables.figure.c.metric, tables.figure.c.measure, tables.figure.c.who_key)
    found = connection.execute(select(*columns).where(tables.figure.c.run == last.scalar_subquery())).all()
    if not found:
        return f"The analysis '{analysis}' has no audit in this store; see: isonomia runs list."
    metrics = list(dict.fromkeys(unquote(row.metric) for row in found))
    if unquote(metric) not in metrics:
        return f"The last run of '{analysis}' has no metric {unquote(metric)!r}.{close_to(unquote(metric), metrics)}"
    known = list(
        dict.fromkeys(f"{row.measure} of {row.who_key or 'everyone'}" for row in found if row.metric == metric)
    )
    return f"No run of '{analysis}' has this figure of {unquote(metric)}. Available: {', '.join(known[:20])}."
