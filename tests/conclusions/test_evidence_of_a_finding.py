"""From a finding to what it rests on: its row marked, the counts behind both rates, the arithmetic, and a way back.

2,000 applicants: 800 of 1,000 people A and 160 of 400 people C are granted, exactly.
"""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from tests.conclusions.test_first_page_picture import audited

import isonomia as iso


def box(html: str, number: int) -> str:
    found = re.search(rf'<div class="proof" id="evidence-{number}".*?</div><!-- proof -->', html, re.DOTALL)
    assert found is not None, "no box for the evidence"
    return found[0]


def plain(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


@pytest.mark.parametrize(
    ("language", "counts", "formula", "back"),
    [
        (
            "en",
            "race C: 160 of 400 (40%); race A: 800 of 1,000 (80%).",
            "Difference: 40% - 80% = -40 points. Ratio: 40% / 80% = 0.50.",
            "Back to finding",
        ),
        (
            "pt-BR",
            "race C: 160 de 400 (40%); race A: 800 de 1.000 (80%).",
            "Diferença: 40% - 80% = -40 p.p. Razão: 40% / 80% = 0,50.",
            "Voltar ao achado",
        ),
    ],
)
def test_the_evidence_of_a_gap(language: str, counts: str, formula: str, back: str) -> None:
    race = np.repeat(["A", "C"], [1000, 400])
    granted = np.r_[np.arange(1000) < 800, np.arange(400) < 160].astype(int)
    data = iso.Dataset({"race": race, "granted": granted}, prediction="granted", protected=["race"])
    report = iso.audit(data, checks="group_fairness", n_boot=50)
    at = next(n for n, fold in enumerate(report.folds, 1) if fold.first.code == "group_fairness.selection_rate")
    html = report.to_html(language)
    card = re.search(rf'id="finding-{at}".*?</article>', html, re.DOTALL)
    assert card is not None
    assert f'href="#evidence-{at}"' in card[0]
    proof = box(html, at)
    assert counts in plain(proof)
    assert formula in plain(proof)
    assert f'<a href="#finding-{at}">' in proof
    assert f"{back} {at}" in plain(proof)
    assert proof.count("<svg") == 2  # for a page and for a phone
    row = re.search(r'<tr class="marked">.*?</tr>', proof, re.DOTALL)
    assert row is not None
    assert "race C" in plain(row[0])
    assert "race A" in plain(row[0])
    after = html[html.index(proof) + len(proof) :]
    table = after[after.index("<table", after.rindex('<div class="proof"') if '<div class="proof"' in after else 0) :]
    assert '<tr class="marked"' in table


def test_a_rate_of_some_people_is_counted_among_them() -> None:
    """Half of all people repaid, and of them as many were granted: 80 of 200, 400 of 500."""
    report = audited(None)
    at = next(n for n, fold in enumerate(report.folds, 1) if "group_fairness.tpr" in {f.code for f in fold.findings})
    proof = plain(box(report.to_html(), at)) if report.folds[at - 1].first.code == "group_fairness.tpr" else ""
    assert proof, "the true positive rate leads an entry"
    assert "race C: 80 of 200 (40%); race A: 400 of 500 (80%)." in proof
    assert "40.0% · 200" in proof


def test_every_link_to_evidence_leads_somewhere() -> None:
    html = audited("engineering").to_html()
    links = set(re.findall(r'href="#([^"]+)"', html))
    ids = set(re.findall(r' id="([^"]+)"', html))
    assert links <= ids
    assert any(link.startswith("evidence-") for link in links)


def test_a_fragment_and_a_sheet_have_no_boxes() -> None:
    assert 'class="proof"' not in audited(None).to_html(page=False)
    assert 'class="proof"' not in audited(None).to_html(extent="first_page")


def test_a_breach_of_the_policy_has_its_evidence_too() -> None:
    """The finding of the suite: what the criterion requires, the counts, and the row with the same figure."""
    report = audited("eeoc", "standard")
    numbers = [number for number, fold in enumerate(report.folds, 1) if fold.first.check == "fairness_suite"]
    html = report.to_html()
    for number in numbers:
        assert f'id="evidence-{number}"' in html
    boxes = re.findall(r'<div class="proof" id="evidence-\d+"', html)
    assert len(boxes) >= 1
    assert "race C: 160 of 400 (40%); race A: 800 of 1,000 (80%)." in plain(box(html, 1))
