"""How the values of a column of text are written, and which type and decimal mark follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag, auto
from pathlib import Path
from typing import Literal

from isonomia.data._duckdb import quoted
from isonomia.data.frames import Backend
from isonomia.errors import DataError

Decimal = Literal[".", ","]
#: Missing in a column whose other values are all numbers; ordinary texts elsewhere.
NUMBER_GAPS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None")


class Form(IntFlag):
    """How a value is written; a column has all the forms of its values."""

    MISSING = auto()
    INTEGER = auto()  # 1234
    GROUPED = auto()  # 1.234: thousands where the decimal mark is a comma
    THOUSANDS = auto()  # 1.234.567: thousands for certain
    COMMA = auto()  # 1234,5 or 1.234,5
    DECIMAL = auto()  # 1234.5
    BOOLEAN = auto()
    DATE = auto()
    DATETIME = auto()
    GAP = auto()
    TEXT = auto()


#: Forms of numbers by the decimal mark of the file.
NUMBERS: Mapping[Decimal, Form] = {
    ".": Form.INTEGER | Form.GROUPED | Form.DECIMAL,
    ",": Form.INTEGER | Form.GROUPED | Form.THOUSANDS | Form.COMMA,
}
_EXPONENT = r"([eE][+-]?[0-9]{1,3})?"
_PATTERNS = {
    Form.INTEGER: r"^\s*[+-]?(0|[1-9][0-9]{0,17})\s*$",
    Form.TEXT: r"^\s*[+-]?[0-9]{19,}\s*$",
    Form.GROUPED: r"^\s*[+-]?[1-9][0-9]{0,2}\.[0-9]{3}\s*$",
    Form.THOUSANDS: r"^\s*[+-]?[1-9][0-9]{0,2}(\.[0-9]{3}){2,5}\s*$",
    Form.COMMA: rf"^\s*[+-]?((0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(\.[0-9]{{3}})+),[0-9]*|,[0-9]+){_EXPONENT}\s*$",
    Form.DECIMAL: rf"^\s*[+-]?(((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+){_EXPONENT}|inf|Inf|INF|Infinity)\s*$",
    Form.BOOLEAN: r"^\s*(true|false|True|False|TRUE|FALSE)\s*$",
    Form.DATE: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    Form.DATETIME: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?$",
}


def form_test(column: str) -> str:
    """An SQL expression for the forms of a column's values."""
    cases = [f"WHEN {column} IS NULL THEN {Form.MISSING}"]
    for bit, pattern in _PATTERNS.items():
        test = f"regexp_matches({column}, {quoted(pattern)})"
        if bit in (Form.DATE, Form.DATETIME):
            test += f" AND TRY_CAST({column} AS {'DATE' if bit == Form.DATE else 'TIMESTAMP'}) IS NOT NULL"
        cases.append(f"WHEN {test} THEN {bit}")
    gaps = ", ".join(map(quoted, NUMBER_GAPS))
    cases.append(f"WHEN trim({column}) IN ({gaps}) THEN {Form.GAP}")
    return f"bit_or(CASE {' '.join(cases)} ELSE {Form.TEXT} END)"


def decimal_mark(forms: Mapping[str, int], delimiter: str, source_path: Path) -> Decimal:
    """The decimal mark of a file, from the forms of its columns by name.

    A comma is looked for only where commas do not stand between the values. Columns that contain texts say nothing.
    """
    if delimiter == ",":
        return "."
    plain = {name: bits & ~(Form.MISSING | Form.GAP) for name, bits in forms.items()}
    commas = _columns(plain, Form.COMMA | Form.THOUSANDS, among=NUMBERS[","])
    points = _columns(plain, Form.DECIMAL, among=NUMBERS["."])
    if commas and points:
        raise DataError(
            f"'{source_path}' writes numbers with a decimal comma ('{commas[0]}') and with a point ('{points[0]}'). "
            "Pass decimal=',' or decimal='.'; columns written with the other one are then read as texts."
        )
    grouped = _columns(plain, Form.GROUPED, among=Form.INTEGER | Form.GROUPED)
    if delimiter == ";" and grouped and not commas and not points:
        raise DataError(
            f"Numbers such as 1.234 in the column '{grouped[0]}' of '{source_path}' can mean thousands or decimals. "
            "Pass decimal=',' if points group thousands, decimal='.' if they begin the decimals."
        )
    return "," if commas else "."


def _columns(forms: Mapping[str, int], needed: Form, *, among: Form) -> Sequence[str]:
    """The columns with one of the needed forms and with no other than those among which it stands."""
    return [name for name, bits in forms.items() if bits & needed and not bits & ~among]


def cast(column: str, bits: int, decimal: Decimal, backend: Backend) -> str:
    """An SQL expression for the values of a column in the type that fits all of them."""
    kinds = bits & ~(Form.MISSING | Form.GAP)
    if not bits & ~Form.MISSING:
        return "NULL::DOUBLE"
    if kinds and not kinds & ~NUMBERS[decimal]:
        return _number(column, bits, decimal, backend)
    if not bits & Form.GAP:
        if kinds == Form.BOOLEAN:
            return f"CAST(trim({column}) AS BOOLEAN)"
        if kinds == Form.DATE:
            return f"CAST({column} AS DATE)"
        if not kinds & ~(Form.DATE | Form.DATETIME):
            return f"CAST({column} AS TIMESTAMP)"
    return column


def _number(column: str, bits: int, decimal: Decimal, backend: Backend) -> str:
    gaps = bits & (Form.MISSING | Form.GAP)
    fractions = Form.COMMA if decimal == "," else Form.GROUPED | Form.DECIMAL
    # A whole number cannot be missing in a plain pandas column: such columns are floats there.
    whole = not bits & fractions and not (gaps and backend == "pandas")
    value = f"replace(replace({column}, '.', ''), ',', '.')" if decimal == "," else column
    if bits & Form.GAP:
        listed = ", ".join(map(quoted, NUMBER_GAPS))
        value = f"CASE WHEN trim({column}) IN ({listed}) THEN NULL ELSE {value} END"
    return f"CAST({value} AS {'BIGINT' if whole else 'DOUBLE'})"
