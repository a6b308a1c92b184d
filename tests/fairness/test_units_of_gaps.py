"""A gap is told in its own unit: rates in points, numbers in standard deviations; one limit for one question."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from isonomia import fairness


def wages() -> pd.DataFrame:
    """Women are predicted 10 less on average, where predictions have a standard deviation of about 20."""
    rng = np.random.default_rng(1)
    sex = np.repeat(["women", "men"], 400)
    y = rng.normal(100, 20, 800) + 10 * (sex == "men")
    return pd.DataFrame({"sex": sex, "y": y, "p": y + rng.normal(0, 1, 800)})


ROLES = {"target": "y", "prediction": "p", "protected": ["sex"], "task": "regression"}


def test_a_gap_of_predicted_numbers_is_in_standard_deviations() -> None:
    frame = wages()
    found = fairness.demographic_parity(frame, **ROLES)
    means = frame.groupby("sex")["p"].mean()
    deviations = (means["men"] - means["women"]) / frame["p"].std(ddof=0)
    assert found.difference.value == pytest.approx(deviations)
    english, portuguese = found.interpretation(), found.interpretation("pt-BR")
    assert "%" not in english + portuguese, "no share of anything"
    assert f"The gap is {deviations:.2f} standard deviations of the predictions" in english
    assert "0,52 desvio-padrão das previsões" in portuguese
    measure = next(
        one for (_, name), one in fairness.suite(frame, **ROLES, n_boot=50).criteria.items() if name == "mean_parity"
    )
    assert measure.figure.value == pytest.approx(deviations)
    assert measure.threshold == found.threshold == 0.2
    assert fairness.demographic_parity(frame, **ROLES, threshold=0.9).passes


def test_gaps_of_rates_are_points() -> None:
    p = [1] * 60 + [0] * 40 + [1] * 40 + [0] * 60
    said = fairness.demographic_parity(p, sensitive_features=["a"] * 100 + ["b"] * 100)
    assert re.search(
        r"The gap is 20 points \(\d+(\.\d)? to \d+\), above the 10 points allowed\.", said.interpretation()
    )
    assert "20 pontos" in said.interpretation("pt-BR")
    assert "mean difference: 20.0 points" in str(said)
    assert "threshold: 10.0 points" in str(said)
    y = ([1] * 50 + [0] * 50) * 2
    found = fairness.suite(y, p, sensitive_features={"sex": ["a"] * 100 + ["b"] * 100}, n_boot=50)
    texts = [str(message) for message in found.warnings]
    assert any("a gap of 20 points; the usual threshold is 10 points" in text for text in texts), texts


def test_treatment_equality_has_no_usual_threshold() -> None:
    y = np.tile(np.repeat([1, 0], 100), 2)
    first = np.r_[np.arange(100) >= 40, np.arange(100) < 10]  # 40 missed, 10 false
    second = np.r_[np.arange(100) >= 20, np.arange(100) < 20]  # 20 missed, 20 false
    p = np.r_[first, second].astype(int)
    sex = {"sex": ["a"] * 200 + ["b"] * 200}
    found = fairness.suite(y, p, sensitive_features=sex, n_boot=50)
    told = [finding for finding in found.findings if finding.code == "fairness_suite.treatment_equality"]
    assert len(told) == 1
    assert "usual threshold is" not in str(told[0].message)
    assert "no usual threshold" in str(told[0].message)
    assert "não há limite usual" in told[0].message.text("pt-BR")
    assert told[0].severity == "notice", "beyond a limit that nobody has set"
    alone = fairness.treatment_equality(y, p, sensitive_features=sex)
    assert "no usual threshold" in alone.interpretation()


def test_a_suite_counts_its_measures() -> None:
    p = [1] * 90 + [0] * 10 + [1] * 20 + [0] * 80
    found = fairness.suite([1, 0] * 100, p, sensitive_features={"sex": ["a"] * 100 + ["b"] * 100}, n_boot=50)
    outcomes = [str(value) for value in found.tables["measures"]["outcome"].values]
    assert found.total_count == len(outcomes)
    assert found.passed_count == outcomes.count("within")
    assert found.failed_count == outcomes.count("beyond") > 0
    assert found.inconclusive_count == sum("inconclusive" in one or one == "not available" for one in outcomes)
    assert found.passed_count + found.failed_count + found.inconclusive_count == found.total_count
    record = found.to_dict()
    assert record["counts"] == {
        "passed": found.passed_count,
        "failed": found.failed_count,
        "inconclusive": found.inconclusive_count,
        "total": found.total_count,
    }
    assert str(found.failed_count) in repr(found)


def test_lists_of_messages_can_be_read() -> None:
    p = [1] * 90 + [0] * 10 + [1] * 20 + [0] * 80
    found = fairness.suite([1, 0] * 100, p, sensitive_features={"sex": ["a"] * 100 + ["b"] * 100}, n_boot=50)
    shown = f"{found.warnings} {found.critical_issues}"
    assert "template=" not in shown
    assert str(found.critical_issues[0]) in shown
