"""Faults cost the part they are in: whatever goes wrong in a check, everything else is reported, kept and readable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit.check_registry import CHECKS, Check
from isonomia.cli.app import app
from isonomia.errors import Cancelled, InternalError, SourceError, SpecError
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.languages import msg
from isonomia.policies import load_policy

RNG = np.random.default_rng(0)
N = 240
SEX = np.array(["F", "M"] * (N // 2))
FRAME = {
    "sex": SEX,
    "x": RNG.normal(size=N),
    "z": RNG.integers(0, 9, N),
    "y": RNG.integers(0, 2, N),
    "p": (RNG.random(N) < np.where(SEX == "F", 0.3, 0.6)).astype(int),
}
ROLES: dict[str, Any] = {"target": "y", "protected": ["sex"], "prediction": "p"}
#: Raw errors, those that end a process and those of a machine at its limit.
RAW = [ZeroDivisionError("division by zero"), MemoryError(), RecursionError("too deep"), SystemExit(3)]
#: A policy whose only rule is that no check finds anything critical.
CALM = {
    "id": "calm",
    "title": "Calm",
    "rules": [{"id": "none", "name": "nothing critical", "kind": "findings", "severity": "critical", "at_most": 99}],
}


@pytest.fixture(autouse=True)
def _as_users_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISONOMIA_FAULTS")


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    """Break a check: it raises an error, or returns what is given."""

    def change(code: str, outcome: Any) -> None:
        def run(subject: Any, **options: Any) -> Any:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome(subject) if callable(outcome) else outcome

        broken = replace(CHECKS[code], run=run, counted=True, of_model=False, by_policy=False)
        monkeypatch.setitem(CHECKS._entries, code, broken)

    return change


def audited(checks: Any, **options: Any) -> iso.Report:
    return iso.audit(iso.Dataset(FRAME, **ROLES), checks=checks, n_boot=20, **options)


@cache
def sound() -> dict[str, Any]:
    return audited(["performance", "representation"])["performance"].to_dict()


def test_an_audit_of_these_people_is_sound() -> None:
    assert audited(["performance", "representation"]).exit_code == 0


@pytest.mark.parametrize("code", sorted(set(CHECKS.ids()) - {"performance"}))
@pytest.mark.parametrize("error", RAW, ids=lambda error: type(error).__name__)
def test_a_check_that_fails_is_the_only_thing_lost(
    code: str, error: BaseException, breaking: Callable[[str, Any], None], tmp_path: Path
) -> None:
    breaking(code, error)
    report = audited(["performance", code])
    section = report.document[code]
    assert section.outcome == "failed"
    assert f"{type(error).__name__}" in str(section.reason)
    assert "(at tests.audit.test_faults:" in str(section.reason) or "(at test_faults:" in str(section.reason)
    assert report.exit_code == 5
    assert report["performance"].to_dict() == sound()
    again = iso.Report.load(report.save(tmp_path)["json"])
    assert again.to_dict() == report.to_dict()
    assert again.exit_code == 5


def test_all_checks_may_fail(breaking: Callable[[str, Any], None]) -> None:
    for code in CHECKS.ids():
        breaking(code, ZeroDivisionError("division by zero"))
    report = audited("full", policy="eeoc")
    assert {section.outcome for section in report} == {"failed"}
    assert report.exit_code == 5
    assert report.verdict is not None, "rules about figures need no check"


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", "This audit is not complete: one check failed. Drift (an unexpected error: ZeroDivisionError"),
        ("pt-BR", "Esta auditoria está incompleta: uma verificação falhou. {drift} (um erro inesperado: ZeroDivision"),
    ],
)
def test_the_report_says_at_its_top_what_failed(
    language: str, says: str, breaking: Callable[[str, Any], None], tmp_path: Path
) -> None:
    breaking("drift", ZeroDivisionError("division by zero"))
    report = audited(["performance", "drift"], policy="eeoc")
    says = says.format(drift=CHECKS["drift"].title.text(language))
    page, text = report.to_html(language), report.to_markdown(language).replace("\\", "")
    assert says in page
    assert page.index(says) < page.index('class="verdict')
    assert says in text
    assert text.index(says) < text.index("## ")
    assert says in report.to_html(language, extent="first_page")
    assert says in report.to_html(language, page=False)


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_command_ends_with_5_and_writes_all_files(
    language: str, breaking: Callable[[str, Any], None], tmp_path: Path
) -> None:
    breaking("weak_spots", ZeroDivisionError("division by zero"))
    table = tmp_path / "people.csv"
    rows = zip(*(FRAME[name] for name in ("sex", "x", "y", "p")), strict=True)
    table.write_text("sex,x,y,p\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    words = ["audit", str(table), "--target", "y", "--prediction", "p", "--protected", "sex", "--policy", "eeoc"]
    given = [*words, "--checks", "performance,weak_spots", "--lang", language, "--out", str(tmp_path / "out")]
    store = ["--store", str(tmp_path / "runs.db"), "--analysis", "loans"]
    ended = CliRunner().invoke(app, [*given, "--junit", str(tmp_path / "junit.xml"), *store])
    assert ended.exit_code == 5, ended.output
    assert "Traceback" not in ended.output
    assert ("not complete" if language == "en" else "incompleta") in ended.stdout
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"report.html", "report.json", "report.md"}
    assert "<error" in (tmp_path / "junit.xml").read_text()
    assert iso.Report.load(tmp_path / "out").exit_code == 5
    assert iso.store.open(str(tmp_path / "runs.db")).runs()


def test_a_trace_is_there_for_those_who_ask(
    breaking: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    breaking("drift", ZeroDivisionError("division by zero"))
    audited(["performance", "drift"])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("ISONOMIA_TRACEBACK", "1")
    audited(["performance", "drift"])
    assert "Traceback" in capsys.readouterr().err


def test_a_rule_about_findings_is_not_met_where_a_check_failed(breaking: Callable[[str, Any], None]) -> None:
    assert audited(["performance", "representation"], policy=CALM).exit_code == 0
    breaking("representation", ZeroDivisionError("division by zero"))
    for of in ([], ["representation"], ["performance", "representation"]):
        rule = {**CALM["rules"][0], "of": of}  # type: ignore[dict-item]
        report = audited(["performance", "representation"], policy={**CALM, "rules": [rule]})
        assert report.verdict is not None
        assert report.verdict.outcome == "not_enough_evidence"
        assert report.exit_code == 5


def test_only_the_caller_ends_an_audit(breaking: Callable[[str, Any], None]) -> None:
    for error in (Cancelled(), KeyboardInterrupt()):
        breaking("drift", error)
        with pytest.raises(type(error)):
            audited(["performance", "drift"])

    class EnoughError(Exception):
        """What a caller's own sink raises."""

    def sink(event: iso.events.Event) -> None:
        if "drift" in event.path:
            raise EnoughError

    with pytest.raises(EnoughError):
        audited(["performance", "drift"], progress=sink)


def test_options_that_do_not_suit_the_data_show_before_other_checks_run(breaking: Callable[[str, Any], None]) -> None:
    ran: list[str] = []
    breaking("performance", lambda subject: ran.append("performance"))
    with pytest.raises(SpecError, match="nothing"):
        audited(["performance", "fairness_suite"], options={"fairness_suite": {"control": ["nothing"]}})
    assert not ran
    breaking("drift", SpecError("an option that nobody gave"))
    assert audited(["representation", "drift"]).document["drift"].outcome == "failed"


def test_a_source_that_is_lost_keeps_what_was_finished(breaking: Callable[[str, Any], None]) -> None:
    ran: list[str] = []
    breaking("fairness_suite", SourceError("The connection to the database was lost."))
    breaking("drift", lambda subject: ran.append("drift"))
    report = audited(["performance", "fairness_suite", "drift"])
    outcomes = {section.code: section.outcome for section in report}
    assert outcomes["fairness_suite"] == outcomes["drift"] == "failed"
    assert outcomes["performance"] in ("passed", "issue")
    assert not ran, "nothing else is asked of a source that is gone"
    assert report.exit_code == 5


def test_a_model_that_ends_the_process_fails_the_checks_that_ask_it() -> None:
    calls: list[int] = []

    def model(rows: Any) -> Any:
        calls.append(len(calls))
        if len(calls) > 1:
            raise SystemExit(0)
        return (np.asarray(rows["x"]) > 0).astype(int)

    data = iso.Dataset({name: FRAME[name] for name in ("sex", "x", "y")}, target="y", protected=["sex"])
    report = iso.audit(data, model, checks=["performance", "counterfactual"], n_boot=20)
    section = report.document["counterfactual"]
    assert section.outcome == "failed"
    assert "SystemExit" in str(section.reason)
    assert "test_faults:" in str(section.reason)
    assert report.document["performance"].outcome != "failed"


def table(**columns: Any) -> Table:
    return Table(tuple(Column(name, values) for name, values in columns.items()))


class Unwritable:
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


def result(code: str = "drift", **parts: Any) -> Result:
    return Result(code, msg("Drift"), **parts)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (None, "TypeError: the check returned NoneType; a Result was expected"),
        ({"a": 1}, "the check returned dict"),
        (result(values={"a": Unwritable()}), "ValueError: no text"),
        (result(tables={"t": table(p_value=["x"], p_adjusted=["y"])}), "ValueError"),
        (result(tables={"t": table(p_value=[object()], p_adjusted=[0.5])}), "TypeError"),
    ],
)
def test_what_cannot_be_reported_fails_its_own_section(
    broken: Any, says: str, breaking: Callable[[str, Any], None]
) -> None:
    breaking("drift", broken)
    report = audited(["performance", "drift"], policy="eeoc")
    section = report.document["drift"]
    assert section.outcome == "failed"
    assert says in str(section.reason)
    assert report["performance"].to_dict() == sound()
    assert json.dumps(report.to_dict(), allow_nan=False)
    assert report.to_html()


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ("adjust_families", "isonomia.audit.finishing"),
        ("grade", "isonomia.audit.runner"),
        ("with_tried", "isonomia.audit.runner"),
        ("with_one_rule", "isonomia.audit.runner"),
        ("with_broken_rules", "isonomia.audit.runner"),
        ("balance_sheet", "isonomia.audit.runner"),
        ("_moved", "isonomia.audit.runner"),
        ("verdict_sentence", "isonomia.audit.verdicts.verdict"),
        ("overall_evidence", "isonomia.fairness.judging.judge"),
        ("group_questions", "isonomia.fairness.judging.judge"),
        ("findings_criterion", "isonomia.audit.verdicts.verdict"),
    ],
)
def test_what_follows_the_checks_may_fail_too(
    step: str, where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    rules = [
        *CALM["rules"],
        {"name": "accuracy", "metric": "accuracy", "measure": "value", "at_least": 0.01},
        {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.01},
    ]
    policy = load_policy({**CALM, "rules": rules})
    monkeypatch.setattr(f"{where}.{step}", fail)
    report = audited(["performance", "representation"], policy=policy)
    assert report.exit_code == 5
    assert any("ZeroDivisionError" in str(one.reason) for one in report if one.outcome == "failed")
    assert report.verdict is not None
    if step in ("overall_evidence", "group_questions", "findings_criterion"):
        assert report.verdict.outcome == "not_enough_evidence"
    again = iso.Report.load(report.save(tmp_path)["json"])
    assert again.to_dict() == report.to_dict()


def test_a_picture_that_cannot_be_drawn_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    report = audited(["performance", "group_fairness"])

    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    whole = report.to_html()
    monkeypatch.setattr("isonomia.report.parts.describe", fail)
    monkeypatch.setattr("isonomia.report.limits_picture.describe", fail)
    for language, says in (("en", "This picture could not be drawn"), ("pt-BR", "Não foi possível desenhar")):
        page = report.to_html(language)
        assert page.count(says) == whole.count('<div class="plot"') > 0
        assert '<div class="plot"' not in page
        assert "ZeroDivisionError" in page
        assert report.to_html(language, page=False).count(says)
    assert "Accuracy" in report.to_html()


def test_a_table_or_a_section_that_cannot_be_shown_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    report = audited(["performance", "group_fairness"])

    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    with monkeypatch.context() as patch:
        patch.setattr("isonomia.report.parts.table_view", fail)
        assert "This table could not be written: an unexpected error: ZeroDivisionError" in report.to_html()
    with monkeypatch.context() as patch:
        patch.setattr("isonomia.report.parts.tabulated", fail)
        page = report.to_html()
        assert page.count("The result of this check could not be shown") == 2
        assert "The balance sheet could not be shown" in page
    with monkeypatch.context() as patch:
        patch.setattr("isonomia.report.markdown.table_text", fail)
        assert "This table could not be written" in report.to_markdown()


def test_the_json_is_there_where_a_page_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    report = audited(["performance"])

    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("isonomia.report.page.document_view", fail)
    with pytest.raises(InternalError, match=r"^report.html could not be made: ZeroDivisionError.*report.json"):
        report.save(tmp_path)
    assert iso.Report.load(tmp_path).to_dict() == report.to_dict()
    assert (tmp_path / "report.md").is_file()


def test_a_picture_of_a_table_that_is_not_there_loses_its_section_only(breaking: Callable[[str, Any], None]) -> None:
    odd = result(tables={"t": table(a=[1])}, pictures=(Picture("bars", "nothing", msg("x")),))
    breaking("drift", odd)
    report = audited(["performance", "drift"])
    assert "could not be shown" in report.to_html()


def test_checks_are_entries_of_their_registry() -> None:
    assert all(isinstance(entry, Check) for entry in CHECKS)
