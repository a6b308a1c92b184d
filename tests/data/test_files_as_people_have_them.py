"""Files of offices: Windows-1252, decimal commas, thousands points, Excel workbooks."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.data import propose_bands
from isonomia.data.formats import excel

TEXT = "proposta;região;renda;decisão\n1;São Paulo;1234,5;sim\n2;Ceará;10;não\n3;Maranhão;0,75;sim\n"


def notes(data: iso.Dataset) -> str:
    return " ".join(map(str, data.notes))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_encoding_and_decimal_comma_are_found_and_stated(tmp_path: Path, encoding: str, backend: Any) -> None:
    (tmp_path / "export.csv").write_bytes(TEXT.encode(encoding))
    data = iso.read(tmp_path / "export.csv", backend=backend)
    assert data.columns == ("proposta", "região", "renda", "decisão")
    assert data.column("região").to_list() == ["São Paulo", "Ceará", "Maranhão"]
    assert data.column("renda").to_list() == [1234.5, 10.0, 0.75]
    assert ("Windows-1252" in notes(data)) == (not encoding.startswith("utf"))
    assert "have a decimal comma" in notes(data)
    kept = data.with_roles(target="decisão", positive="sim").take([0, 1])
    assert "decimal comma" in notes(kept), "what was found while reading stays with the rows"


def test_what_the_user_gives_is_not_stated(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_bytes(TEXT.encode("latin-1"))
    data = iso.read(tmp_path / "export.csv", encoding="latin-1", decimal=",", delimiter=";")
    assert data.column("renda").to_list() == [1234.5, 10.0, 0.75]
    assert data.notes == ()
    texts = iso.read(tmp_path / "export.csv", decimal=".")
    assert texts.kinds["renda"] == "category", "with a decimal point these are not numbers"


def test_one_late_letter_decides(tmp_path: Path) -> None:
    (tmp_path / "late.csv").write_bytes(b"a,b\n" + b"1,x\n" * 300_000 + b"1,caf\xe9\n")
    data = iso.read(tmp_path / "late.csv")
    assert data.column("b").to_list()[-1] == "café"
    assert "Windows-1252" in notes(data)


@pytest.mark.parametrize(
    ("written", "value"),
    [("1.234,56", 1234.56), ("1.234.567,8", 1234567.8), ("-0,5", -0.5), (",5", 0.5), ("12,", 12.0), ("1,5e3", 1500.0)],
)
def test_thousands_points(tmp_path: Path, written: str, value: float) -> None:
    (tmp_path / "pay.csv").write_text(f"pay;count\n{written};1.234\n1,5;2.000\n;3\n")
    data = iso.read(tmp_path / "pay.csv", backend="polars")
    assert data.column("pay").to_list() == [value, 1.5, None]
    assert data.column("count").to_list() == [1234, 2000, 3]
    assert data.kinds["count"] == "integer"
    assert "points group thousands" in notes(data)


def test_a_file_with_points_alone_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("a;b\n1.234;x\n0.5;y\n")
    assert iso.read(tmp_path / "points.csv").column("a").to_list() == [1.234, 0.5]
    (tmp_path / "points.csv").write_text("a;b\n1.234;x\n2.500;y\n")
    assert iso.read(tmp_path / "points.csv", decimal=".").column("a").to_list() == [1.234, 2.5]
    assert iso.read(tmp_path / "points.csv", decimal=",").column("a").to_list() == [1234, 2500]


@given(
    values=st.lists(st.floats(-1e12, 1e12).map(lambda value: round(value, 6)), min_size=1, max_size=20),
    grouped=st.booleans(),
)
def test_written_with_a_comma_means_the_same_number(tmp_path_factory: Any, values: list[float], grouped: bool) -> None:
    path = tmp_path_factory.mktemp("comma") / "data.csv"
    swap = str.maketrans(",.", ".,")
    lines = [(f"{value:,.6f}" if grouped else f"{value:.6f}").translate(swap) for value in values]
    path.write_text("x;name\n" + "".join(f"{line};n\n" for line in lines))
    assert iso.read(path).column("x").to_list() == [float(f"{value:.6f}") for value in values]


def workbook(path: Path, rows: list[list[Any]], **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "people"
    for name, content in {"people": rows, **sheets}.items():
        sheet = book["people"] if name == "people" else book.create_sheet(name)
        for row in content:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_excel_values_keep_their_types(tmp_path: Path, backend: Any) -> None:
    day = dt.datetime(2024, 2, 29)
    rows = [
        [None] * 6,
        ["n", "x", "name", "ok", "when", "mixed"],
        [1, 1.5, "ação", True, day, 1],
        [2, None, "b", False, day, "two"],
    ]
    data = iso.read(workbook(tmp_path / "people.xlsx", rows), backend=backend, target="ok")
    assert data.column("n").to_list() == [1, 2]
    assert np.isnan(data.column("x").to_numpy().astype(float)).tolist() == [False, True]
    assert data.column("name").to_list() == ["ação", "b"]
    assert (data.kinds["n"], data.kinds["ok"], data.kinds["when"]) == ("integer", "boolean", "datetime")
    assert data.column("mixed").to_list() == ["1", "two"]


def test_sheets_are_chosen_by_name_and_stated(tmp_path: Path) -> None:
    path = workbook(tmp_path / "two.xlsx", [["a"], [1]], later=[["b", "b"], [2, 3]])
    assert iso.read(path).columns == ("a",)
    assert "the sheet people" in notes(iso.read(path))
    assert iso.read(path, sheet="later", repeated="rename").columns == ("b", "b.1")
    with pytest.raises(iso.SpecError, match=r"`sheet` must name a sheet.*'lter'.*Did you mean 'later'"):
        iso.read(path, sheet="lter")
    with pytest.raises(iso.DataError, match="repeats 'b'"):
        iso.read(path, sheet="later")


def test_formulas_are_not_evaluated(tmp_path: Path) -> None:
    path = workbook(tmp_path / "formula.xlsx", [["a", "b"], [1, "=WEBSERVICE(A1)"], [2, "#N/A"], [3, "x"]])
    assert iso.read(path, backend="polars").column("b").to_list() == [None, None, "x"]


def test_hostile_workbooks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "people.xlsx", [["a"], *([1],) * 50])
    with pytest.raises(iso.DataError, match=r"unpacks to .* more than 9,999.*max_bytes"):
        iso.read(path, max_bytes=9999)
    monkeypatch.setattr(excel, "MAX_CELLS", 20)
    with pytest.raises(iso.DataError, match="more than 20 cells"):
        iso.read(path)
    monkeypatch.undo()
    for name, start in (("entities", b"<!DOCTYPE x [<!ENTITY a 'b'>]>"), ("comment", b"<!--" + b" " * 70_000 + b"-->")):
        bad = tmp_path / f"{name}.xlsx"
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(bad, "w") as target:
            for entry in source.infolist():
                content = source.read(entry)
                target.writestr(entry.filename, start + content if "sheet1" in entry.filename else content)
        with pytest.raises(iso.DataError, match="does not begin as those of Excel"):
            iso.read(bad)
    (tmp_path / "cut.xlsx").write_bytes(path.read_bytes()[:-50])
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    (tmp_path / "renamed.csv").write_bytes(path.read_bytes())
    for name, message in (("cut", "cannot be read as an Excel"), ("text", "cannot be read as an Excel")):
        with pytest.raises(iso.DataError, match=message):
            iso.read(tmp_path / f"{name}.xlsx")
    with pytest.raises(iso.DataError, match=r"is an Excel workbook, not CSV. Name it \.xlsx"):
        iso.read(tmp_path / "renamed.csv")


def test_a_cell_far_away_costs_nothing(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(iso.DataError, match="beyond its 2 named columns"):
        iso.read(tmp_path / "far.xlsx")


def frame(n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "application_number": rng.permutation(10 * n)[:n],
        "row": np.arange(n),
        "cpf": [f"{i * 7919 % 99_999:011d}" for i in range(n)],
        "income": rng.integers(0, 10**7, n),
        "city": rng.choice(["a", "b"], n),
        "age": rng.integers(18, 90, n),
        "y": rng.integers(0, 2, n),
        "p": rng.integers(0, 2, n),
    }


def test_identifiers_are_left_out_of_searches_and_stated() -> None:
    data = iso.Dataset(pl.DataFrame(frame()), target="y", prediction="p", protected=["city"])
    assert data.identifiers == ("application_number", "row", "cpf")
    assert data.searchable == ("income", "city", "age")
    assert "application_number" in data.features, "a model that was trained with it still gets it"
    assert notes(data).count("looks like an identifier") == 3
    half = data.take(np.arange(60))
    assert half.identifiers == data.identifiers
    spots = iso.robustness.weak_spots(data)
    assert "application_number" not in str(spots.to_dict()["tables"])
    found = iso.discovery.find_subgroups(data, k=3)
    assert set(found.features) == {"income", "city", "age"}
    listed = iso.Dataset(pl.DataFrame(frame()), target="y", features=["application_number", "city"])
    assert listed.identifiers == ()
    assert listed.searchable == ("application_number", "city")


def test_ignored_columns_are_no_features() -> None:
    data = iso.Dataset(pl.DataFrame(frame()), target="y", prediction="p", ignore=["row", "cpf"])
    assert data.features == ("application_number", "income", "city", "age")
    assert data.with_roles(protected=["city"]).features == data.features
    assert data.take([1, 2]).features == data.features
    with pytest.raises(iso.DataError, match=r"`ignore` must name a column.*'rwo'.*'row'"):
        iso.Dataset(pl.DataFrame(frame()), ignore="rwo")
    with pytest.raises(iso.SpecError, match="'row' is named both"):
        iso.Dataset(pl.DataFrame(frame()), ignore="row", features=["row"])


def test_bands_of_whole_numbers_have_whole_edges() -> None:
    """An edge of 42.5 years is one of 43 for people whose age is a whole number."""
    ages = [18.0, 20, 22, 25, 27, 29, 31, 35, 38, 42, 50, 55, 60]
    for last, edges in ((60.0, (25.0, 30.0, 43.0)), (60.5, (25.0, 30.0, 42.5))):
        bands = propose_bands([*ages[:-1], last])
        assert bands is not None
        assert bands.edges == edges


def test_numbers_without_bands_get_the_same_bands_at_every_door() -> None:
    table = frame()
    data = iso.Dataset(pl.DataFrame(table), target="y", prediction="p", protected=["age"])
    labels = data.roles.bands["age"].labels
    assert 3 <= len(labels) <= 4
    assert f"its groups are {', '.join(labels)}" in notes(data)
    by_role = iso.fairness.group_metrics(data).by_group["age"].to_list()
    arrays = iso.fairness.group_metrics(table["y"], table["p"], sensitive_features={"age": table["age"]})
    assert list(arrays.by_group["age"]) == by_role == list(labels)
    assert any("its groups are" in str(note) for note in arrays.notes)
    order = np.random.default_rng(1).permutation(len(table["age"]))
    mixed = iso.Dataset(pl.DataFrame(table)[order.tolist()], protected=["age"])
    assert mixed.roles.bands["age"] == data.roles.bands["age"]
    assert iso.Dataset(pl.DataFrame(table), protected={"age": [30]}).proposed == frozenset()
    kept = data.take(np.arange(10))
    assert kept.roles.bands == data.roles.bands
    assert "its groups are" in notes(kept)
    assert iso.Dataset(pl.DataFrame(table), protected=["age"], kinds={"age": "category"}).roles.bands == {}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_wide_file_is_handed_over_in_parts_with_its_rows_in_order(tmp_path: Path, backend: Any) -> None:
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"c{i}": rng.permutation(30_000) for i in range(40)})
    wide.write_parquet(tmp_path / "wide.parquet", row_group_size=1000)
    data = iso.read(tmp_path / "wide.parquet", backend=backend)
    assert data.backend == backend
    assert data.columns == tuple(wide.columns)
    for name in ("c0", "c17", "c39"):
        np.testing.assert_array_equal(data.column(name).to_numpy(), wide[name].to_numpy())
    some = iso.read(tmp_path / "wide.parquet", backend=backend, columns=["c39", "c0"])
    np.testing.assert_array_equal(some.column("c0").to_numpy(), wide["c0"].to_numpy())
