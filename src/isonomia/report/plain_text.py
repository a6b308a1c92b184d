"""A result as plain text: what `print` shows of it, in a terminal of any kind, without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from isonomia.evidence import Result, Table
from isonomia.languages import check_language, msg
from isonomia.report import words
from isonomia.report.naming import in_file_words
from isonomia.report.parts import tabulated
from isonomia.report.tables import Cell, cells, shown_columns
from isonomia.report.texts import headline, sentence, tame

#: Characters of a line of a table, rows of the table, characters of a cell; sentences of each kind.
WIDTH, ROWS, CELL, SENTENCES = 100, 12, 32, 8


def to_text(result: Result, language: str = "en") -> str:
    """What a result says, its headline figures, its findings and its first table, within 100 characters a line.

    Examples
    --------
    >>> from isonomia.evidence import Column
    >>> rate = Column("rate", [0.25, 0.5], [0.2, 0.4], [0.3, 0.6], format="pct")
    >>> print(to_text(Result("rates", msg("Rates"), {"by_group": Table((Column("sex", ["F", "M"]), rate))})))
    Rates
    <BLANKLINE>
    sex                  rate
    F    25.0% [20.0%, 30.0%]
    M    50.0% [40.0%, 60.0%]
    """
    language = check_language(language)
    shown = in_file_words(result)
    head = [line for one in (shown.title, *shown.lead) for line in _wrapped(sentence(one, language))]
    parts = [head, _figures(shown, language), _findings(shown, language), *_tables(shown, language)]
    if not shown.tables:
        parts.append([line for note in shown.notes[:SENTENCES] for line in _wrapped(sentence(note, language))])
    return "\n\n".join("\n".join(part) for part in parts if part)


def _figures(result: Result, language: str) -> list[str]:
    """The headline figures, where no table has them."""
    if tabulated(result):
        return []
    lines = [f"{tame(result.heading(name, language))}: {headline(result, name, language)}" for name in result.values]
    return _first(lines, msg("{n:one more figure|# more figures}", n=len(lines) - SENTENCES).text(language))


def _findings(result: Result, language: str) -> list[str]:
    lines = [
        f"{words.SEVERITY[one.severity].text(language)}: {sentence(one.message, language)}" for one in result.findings
    ]
    return _first(lines, msg("{n:one more finding|# more findings}", n=len(lines) - SENTENCES).text(language))


def _first(lines: Sequence[str], more: str) -> list[str]:
    shown = [part for line in lines[:SENTENCES] for part in _wrapped(line)]
    return [*shown, *([f"... {more}"] if len(lines) > SENTENCES else [])]


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent="  ")


def _tables(result: Result, language: str) -> Iterable[list[str]]:
    """The first table that has rows, and the names of all the others."""
    first = next((name for name, table in result.tables.items() if len(table)), None)
    if first is not None:
        table = result.tables[first]
        title = [] if table.title is None else [sentence(table.title, language)]
        yield [*title, *table_text(table, language)]
    others = [
        msg("{name} ({n:one row|# rows})", name=name, n=len(table)).text(language)
        for name, table in result.tables.items()
        if name != first
    ]
    if others:
        yield _wrapped(msg("Other tables: {names}", names=", ".join(others)).text(language))


def table_text(table: Table, language: str, *, width: int = WIDTH, rows: int = ROWS) -> list[str]:
    """The first rows of a table in aligned columns, as many as fit; a line says what is not shown."""
    lines = list(cells(table, language, rows))
    heads = [tame(column.heading(language), CELL, middle=True) for column in shown_columns(table)]
    columns = [_Text(head, [line[index] for line in lines]) for index, head in enumerate(heads)]
    if not columns:
        return []
    kept = _fitting(columns, width)
    written = ["  ".join(line).rstrip() for line in zip(*(columns[index].lines() for index in kept), strict=True)]
    return [*written, *_left_out(len(table) - rows, len(columns) - len(kept), language)]


class _Text:
    """A column of a table as texts."""

    def __init__(self, head: str, given: Sequence[Cell]) -> None:
        self.texts = [head, *map(_written, given)]
        self.number = any(cell.number for cell in given)
        self.interval = any(cell.interval for cell in given)
        self.empty = not any(self.texts[1:])
        self.size = max(map(_length, self.texts))

    def lines(self) -> list[str]:
        """The texts, all of one length: numbers to the right."""
        gaps = [" " * (self.size - _length(text)) for text in self.texts]
        return [gap + text if self.number else text + gap for text, gap in zip(self.texts, gaps, strict=True)]


def _fitting(columns: Sequence[_Text], width: int) -> list[int]:
    """Which columns are shown: all that fit in their order; else names and figures with intervals first."""
    order = list(range(len(columns)))
    if sum(column.size + 2 for column in columns) - 2 > width:
        names = [index for index in order if not columns[index].number][:2]
        order.sort(key=lambda index: (columns[index].empty, index not in names, not columns[index].interval))
    kept = [order[0]]
    for index in order[1:]:
        if sum(columns[one].size + 2 for one in kept) + columns[index].size > width:
            break
        kept.append(index)
    return sorted(kept)


def _left_out(rows: int, columns: int, language: str) -> list[str]:
    parts = []
    if rows > 0:
        parts.append(msg("{n:one more row|# more rows}", n=rows).text(language))
    if columns:
        parts.append(msg("{n:one more column|# more columns}", n=columns).text(language))
    return [f"... {'; '.join(parts)}"] if parts else []


def _written(cell: Cell) -> str:
    """A cell with its interval; a long text is cut in the middle, a figure never is."""
    if cell.number:
        return f"{cell.text} {cell.interval}".strip()
    return tame(cell.text, CELL, middle=True)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
