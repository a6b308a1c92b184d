"""Watches: figures that are looked at with every new run, and the alerts they raise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, select

from isonomia.errors import StoreError
from isonomia.languages import Message, decode
from isonomia.parameters import Choice
from isonomia.store import tables
from isonomia.store.analyses import add_analysis
from isonomia.store.ids import new_id, now
from isonomia.store.keys import check_slug, people_of, printable
from isonomia.store.log import add_log

#: When a watch alerts: a criterion of the policy turned to *exceeds*; a figure differs from that of the baseline run; a
#: figure left the limits of its own history.
Rule = Literal["policy", "change", "chart"]


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is looked at with every new run of an analysis.

    Attributes
    ----------
    id : str
    analysis : str
    rule : "policy", "change" or "chart"
    metric, measure : str or None
        The figures; None for the rule "policy", which looks at the verdict's criteria.
    attribute, who_key : str or None
        Only figures of these attributes, or of these people; None for all.
    active : bool
    created : datetime
    owner : str
    """

    id: str
    analysis: str
    rule: Rule
    metric: str | None
    measure: str | None
    attribute: str | None
    who_key: str | None
    active: bool
    created: datetime
    owner: str


@dataclass(frozen=True, kw_only=True)
class Alert:
    """What a watch saw in a run.

    Attributes
    ----------
    id, analysis, watch, run : str
    at : datetime
    state : "open" or "closed"
    direction : "up", "down" or "exceeds"
    metric, measure, attribute, who_key : str or None
        The figure; for the rule "policy", the criterion's name and people.
    value, expected : float or None
        The figure, and what it is compared with: the baseline, the mean of its history, or the policy's limit.
    statistic, critical : float or None
        How far it is, and how far it may be: in standard errors, or in those of the weighted mean.
    message : Message
    closed_by, note : str or None
    closed_at : datetime or None
    """

    id: str
    analysis: str
    watch: str
    run: str
    at: datetime
    state: str
    direction: str
    metric: str | None
    measure: str | None
    attribute: str | None
    who_key: str | None
    value: float | None
    expected: float | None
    statistic: float | None
    critical: float | None
    message: Message
    closed_by: str | None
    note: str | None
    closed_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, one line for a machine that listens."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "message"}
        times = {name: None if value is None else value.isoformat() for name, value in plain.items() if name in _TIMES}
        return {**plain, **times, "people": people_of(self.who_key or ""), "message": self.message.text()}


_TIMES = ("at", "closed_at")


def add_watch(
    connection: Connection,
    *,
    analysis: str,
    rule: Rule,
    metric: str | None,
    measure: str | None,
    attribute: str | None,
    who: str | None,
    owner: str,
    watch_id: str,
) -> Watch:
    """Add a watch, unless it is there already."""
    Choice(get_args(Rule)).check("rule", rule)
    if (metric is None) != (rule == "policy"):
        raise StoreError(
            "The rule 'policy' watches the criteria of the verdict; leave `metric` out."
            if rule == "policy"
            else f"The rule '{rule}' watches a figure; name its `metric`, such as 'selection_rate'."
        )
    add_analysis(connection, analysis)
    row: dict[str, Any] = {
        "id": watch_id,
        "analysis": check_slug(analysis),
        "rule": rule,
        "metric": metric,
        "measure": measure if metric is not None else None,
        "attribute": attribute,
        "who_key": who,
        "active": True,
        "created": now(),
        "owner": printable(owner, 100),
    }
    if connection.execute(select(tables.watch.c.id).where(tables.watch.c.id == watch_id)).one_or_none() is None:
        connection.execute(tables.watch.insert().values(**row))
        add_log(connection, "watch", f"watch:{watch_id}", {"analysis": analysis, "rule": rule})
    return Watch(**row)


def list_watches(connection: Connection, analysis: str) -> list[Watch]:
    """The watches of an analysis, the oldest first."""
    query = select(tables.watch).where(tables.watch.c.analysis == check_slug(analysis), tables.watch.c.active)
    return [
        Watch(**row._mapping) for row in connection.execute(query.order_by(tables.watch.c.created, tables.watch.c.id))
    ]


def end_watch(connection: Connection, watch_id: str) -> None:
    """Look no more; its alerts stay."""
    ended = tables.watch.update().where(tables.watch.c.id == watch_id, tables.watch.c.active == True)  # noqa: E712  a column's value
    if connection.execute(ended.values(active=False)).rowcount != 1:
        raise StoreError(f"The store has no active watch '{printable(watch_id)}'; see: isonomia runs watch ANALYSIS.")
    add_log(connection, "end watch", f"watch:{watch_id}")


def list_alerts(
    connection: Connection, analysis: str, *, state: str | None = "open", run: str | None = None, limit: int = 100
) -> list[Alert]:
    """Alerts of an analysis, the newest first."""
    query = select(tables.alert).where(tables.alert.c.analysis == check_slug(analysis))
    if state is not None:
        query = query.where(tables.alert.c.state == state)
    if run is not None:
        query = query.where(tables.alert.c.run == run)
    rows = connection.execute(query.order_by(tables.alert.c.at.desc(), tables.alert.c.id.desc()).limit(limit))
    return [Alert(**{**row._mapping, "message": decode(row.message)}) for row in rows]


def close_alert(connection: Connection, alert_id: str, *, by: str, note: str) -> None:
    """Somebody looked at an alert, and says what it was."""
    closed = tables.alert.update().where(tables.alert.c.id == alert_id, tables.alert.c.state == "open")
    values = {"state": "closed", "closed_by": printable(by, 100), "closed_at": now(), "note": printable(note, 2000)}
    if connection.execute(closed.values(**values)).rowcount != 1:
        raise StoreError(f"The store has no open alert '{printable(alert_id)}'; see: isonomia runs watch ANALYSIS.")
    add_log(connection, "close alert", f"alert:{alert_id}", {"note": values["note"]})


def insert_alert(connection: Connection, watch: Watch, run: str, at: datetime, **facts: Any) -> None:
    """Add an alert of a watch about a run."""
    row = {"id": new_id(), "analysis": watch.analysis, "watch": watch.id, "run": run, "at": at, "state": "open"}
    connection.execute(tables.alert.insert().values(**row, **facts))
