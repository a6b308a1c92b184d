"""What is shown when a mark is pointed at names people as the rest of a report does, not as ``sex=female``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from isonomia.evidence import Column, Picture, Result, Table
from isonomia.languages import Words, msg
from isonomia.languages.naming import below, is_value, together
from isonomia.report import draw, draw_svg
from isonomia.report.naming import in_file_words

WOMEN = is_value("sex", "female")
YOUNG = together([is_value("sex", "female"), is_value("age", below(25))])
BOTH = together([is_value("sex", "male"), is_value("race", "Black")])
GROUPS = [WOMEN, YOUNG, BOTH]
TABLE = Table.of(
    {
        "group": GROUPS,
        "other": [BOTH, WOMEN, YOUNG],
        "rate": [0.2, 0.3, 0.4],
        "rate_low": [0.1, 0.2, 0.3],
        "rate_high": [0.3, 0.4, 0.5],
        "cost": [1.0, 2.0, 3.0],
        "n": [10, 20, 30],
        "tp": [1, 2, 3],
        "fp": [1, 2, 3],
        "fn": [1, 2, 3],
        "tn": [1, 2, 3],
        "decision": ["yes", "no", "yes"],
        "decided": ["no", "no", "yes"],
    },
    [Column("rate", format="pct", title=msg("Selection rate"))],
)
PICTURES: dict[str, dict[str, Any]] = {
    "bars": {"labels": "group", "value": "rate"},
    "beeswarm": {"labels": "group", "value": "rate", "n": "n"},
    "confusion": {"labels": "group"},
    "flows": {"labels": "group", "before": "decision", "after": "decided"},
    "forest": {"labels": "group", "value": "rate"},
    "front": {"labels": "group", "x": "rate", "y": "cost"},
    "heatmap": {"x": "group", "y": "other", "value": "rate"},
    "lines": {"x": "group", "value": "rate"},
    "scatter": {"x": "rate", "y": "cost", "hover": "group"},
    "slopes": {"labels": "group", "before": "rate", "after": "rate_high"},
    "waterfall": {"labels": "group", "value": "rate"},
}
#: The young women of `GROUPS` as tables have them.
SAID = {"en": "female, age below 25", "pt-BR": "female, age abaixo de 25"}


def hovers(picture: Picture, table: Table, language: str) -> list[str]:
    """The hover texts of the Plotly figure, and the titles and the description of the static drawing."""
    figure = draw(picture, table, language).to_plotly_json()
    texts = [str(trace["hovertext"]) for trace in figure["data"] if trace.get("hovertext") is not None]
    return [*texts, *re.findall(r"<(?:title|desc)>(.*?)</", draw_svg(picture, table, language), re.DOTALL)]


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("kind", PICTURES)
def test_no_hover_text_has_a_column_with_an_equals_sign(kind: str, language: str) -> None:
    shown = " ".join(hovers(Picture(kind, "t", msg("Rates"), PICTURES[kind]), TABLE, language))
    assert "=" not in shown
    assert SAID[language] in shown


def test_hover_texts_use_the_words_of_the_file() -> None:
    words = Words(columns={"age": "idade"}, values={"sex": {"female": "mulheres"}})
    result = in_file_words(Result("c", msg("Rates"), {"t": TABLE}), words)
    shown = " ".join(hovers(Picture("forest", "t", msg("Rates"), PICTURES["forest"]), result.tables["t"], "pt-BR"))
    assert "mulheres, idade abaixo de 25" in shown


def test_several_groups_in_a_cell_are_named_each() -> None:
    table = Table((Column("losers", [together([WOMEN, YOUNG], "; "), ""]),))
    assert in_file_words(table)["losers"].text(0, "pt-BR") == "female; female, age abaixo de 25"


def test_notes_name_people() -> None:
    result = Result("c", msg("Rates"), notes=(msg("{name}", name=YOUNG),))
    assert [note.text("pt-BR") for note in in_file_words(result).notes] == ["mulheres com age abaixo de 25"]
