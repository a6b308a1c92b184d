"""Does a fix last: fitted on the first period, judged on each later one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from isonomia import Dataset, SpecError
from isonomia.cli.app import app
from isonomia.data import catalog
from isonomia.mitigation import Durability, Thresholds, durability


def years(n: int = 16000, bonus: tuple[float, ...] = (1.0, 1.0, 2.5), seed: int = 0) -> pd.DataFrame:
    """People of several years; the scores favour men by a bonus that may change."""
    rng = np.random.default_rng(seed)
    year = np.repeat(2015 + np.arange(len(bonus)), n)
    sex, skill = rng.choice(["F", "M"], year.size), rng.normal(size=year.size)
    man = (sex == "M") * np.array(bonus)[year - 2015]
    hired = (skill + man + rng.normal(size=year.size) > 0.5).astype(int)
    score = 1 / (1 + np.exp(-2 * (skill + man - 0.5)))
    return pd.DataFrame({"year": year, "sex": sex, "skill": skill, "score": score, "hired": hired})


ROLES: dict[str, Any] = {"target": "hired", "positive": 1, "protected": "sex", "time": "year"}
OPTIONS: dict[str, Any] = {"methods": ["thresholds"], "limit": 0.15, "attribute_at_decision": True}


def test_a_fix_that_fades_is_reported() -> None:
    found = durability(Dataset(years(), **ROLES, score="score"), **OPTIONS)
    rows = {(row["method"], row["period"]): row for row in found.tables["periods"].rows()}
    assert rows["thresholds", "2016"]["verdict"] == "meets"
    assert rows["thresholds", "2017"]["verdict"] == "exceeds"
    assert (found.lasting, found.best, found.verdict) == ((), None, "exceeds")
    assert [finding.code for finding in found.findings] == ["durability.fades"]
    drift = next(row for row in found.tables["methods"].rows() if row["method"] == "thresholds")
    assert drift["gap_drift"] > 0.2
    with pytest.raises(SpecError, match="No fix is shown to last"):
        found.save("fix.json")


def test_a_fix_that_lasts_is_the_best_and_is_that_of_the_first_year(tmp_path: Path) -> None:
    frame = years(bonus=(1.0, 1.0, 1.0))
    found = durability(Dataset(frame, **ROLES, score="score"), **OPTIONS)
    assert (found.lasting, found.best, found.verdict) == (("thresholds",), "thresholds", "meets")
    # the figures by another route: thresholds of 2015, rates of the people of 2016
    first, later = frame[frame.year == 2015], frame[frame.year == 2016]
    assert found.mitigated is not None
    options = found.mitigated.fitted["thresholds"].get_params()
    fix = Thresholds(**options).fit_scores(first.score, first.hired, sensitive_features=first[["sex"]])
    decided = fix.predict_scores(later.score, sensitive_features=later[["sex"]])
    gap = abs(decided[later.sex == "F"].mean() - decided[later.sex == "M"].mean())
    row = next(r for r in found.tables["periods"].rows() if (r["method"], r["period"]) == ("thresholds", "2016"))
    assert row["gap"] == pytest.approx(gap, abs=1e-12)
    assert row["accuracy"] == pytest.approx((decided == later.hired).mean(), abs=1e-12)
    assert row["n"] == 16000
    assert found.save(tmp_path / "fix.json").exists()
    again = Durability.from_dict(found.to_dict())
    assert again.to_dict() == found.to_dict()
    assert "Does it last?" in found.to_html()
    assert "A correção dura?" in found.to_html(language="pt-BR")


def test_intervals_of_more_periods_are_wider() -> None:
    frame = years(1500, bonus=(1.0,) * 6)
    few, many = (
        durability(Dataset(frame[frame.year < end], **ROLES, score="score"), **OPTIONS) for end in (2017, 2021)
    )
    ends = [
        next(r for r in found.tables["periods"].rows() if r["method"] == "none" and r["period"] == "2016")
        for found in (few, many)
    ]
    assert ends[0]["gap"] == ends[1]["gap"]
    assert ends[0]["gap_high"] < ends[1]["gap_high"]


def test_an_estimator_is_trained_on_the_first_period_and_moments_are_not_features() -> None:
    frame = years(1500).drop(columns=["score", "sex"]).assign(sex=years(1500).sex == "M")
    found = durability(
        frame, LogisticRegression(), time="year", target="hired", protected="sex", methods=["reweighing"], limit=0.9
    )
    assert found.mitigated is not None
    assert list(found.mitigated.fitted["reweighing"].feature_names_in_) == ["skill", "sex"]
    assert found.verdict == "meets"


def test_bad_input_is_named() -> None:
    frame = years(300)
    with pytest.raises(SpecError, match="no column of moments"):
        durability(Dataset(frame, target="hired", protected="sex", score="score"))
    with pytest.raises(SpecError, match="no `test`, no `folds`"):
        durability(Dataset(frame, **ROLES, score="score"), folds=3)
    few = frame[(frame.year < 2017) | (frame.index % 100 == 0)]
    found = durability(Dataset(few, **ROLES, score="score"), **OPTIONS)
    row = next(r for r in found.tables["periods"].rows() if r["period"] == "2017")
    assert row["gap"] is None
    assert found.lasting == ()


def test_the_employment_of_massachusetts(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / "acs_employment_ma.csv.xz").parent))
    found = durability(
        catalog.load("acs_employment"), attributes="SEX", methods=["thresholds"], attribute_at_decision=True
    )
    assert [r["period"] for r in found.tables["periods"].rows() if r["method"] == "none"] == ["2016", "2017", "2018"]
    assert found.values["fitted_on"] == "2015"
    assert found.verdict == "meets"


def test_the_command_line_judges_later_periods(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    years().to_csv(path, index=False)
    words = ["mitigate", str(path), "--target", "hired", "--positive", "1", "--protected", "sex", "--score", "score"]
    words += ["--methods", "thresholds", "--limit", "0.15", "--allow-attribute", "--durability", "--time", "year"]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 1, done.output
    record = json.loads(done.stdout)
    assert (record["code"], record["lasting"], record["verdict"]) == ("durability", [], "exceeds")
    shown = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert "at first, and exceeds it in 2017" in " ".join(shown.stdout.split())
    assert "<svg" in (tmp_path / "out" / "mitigation.html").read_text(encoding="utf-8")
