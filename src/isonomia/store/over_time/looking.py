"""Looking at a new run: each watch of its analysis compares figures, and raises alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import numpy as np
from sqlalchemy import Connection, func, select

from isonomia.evidence import holm, normal_p, normal_quantile
from isonomia.languages import Message, encode, msg
from isonomia.store import tables
from isonomia.store.keys import people_of
from isonomia.store.over_time.charts import POINT_LIMIT, alpha_of, chart_of
from isonomia.store.over_time.history import metric_title
from isonomia.store.over_time.watches import Watch, insert_alert, list_watches

#: Runs of a figure's history that a chart looks at, the newest ones.
HISTORY = 1000


@dataclass(frozen=True)
class NewRun:
    """A run that was just added."""

    id: str
    analysis: str
    at: datetime


def look_at(connection: Connection, run: NewRun) -> None:
    """Raise the alerts of a run that was just added, in the same transaction."""
    watches = list_watches(connection, run.analysis)
    for watch in watches:
        if watch.rule == "policy":
            _policy(connection, run, watch)
        elif watch.rule == "chart":
            _chart(connection, run, watch)
    _change(connection, run, [watch for watch in watches if watch.rule == "change"])


def _policy(connection: Connection, run: NewRun, watch: Watch) -> None:
    """Criteria that exceed now and did not in the run before; without one, all that exceed."""
    last = (
        select(tables.run.c.id)
        .where(
            tables.run.c.analysis == run.analysis,
            tables.run.c.kind == "audit",
            tables.run.c.id != run.id,
            tables.run.c.created <= run.at,
        )
        .order_by(tables.run.c.created.desc(), tables.run.c.id.desc())
        .limit(1)
    )
    exceeding = select(tables.criterion).where(tables.criterion.c.outcome == "exceeds")
    now = connection.execute(exceeding.where(tables.criterion.c.run == run.id)).all()
    before = connection.execute(exceeding.where(tables.criterion.c.run == last.scalar_subquery())).all()
    known = {(row.name, row.who_key) for row in before}
    for row in now:
        if (row.name, row.who_key) not in known and watch.who_key in (None, row.who_key):
            insert_alert(
                connection,
                watch,
                run.id,
                run.at,
                direction="exceeds",
                metric=row.name,
                who_key=row.who_key,
                value=row.value,
                expected=row.threshold,
                message=encode(
                    msg(
                        "{name} exceeds the policy now{people}.",
                        name=_as_message(row.name),
                        people=_people(row.who_key),
                    )
                ),
            )


def _chart(connection: Connection, run: NewRun, watch: Watch) -> None:
    """Figures that left the limits of their own history."""
    for row in _figures(connection, run.id, watch):
        history = _history(connection, run, row)
        values, errors = (np.array([getattr(one, name) for one in history], dtype=float) for name in ("value", "se"))
        chart = chart_of(values, errors)
        if not chart.alerts[-1]:
            continue
        single = abs(chart.residual[-1]) > POINT_LIMIT
        statistic = float(chart.residual[-1] if single else chart.weighted[-1])
        expected = float(chart.expected[-1])
        insert_alert(
            connection,
            watch,
            run.id,
            run.at,
            direction="up" if statistic > 0 else "down",
            **_key(row),
            value=row.value,
            expected=expected,
            statistic=statistic,
            critical=POINT_LIMIT if single else float(chart.limit[-1]),
            message=encode(
                msg(
                    "{figure} is {value:num4}; the {n:# run|# runs} before had a mean of {expected:num4}. This is "
                    "outside the limits of the chart.",
                    figure=_name(row),
                    value=row.value,
                    n=len(history) - 1,
                    expected=expected,
                )
            ),
        )


def _change(connection: Connection, run: NewRun, watches: Sequence[Watch]) -> None:
    """Figures that differ from those of the baseline run: a two-sample test each, Holm over all that are watched."""
    chosen = select(tables.run.c.id, tables.run.c.created).join(
        tables.analysis, tables.analysis.c.baseline_run == tables.run.c.id
    )
    baseline = connection.execute(chosen.where(tables.analysis.c.slug == run.analysis)).one_or_none()
    if baseline is None or baseline.id == run.id or not watches:
        return
    later = select(func.count()).where(
        tables.run.c.analysis == run.analysis, tables.run.c.kind == "audit", tables.run.c.created >= baseline.created
    )
    look = max(1, connection.execute(later).scalar_one() - 1)
    pairs: dict[tuple[Any, ...], tuple[Watch, Any, Any]] = {}
    for watch in watches:
        before = {_identity(row): row for row in _figures(connection, baseline.id, watch)}
        for row in _figures(connection, run.id, watch):
            if _identity(row) in before:
                pairs.setdefault(_identity(row), (watch, row, before[_identity(row)]))
    z = np.array([(new.value - old.value) / np.hypot(new.se, old.se) for _, new, old in pairs.values()], dtype=float)
    if not pairs:
        return
    alpha, p_values = alpha_of(look), normal_p(z)
    adjusted = holm(p_values)
    # the limit of Holm's step that decides about a figure: those with smaller p-values have been rejected before
    limits = [normal_quantile(1 - alpha / (len(z) - step)) for step in p_values.argsort().argsort().tolist()]
    for (watch, new, old), statistic, limit, p in zip(pairs.values(), z, limits, adjusted, strict=True):
        if p <= alpha:
            insert_alert(
                connection,
                watch,
                run.id,
                run.at,
                direction="up" if statistic > 0 else "down",
                **_key(new),
                value=new.value,
                expected=old.value,
                statistic=float(statistic),
                critical=limit,
                message=encode(
                    msg(
                        "{figure} is {value:num4}; the baseline run had {expected:num4}. The change exceeds chance.",
                        figure=_name(new),
                        value=new.value,
                        expected=old.value,
                    )
                ),
            )


def _figures(connection: Connection, run: str, watch: Watch) -> list[Any]:
    """The figures of a run that a watch is about and that can be compared: with a value and a standard error."""
    query = select(tables.figure).where(
        tables.figure.c.run == run,
        tables.figure.c.metric == watch.metric,
        tables.figure.c.measure == watch.measure,
        tables.figure.c.value.is_not(None),
        tables.figure.c.se > 0,
    )
    if watch.who_key is not None:
        query = query.where(tables.figure.c.who_key == watch.who_key)
    if watch.attribute is not None:
        query = query.where(tables.figure.c.attribute == watch.attribute)
    return list(connection.execute(query.order_by(tables.figure.c.place)))


def _history(connection: Connection, run: NewRun, row: Any) -> list[Any]:
    """The figure in runs up to this one, the oldest first."""
    query = select(tables.figure.c.value, tables.figure.c.se, tables.figure.c.run).where(
        tables.figure.c.analysis == run.analysis,
        tables.figure.c.metric == row.metric,
        tables.figure.c.measure == row.measure,
        tables.figure.c.who_key == row.who_key,
        tables.figure.c.attribute == row.attribute,
        tables.figure.c.at <= run.at,
        tables.figure.c.value.is_not(None),
        tables.figure.c.se > 0,
    )
    found = list(
        connection.execute(query.order_by(tables.figure.c.at.desc(), tables.figure.c.run.desc()).limit(HISTORY))
    )
    earlier = [one for one in found if one.run != run.id]
    return [*earlier[::-1], *(one for one in found if one.run == run.id)]


def _identity(row: Any) -> tuple[Any, ...]:
    return tuple(_key(row).values())


def _key(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("metric", "measure", "attribute", "who_key")}


def _name(row: Any) -> Message:
    """A figure in words."""
    metric = metric_title(row.metric)
    people = _people(row.who_key) or _people_of_attribute(row.attribute)
    if row.measure == "difference":
        return msg("{metric}, difference{people}", metric=metric, people=people)
    if row.measure == "ratio":
        return msg("{metric}, ratio{people}", metric=metric, people=people)
    return msg("{metric}{people}", metric=metric, people=people)


def _as_message(text: str) -> Message:
    """A criterion's name, which is translated where it is that of a shipped policy; braces in it mean nothing."""
    return Message(text.replace("{", "{{").replace("}", "}}"))


def _people(key: str) -> str:
    """People behind the name of a figure, in parentheses; nothing for everyone."""
    named = ", ".join(f"{column} = {value}" for column, value in people_of(key).items())
    return f" ({named})" if named else ""


def _people_of_attribute(key: str) -> str:
    return f" ({', '.join(unquote(name) for name in key.split('&'))})" if key else ""
