"""The file's own words in sentences: people, columns, values and the favourable outcome."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.errors import IsonomiaError
from isonomia.languages import ColumnName, Message, Name, OutcomeName, People, Words, decode, encode, msg
from isonomia.languages.naming import among, below, between
from isonomia.languages.words import ARE_SELECTED, BE_SELECTED, TRULY_UNFAVOURABLE


def said(words: Words, phrase: Message, language: str = "en") -> str:
    return words.spoken(Message("{phrase}", {"phrase": phrase})).text(language)


@pytest.mark.parametrize(
    ("who", "english", "portuguese"),
    [
        ({"race": "Black", "sex": "Female"}, "Black women", "mulheres de race Black"),
        ({"Cor": "Parda"}, "Parda people", "pessoas de Cor Parda"),
        ({"sex": "F"}, "women", "mulheres"),
        ({"sex": "Other"}, "people with sex Other", "pessoas com sex Other"),
        ({"race": "Other", "sex": "m"}, "men with race Other", "homens com race Other"),
        ({"wed": "True", "race": "Other"}, "people with wed True and race Other", "pessoas com wed True e race Other"),
        ({"sex_Male": "1", "race_Black": "1"}, "Black men", "homens de race Black"),
        ({"sex_Male": "0"}, "people with sex other than Male", "pessoas com sex diferente de Male"),
        ({"sex_code": "1"}, "people with sex code 1", "pessoas com sex code 1"),
        ({"sex": "F", "sex_Male": "1"}, "women with sex Male 1", "mulheres com sex Male 1"),
        ({"age": below(25.5)}, "people with age below 25.5", "pessoas com age abaixo de 25,5"),
        ({"age": between(25, 60)}, "people with age 25 to below 60", "pessoas com age de 25 até menos de 60"),
        ({"age": "[25, 60)"}, "people with age [25, 60)", "pessoas com age [25, 60)"),  # a text of the data is no band
        ({"age": "< 25"}, "people with age < 25", "pessoas com age < 25"),
        (
            {"job": among(["cook", "night_nurse"])},
            "people with job cook, night nurse",
            "pessoas com job cook, night nurse",
        ),
        ({"job": "{cook, nurse}"}, "people with job {cook, nurse}", "pessoas com job {cook, nurse}"),
        ({"race": Name(msg("missing"))}, "people with race missing", "pessoas com race ausente"),
        ({"sex": "<b>M"}, "people with sex <b>M", "pessoas com sex <b>M"),
        ({}, "everyone", "todas as pessoas"),
    ],
)
def test_people_are_a_noun_phrase_in_a_sentence(who: dict[str, str], english: str, portuguese: str) -> None:
    assert People.of(who).message.text() == english
    assert People.of(who).message.text("pt-BR") == portuguese
    again = decode(encode(People.of(who)))
    assert again == People.of(who)
    assert again.message.text("pt-BR") == portuguese


@pytest.mark.parametrize(
    ("target", "favourable", "are", "portuguese"),
    [
        ("loan", "approved", "are approved", 'recebem a decisão "approved"'),
        ("loan", "Approved", "are approved", 'recebem a decisão "approved"'),
        ("hired", "yes", "are hired", 'recebem a decisão "hired"'),
        ("hired", "1", "are hired", 'recebem a decisão "hired"'),
        ("income", ">50K", 'get the decision ">50K"', 'recebem a decisão ">50K"'),
        ("credit", "good", 'get the decision "good"', 'recebem a decisão "good"'),
        ("y", "1", "are selected", "recebem a decisão favorável"),
        ("", "", "are selected", "recebem a decisão favorável"),
        ("car", "speed", 'get the decision "speed"', 'recebem a decisão "speed"'),
    ],
)
def test_the_favourable_value_is_the_verb_where_it_is_one(
    target: str, favourable: str, are: str, portuguese: str
) -> None:
    words = Words(target=target, favourable=favourable, unfavourable="no")
    assert said(words, ARE_SELECTED) == are
    assert said(words, ARE_SELECTED, "pt-BR") == portuguese
    assert said(words, BE_SELECTED) == are.replace("are ", "be ").replace("get ", "receive ")


def test_labels_reach_columns_values_people_and_outcomes() -> None:
    words = Words(
        columns={"dti": "debt to income", "loan_status": "decision"},
        values={"sex": {"F": "women"}, "loan_status": {"Y": "approved", "N": "denied"}},
        groups=(((("race", "Black"), ("sex", "F")), "Black women"),),
        target="loan_status",
        favourable="Y",
        unfavourable="N",
    )
    sentence = Message(
        "{a:first}, {b}, {c}, {d}",
        {
            "a": People.of({"sex": "F"}),
            "b": People.of({"sex": "F", "race": "Black"}),
            "c": ColumnName("dti"),
            "d": OutcomeName("N"),
        },
    )
    assert words.spoken(sentence).text() == "Women, Black women, debt to income, denied"
    assert said(words, ARE_SELECTED) == "are approved"
    assert said(words, TRULY_UNFAVOURABLE) == 'whose decision is "denied"'
    assert decode(encode(words)) == words


@given(st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_hostile_names_stay_text_and_are_escaped(column: str, value: str) -> None:
    words = Words(target=column, favourable=value, unfavourable="x")
    sentence = Message("{who:first} {are}", {"who": People.of({column: value}), "are": ARE_SELECTED})
    shown = words.spoken(sentence).text(escape=lambda text: re.sub(r"[<>&{}]", "_", text))
    assert not set("<>&{}") & set(shown)


# labels of a dataset ---------------------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "sex": ["F", "M"] * 20,
        "race": ["Black", "White", "White", "Black"] * 10,
        "age": list(range(20, 60)),
        "loan_status": [1, 0, 1, 1] * 10,
        "said": [1, 0, 0, 1] * 10,
    }
)


def dataset(**labels: object) -> iso.Dataset:
    return iso.Dataset(
        FRAME,
        target="loan_status",
        prediction="said",
        protected={"sex": None, "race": None, "age": [30]},
        labels=labels,
    )


def test_labels_are_read_and_kept() -> None:
    given_ = {
        "sex": {"": "gender", "F": "women", "M": "men"},
        "loan_status": {"1": "approved"},
        "age": {"< 30": "the young"},
        "race x sex": {"Black x F": "Black women"},
    }
    data = dataset(**given_)
    words = iso.Subject.of(data).words
    assert words.column("sex") == "gender"
    assert said(words, ARE_SELECTED) == "are approved"
    assert str(words.people({"race": "Black", "sex": "F", "age": "< 30"})) == "Black women, the young"
    assert data.take([0, 1, 2]).words == data.words, "a part of the rows need not contain every value"
    assert data.with_roles(name="loans").words == data.words


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({"sx": "gender"}, r"must name columns.*'sx'.*Did you mean 'sex'"),
        ({"sex": {"female": "women"}}, r"labels\.sex.*must name values.*'female'"),
        ({"sex": 3}, r"labels\.sex.*must be a text"),
        ({"sex": ""}, r"must be a text"),
        ({"sex": {"F": "a\nb"}}, "printable"),
        ({"sex": "x" * 101}, "100 printable"),
        ({"race x sex": "people"}, "must map values"),
        ({"race x sex": {"Black": "Black people"}}, "a value for each column"),
        ({"race x sx": {"Black x F": "Black women"}}, "must name columns"),
    ],
)
def test_wrong_labels_are_refused(labels: dict[str, object], problem: str) -> None:
    with pytest.raises(IsonomiaError, match=problem):
        dataset(**labels)


def test_a_report_speaks_the_labels_and_is_the_same_after_loading() -> None:
    labels = {"sex": {"F": "women", "M": "men"}, "loan_status": {"": "decision", "1": "approved"}}
    data = iso.Dataset(
        pd.concat([FRAME] * 10, ignore_index=True).assign(said=lambda f: (f["sex"] == "M").astype(int)),
        target="loan_status",
        prediction="said",
        protected=["sex"],
        labels=labels,
    )
    report = iso.audit(data, checks=["group_fairness"], n_boot=0, reference={"sex": "M"})
    lead = report.findings[0].message.text()
    assert lead.startswith('Of people whose decision is "approved", 0.0% of women and 100% of men are approved.')
    rate = next(one for one in report.findings if one.metric == "selection_rate").message.text()
    assert rate.startswith("Women are approved less often than men: 0.0% and 100%.")
    again = iso.Report.from_dict(report.to_dict())
    assert again.document.words == report.document.words
    assert again.findings == report.findings
