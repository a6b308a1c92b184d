"""Which method should I use for which situation? The best by situation, and those that are not worse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.benchmark.settings import CENTRE, Setting
from isonomia.benchmark.summary import PRIMARY, Cells, Finds
from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import Message, msg

#: With fewer settings nothing is advised: a method that is better in every one of four is so by chance in 0.5^4 = 6%.
ADVISED_FROM = 5


@dataclass(frozen=True)
class Situation:
    """What a user knows beforehand, and which settings are like it."""

    text: Message
    fits: Callable[[Setting], bool]


SITUATIONS: tuple[Situation, ...] = (
    Situation(msg("all settings"), lambda s: True),
    Situation(msg("the bias is small (up to 0.5 in log-odds)"), lambda s: 0 < abs(s.bias) <= 0.5),
    Situation(msg("the bias is large (2 in log-odds or more)"), lambda s: abs(s.bias) >= 2),
    Situation(msg("people are favoured, not wronged"), lambda s: s.bias > 0),
    Situation(msg("few rows per subgroup (up to 100)"), lambda s: s.group_rows <= 100),
    Situation(msg("many rows per subgroup (2,000 or more)"), lambda s: s.group_rows >= 2000),
    Situation(msg("one protected attribute defines a subgroup"), lambda s: s.intersectionality == 1),
    Situation(msg("three or more protected attributes define a subgroup"), lambda s: s.intersectionality >= 3),
    Situation(msg("protected attributes alone define a subgroup"), lambda s: s.granularity == 0),
    Situation(msg("two or more other attributes define a subgroup"), lambda s: s.granularity >= 2),
    Situation(msg("outcomes or models are uncertain"), lambda s: s.aleatoric >= 0.5 or s.epistemic >= 0.3),
    Situation(msg("ten or more subgroups are affected"), lambda s: s.n_pairs >= 10),
    Situation(msg("the model is the biased rule itself"), lambda s: s.model == "oracle"),
    Situation(msg("the model is linear"), lambda s: s.model == "logistic"),
    Situation(msg("the model is a forest or gradient boosting"), lambda s: s.model in ("forest", "boosting")),
    Situation(msg("the model is a neural network"), lambda s: s.model == "network"),
    Situation(msg("the model does not see protected attributes"), lambda s: s.model == "boosting_blind"),
    Situation(msg("several classes"), lambda s: s.task == "multiclass"),
    Situation(msg("a number is predicted"), lambda s: s.task == "regression"),
    Situation(msg("people as in public data"), lambda s: s.source != CENTRE.source),
)


def advice_rows(cells: Cells, finds: Finds) -> list[dict[str, Any]]:
    """For each situation with enough settings: the best method, its score, and the others that are not worse."""
    rows = []
    for situation in SITUATIONS:
        settings = [setting for setting in cells.to_find() if situation.fits(setting)]
        if len(settings) < ADVISED_FROM:
            continue
        scores = cells.scores(finds, PRIMARY[finds], settings)
        seconds = cells.scores(finds, "seconds", settings)
        values = [estimate.value for estimate in scores.means]
        if all(not value for value in values):
            continue
        best = int(np.nanargmax([np.nan if value is None else value for value in values]))
        alike = [index for index in scores.not_worse(best) if index != best]
        alike.sort(key=lambda index: -(values[index] or 0))
        rows.append(
            {
                "situation": situation.text,
                "settings": len(settings),
                "best": scores.methods[best],
                "score": scores.means[best],
                "seconds": seconds.means[best],
                "alike": ", ".join(scores.methods[index] for index in alike) or None,
            }
        )
    return rows


def advice_table(cells: Cells, finds: Finds) -> Table:
    """`advice_rows` as a table."""
    score = msg("F1") if finds == "subgroups" else msg("Recall")
    fields = (
        Column("situation", title=msg("Situation")),
        Column("settings", format="int", title=msg("Settings")),
        Column("best", title=msg("Finds most")),
        Column("score", format="pct", title=score),
        Column("seconds", format="num", title=msg("Seconds")),
        Column("alike", title=msg("Not worse")),
    )
    title = msg("Searching for subgroups") if finds == "subgroups" else msg("Searching for pairs of people")
    return Table.from_rows(advice_rows(cells, finds), fields, title=title)


def advice_notes(cells: Cells) -> tuple[Message, ...]:
    """The answer in sentences: the best method of each kind over all settings, and its price."""
    found: list[Message] = []
    for finds in PRIMARY:
        rows = advice_rows(cells, finds)
        if not rows:
            continue
        first = rows[0]
        score: Estimate = first["score"]
        params: dict[str, Any] = {
            "method": first["best"],
            "score": _with_interval(score),
            "n": first["settings"],
            "seconds": first["seconds"].value,
        }
        found.append(
            msg(
                "To find subgroups use {method}: F1 {score} over {n:# setting|# settings}, {seconds:num} seconds per "
                "search.",
                **params,
            )
            if finds == "subgroups"
            else msg(
                "To find pairs of people use {method}: it finds {score} of the biases over {n:# setting|# settings}, "
                "in {seconds:num} seconds per search.",
                **params,
            )
        )
        if first["alike"]:
            found.append(msg("Not worse by the same data: {methods}.", methods=first["alike"]))
    return tuple(found)


def _with_interval(score: Estimate) -> Message:
    """A share with its interval; by itself where one data seed gives none."""
    if score.low is None or score.high is None:
        return Message("{x:pct}", {"x": score.value})
    return Message("{x:pct} [{low:pct}, {high:pct}]", {"x": score.value, "low": score.low, "high": score.high})


def no_advice(cells: Cells) -> Message | None:
    """Why there is no answer: cells are to do, nothing was there to find, settings are too few; None where one is."""
    done = len(cells.rows)
    if cells.waiting:
        return msg("{done:int} of {all:# cell|# cells}: no conclusion yet.", done=done, all=done + cells.waiting)
    settings = len(cells.to_find())
    if not settings:
        return msg("No conclusion: in none of the settings is there anything to find.")
    if settings < ADVISED_FROM:
        return msg(
            "{n:# setting|# settings}: no conclusion. A method is advised from at least {least:int} settings on.",
            n=settings,
            least=ADVISED_FROM,
        )
    return None
