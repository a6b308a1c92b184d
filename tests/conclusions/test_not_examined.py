"""What nobody looked at is said: which set of checks ran, and what the others would have asked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.conclusions.reading import LANGUAGES, first_page
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS
from isonomia.cli.app import app


def people(n: int = 600) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"sex": rng.choice(["F", "M"], n), "granted": rng.integers(0, 2, n), "repaid": rng.integers(0, 2, n)}


@cache
def audited(checks: str) -> iso.Report:
    data = iso.Dataset(people(), target="repaid", prediction="granted", protected=["sex"])
    return iso.audit(data, checks=checks, n_boot=20)


def unexamined(checks: str, language: str = "en") -> list[str]:
    lines = first_page(audited(checks), language)
    head, end = {"en": ("What was not examined", "Decision"), "pt-BR": ("O que não foi examinado", "Decisão")}[language]
    return lines[lines.index(head) + 1 : lines.index(end)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("checks", ["quick", "standard"])
def test_the_set_that_ran_is_named_and_what_the_others_ask(checks: str, language: str) -> None:
    sets = {"quick": ("quick",), "standard": ("quick", "standard")}[checks]
    ran = sum(one.within in sets for one in CHECKS)
    total = sum(one.within != "named" for one in CHECKS)
    said = unexamined(checks, language)[0]
    name = {
        "en": f"{checks.capitalize()} audit",
        "pt-BR": {"quick": "Auditoria rápida", "standard": "Auditoria padrão"},
    }
    called = name[language] if isinstance(name[language], str) else name[language][checks]  # type: ignore[index]
    count = {"en": f"{ran} of {total} checks", "pt-BR": f"{ran} de {total} verificações"}[language]
    assert said.startswith(f"{called}: {count}.")
    asked = {
        "en": ("single pairs", "hidden subgroups", "robustness"),
        "pt-BR": ("pares de pessoas", "subgrupos ocultos", "robustez"),
    }[language]
    assert all(one in said for one in asked)
    assert "--checks full" in said


def test_standard_asks_about_labels_and_quick_does_not() -> None:
    assert "biased labels" in unexamined("quick")[0]
    assert "biased labels" not in unexamined("standard")[0]


def test_checks_that_were_named_are_no_set() -> None:
    said = unexamined("group_fairness,performance")[0]
    assert said.startswith(f"2 of {sum(one.within != 'named' for one in CHECKS)} checks were asked for.")
    assert "single pairs" in said


def test_a_full_audit_leaves_nothing_out() -> None:
    lines = " ".join(unexamined("full"))
    assert "Full audit" in lines
    assert "Not examined:" not in lines
    assert "--checks full" not in lines


def test_the_terminal_says_it(tmp_path: Path) -> None:
    rows = people()
    names = list(rows)
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    words = ["audit", str(tmp_path / "people.csv"), "--target", "repaid", "--prediction", "granted"]
    done = CliRunner().invoke(app, [*words, "--protected", "sex", "--checks", "quick"], env={"COLUMNS": "400"})
    assert "Quick audit: 3 of" in done.output
    assert "hidden subgroups" in done.output
