"""Disparate impact against every choice of reference: whom a group is compared with decides what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from isonomia.data import backend_of
from isonomia.evidence import Column, Table
from isonomia.fairness.groups.group_metrics import measure_groups
from isonomia.languages import Message, msg
from isonomia.subject import Outcome

#: The rules that choose a reference by themselves.
RULES = ("largest", "best", "overall")
_TITLES: dict[str, Message] = {
    "largest": msg("the largest group"),
    "best": msg("the best-off group"),
    "overall": msg("everyone"),
    "privileged": msg("the privileged group"),
}


def against_references(
    outcome: Outcome,
    columns: Sequence[Any],
    *,
    metric: str = "selection_rate",
    privileged: Any = None,
    **options: Any,
) -> Table:
    """A metric of each group against the largest group, the best-off group, everyone, and the privileged group.

    Parameters
    ----------
    outcome, columns
        As for `measure_groups`, whose other options apply too.
    metric : str
        A metric id; the selection rate gives disparate impact.
    privileged : optional
        A value, or a mapping from attribute to value(s); left out, there is no row for it.

    Returns
    -------
    Table
        ``metric, group, against, reference, difference (_low, _high), ratio (_low, _high), p_value``; a row for each
        group and choice. A group that is its own reference is left out.
    """
    options.pop("reference", None)
    choices: dict[str, Any] = {rule: rule for rule in RULES}
    if privileged is not None:
        choices["privileged"] = privileged
    parts = []
    for name, choice in choices.items():
        found = measure_groups(outcome, columns, metrics=[metric], reference=choice, **options).tables["comparisons"]
        against = Column("against", [_TITLES[name]] * len(found), title=msg("against"))
        figures = (replace(found[figure], format="num") for figure in ("difference", "ratio"))
        parts.append(
            replace(found, columns=(against, *found.select(("metric", "group", "reference")).columns, *figures))
        )
    title, backend = msg("Groups against every choice of reference"), options.get("backend") or backend_of()
    return replace(Table.stack(parts), title=title, backend=backend)
