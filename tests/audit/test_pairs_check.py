"""The check of pairs: fires where the attribute decides, is silent where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso

pandas = pytest.importorskip("pandas")


def subject(effect: float) -> tuple[iso.Dataset, Any]:
    """Applicants, and a model in which sex counts so many points."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"sex": rng.integers(0, 2, 600), "skill": rng.integers(0, 40, 600)})
    frame["hired"] = (frame["skill"] + effect * frame["sex"] > 20).astype(int)
    shown = frame.assign(sex=frame["sex"] if effect else 1)
    model = LogisticRegression(max_iter=1000).fit(shown[["sex", "skill"]], frame["hired"])
    return iso.Dataset(frame, target="hired", protected=["sex"]), model


def test_it_fires() -> None:
    data, model = subject(8.0)
    report = iso.audit(data, model, checks="pairs")
    (finding,) = [one for one in report.findings if one.check == "pairs"]
    assert finding.evidence == "pairs/witnesses"
    assert report["pairs"].values["share_low"] > 0
    assert len(report["pairs"].tables["witnesses"])
    figures = report["pairs"]
    assert figures.values["status"].text("pt-BR") == "existe um par"
    assert figures.heading("TSN") == "People tested"
    assert not [name for name in figures.values if figures.heading(name, "pt-BR") == figures.heading(name)]
    assert figures.values["share_low"] <= figures.values["share_estimate"].value <= figures.values["share_high"]


def test_it_does_not_fire() -> None:
    data, model = subject(0.0)
    report = iso.audit(data, model, checks="pairs")
    assert not report.findings
    assert report["pairs"].values["share_high"] == 0


def test_options() -> None:
    data, model = subject(8.0)
    chosen = {"pairs": {"method": "kosei", "max_tests": 30, "options": {"num_samples": 20}}}
    assert iso.audit(data, model, checks="pairs", options=chosen)["pairs"].values["TSN"] <= 30
    with pytest.raises(iso.SpecError, match="no option 'tests'"):
        iso.audit(data, model, checks="pairs", options={"pairs": {"tests": 3}})
