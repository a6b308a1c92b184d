"""From the files as published to our tables: the same rows, one header, commas, UTF-8.

A recipe takes the bytes of the original files and returns the bytes of a CSV; whether they are the right ones is
decided by their digest, not here.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Callable, Iterable, Sequence

from isonomia.errors import DataError

Recipe = Callable[[Sequence[bytes]], bytes]
RECIPES: dict[str, Recipe] = {}

_ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)
_GERMAN = (
    "checking_status,duration,credit_history,purpose,credit_amount,savings_status,employment,installment_rate,"
    "personal_status_sex,other_debtors,residence_since,property,age,other_installment_plans,housing,existing_credits,"
    "job,num_dependents,telephone,foreign_worker,credit_risk,sex"
)
#: Columns of the original COMPAS file that name a person or a case.
PERSONAL = ("name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number")


def _recipe(function: Recipe) -> Recipe:
    RECIPES[function.__name__.removeprefix("_")] = function
    return function


@_recipe
def _as_is(parts: Sequence[bytes]) -> bytes:
    """One CSV that is ours already, but for its line ends."""
    return parts[0].replace(b"\r\n", b"\n")


@_recipe
def _semicolons(parts: Sequence[bytes]) -> bytes:
    return _written(_rows(parts[0], ";"))


@_recipe
def _adult_uci(parts: Sequence[bytes]) -> bytes:
    """adult.data and adult.test: no header, blanks after commas, a remark on top and dots in the second."""
    rows = [_ADULT.split(",")]
    for part in parts:
        rows += [
            [*(value.strip() for value in row[:-1]), row[-1].strip().rstrip(".")]
            for row in _rows(part)
            if len(row) == len(rows[0])
        ]
    return _written(rows)


@_recipe
def _adult_parts(parts: Sequence[bytes]) -> bytes:
    return _written([_ADULT.split(","), *(row for part in parts for row in _rows(part)[1:])])


@_recipe
def _german_uci(parts: Sequence[bytes]) -> bytes:
    """german.data: no header, blanks between; sex is read off the personal status."""
    sexes = {"A91": "male", "A93": "male", "A94": "male", "A92": "female", "A95": "female"}
    rows = [line.split() for line in _text(parts[0]).splitlines() if line.strip()]
    return _written([_GERMAN.split(","), *([*row, sexes[row[8]]] for row in rows)])


@_recipe
def _compas_original(parts: Sequence[bytes]) -> bytes:
    """Without the columns that name people."""
    rows = _rows(parts[0])
    kept = [index for index, name in enumerate(rows[0]) if name not in PERSONAL]
    return _written([row[index] for index in kept] for row in rows)


@_recipe
def _bank_parts(parts: Sequence[bytes]) -> bytes:
    """Two parts of a shuffled table; the first column is the row's number in the original."""
    tables = [_rows(gzip.decompress(part)) for part in parts]
    header = [*tables[0][0][1:-1], "y"]
    rows = sorted((row for table in tables for row in table[1:]), key=lambda row: int(row[0]))
    return _written([header, *(row[1:] for row in rows)])


@_recipe
def _default_survey(parts: Sequence[bytes]) -> bytes:
    """The survey's copy: row numbers left out, target's name shortened."""
    header, *rows = _rows(parts[0])
    numbered = ([str(number), *row] for number, row in enumerate(rows, 1))
    return _written([["ID", *header[:-1], "default payment next month"], *numbered])


@_recipe
def _default_one_hot(parts: Sequence[bytes]) -> bytes:
    """Education and marriage one column per code, sex 0 male and 1 female, amounts with a decimal point."""
    header, *rows = _rows(parts[0])
    positions = {name: index for index, name in enumerate(header)}
    plain = [name for name in header if not name.startswith(("EDUCATION_", "MARRIAGE_", "default"))]
    order = [*plain[: plain.index("AGE")], "EDUCATION", "MARRIAGE", *plain[plain.index("AGE") :]]

    def value(row: list[str], name: str) -> str:
        if name in ("EDUCATION", "MARRIAGE"):
            return _one_hot_value(row, positions, f"{name}_")
        text = row[positions[name]].removesuffix(".0")
        return {"0": "1", "1": "2"}[text] if name == "SEX" else text

    table = ([*(value(row, name) for name in order), row[positions["default-payment-next-month"]]] for row in rows)
    return _written([[*order, "default payment next month"], *table])


@_recipe
def _law_gpa_one_hot(parts: Sequence[bytes]) -> bytes:
    """Race, sex, and pass or fail, one column per value."""
    with zipfile.ZipFile(io.BytesIO(parts[0])) as archive:
        header, *rows = _rows(archive.read("law.csv"))
    positions = {name: index for index, name in enumerate(header)}
    table = (
        [
            _one_hot_value(row, positions, "Race_"),
            _one_hot_value(row, positions, "Sex_"),
            *(row[positions[name]] for name in ("LSAT", "UGPA", "ZFYA")),
            _one_hot_value(row, positions, "PF_"),
        ]
        for row in rows
    )
    return _written([["race", "sex", "LSAT", "UGPA", "ZFYA", "first_pf"], *table])


@_recipe
def _ricci_class(parts: Sequence[bytes]) -> bytes:
    return _written(row[:5] for row in _rows(parts[0]))


def _one_hot_value(row: Sequence[str], positions: dict[str, int], prefix: str) -> str:
    """The value behind columns of which exactly one is 1."""
    on = [
        name.removeprefix(prefix) for name, index in positions.items() if name.startswith(prefix) and row[index] == "1"
    ]
    if len(on) != 1:
        raise DataError(f"Exactly one of the columns '{prefix}...' must be 1 in a row; found {on}.")
    return on[0]


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the file is not written in UTF-8") from None


def _rows(raw: bytes, delimiter: str = ",") -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(_text(raw), newline=""), delimiter=delimiter) if row]


def _written(rows: Iterable[Sequence[str]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()
