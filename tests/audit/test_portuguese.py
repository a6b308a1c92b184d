"""A whole audit in Portuguese, of people some of whose protected values are missing: no English of ours is left."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.audit.check_registry import choose_checks
from isonomia.languages import Message, Name, decode

#: Words of ours that stand within names of groups, and that a reader of Portuguese should not meet.
LEFTOVERS = (
    r"=\s?missing\b",
    r"\bmissing\b(?! =)",  # but for the name of the option
    r"\bin \[",
    r"\bnot in \{",
    r"\bin \{",
    r"\bis missing\b",
    r"\(empty\)",
    r"\bnot applicable\b",
    r"\bbecause\b",
    r"\bit needs\b",
    r"\bno interval\b",
    r"\bthere (is|are) no\b",
)


def people(n: int = 700) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    race = rng.choice(np.array(["branca", "preta", None], dtype=object), n, p=[0.55, 0.3, 0.15])
    age = rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.06] = np.nan
    city = rng.choice(np.array(["norte", "sul", None], dtype=object), n)
    income = rng.normal(3, 1, n)
    harm = 1.2 * (race == None) + 0.8 * (race == "preta") + 0.5 * (age < 30)  # noqa: E711  elementwise
    score = income - harm
    return {
        "raca": race,
        "idade": age,
        "cidade": city,
        "renda": income,
        "credito": np.where(score + rng.normal(0, 0.7, n) > 2.2, "sim", "não"),
    }


def model(frame: Any) -> Any:
    race, age = np.asarray(frame["raca"], dtype=object), np.asarray(frame["idade"], dtype=float)
    unknown = np.array([value is None or value != value for value in race])
    score = (
        np.nan_to_num(np.asarray(frame["renda"], dtype=float))
        - 1.2 * unknown
        - 0.8 * (race == "preta")
        - 0.5 * (age < 30)
    )
    return 1 / (1 + np.exp(-3 * (score - 2.2)))


@pytest.fixture(scope="module")
def report() -> iso.Report:
    data = iso.Dataset(
        people(), target="credito", positive="sim", protected={"raca": None, "idade": [30.5, 60]}, name="pessoas"
    )
    options = {"perturb": {"n_trials": 2}, "local_robustness": {"n_iterations": 4}, "pairs": {"max_tests": 1000}}
    checks = [check.id for check in choose_checks("full")]
    return iso.audit(data, model, checks=checks, policy="eeoc", n_boot=60, language="pt-BR", options=options)


def words(page: str) -> str:
    body = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


def without_ids(report: iso.Report, text: str) -> str:
    """The text without the keys of subgroups, which stay as they are."""
    for table in report["hidden_subgroups"].tables.values():
        for key in table.flat().get("subgroup_key", ()):
            text = text.replace(key, "")
    return text


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_no_english_is_left(report: iso.Report, form: str) -> None:
    text = words(report.to_html()) if form == "html" else report.to_markdown().replace("\\", "")
    text = without_ids(report, text)
    found = {
        text[max(0, hit.start() - 60) : hit.end() + 40] for pattern in LEFTOVERS for hit in re.finditer(pattern, text)
    }
    assert found == set()
    assert "raca ausente" in text
    assert "raca=" not in text
    assert "idade de 30,5 até menos de 60" in text


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_ranges_are_written_as_numbers_are(report: iso.Report, form: str) -> None:
    """No band, bin or cell keeps the decimals of another language, but for the ids of subgroups."""
    text = words(report.to_html()) if form == "html" else report.to_markdown().replace("\\", "")
    text = without_ids(report, text)
    assert re.findall(r".{20}(?:\[-?\d[\d.]*, -?\d[\d.]*[)\]]|>= \d|< \d+\.\d)", text) == []
    assert "≥ 60" in text
    assert re.search(r"renda em \[-?\d+,\d+; -?\d", text)


def test_frames_keep_ranges_as_they_are(report: iso.Report) -> None:
    groups = report["group_fairness"].tables["by_group"].frame("polars")["idade"].to_list()
    assert {"< 30.5", "[30.5, 60)", ">= 60"} <= set(groups)


def test_the_record_keeps_its_english_names(report: iso.Report) -> None:
    record = report.to_dict()
    columns = record["checks"]["group_fairness"]["result"]["tables"]["by_group"]["columns"]
    groups = [decode(name) for name in columns[0]["values"]]
    assert "raca=missing" in groups
    assert any("idade in [30.5, 60)" in str(name) for name in groups)
    assert "30,5" not in str(record)
    assert any(decode(finding["who"]).get("raca") == "missing" for finding in record["findings"])
    assert "ausente" not in str(record["findings"])


def test_reasons_can_be_told_in_the_language(report: iso.Report) -> None:
    """Whatever says why a number is missing is a message of ours, not a text that was put together in English."""
    for section in report.document.sections:
        assert section.reason is None or isinstance(section.reason, Message), (section.code, section.reason)
        for name, table in () if section.result is None else section.result.tables.items():
            for column in ("note", "reason"):
                for value in table.flat().get(column, ()):
                    assert value is None or isinstance(value, Message | Name), (section.code, name, value)
