"""What people read in a report is in their language; JSON and frames keep the codes."""

from __future__ import annotations

import numpy as np
import pandas as pd

import isonomia as iso


def _people(n: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sex, month = rng.choice(["F", "M"], n), rng.integers(0, 8, n)
    said = np.where(rng.random(n) < 0.6 - 0.3 * ((sex == "F") & (month >= 5)), "high", rng.choice(["low", "mid"], n))
    return pd.DataFrame({"sex": sex, "month": month, "y": rng.choice(["low", "mid", "high"], n), "p": said})


def test_metrics_and_alerts_are_told_in_words() -> None:
    data = iso.Dataset(_people(), target="y", prediction="p", protected=["sex"], time="month")
    report = iso.audit(
        data,
        checks=["group_fairness", "over_time"],
        n_boot=300,
        reference="overall",
        options={"over_time": {"metrics": ["selection_rate"]}},
    )
    codes = set(report["group_fairness"].tables["comparisons"]["metric"].values)
    assert "accuracy" in codes
    english = ("change of the gap", 'Selection rate of "high"', "everyone")
    portuguese = ("mudança da diferença", 'Taxa de seleção de "high"', "todas as pessoas")
    for language, told in (("en", english), ("pt-BR", portuguese)):
        text = report.to_markdown(language)
        assert all(words in text for words in told), language
        assert "selection\\_rate" not in text
        assert "selection_rate" not in text
    alerts = {(alert["kind"], alert["metric"]) for alert in report["over_time"].alerts}
    assert ("change of the gap", "selection_rate[high]") in alerts
    assert "selection_rate[high]" in str(report.to_dict())
