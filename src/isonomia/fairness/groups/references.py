"""Disparate impact against every choice of reference: whom a group is compared with decides what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from isonomia.evidence import Column, Table
from isonomia.fairness.groups.group_metrics import group_metrics
from isonomia.fairness.groups.grouping import By
from isonomia.languages import Message, msg
from isonomia.subject import BestOff, Subject, SubjectOptions

#: The rules that choose a reference by themselves.
RULES = ("largest", "best", "overall")
_TITLES: dict[str, Message] = {
    "largest": msg("the largest group"),
    "best": msg("the best-off group"),
    "overall": msg("everyone"),
    "privileged": msg("the privileged group"),
}


def against_references(
    data: Any = None,
    model: Any = None,
    *,
    metric: str = "selection_rate",
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[SubjectOptions],
) -> Table:
    """A metric of each group against the largest group, the best-off group, everyone, and the privileged group.

    Parameters
    ----------
    data, model, by, **given
        As in `group_metrics`; a column given by itself holds the predictions. Privileged groups (`privileged`, or those
        of a `Dataset`) are one of the choices.
    metric : str
        A metric id; the selection rate gives disparate impact.

    Returns
    -------
    Table
        ``metric, group, against, reference, difference (_low, _high), ratio (_low, _high), p_value``; a row for each
        group and choice. A group that is its own reference is left out.
    """
    subject = Subject.of_predictions(data, model, counted=True, **given)
    choices: dict[str, Any] = {rule: rule for rule in RULES}
    named: Any = subject.settings.reference
    if not isinstance(named, BestOff) and named not in RULES:
        choices["privileged"] = named
    parts = []
    for name, choice in choices.items():
        found = group_metrics(subject, metrics=[metric], by=by, reference=choice).tables["comparisons"]
        against = Column("against", [_TITLES[name]] * len(found), title=msg("against"))
        figures = (replace(found[figure], format="num") for figure in ("difference", "ratio"))
        parts.append(
            replace(found, columns=(against, *found.select(("metric", "group", "reference")).columns, *figures))
        )
    title = msg("Groups compared with each choice of reference")
    return replace(Table.stack(parts), title=title, backend=subject.backend)
