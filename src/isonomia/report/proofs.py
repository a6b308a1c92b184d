"""What a finding rests on: the row of its table, the counts behind its two rates, and the arithmetic between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from isonomia.evidence import Finding, Table
from isonomia.evidence.column import plain
from isonomia.fairness.criteria.named import CRITERIA
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.report.document import Document

#: Of rates the people they are a share of, from a group's rows, its selection rate and its base rate.
_OF: Mapping[str, Callable[[float, float, float], float]] = {
    "selection_rate": lambda n, selected, positive: n,
    "accuracy": lambda n, selected, positive: n,
    "tpr": lambda n, selected, positive: n * positive,
    "fpr": lambda n, selected, positive: n * (1 - positive),
    "ppv": lambda n, selected, positive: n * selected,
    "npv": lambda n, selected, positive: n * (1 - selected),
}


@dataclass(frozen=True)
class Proof:
    """What stands beside the table that shows a finding.

    Attributes
    ----------
    number : int
        Of the finding.
    finding : Finding
    row : int
        Of the table.
    counts, formula : Message, optional
        The people behind both rates, and what was computed from the rates.
    """

    number: int
    finding: Finding
    row: int
    counts: Message | None = None
    formula: Message | None = None


def proof_of(document: Document, finding: Finding, number: int) -> Proof | None:
    """What a finding rests on; None where no row of its table is about it alone."""
    table = document.table(finding.evidence)
    row = None if table is None else _row(table, finding)
    if row is None:
        return None
    counts, formula = _arithmetic(document, finding)
    return Proof(number, finding, row, counts, formula)


def _row(table: Table, finding: Finding) -> int | None:
    """The row of the finding's test; without one the only row with its figure and interval."""
    if finding.test is not None and "p_value" in table:
        tested = [row for row, key in enumerate(table["p_value"].keys or ()) if key == finding.test]
        if tested:
            return tested[0]
    own = finding.estimate.value, finding.estimate.low, finding.estimate.high
    rows = {
        row
        for column in table.columns
        if column.low is not None and column.high is not None
        for row in range(len(table))
        if (plain(column.values[row]), plain(column.low[row]), plain(column.high[row])) == own
    }
    return rows.pop() if len(rows) == 1 and own[1] is not None else None


def _arithmetic(document: Document, finding: Finding) -> tuple[Message | None, Message | None]:
    """The counts behind the rates of both groups, and what was computed from them."""
    code = finding.code.partition(".")[2]
    criterion = CRITERIA.get(code)
    required = None if criterion is None else criterion.formula
    if criterion is not None:
        code = next(iter(criterion.metrics), code)
    table = document.table("group_fairness/by_group")
    if table is None or code not in table or not finding.reference:
        return None, required
    keys = list(table["group"].keys or ())
    pair = [tuple(finding.who.items()), tuple(finding.reference.items())]
    if not all(key in keys for key in pair):
        return None, required
    rows = [keys.index(key) for key in pair]
    one, other = (plain(table[code].values[row]) for row in rows)
    if one is None or other is None or code not in METRICS or METRICS[code].format != "pct":
        return None, required
    facts = {"one": one, "other": other, "gap": one - other}
    formula = msg("Difference: {one:pct} - {other:pct} = {gap:points} points.", **facts)
    if other:
        ratio = msg("Ratio: {one:pct} / {other:pct} = {ratio:.2f}.", one=one, other=other, ratio=one / other)
        formula = Message("{difference} {ratio}", {"difference": formula, "ratio": ratio})
    if required is not None:
        formula = Message("{required}. {formula}", {"required": required, "formula": formula})
    shares = [counted(table, row, code) for row in rows]
    if None in shares or "weight" in document.subject:
        return None, formula
    hits, of = zip(*filter(None, shares), strict=True)
    counts = msg(
        "{who}: {hits:int} of {n:int} ({one:pct}); {reference}: {other_hits:int} of {other_n:int} ({other:pct}).",
        who=document.words.shared(finding.who),
        reference=document.words.shared(finding.reference),
        hits=hits[0],
        n=of[0],
        other_hits=hits[1],
        other_n=of[1],
        one=one,
        other=other,
    )
    return counts, formula


def counted(table: Table, row: int, code: str) -> tuple[int, int] | None:
    """How many of how many people a rate is; None where it is not a share of whole people."""
    names = ("n", "selection_rate", "base_rate")
    known = [plain(table[name].values[row]) if name in table else None for name in names]
    rate = plain(table[code].values[row])
    needed = 1 if code in ("selection_rate", "accuracy") else 3
    if code not in _OF or rate is None or None in known[:needed]:
        return None
    n, selected, positive = (float(value or 0.0) for value in known)
    of = _OF[code](n, selected, positive)
    whole = all(abs(value - round(value)) < 1e-6 * max(1.0, n) for value in (of, rate * of))
    return (round(rate * of), round(of)) if whole else None
