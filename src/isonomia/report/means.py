"""What a regression gives to whom: mean predictions of groups in the unit of the target, with the true means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.evidence.column import plain
from isonomia.languages import Message, People, msg
from isonomia.report.document import Document

#: Of more groups than this the lowest and the highest are said.
GROUPS = 3


def means_sentence(document: Document) -> Message | None:
    """The mean prediction of each group, lowest first, and beside it what is true; None where there are none.

    The groups are those of the verdict's worst criterion, else those of the first protected attribute; small groups
    are left to the tables.
    """
    table = document.table("group_fairness/by_group")
    if table is None or not {"group", "mean_prediction"} <= set(table.names):
        return None
    decisive = None if document.verdict is None else document.verdict.decisive
    means = table["mean_prediction"].values
    true = table["mean_label"].values if "mean_label" in table else [None] * len(table)
    small = table["small"].values if "small" in table else [False] * len(table)
    rows = [
        (float(mean), dict(key), plain(true[row]))
        for row, key in enumerate(table["group"].keys or ())
        if (mean := plain(means[row])) is not None and not small[row]
    ]
    ways = [tuple(who) for _, who, _ in rows]
    chosen = decisive.by if decisive is not None and decisive.by in ways else next(iter(ways), ())
    same = sorted((row for row in rows if tuple(row[1]) == chosen), key=lambda row: row[0])
    if len(same) < 2:
        return None
    lowest, *others = same if len(same) <= GROUPS else [same[0], same[-1]]
    sentence = _first(*lowest)
    for other in others:
        sentence = Message("{means}, {other}", {"means": sentence, "other": _other(*other)})
    return document.words.spoken(Message("{means}.", {"means": sentence}))


def _first(mean: float, who: Mapping[str, str], true: Any) -> Message:
    if true is None:
        return msg("{who:first} are predicted {mean:num} on average", who=People.of(who), mean=mean)
    facts = {"who": People.of(who), "mean": mean, "true": true}
    return msg("{who:first} are predicted {mean:num} on average (true: {true:num})", **facts)


def _other(mean: float, who: Mapping[str, str], true: Any) -> Message:
    facts = {"who": People.of(who), "mean": mean, "true": true}
    return Message("{who} {mean:num}" if true is None else "{who} {mean:num} ({true:num})", facts)
