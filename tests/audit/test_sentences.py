"""What findings say, for the three tasks in both languages: a snapshot, and what no sentence may contain.

`python tests/audit/test_sentences.py` writes the snapshot again; the diff shows what readers will read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.evidence import SEVERITIES, THRESHOLDS

SNAPSHOT = Path(__file__).parent / "sentences.txt"
TASKS = ("binary", "multiclass", "regression")
CHECKS = [
    *("representation", "missingness", "label_bias", "duplicates", "group_fairness", "fairness_suite"),
    *("incompatibility", "entropy", "counterfactual", "weak_spots", "failure_modes", "consistency", "proxies"),
]
LABELS = {
    "sex_at_birth": {"": "sex", "F": "women", "M": "men"},
    "pay_to_income": "payments to income",
    "sex_at_birth x age_in_years": {"F x < 30": "young women"},
}


def frame(n: int = 1500) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    sex = rng.choice(["F", "M"], n, p=[0.4, 0.6])
    data = pd.DataFrame(
        {
            "sex_at_birth": sex,
            "age_in_years": rng.integers(18, 70, n),
            "job_title": rng.choice(["clerk", "cook", "nurse"], n),
            "pay_to_income": rng.normal(0.3, 0.1, n).round(2),
        }
    )
    data["merit"] = (rng.normal(0, 1, n) + 0.02 * data["age_in_years"] + 0.4 * (sex == "M")).round(2)
    lost = (sex == "F") & (rng.random(n) < 0.2)
    data["tenure_years"] = np.where(lost, np.nan, rng.integers(0, 20, n))
    return data


def score(table: pd.DataFrame) -> Any:
    return table["merit"] - 0.6 * (table["sex_at_birth"] == "F") - 1.5 * (table["job_title"] == "cook")


def model_of(task: str) -> Any:
    def predict(table: pd.DataFrame) -> Any:
        if task == "regression":
            return score(table).to_numpy()
        if task == "binary":
            return np.where(score(table) > 0.6, "approved", "denied")
        return np.select([score(table) > 1, score(table) > 0], ["senior_level", "mid_level"], "entry_level")

    return predict


@cache
def report(task: str) -> iso.Report:
    data = frame()
    rng = np.random.default_rng(6)
    truth = data["merit"] + rng.normal(0, 0.4, len(data))
    names = {"binary": "loan_status", "multiclass": "offered_grade", "regression": "yearly_wage"}
    data[names[task]] = (
        truth
        if task == "regression"
        else np.where(truth > 0.6, "approved", "denied")
        if task == "binary"
        else np.select([truth > 1, truth > 0], ["senior_level", "mid_level"], "entry_level")
    )
    given = iso.Dataset(
        data,
        target=names[task],
        positive="approved" if task == "binary" else None,
        protected={"sex_at_birth": None, "age_in_years": [30]},
        privileged={"sex_at_birth": "M"},
        labels=LABELS,
    )
    policy = "eeoc" if task == "binary" else None
    return iso.audit(given, model_of(task), checks=CHECKS, policy=policy, seed=0, n_boot=100)


def lines(task: str) -> Iterator[str]:
    for language in ("en", "pt-BR"):
        yield f"## {task}, {language}"
        for entry in report(task).folds:
            for index, finding in enumerate(entry.findings):
                mark = "-" if index == 0 else "  ."
                yield f"{mark} {finding.tier}, {finding.severity}: {finding.message.text(language)}"


@pytest.mark.parametrize("task", TASKS)
def test_the_sentences_are_those_of_the_snapshot(task: str) -> None:
    written = SNAPSHOT.read_text(encoding="utf-8").split("\n# ")
    mine = next(part for part in written if part.lstrip("# ").startswith(task))
    assert "\n".join(lines(task)) in mine


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_no_sentence_speaks_code(task: str, language: str) -> None:
    for finding in report(task).findings:
        text = finding.message.text(language)
        assert not re.search(r"\w=\w|\b[a-z]+_[a-z]", text), text
        assert "sex_at_birth" not in text
        assert text[0] == text[0].upper()
        assert text.endswith(".")


@pytest.mark.parametrize("task", TASKS)
def test_every_finding_counts_people_or_says_why_not(task: str) -> None:
    for finding in report(task).findings:
        assert finding.people is not None
        if finding.people.value is None:
            assert finding.people.note
        else:
            assert finding.people.low is None or finding.people.low <= finding.people.value <= finding.people.high


def test_what_breaks_the_policy_comes_first_and_is_critical() -> None:
    found = report("binary")
    assert found.verdict is not None
    assert found.verdict.outcome == "exceeds"
    first = found.folds[0].first
    assert (first.tier, first.severity, dict(first.who)) == ("policy", "critical", {"sex_at_birth": "F"})
    order = [(finding.tier != "policy", SEVERITIES.index(finding.severity)) for finding in found.findings]
    assert order == sorted(order)


def test_the_report_shows_its_default_thresholds() -> None:
    sheet = report("binary").document.balance_sheet
    assert sheet is not None
    shown = sheet.tables["thresholds"]
    assert [row["reported"] for row in shown.rows()] == [one.reported for one in THRESHOLDS.values()]


def test_mean_predictions_that_true_means_explain_are_no_alarm() -> None:
    """A regression that is right about everyone: means differ as the true ones do, and nothing is critical."""
    data = frame().assign(wage=lambda table: score(table))
    given = iso.Dataset(
        data.assign(said=data["wage"])[["sex_at_birth", "merit", "wage", "said"]],
        target="wage",
        protected=["sex_at_birth"],
        prediction="said",
        task="regression",
    )
    found = iso.audit(given, checks=["group_fairness", "fairness_suite"], n_boot=50)
    means = [finding for finding in found.findings if finding.metric == "mean_prediction"]
    assert means
    assert {finding.severity for finding in found.findings} == {"notice"}
    assert "the true means are" in means[0].message.text()


def test_fair_data_give_nothing_critical() -> None:
    rng = np.random.default_rng(11)
    n = 3000
    data = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b", "c"], n), "x": rng.random(n)})
    data["y"] = (rng.random(n) < data["x"]).astype(int)
    data["said"] = (data["x"] > 0.5).astype(int)
    given = iso.Dataset(data, target="y", protected=["sex", "race"], prediction="said")
    found = iso.audit(given, checks="standard", n_boot=50)
    assert all(finding.severity != "critical" for finding in found.findings)
    assert not [finding for finding in found.findings if finding.tier == "people" and finding.severity == "warning"]


if __name__ == "__main__":
    SNAPSHOT.write_text(
        "".join(f"\n# {task}\n\n" + "\n".join(lines(task)) + "\n" for task in TASKS).lstrip("\n"), encoding="utf-8"
    )
