"""Answers outside the known labels: a language model that refuses women 30% of the time and men 5%."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS, choose_checks
from isonomia.cli.app import app
from isonomia.data import OTHER
from isonomia.errors import DataError, IsonomiaError

REFUSAL = "I cannot answer that."


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    """400 women and 400 men; 120 women and 20 men are refused an answer."""
    rng = np.random.default_rng(0)
    sex = np.repeat(["women", "men"], 400)
    truth = rng.choice(["no", "yes"], 800)
    said = truth.astype(object)
    said[:120] = REFUSAL
    said[400:420] = REFUSAL
    return pd.DataFrame({"sex": sex, "x": rng.normal(size=800), "truth": truth, "said": said})


ROLES: dict[str, Any] = {"target": "truth", "positive": "yes", "prediction": "said", "protected": ["sex"]}


def test_without_the_option_the_error_names_it(loans: pd.DataFrame) -> None:
    with pytest.raises(
        DataError,
        match=r"has 'I cannot answer that.', and the target 'truth' .*other_answers='unfavourable'",
    ):
        iso.audit(loans, checks="quick", **ROLES)
    with pytest.raises(DataError, match="other_answers='unfavourable', or 'apart'"):
        iso.fairness.demographic_parity(loans["truth"], loans["said"], sensitive_features=loans["sex"], positive="yes")


def test_refusals_count_as_unfavourable(loans: pd.DataFrame) -> None:
    by_hand = (loans["said"] == "yes").groupby(loans["sex"]).mean()
    for rates in (
        iso.fairness.group_metrics(loans, **ROLES, other_answers="unfavourable").by_group,
        iso.fairness.group_metrics(
            loans["truth"],
            loans["said"],
            sensitive_features=loans[["sex"]],
            positive="yes",
            other_answers="unfavourable",
        ).by_group,
    ):
        found = dict(zip(rates["sex"], rates["selection_rate"], strict=True))
        assert found == pytest.approx(by_hand.to_dict())
    notes = [str(note) for note in iso.fairness.suite(loans, **ROLES, other_answers="unfavourable").notes]
    assert "140 answers are none of the known labels: counted as unfavourable." in notes


def test_refusals_are_an_outcome_of_their_own(loans: pd.DataFrame) -> None:
    subject = iso.Subject.of(loans, **ROLES, other_answers="apart")
    assert subject.task == "multiclass"
    assert set(subject.surface.classes) == {"no", "yes", OTHER}
    assert subject.favourable == ("yes",)
    rates = iso.fairness.group_metrics(loans, **ROLES, other_answers="apart", metrics=["selection_rate"]).by_group
    own = dict(zip(rates["sex"], rates[f"selection_rate[{OTHER}]"], strict=True))
    assert own == pytest.approx({"women": 0.3, "men": 0.05})


@pytest.mark.parametrize("how", ["unfavourable", "apart"])
def test_an_audit_counts_them_and_says_who_gets_them(loans: pd.DataFrame, how: str) -> None:
    report = iso.audit(loans, checks="quick", **ROLES, other_answers=how)  # type: ignore[arg-type]
    assert report.document.balance_sheet is not None
    rows = report.document.balance_sheet.tables["rows"].rows()
    assert [row["n"] for row in rows if "another kind" in str(row["what"])] == [140]
    (finding,) = report["other_answers"].findings
    assert str(finding.message) == (
        "30% of the answers about women are of another kind, such as refusals; 5.0% of those about men."
    )
    assert finding.who == {"sex": "women"}
    assert finding.sure
    assert iso.Report.from_dict(report.to_dict()).to_dict() == report.to_dict()


def test_refusals_at_the_same_rate_are_no_finding(loans: pd.DataFrame) -> None:
    said = loans["truth"].astype(object)
    said[::10] = REFUSAL
    report = iso.audit(loans.assign(said=said), checks="quick", **ROLES, other_answers="unfavourable")
    assert report["other_answers"].findings == ()


def test_where_there_are_none_nothing_changes(loans: pd.DataFrame) -> None:
    plain = loans.assign(said=loans["truth"])
    report = iso.audit(plain, checks="quick", **ROLES, other_answers="apart")
    assert report.keys() == tuple(entry.id for entry in choose_checks("quick"))
    assert report.document.subject["task"] == "binary"
    assert CHECKS["other_answers"].within == "named"
    named = iso.audit(plain, checks="other_answers", **ROLES)
    assert named.document["other_answers"].outcome == "not_applicable"


def test_a_model_that_refuses_is_examined(loans: pd.DataFrame) -> None:
    """Also about changed rows: it refuses women with a large x."""

    def answer(rows: Any) -> np.ndarray[Any, Any]:
        x, women = np.asarray(rows["x"]), np.asarray(rows["sex"]) == "women"
        return np.where(women & (x > 0.5), REFUSAL, np.where(x > 0, "yes", "no"))

    given: dict[str, Any] = {"target": "truth", "positive": "yes", "protected": ["sex"]}
    data = loans.drop(columns="said")
    with pytest.raises(IsonomiaError, match="other_answers='unfavourable'"):
        iso.audit(data, answer, checks="quick", **given)
    report = iso.audit(data, answer, checks=["quick", "counterfactual"], other_answers="unfavourable", **given)
    share = ((data["sex"] == "women") & (data["x"] > 0.5)).mean()
    assert float(report["other_answers"].values["rate"]) == pytest.approx(share)
    changed = report["counterfactual"].main_table.rows()
    flips = [value for row in changed for value in row.values() if isinstance(value, float)]
    for sex in ("women", "men"):  # whoever has a large x is refused as a woman alone
        assert any(abs((data.loc[data["sex"] == sex, "x"] > 0.5).mean() - value) < 1e-9 for value in flips)
    apart = iso.audit(data, answer, checks="quick", other_answers="apart", **given)
    assert apart.document.subject["task"] == "multiclass"


def test_slips_and_lost_outcomes_are_not_refusals(loans: pd.DataFrame) -> None:
    slip = loans.assign(said=["Yes", *loans["said"][1:]])
    with pytest.raises(DataError, match="Write both the same way"):
        iso.audit(slip, checks="quick", **ROLES, other_answers="unfavourable")
    with pytest.raises(DataError, match="`other_answers` needs the column of true outcomes"):
        iso.audit(loans, checks="quick", **{**ROLES, "target": None}, other_answers="unfavourable")
    with pytest.raises(DataError, match="is one of the known labels"):
        iso.audit(loans.assign(said="maybe"), checks="quick", **ROLES, other_answers="apart")
    with pytest.raises(iso.SpecError, match="`other_answers` must be"):
        iso.Dataset(loans, **ROLES, other_answers="drop")
    grades = loans.assign(truth=np.resize(["a", "b", "c"], 800))
    with pytest.raises(DataError, match="is for outcomes of two values"):
        iso.audit(
            grades.assign(said=["?", *grades["truth"][1:]]),
            checks="quick",
            other_answers="unfavourable",
            **{**ROLES, "positive": "a"},
        )


def test_every_door_takes_the_option(loans: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    want = iso.audit(iso.Dataset(loans, **ROLES), checks="quick", other_answers="unfavourable")["other_answers"]
    spec = {"dataset": str(path), **ROLES, "checks": "quick", "other_answers": "unfavourable"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    asked = ["audit", str(path), "--target", "truth", "--positive", "yes", "--prediction", "said"]
    asked += ["--protected", "sex", "--checks", "quick"]
    for command in ([*asked, "--other-answers", "unfavourable"], ["run", str(tmp_path / "spec.json")]):
        done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out"), "-q"])
        assert done.exit_code == 0, done.output
        found = iso.Report.load(tmp_path / "out")["other_answers"]
        assert found.values == want.values
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "--other-answers unfavourable" in " ".join(done.output.split())
