"""Several classes of which some are favourable: who is harmed, how many, in which words, through every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.evidence import Finding
from isonomia.subject import Subject

#: Decisions of 200 women and 200 men; approved: 20% and 50%, denied: 50% and 20%, review: 30% of both.
COUNTS = {"F": {"approved": 40, "review": 60, "denied": 100}, "M": {"approved": 100, "review": 60, "denied": 40}}
ROLES: dict[str, Any] = {"target": "y", "prediction": "said", "protected": ["sex"]}
MEN = {"privileged": {"sex": "M"}}


def people(times: int = 1) -> pd.DataFrame:
    rows = [(sex, said) for sex, said_by in COUNTS.items() for said, n in said_by.items() for _ in range(n * times)]
    frame = pd.DataFrame(rows, columns=["sex", "said"])
    frame["y"] = [("approved", "denied", "review")[i % 3] for i in range(len(frame))]
    return frame


def audited(**options: Any) -> iso.Report:
    given = {**ROLES, **MEN, "checks": ["group_fairness"], "n_boot": 50, **options}
    return iso.audit(people(), **given)


def by_code(report: iso.Report, metric: str) -> dict[str, Finding]:
    return {f.code.partition(".")[2]: f for f in report.findings if f.metric == metric and f.who}


def test_a_favourable_class_is_lacked_and_another_is_in_excess() -> None:
    found = by_code(audited(positive=["approved"]), "selection_rate")
    assert set(found) == {"selection_rate[approved]", "selection_rate[denied]"}
    approved, denied = found["selection_rate[approved]"], found["selection_rate[denied]"]
    assert approved.who == denied.who == {"sex": "F"}
    assert (approved.favourable, denied.favourable) == (True, False)
    assert approved.estimate.value == pytest.approx(-0.3)
    assert denied.estimate.value == pytest.approx(0.3)
    for finding in (approved, denied):  # 200 x 0.3, worse off
        assert finding.people is not None
        assert finding.people.value == pytest.approx(60)
        assert finding.people.low is not None
        assert 0 < finding.people.low < 60


def test_the_good_direction_is_no_finding() -> None:
    assert by_code(audited(positive=["approved"], privileged={"sex": "F"}), "selection_rate") == {}
    without = by_code(audited(privileged={"sex": "F"}), "selection_rate")
    assert set(without) == {"selection_rate[approved]", "selection_rate[denied]"}
    assert {finding.favourable for finding in without.values()} == {None}


def test_several_favourable_classes_each_have_a_direction() -> None:
    found = by_code(audited(positive=["denied", "review"]), "selection_rate")
    assert found == {}  # approved less often and denied more often are both good for women
    found = by_code(audited(positive=["approved", "review"]), "selection_rate")
    assert [f.favourable for f in found.values()] == [True, False]


def test_true_positive_rates_follow_the_class() -> None:
    """Of people who are truly x: women get x less often where it is favourable, more often where it is not."""
    frame = people()
    frame["y"] = frame["said"]
    frame.loc[frame.index[100:150], "said"] = "approved"  # half of the women whose true outcome is denied
    report = iso.audit(frame, **ROLES, **MEN, positive="approved", checks=["group_fairness"], n_boot=50)
    assert "tpr[denied]" not in by_code(report, "tpr")
    report = iso.audit(
        frame, **ROLES, privileged={"sex": "F"}, positive="approved", checks=["group_fairness"], n_boot=50
    )
    strict = by_code(report, "tpr")["tpr[denied]"]
    assert strict.who == {"sex": "M"}
    assert strict.people is not None
    assert strict.people.value == pytest.approx(20)  # all 40 men instead of half of them


def test_the_favourable_class_leads() -> None:
    report = audited(positive=["approved"])
    assert report.findings[0].code == "group_fairness.tpr[approved]", "how those fared who deserved it leads"
    frame = people()
    given = {**ROLES, **MEN, "positive": ["approved", "review"], "checks": ["group_fairness"], "n_boot": 50}
    frame.loc[frame.index[:30], "said"] = "denied"  # of women: 10 approved, 60 in review, 130 denied
    frame.loc[frame.index[40:60], "said"] = "denied"
    two = iso.audit(frame, **given)
    codes = [f.code for f in two.findings if f.metric == "selection_rate"]
    assert codes[-1] == "group_fairness.selection_rate[denied]"
    denied = by_code(two, "selection_rate")["selection_rate[denied]"]
    assert denied.people_at_least > two.findings[0].people_at_least  # more people, and still not first


SENTENCES = {
    "en": 'Women get the favourable decision "approved" less often than men: 20% and 50%. At the rate of men, 60 '
    'more of 200 would receive the decision "approved"',
    "pt-BR": 'Mulheres recebem a decisão favorável "approved" com menos frequência (20%). Entre homens, a taxa é de '
    "50%.",
}
VERDICTS = {
    "en": 'Of women, 20% get the favourable decision "approved"; of men, 50%: a ratio of 0.40.',
    "pt-BR": '20% das mulheres recebem a decisão favorável "approved"; dos homens, 50%: razão de 0,40.',
}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_sentences_name_the_class(language: str) -> None:
    report = audited(positive=["approved"], policy="eeoc", language=language)
    found = by_code(report, "selection_rate")
    assert SENTENCES[language] in found["selection_rate[approved]"].message.text(language)
    assert '"denied"' in found["selection_rate[denied]"].message.text(language)
    (criterion,) = report.verdict.criteria
    assert '("approved")' in criterion.name.text(language)
    assert criterion.sentence.text(language).startswith(VERDICTS[language])
    assert criterion.who == {"sex": "F"}
    assert criterion.people.value == pytest.approx(60)
    assert '"approved"' in report.verdict.reason.text(language)
    assert report.document.subject["positive"] == ["approved"]
    assert "approved" in report.to_markdown()


def test_rules_are_about_the_favourable_classes() -> None:
    """Review is as frequent among women as among men: with it as the favourable class four fifths are kept."""
    assert audited(positive=["approved"], policy="eeoc").verdict.outcome == "exceeds"
    kept = audited(positive=["review"], policy="eeoc").verdict
    assert kept.criteria[0].estimate.value == pytest.approx(1.0)
    assert audited(policy="eeoc").verdict.outcome == "exceeds"


def test_the_suite_and_impact_ratios_are_about_them_too() -> None:
    frame = people()
    found = iso.fairness.suite(frame, **ROLES, **MEN, positive=["review"])
    assert found.criteria[("sex",), "disparate_impact"].figure.value == pytest.approx(1.0)
    every = iso.fairness.suite(frame, **ROLES, **MEN)
    assert every.criteria[("sex",), "disparate_impact"].figure.value == pytest.approx(0.4)
    table = audited(positive=["approved", "review"], checks=["impact_ratios"])["impact_ratios"].tables
    ratios = dict(zip(table["impact_ratios"]["group"].values, table["impact_ratios"]["ratio"].values, strict=True))
    assert ratios["sex=F"] == pytest.approx(100 / 160)
    assert audited(checks=["impact_ratios"]).document["impact_ratios"].outcome == "not_applicable"


def test_a_report_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    report = audited(positive=["approved"], policy="eeoc")
    report.save(tmp_path)
    loaded = iso.Report.load(tmp_path / "report.json")
    assert loaded.findings == report.findings
    assert [f.favourable for f in loaded.findings] == [f.favourable for f in report.findings]
    assert loaded.to_dict() == report.to_dict()


@pytest.mark.parametrize("given", [["approved"], ["approved", "review"]])
@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_door_gives_the_same_verdict(given: list[str], language: str, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    by_python = iso.audit(
        iso.read(tmp_path / "people.csv", **ROLES, **MEN, positive=given),
        policy="eeoc",
        checks="quick",
        language=language,
    )
    spec = {"dataset": str(tmp_path / "people.csv"), **ROLES, **MEN, "positive": given}
    by_spec = iso.run({**spec, "policy": "eeoc", "checks": "quick", "language": language})
    roles = ["--target", "y", "--prediction", "said", "--protected", "sex", "--privileged", "sex=M"]
    reports = []
    for number, names in enumerate(([",".join(given)], given)):
        named = [part for name in names for part in ("--positive", name)]
        out = tmp_path / f"out-{number}"
        command = ["audit", str(tmp_path / "people.csv"), *roles, *named, "--policy", "eeoc", "--checks", "quick"]
        ended = CliRunner().invoke(app, [*command, "--lang", language, "--out", str(out)])
        assert ended.exit_code == 1, ended.output
        assert "approved" in ended.stdout
        reports.append(iso.Report.load(out / "report.json"))
    expected = (by_python.verdict.outcome, by_python.verdict.reason.text(language), by_python.findings)
    for report in (by_spec, *reports):
        assert (report.verdict.outcome, report.verdict.reason.text(language), report.findings) == expected


def test_a_class_with_a_comma_is_named_on_a_command_line(tmp_path: Path) -> None:
    frame = people().replace({"approved": "approved, in part"})
    frame.to_csv(tmp_path / "people.csv", index=False)
    roles = ["--target", "y", "--prediction", "said", "--protected", "sex", "--checks", "group_fairness"]
    for number, names in enumerate((["approved, in part"], ["approved, in part", "review"])):
        named = [part for name in names for part in ("--positive", name)]
        out = str(tmp_path / f"out-{number}")
        ended = CliRunner().invoke(app, ["audit", str(tmp_path / "people.csv"), *roles, *named, "--out", out])
        assert ended.exit_code == 0, ended.output
        assert json.loads((Path(out) / "report.json").read_text())["subject"]["positive"] == names


def test_a_class_that_does_not_occur_is_refused_on_a_command_line(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    roles = ["--target", "y", "--prediction", "said", "--protected", "sex", "--positive", "aproved"]
    ended = CliRunner().invoke(app, ["audit", str(tmp_path / "people.csv"), *roles, "--lang", "pt-BR"])
    assert ended.exit_code == 2
    assert "deve citar classes de 'y'" in " ".join(ended.output.split())


def test_a_spec_may_not_name_no_class(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(iso.IsonomiaError, match="at least one class"):
        iso.run({"dataset": str(tmp_path / "people.csv"), **ROLES, "positive": []})


def test_counts_and_rows_agree() -> None:
    frame = people()
    counts = frame.groupby(["sex", "y", "said"]).size().rename("n").reset_index()
    subject = Subject.from_counts(
        counts, prediction="said", target="y", protected=["sex"], positive="approved", privileged={"sex": "M"}
    )
    found = by_code(iso.audit(subject, checks=["group_fairness"], n_boot=50), "selection_rate")
    assert set(found) == {"selection_rate[approved]", "selection_rate[denied]"}


def test_rows_that_an_engine_counts_have_the_same_direction() -> None:
    pl = pytest.importorskip("polars")
    lazy = pl.from_pandas(people()).lazy()
    found = by_code(
        iso.audit(lazy, **ROLES, **MEN, positive=["approved"], checks=["group_fairness"], n_boot=50), "selection_rate"
    )
    assert set(found) == {"selection_rate[approved]", "selection_rate[denied]"}
    assert found["selection_rate[denied]"].people.value == pytest.approx(60)


def test_fixes_are_judged_by_the_favourable_classes() -> None:
    """Before and after a fix that spares women a review: nothing changes about who is approved."""
    frame = people()
    after = frame["said"].replace({"review": "denied"}).where(frame["sex"] == "F", frame["said"])
    given: dict[str, Any] = {"sensitive_features": frame["sex"], "n_boot": 100}
    named = iso.mitigation.before_after(frame["y"], frame["said"], after, **given, positive=["approved"])
    every = iso.mitigation.before_after(frame["y"], frame["said"], after, **given)
    parity = [
        next(row for row in one.tables["criteria"].rows() if row["criterion"] == "demographic_parity")
        for one in (named, every)
    ]
    assert [(round(row["before"], 3), round(row["after"], 3)) for row in parity] == [(0.3, 0.3), (0.3, 0.6)]
