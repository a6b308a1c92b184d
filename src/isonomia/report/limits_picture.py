"""The picture under the verdict: the groups as dots with their intervals against the limit, as the verdict has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from isonomia.evidence import Column, Drawing, Finding, Picture, Table
from isonomia.evidence.column import Format, plain
from isonomia.languages import Language, Message, msg
from isonomia.languages.message import write_interval, write_number
from isonomia.languages.people import column_names
from isonomia.metrics import METRICS
from isonomia.report import words
from isonomia.report.document import Criterion, Document
from isonomia.report.figures import describe, static
from isonomia.report.figures.svg.drawing import NARROW, WIDE
from isonomia.report.overview import View
from isonomia.report.proofs import counted
from isonomia.report.texts import sentence, tame

#: Groups that the picture has room for: the worst, and the one they are compared with.
GROUPS = 6
#: Without a policy the picture is of the first entry that compares groups, among so many.
ENTRIES = 3


def limits_drawing(document: Document) -> Drawing | None:
    """Every group against the limit of the verdict; without one, of the first entry that compares groups."""
    if document.verdict is not None:
        criterion = document.verdict.decisive
        return None if criterion is None else _of_criterion(document, criterion)
    entries = (fold.first for fold in document.folds[:ENTRIES])
    return next((drawn for one in entries if (drawn := _of_finding(document, one)) is not None), None)


def limits_view(document: Document, language: Language) -> View | None:
    """The picture for a page, for a phone, and in words; None where no groups were compared."""
    drawing = limits_drawing(document)
    return None if drawing is None else _view(drawing, language)


def finding_view(document: Document, finding: Finding, language: Language) -> View | None:
    """The same of the comparisons beside a finding's own; None where it compares no groups."""
    drawing = _of_finding(document, finding)
    return None if drawing is None else _view(drawing, language)


def _view(drawing: Drawing, language: Language) -> View:
    picture, total = drawing.picture, len(drawing.table)
    table = drawing.table.take(list(range(total)) if total <= GROUPS else [*range(GROUPS - 1), total - 1])
    described = describe(picture, table, language)
    drawn = (static(picture.kind, described, width, alone=False) for width in (WIDE, NARROW))
    more = msg("{n:One more group is|# more groups are} in the annex.", n=total - len(table))
    return {
        "title": sentence(picture.title, language),
        "said": _said(Drawing(picture, table), language),
        "drawing": Markup("".join(drawn)),  # texts from data are escaped in it
        "more": more.text(language) if len(table) < total else "",
    }


def _said(drawing: Drawing, language: Language) -> str:
    """What a reader hears who cannot see the picture: each group's figure and interval, and the limit."""
    table, figures = drawing.table, drawing.table["figure"]
    style = ".2f" if figures.format == "num" else str(figures.format)
    said = []
    for row in range(len(table)):
        one = figures.estimate(row)
        shown = f"{write_number(one.value, style, language)} {write_interval(one.low, one.high, style, language)}"
        said.append(f"{tame(table['group'].text(row, language))}: {shown}".rstrip())
    label = sentence(drawing.picture.options.get("reference_label"), language)
    return "; ".join([*said, *filter(None, [label])])


def _of_criterion(document: Document, criterion: Criterion) -> Drawing | None:
    groups, limit = criterion.groups, criterion.threshold
    if limit is None or not groups:
        return None
    style = words.style_of(criterion)
    form: Format = "points" if style == "points" else "num"
    table = Table(
        (
            Column("group", [document.words.shared(one.who) for one in groups]),
            Column("figure", format=form).filled([one.figure for one in groups]),
            Column("value", [one.value for one in groups], format=METRICS[criterion.metric].format),
            Column("n", [one.figure.n for one in groups], format="int"),
        )
    )
    title = msg(
        "{what:first} by {by}, compared with {reference}",
        what=criterion.name,
        by=column_names(criterion.by),
        reference=document.words.shared(criterion.reference),
    )
    label = msg("limit {limit}", limit=words.amount(limit, style))
    return _drawing(document, title, criterion.measure, criterion.metric, table, limit, label)


def _drawing(
    document: Document, title: Message, measure: str, metric: str, table: Table, limit: float, label: Message
) -> Drawing:
    options: Mapping[str, Any] = {
        "labels": "group",
        "value": "figure",
        "beside": ["value", "n"],
        "x_title": msg(
            "{measure}; at the right: {metric:inner} · people",
            measure=msg("ratio") if measure == "ratio" else msg("difference"),
            metric=METRICS[metric].title,
        ),
        "reference": limit,
        "reference_label": label,
    }
    return Drawing(Picture("forest", "groups", document.words.spoken(title), options), table)


def _of_finding(document: Document, finding: Finding) -> Drawing | None:
    """The comparisons with the same reference as the finding's, from the table that shows it."""
    table = document.table(finding.evidence)
    if table is None or not {"metric", "group", "reference", "difference"} <= set(table.names):
        return None
    code = finding.code.partition(".")[2]
    groups, references, codes = table["group"], table["reference"], table["metric"].values
    who = tuple(finding.who.items())
    own = next((row for row, key in enumerate(groups.keys or ()) if key == who and codes[row] == code), None)
    if own is None or groups.keys is None or finding.threshold is None or finding.metric not in METRICS:
        return None
    same = [
        row
        for row, key in enumerate(groups.keys)
        if codes[row] == code
        and references.values[row] == references.values[own]
        and [name for name, _ in key] == [name for name, _ in who]
    ]
    sign = -1 if (finding.estimate.value or 0.0) < 0 else 1
    differences = table["difference"]
    same.sort(key=lambda row: -sign * (plain(differences.values[row]) or 0.0))
    rates = _rates(document, finding, code)
    kept = table.take(same)
    keys = kept["group"].keys or ()
    columns = (
        Column("group", [document.words.shared(dict(key)) for key in keys]),
        replace(kept["difference"], name="figure", reason=None),
        Column("value", [rates.get(key, (None, None))[0] for key in keys], format=METRICS[finding.metric].format),
        Column("n", [rates.get(key, (None, None))[1] for key in keys], format="int"),
    )
    title = msg(
        "{what:first} by {by}, compared with {reference}",
        what=METRICS[finding.metric].title,
        by=column_names(finding.who),
        reference=document.words.shared(finding.reference),
    )
    limit = sign * finding.threshold
    label = msg("usual limit {limit}", limit=words.amount(limit, finding.format))
    return _drawing(document, title, "difference", finding.metric, Table(columns), limit, label)


def _rates(document: Document, finding: Finding, code: str) -> dict[Any, tuple[Any, Any]]:
    """The value of each group and how many people it is of, from the table of groups beside the evidence."""
    table = document.table(f"{finding.check}/by_group")
    if table is None or code not in table or "group" not in table or "n" not in table:
        return {}
    values, sizes = table[code].values, table["n"].values
    found = {}
    for row, key in enumerate(table["group"].keys or ()):
        share = counted(table, row, code)
        found[key] = (plain(values[row]), plain(sizes[row]) if share is None else share[1])
    return found
