"""Verdicts as sentences in both languages: people, figure, interval, limit, and what follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit.verdicts.verdict import judge
from isonomia.languages.locales import catalog
from isonomia.policies import load_policy, shipped_texts
from isonomia.subject import Subject


def applicants(**groups: tuple[int, int]) -> iso.Dataset:
    """Applicants by race, each with (approved, all)."""
    rows = [(name, "approved" if row < hits else "denied") for name, (hits, n) in groups.items() for row in range(n)]
    frame = pd.DataFrame(rows, columns=["race", "loan"])
    return iso.Dataset(frame, prediction="loan", positive="approved", protected=["race"])


def said(data: Any, policy: Any) -> tuple[str, str]:
    """The verdict in English and in Portuguese."""
    reason = judge(load_policy(policy), Subject.of(data)).reason
    assert reason is not None
    assert not isinstance(reason, str)
    return reason.text(), reason.text("pt-BR")


GAP = {"name": "gap", "metric": "selection_rate", "measure": "difference", "at_most": 0.1}


def own(*rules: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"id": "own", "title": "own", "rules": list(rules), **facts}


CASES: dict[str, tuple[dict[str, tuple[int, int]], Any, str, str]] = {
    "exceeds": (
        {"White": (1770, 2000), "Black": (593, 1000)},
        "eeoc",
        "Of Black people, 59% are approved; of White people, 88%: a ratio of 0.67. The interval is 0.63 to "
        "0.71; the limit is 0.80.",
        '59% das pessoas de race Black recebem a decisão "approved"; das pessoas de race White, 88%: '
        "razão de 0,67. O intervalo vai de 0,63 a 0,71; o limite é 0,80.",
    ),
    "meets": (
        {"White": (1770, 2000), "Black": (880, 1000)},
        "eeoc",
        "Of Black people, 88% are approved; of White people, 88%: a ratio of 0.99. The interval is 0.97 to "
        "1.00; the limit is 0.80. The limit is met.",
        '88% das pessoas de race Black recebem a decisão "approved"; das pessoas de race White, 88%: '
        "razão de 0,99. O intervalo vai de 0,97 a 1,00; o limite é 0,80. O limite é respeitado.",
    ),
    "could be a breach": (
        {"White": (30, 60), "Black": (27, 60)},
        "eeoc",
        "Of Black people, 45% are approved; of White people, 50%: a ratio of 0.90. The interval is 0.61 to "
        "1.00; the limit is 0.80. Not enough evidence: the figure meets the limit, but a value as low as 0.61 cannot "
        "be ruled out.",
        '45% das pessoas de race Black recebem a decisão "approved"; das pessoas de race White, 50%: '
        "razão de 0,90. O intervalo vai de 0,61 a 1,00; o limite é 0,80. Evidência insuficiente: o valor "
        "respeita o limite, mas não se pode descartar um valor tão baixo quanto 0,61.",
    ),
    "could be chance, and someone left out": (
        {"White": (300, 600), "Black": (110, 300), "Native": (3, 10)},
        "eeoc",
        "Of Black people, 37% are approved; of White people, 50%: a ratio of 0.73. The interval is 0.62 to "
        "0.86; the limit is 0.80. Not enough evidence: the figure exceeds the limit, but the interval contains it, so "
        "this may be due to chance. Left out below 2.0% of the people: Native people (10).",
        '37% das pessoas de race Black recebem a decisão "approved"; das pessoas de race White, 50%: '
        "razão de 0,73. O intervalo vai de 0,62 a 0,86; o limite é 0,80. Evidência insuficiente: o valor "
        "ultrapassa o limite, mas o intervalo o contém; pode ser acaso. Ficaram fora, abaixo de 2,0% das pessoas: "
        "pessoas de race Native (10).",
    ),
    "too few": (
        {"White": (300, 600), "Black": (3, 10)},
        "eeoc",
        "Selection rate ratio by race: not enough evidence, since fewer than two groups by race have 30 rows and a "
        "value. Left out below 2.0% of the people: Black people (10).",
        "Razão das taxas de seleção por race: evidência insuficiente, pois menos de dois grupos por race têm 30 "
        "registros e um valor. Ficaram fora, abaixo de 2,0% das pessoas: pessoas de race Black (10).",
    ),
    "a difference in points, and one more": (
        {"White": (1770, 2000), "Black": (593, 1000)},
        own(GAP, {**GAP, "name": "half", "at_most": 0.05}),
        "Selection rate is 59% for Black people and 88% for White people, a gap of 29 points. The interval is "
        "25 to 33 points; the limit is 5.0 points. Also exceeded: gap by race (Black people, 29 points).",
        "Taxa de seleção: 59% para pessoas de race Black e 88% para pessoas de race White, uma diferença de 29 "
        "pontos. O intervalo vai de 25 a 33 pontos; o limite é 5,0 pontos. Também ultrapassado: gap por race "
        "(pessoas de race Black, 29 pontos).",
    ),
    "a value": (
        {"White": (1770, 2000), "Black": (593, 1000)},
        own({"name": "approvals", "metric": "selection_rate", "measure": "value", "at_least": 0.9}),
        "Selection rate is 79%. The interval is 77% to 80%; the limit is 90%.",
        "Taxa de seleção: 79%. O intervalo vai de 77% a 80%; o limite é 90%.",
    ),
    "not applicable": (
        {"White": (300, 600), "Black": (300, 600)},
        "engineering-regression",
        "No criterion of the policy applies to this subject. Mean error gap: not applicable, since Mean error is not "
        "defined for this task (binary).",
        "Nenhum critério da política se aplica a este caso. Diferença do erro médio: não se aplica, pois não há erro "
        "médio para esta tarefa (binária).",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_names_people_figure_interval_and_limit(case: str) -> None:
    groups, policy, english, portuguese = CASES[case]
    assert said(applicants(**groups), policy) == (english, portuguese)


def test_labels_of_the_file_are_spoken() -> None:
    rows = {"sex": ["F"] * 500 + ["M"] * 500, "decision": ["1"] * 200 + ["0"] * 300 + ["1"] * 400 + ["0"] * 100}
    labels = {"sex": {"F": "women", "M": "men"}, "decision": {"1": "admitted"}}
    data = iso.Dataset(rows, prediction="decision", positive="1", protected=["sex"], labels=labels)
    assert said(data, "eeoc")[0].startswith("Of women, 40% are admitted; of men, 80%: a ratio of 0.50.")


def test_a_figure_at_the_limit_is_told_apart_from_it() -> None:
    """0.798 is not written as "0.80; the limit is 0.80"."""
    english, _ = said(applicants(White=(50_000, 100_000), Black=(39_900, 100_000)), "eeoc")
    assert "a ratio of 0.798" in english


def test_the_worst_criterion_comes_first_and_the_closest_where_all_are_met() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    sex, race = rng.choice(["women", "men"], n), rng.choice(["Black", "White"], n)
    p = (rng.random(n) < 0.6 - 0.1 * (sex == "women") - 0.02 * (race == "Black")).astype(int)
    data = iso.Dataset({"sex": sex, "race": race, "p": p}, prediction="p", protected=["race", "sex"])
    english, _ = said(data, own({**GAP, "at_most": 0.02}))
    assert english.startswith("Selection rate is 49% for women and 59% for men")
    english, _ = said(data, own({**GAP, "at_most": 0.5}))
    assert english.startswith("All 2 criteria that apply are met. Selection rate is")
    assert "women" in english


def test_every_sentence_is_short_enough_to_be_read() -> None:
    """At most 30 words in a sentence."""
    for groups, policy, *_ in CASES.values():
        verdict = judge(load_policy(policy), Subject.of(applicants(**groups)))
        for part in (verdict.basis, *verdict.notes):
            assert part is not None
            for language in ("en", "pt-BR"):
                assert all(len(one.split()) <= 30 for one in part.text(language).split(". ")), part.text(language)


def test_every_text_of_a_shipped_policy_is_translated() -> None:
    known = catalog("pt-BR")
    assert [text for text in shipped_texts() if text not in known] == []


def test_a_figure_is_told_from_its_limit() -> None:
    """Two digits in a sentence, unless they would say that a figure beyond the limit is the limit."""
    n = 1_000_000
    p = np.r_[np.arange(n) < 0.5 * n, np.arange(n) < 0.397 * n].astype(int)
    data = iso.Dataset({"sex": np.repeat(["men", "women"], n), "p": p}, prediction="p", protected=["sex"])
    english, portuguese = said(data, own({**GAP, "at_most": 0.1}))
    assert "a gap of 10.3 points" in english
    assert "the limit is 10 points" in english
    assert "10,3 pontos" in portuguese
