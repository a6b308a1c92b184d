"""Situations in which some people are treated worse."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.conclusions.situation import DECISIONS, ROLES, Asked, alike, answers, by_origin, people, situation

EEOC = {"policy": "eeoc"}
OTHERS = ("Tarn", "Ovel")
BY_ALL: dict[str, Any] = {
    "id": "house-rule",
    "title": "House rule",
    "rules": [
        {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8, "by": "all"},
    ],
}


@situation(
    "Of Mirra 30% are granted, of Lunda 60%; guilds are treated alike.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    says=[r"0[.,](80|8)\b"],
    never=OTHERS,
)
def unfair_by_one_attribute() -> Asked:
    return Asked(people(by_origin), ROLES, EEOC)


@situation(
    "Of Mirra half as many are granted as of Lunda, of Tarn 0.7 times as many as of Ovel.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    says=["Tarn"],
)
def unfair_by_two_attributes() -> Asked:
    def rate(origin: Any, guild: Any) -> Any:
        return 0.65 * np.where(origin == "Mirra", 0.5, 1) * np.where(guild == "Tarn", 0.65, 1)

    return Asked(people(rate, n=4000), ROLES, EEOC)


def crossed(origin: Any, guild: Any) -> Any:
    """Tarn of Mirra and Ovel of Lunda are granted at 30%, the others at 60%: neither attribute by itself says it."""
    return np.where((origin == "Mirra") == (guild == "Tarn"), 0.3, 0.6)


@situation(
    "Only Mirra of Tarn and Lunda of Ovel are granted less, half as often; by one attribute everybody is alike.",
    None,
    0,
    first="Mirra.*Tarn|Tarn.*Mirra|Lunda.*Ovel|Ovel.*Lunda",
    about=DECISIONS,
)
def unfair_only_at_an_intersection() -> Asked:
    return Asked(people(crossed, n=4000, mirra=0.5), ROLES)


@situation(
    "As before, and the rule asks for intersections.",
    "exceeds",
    1,
    first="Mirra.*Tarn|Tarn.*Mirra|Lunda.*Ovel|Ovel.*Lunda",
    about=DECISIONS,
)
def unfair_at_an_intersection_that_the_rule_asks_for() -> Asked:
    return Asked(people(crossed, n=4000, mirra=0.5), ROLES, {"policy": BY_ALL})


@situation(
    "Half of everybody is granted, but of the deserving Mirra 55% and of the deserving Lunda 85%.",
    "exceeds",
    1,
    first="Mirra",
    never=OTHERS,
)
def unfair_in_errors_alone() -> Asked:
    rows = people(alike, n=4000)
    rng = np.random.default_rng(1)
    right = rng.random(4000) < np.where(rows["origin"] == "Mirra", 0.55, 0.85)
    said = (rows["deserved"] == "granted") == right
    return Asked(rows | {"decision": answers(said)}, ROLES, {"policy": "engineering"})


@situation(
    "Of Lunda 70% deserve it, of Mirra 40%, and errors are as frequent in both: the rule about selection is broken.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def selection_as_the_outcomes_are() -> Asked:
    rows = people(alike, n=4000, good=lambda origin, guild: np.where(origin == "Mirra", 0.4, 0.7))
    wrong = np.random.default_rng(1).random(4000) < 0.1
    return Asked(rows | {"decision": answers((rows["deserved"] == "granted") != wrong)}, ROLES, EEOC)


@situation(
    "The model is never wrong; of Lunda 70% deserve it, of Mirra 40%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=[*OTHERS, (r"wrong (refusal|approval)", r"(recusas|aprovações) erradas")],
)
def a_perfect_model_and_unequal_outcomes() -> Asked:
    rows = people(alike, n=4000, good=lambda origin, guild: np.where(origin == "Mirra", 0.4, 0.7))
    return Asked(rows | {"decision": rows["deserved"]}, ROLES, {"policy": "engineering"})


@situation(
    "Everybody of a district is treated alike; Mirra live where few are granted.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    says=["district"],
    never=OTHERS,
)
def a_column_stands_for_origin() -> Asked:
    rows = people(alike, n=4000)
    rng = np.random.default_rng(1)
    poor = rng.random(4000) < np.where(rows["origin"] == "Mirra", 0.9, 0.1)
    said = rng.random(4000) < np.where(poor, 0.3, 0.6)
    rows |= {"district": np.where(poor, "south", "north").astype(object), "decision": answers(said)}
    return Asked(rows, ROLES)


@situation(
    "Decisions are fair; of the good Mirra 35% were recorded as bad.",
    None,
    0,
    first="Mirra",
    about=(r"recorded|label|true outcomes|outcomes", r"registrad|rótulo|resultados"),
)
def labels_are_what_is_biased() -> Asked:
    rng = np.random.default_rng(0)
    n = 6000
    origin = np.where(rng.random(n) < 0.25, "Mirra", "Lunda").astype(object)
    income, debt = rng.normal(size=n), rng.normal(size=n)
    good = income - debt + 0.3 * rng.normal(size=n) > 0
    recorded = good & ~((origin == "Mirra") & (rng.random(n) < 0.35))
    rows = {"origin": origin, "income": income, "debt": debt}
    rows |= {"deserved": answers(recorded), "decision": answers(income > debt)}
    return Asked(rows, ROLES | {"protected": ["origin"]})


@situation(
    "Scores are too low for everybody by as much; of Mirra far fewer are granted.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def a_score_and_no_policy() -> Asked:
    rows = people(by_origin, n=3000, good=0.6)
    rng = np.random.default_rng(1)
    said = rows["decision"] == "granted"
    score = np.where(said, rng.uniform(0.5, 0.7, 3000), rng.uniform(0.0, 0.3, 3000))
    return Asked(rows | {"score": score}, ROLES | {"score": "score"})


@situation(
    "Of Mirra, who are the most, 30% are granted, of Lunda 60%; nobody is named as privileged.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    never=[*OTHERS, (r"fewer of", r"menos de")],
)
def the_largest_group_is_worse_off() -> Asked:
    return Asked(people(by_origin, mirra=0.7), ROLES)


@situation(
    "Of Mirra, who are the fewest, 30% are granted, of Lunda 60%; nobody is named as privileged.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def the_largest_group_is_better_off() -> Asked:
    return Asked(people(by_origin, mirra=0.25), ROLES)


@situation(
    "As before with a privileged group that is named.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def the_privileged_are_named() -> Asked:
    return Asked(people(by_origin), ROLES | {"privileged": {"origin": "Lunda"}})


@situation(
    "Of people below 25 years 30% are granted, below 60 years 55%, from 60 years on 75%.",
    "exceeds",
    1,
    first="25",
    about=DECISIONS,
)
def ages_in_bands() -> Asked:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 3000)
    said = rng.random(3000) < np.select([age < 25, age < 60], [0.3, 0.55], 0.75)
    rows = {"age": age, "decision": answers(said), "deserved": answers(rng.random(3000) < 0.2 + 0.6 * said)}
    return Asked(rows, ROLES | {"protected": {"age": [25, 60]}}, EEOC)


@situation(
    "Of Mirra 10% get the post that people want, of Lunda 30%; of three posts.",
    "exceeds",
    1,
    first="Mirra",
    says=["manage"],
    never=OTHERS,
)
def several_classes() -> Asked:
    rows = people(alike, n=3000)
    rng = np.random.default_rng(1)
    leads = rng.random(3000) < np.where(rows["origin"] == "Mirra", 0.1, 0.3)
    post = np.where(leads, "manage", rng.choice(["advise", "guard"], 3000)).astype(object)
    truth = np.where(rng.random(3000) < 0.7, post, rng.permutation(post)).astype(object)
    return Asked(rows | {"decision": post, "deserved": truth}, ROLES | {"positive": "manage"}, EEOC)


@situation(
    "What is predicted for Mirra is 1.5 below what they earn, for Lunda it is right.",
    "exceeds",
    1,
    first="Mirra",
    never=OTHERS,
)
def numbers_that_are_too_low_for_a_group() -> Asked:
    rows = people(alike, n=3000)
    rng = np.random.default_rng(1)
    wage = 7 + rng.normal(size=3000)
    said = wage + 0.5 * rng.normal(size=3000) - 1.5 * (rows["origin"] == "Mirra")
    rows = rows | {"deserved": wage, "decision": said}
    roles = {key: role for key, role in ROLES.items() if key != "positive"} | {"task": "regression"}
    return Asked(rows, roles, {"policy": "engineering-regression"})


@situation(
    "Of 40 lands of 300 people each one is granted at 25%, every other one at 50%.",
    "exceeds",
    1,
    first="Land07",
    about=DECISIONS,
)
def one_of_forty_groups() -> Asked:
    rng = np.random.default_rng(0)
    land = np.repeat([f"Land{number:02d}" for number in range(40)], 300).astype(object)
    said = rng.random(land.size) < np.where(land == "Land07", 0.25, 0.5)
    rows = {"land": land, "decision": answers(said), "deserved": answers(rng.random(land.size) < 0.2 + 0.6 * said)}
    return Asked(rows, ROLES | {"protected": ["land"]}, EEOC)


@situation(
    "Of people whose origin is not known, a fifth, 25% are granted, of the others 60%.",
    None,
    0,
    first=(r"origin missing|without|no origin|unknown", r"origin ausente|sem |não informad|desconhecid"),
    about=DECISIONS,
    never=OTHERS,
)
def those_without_an_origin_are_worse_off() -> Asked:
    rows = people(alike, n=3000)
    rng = np.random.default_rng(1)
    unknown = rng.random(3000) < 0.2
    said = rng.random(3000) < np.where(unknown, 0.25, 0.6)
    origin = np.where(unknown, None, rows["origin"])
    return Asked(rows | {"origin": origin, "decision": answers(said)}, ROLES)


@situation(
    "Of Mirra 30% are granted, of Lunda 60%; everybody is of one guild.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=["Tarn"],
)
def an_attribute_of_one_value_besides() -> Asked:
    rows = people(by_origin)
    return Asked(rows | {"guild": np.full(2400, "Tarn", dtype=object)}, ROLES, EEOC)


@situation(
    "Portuguese data with accents: of the indígenas 30% are granted, of the others 60%.",
    "exceeds",
    1,
    first="[Ii]ndígena",
    never=OTHERS,
)
def data_with_accents() -> Asked:
    rows = people(by_origin)
    race = np.where(rows["origin"] == "Mirra", "indígena", "branca").astype(object)
    words = {"granted": "concessão", "refused": "negação"}
    said, truth = ([words[one] for one in rows[column]] for column in ("decision", "deserved"))
    roles = {"target": "situação", "prediction": "decisão", "positive": "concessão", "protected": ["raça", "guilda"]}
    return Asked({"raça": race, "guilda": rows["guild"], "situação": truth, "decisão": said}, roles, EEOC)


@situation(
    "Every row stands there three times; of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def rows_that_repeat() -> Asked:
    rows = people(by_origin, n=1200)
    return Asked({name: np.tile(column, 3) for name, column in rows.items()}, ROLES, EEOC)


@situation(
    "Mirra were granted as often as Lunda for two years, and then less than half as often.",
    None,
    0,
    first="Mirra",
    about=DECISIONS,
    says=["2023"],
)
def a_model_that_drifted() -> Asked:
    n = 4800
    year = np.repeat(["2021-06-01", "2022-06-01", "2023-06-01", "2024-06-01"], n // 4).astype(object)
    late = year >= "2023"
    rows = people(lambda origin, guild: np.where(late & (origin == "Mirra"), 0.2, 0.5), n=n)
    return Asked(rows | {"day": year}, ROLES | {"time": "day", "protected": ["origin"]})


@situation(
    "The rows weigh thousands each: the page speaks of people who are in the data.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=[*OTHERS, r"\d[.,]\d{3}[.,]\d{3}"],
)
def rows_of_great_weight() -> Asked:
    rows = people(by_origin)
    weight = np.random.default_rng(1).uniform(5_000, 20_000, 2400)
    return Asked(rows | {"weight": weight}, ROLES | {"weight": "weight"}, EEOC)


@situation(
    "The outcomes are not known; of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def decisions_without_outcomes() -> Asked:
    rows = people(by_origin)
    del rows["deserved"]
    return Asked(rows, {key: role for key, role in ROLES.items() if key != "target"}, EEOC)


@situation(
    "A profile that lists figures and sets no limit; of Mirra 30% are granted, of Lunda 60%.",
    "documents",
    0,
    first="Mirra",
    about=DECISIONS,
    says=[(r"critical", r"crític")],
    never=OTHERS,
)
def a_profile_without_limits() -> Asked:
    return Asked(people(by_origin), ROLES, {"policy": "br-lgpd-20"})


@situation(
    "Nobody of Lunda, the largest group, deserves it; of Mirra 30% are granted, of Lunda 60%.",
    "exceeds",
    1,
    first="Mirra",
    about=DECISIONS,
    never=OTHERS,
)
def nobody_of_the_reference_deserves_it() -> Asked:
    rows = people(by_origin, good=lambda origin, guild: np.where(origin == "Mirra", 0.5, 0.0))
    rng = np.random.default_rng(1)
    said = rng.random(2400) < by_origin(rows["origin"], rows["guild"])
    return Asked(rows | {"decision": answers(said)}, ROLES, EEOC)
