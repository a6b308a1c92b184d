"""Weighted rows: a figure in people counts rows, and a weighted rate says that it is one.

3,000 rows that weigh some 190,000 each, as those of a census do; of women 30%, of men 60% are granted, by weight too.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from tests.conclusions.reading import LANGUAGES, first_page

import isonomia as iso

N = 3000


@cache
def audited(policy: str | None = None, weighted: bool = True) -> iso.Report:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], N)
    frame = {
        "sex": sex,
        "granted": (rng.random(N) < np.where(sex == "F", 0.3, 0.6)).astype(int),
        "repaid": rng.integers(0, 2, N),
        "fnlwgt": rng.integers(12_000, 400_000, N),
    }
    roles = {"weight": "fnlwgt"} if weighted else {"ignore": ["fnlwgt"]}
    data = iso.Dataset(frame, target="repaid", prediction="granted", protected=["sex"], **roles)  # type: ignore[arg-type]
    return iso.audit(data, policy=policy, n_boot=50)


@pytest.mark.parametrize("policy", [None, "eeoc"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_number_is_larger_than_the_rows(language: str, policy: str | None) -> None:
    text = "\n".join(first_page(audited(policy), language))
    said = [int(re.sub(r"\D", "", one)) for one in re.findall(r"\d{1,3}(?:[.,]\d{3})+", text)]
    assert not [number for number in said if number > N]
    for finding in audited(policy).findings:
        if finding.people is not None and finding.people.value is not None:
            assert abs(finding.people.value) <= N


def test_the_count_is_that_of_rows_at_the_weighted_rates() -> None:
    report = audited()
    one = next(one for one in report.findings if one.code == "group_fairness.selection_rate")
    rows = next(row["n"] for row in report["group_fairness"].tables["by_group"].rows() if row["group"] == "sex=F")
    assert one.n == rows
    assert one.people is not None
    assert one.people.value == pytest.approx(-one.estimate.value * rows)
    assert "weighted" in str(one.people.note)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_that_rates_are_weighted_and_people_are_rows(language: str) -> None:
    said = {
        "en": "Rates are weighted by fnlwgt; numbers of people count rows.",
        "pt-BR": "As taxas são ponderadas por fnlwgt; os números de pessoas contam registros.",
    }[language]
    assert sum(said in line for line in first_page(audited(), language)) == 1
    assert said not in "\n".join(first_page(audited(weighted=False), language))
