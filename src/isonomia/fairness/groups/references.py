"""Disparate impact against every choice of reference: whom a group is compared with decides what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isonomia.data import backend_of
from isonomia.evidence import Format, Table
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
_NUMBERS = ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high")


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
    keys = ("metric", "group", "reference", *_NUMBERS, "note")
    table: dict[str, list[Any]] = {"against": [], **{key: [] for key in keys}}
    for name, choice in choices.items():
        found = measure_groups(outcome, columns, metrics=[metric], reference=choice, **options)
        for row in found.tables["comparisons"].rows():
            table["against"].append(_TITLES[name])
            for key in keys:
                table[key].append(row[key])
    formats: dict[str, Format] = dict.fromkeys(_NUMBERS, "num")
    titles = {
        "against": msg("against"),
        "metric": msg("metric"),
        "group": msg("group"),
        "reference": msg("reference"),
        "difference": msg("difference"),
        "difference_low": msg("from"),
        "difference_high": msg("to"),
        "ratio": msg("ratio"),
        "ratio_low": msg("from"),
        "ratio_high": msg("to"),
        "note": msg("note"),
    }
    return Table.of(
        table, formats, titles, msg("Groups against every choice of reference"), options.get("backend") or backend_of()
    )
