"""Situations that are unusual in what is given: counts, a model, references, rare decisions, small groups, columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.conclusions.situation import DECISIONS, ROLES, Asked, alike, answers, by_origin, people, situation

import isonomia as iso

EEOC = {"policy": "eeoc"}
OTHERS = ("Tarn", "Ovel")


@dataclass(frozen=True)
class Counted:
    """An audit of a table of counts."""

    asked: Asked

    def report(self) -> iso.Report:
        """Each combination of origin, guild, outcome and decision is a row with its number."""
        rows = list(zip(*(self.asked.rows[name] for name in ("origin", "guild", "deserved", "decision")), strict=True))
        cells = sorted(set(rows))
        table: dict[str, Any] = dict(
            zip(("origin", "guild", "truth", "prediction"), map(list, zip(*cells, strict=True)), strict=True)
        )
        table["count"] = [rows.count(cell) for cell in cells]
        return iso.audit(iso.subject.Subject.from_counts(table, positive="granted"), **self.asked.options)


@dataclass(frozen=True)
class Modelled:
    """An audit of a model that can be asked."""

    asked: Asked
    model: Any

    def report(self) -> iso.Report:
        """The model predicts; the column of decisions is not given."""
        rows = {name: column for name, column in self.asked.rows.items() if name != "decision"}
        roles = {name: role for name, role in self.asked.roles.items() if name != "prediction"}
        return iso.audit(iso.Dataset(rows, name="people", **roles), self.model, **self.asked.options)


@situation(
    "A table of counts: of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
    doors=("python", "stored"),
)
def counts_of_an_unfair_model() -> Counted:
    return Counted(Asked(people(by_origin), ROLES, EEOC))


@situation("A table of counts of people who are alike.", "meets", 0, nobody=True, doors=("python", "stored"))
def counts_of_a_fair_model() -> Counted:
    return Counted(Asked(people(alike, n=4000), ROLES, EEOC))


def reads_origin(rows: Any) -> Any:
    """Grants where skill is enough; Mirra need more."""
    return answers(np.asarray(rows["skill"]) > np.where(np.asarray(rows["origin"]) == "Mirra", 0.8, 0.0))


@situation(
    "The model reads the origin: equally skilled Mirra are refused.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    says=[(r"nothing but origin", r"apenas origin")],
    never=OTHERS,
    doors=("python", "stored"),
)
def a_model_that_reads_the_origin() -> Modelled:
    rows = people(alike)
    rng = np.random.default_rng(1)
    skill = rng.normal(size=2400)
    rows |= {"skill": skill, "deserved": answers(skill + 0.5 * rng.normal(size=2400) > 0)}
    return Modelled(Asked(rows, ROLES, EEOC), reads_origin)


@situation(
    "The model reads skill, which has nothing to do with origin.", "meets", 0, nobody=True, doors=("python", "stored")
)
def a_model_that_reads_skill() -> Modelled:
    rows = people(alike, n=6000)
    rng = np.random.default_rng(1)
    skill = rng.normal(size=6000)
    rows |= {"skill": skill, "deserved": answers(skill + 0.5 * rng.normal(size=6000) > 0)}
    return Modelled(Asked(rows, ROLES, EEOC), lambda table: answers(np.asarray(table["skill"]) > 0))


@situation(
    "Risk scores: of Mirra, the most, who did not reoffend 55% were rated low, of Lunda 77%; nobody is privileged.",
    None,
    0,
    first="Mirra",
    never=[(r"fewer of", r"menos de")],
)
def risk_of_people_who_did_not_reoffend() -> Asked:
    rng = np.random.default_rng(0)
    origin = np.where(rng.random(6000) < 0.6, "Mirra", "Lunda").astype(object)
    again = rng.random(6000) < np.where(origin == "Mirra", 0.51, 0.39)
    low = rng.random(6000) < np.select(
        [(origin == "Mirra") & again, again, origin == "Mirra"], [0.28, 0.48, 0.55], 0.77
    )
    rows = {"origin": origin, "reoffended": np.where(again, "high", "low"), "rated": np.where(low, "low", "high")}
    return Asked(rows, {"target": "reoffended", "prediction": "rated", "positive": "low", "protected": ["origin"]})


@situation(
    "Of Mirra nobody is granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def nobody_of_a_group_is_granted() -> Asked:
    return Asked(people(lambda origin, guild: np.where(origin == "Mirra", 0.0, 0.6)), ROLES, EEOC)


@situation(
    "Mirra, of whom 30% are granted, are called privileged; of Lunda 60% are.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def those_called_privileged_are_worse_off() -> Asked:
    return Asked(people(by_origin), ROLES | {"privileged": {"origin": "Mirra"}}, EEOC)


@situation(
    "Of 20,000 Lunda 2% are granted, of as many Mirra 1%: a point, and half as often.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def rare_decisions() -> Asked:
    rows = people(lambda origin, guild: np.where(origin == "Mirra", 0.01, 0.02), n=40_000, mirra=0.5)
    return Asked(rows, ROLES, EEOC)


@situation(
    "Of 100,000 people Mirra are granted 0.97 times as often: surely different, and far from the limit.",
    "meets",
    0,
    never=[*OTHERS, (r"\bcritical\b", r"crític")],
)
def a_sure_and_small_gap() -> Asked:
    rows = people(lambda origin, guild: np.where(origin == "Mirra", 0.485, 0.5), n=100_000, mirra=0.5)
    return Asked(rows, ROLES, EEOC | {"checks": "quick"})


@situation(
    "Of 20 Vess nobody is granted, of 4,000 others half: too few to compare, few enough for the rule to leave out.",
    "meets",
    0,
    says=["Vess"],
)
def twenty_of_whom_nobody_is_granted() -> Asked:
    rows = people(alike, n=4020)
    rows["origin"][:20] = "Vess"
    rows["decision"][:20] = "refused"
    return Asked(rows, ROLES, EEOC)


@situation(
    "The outcome of a third of the people is not known; of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def outcomes_that_are_partly_unknown() -> Asked:
    rows = people(by_origin, n=3600)
    rows["deserved"][np.random.default_rng(1).random(3600) < 1 / 3] = None
    return Asked(rows, ROLES, EEOC)


@situation(
    "Outcomes and decisions are 0 and 1; of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    never=OTHERS,
)
def zeros_and_ones() -> Asked:
    rows = people(by_origin)
    numbers = {name: (rows[name] == "granted").astype(int) for name in ("deserved", "decision")}
    return Asked(rows | numbers, ROLES | {"positive": 1}, EEOC)


@situation(
    "Groups with names that could be markup; of <b>Mirra</b> | co. 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def names_that_look_like_markup() -> Asked:
    rows = people(by_origin)
    rows["origin"][rows["origin"] == "Mirra"] = "<b>Mirra</b> | co."
    return Asked(rows, ROLES, EEOC)


@situation(
    "Of three origins Mirra are granted 30%, Vess 45%, Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    says=["Vess"],
    never=OTHERS,
)
def two_of_three_groups() -> Asked:
    rng = np.random.default_rng(0)
    origin = rng.choice(["Mirra", "Vess", "Lunda"], 4500).astype(object)
    said = rng.random(4500) < np.select([origin == "Mirra", origin == "Vess"], [0.3, 0.45], 0.6)
    rows = {"origin": origin, "guild": rng.choice(["Tarn", "Ovel"], 4500), "decision": answers(said)}
    return Asked(rows | {"deserved": answers(rng.random(4500) < 0.2 + 0.6 * said)}, ROLES, EEOC)


@situation(
    "What is predicted for Mirra is 5.50, they earn 7.00; for Lunda 7.00 is predicted and earned. No rule.",
    None,
    0,
    first="Mirra",
    says=[r"5[.,][45]\d?", r"7[.,]0|6[.,]9"],
    never=OTHERS,
)
def numbers_that_are_too_low_and_no_policy() -> Asked:
    rows = people(alike, n=3000)
    rng = np.random.default_rng(1)
    wage = 7 + rng.normal(size=3000)
    said = wage + 0.5 * rng.normal(size=3000) - 1.5 * (rows["origin"] == "Mirra")
    roles = {key: role for key, role in ROLES.items() if key != "positive"} | {"task": "regression"}
    return Asked(rows | {"deserved": wage, "decision": said}, roles)


@situation(
    "An unfair model after its fix: groups are granted alike, at the price of a few errors.",
    "meets",
    0,
    nobody=True,
)
def a_fixed_model() -> Asked:
    rows = people(by_origin, n=6000)
    rng = np.random.default_rng(1)
    said = rng.random(6000) < np.where(rows["deserved"] == "granted", 0.7, 0.3)
    return Asked(rows | {"decision": answers(said)}, ROLES, EEOC)


@situation(
    "A fix that made origins alike and guilds unequal: of Tarn 35% are granted, of Ovel 60%.",
    "exceeds",
    1,
    first="Tarn",
    about=DECISIONS,
    never=["Mirra", "Lunda"],
)
def a_fix_that_trades() -> Asked:
    return Asked(people(lambda origin, guild: np.where(guild == "Tarn", 0.35, 0.6), n=4000), ROLES, EEOC)
