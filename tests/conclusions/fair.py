"""Situations in which nobody is treated worse, or in which nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.conclusions.situation import DECISIONS, ROLES, Asked, alike, answers, by_origin, people, situation

EEOC = {"policy": "eeoc"}
NUMBERS = {key: role for key, role in ROLES.items() if key != "positive"} | {"task": "regression"}


@situation("Everybody is treated alike, and the rule asks.", "meets", 0, nobody=True)
def fair_under_a_policy() -> Asked:
    return Asked(people(alike, n=4000), ROLES, EEOC)


@situation("Everybody is treated alike, and no rule asks.", None, 0, nobody=True)
def fair_without_a_policy() -> Asked:
    return Asked(people(alike, n=4000, seed=3), ROLES)


@situation(
    "Mirra are granted 0.93 times as often as Lunda, which the rule allows.",
    "meets",
    0,
    says=[r"0[.,]80?\b"],
    nobody=True,
)
def nearly_fair() -> Asked:
    return Asked(people(lambda origin, guild: np.where(origin == "Mirra", 0.56, 0.6), n=6000, mirra=0.5), ROLES, EEOC)


@situation("Sixty people, treated alike: nobody can tell.", "not_enough_evidence", 3)
def too_few_people() -> Asked:
    return Asked(people(alike, n=60), ROLES, EEOC)


@situation("Sixty people, of Mirra half as many are granted: nobody can tell.", "not_enough_evidence", 3)
def too_few_people_of_an_unfair_model() -> Asked:
    return Asked(people(by_origin, n=60, mirra=0.5), ROLES, EEOC)


@situation("Of 4,000 people alike six have no origin.", "meets", 0, nobody=True)
def six_without_an_origin() -> Asked:
    rows = people(alike, n=4000)
    rows["origin"][:6] = None
    return Asked(rows, ROLES, EEOC)


@situation("A tenth of the people has no origin and is treated as everybody else.", "meets", 0, nobody=True)
def a_tenth_without_an_origin() -> Asked:
    rows = people(alike, n=6000)
    rows["origin"][np.random.default_rng(5).random(6000) < 0.1] = None
    return Asked(rows, ROLES, EEOC)


@situation("The model is never wrong and as many deserve it in every group.", "meets", 0, nobody=True)
def a_perfect_model() -> Asked:
    rows = people(alike, n=6000)
    return Asked(rows | {"decision": rows["deserved"]}, ROLES, {"policy": "engineering"})


@situation("The scores are random numbers: fair, and of no use.", None, 0, nobody=True)
def random_scores() -> Asked:
    rows = people(alike, n=4000)
    score = np.random.default_rng(1).random(4000)
    return Asked(rows | {"score": score, "decision": answers(score > 0.5)}, ROLES | {"score": "score"})


@situation("Nobody at all is granted.", "not_enough_evidence", 3, nobody=True)
def a_model_that_refuses_everybody() -> Asked:
    return Asked(people(alike) | {"decision": answers(np.zeros(2400, dtype=bool))}, ROLES, EEOC)


@situation("Everybody is granted.", "meets", 0, nobody=True)
def a_model_that_grants_everybody() -> Asked:
    return Asked(people(alike) | {"decision": answers(np.ones(2400, dtype=bool))}, ROLES, EEOC)


@situation("Forty lands of 300 people, all treated alike, no rule.", None, 0, nobody=True)
def forty_groups_alike() -> Asked:
    rng = np.random.default_rng(0)
    land = np.repeat([f"Land{number:02d}" for number in range(40)], 300).astype(object)
    said = rng.random(land.size) < 0.5
    rows = {"land": land, "decision": answers(said), "deserved": answers(rng.random(land.size) < 0.2 + 0.6 * said)}
    return Asked(rows, ROLES | {"protected": ["land"]})


@situation(
    "Thirty Vess beside 50,000 others, all alike: below the rule's own share, named and not compared.",
    "meets",
    0,
    says=["Vess"],
)
def thirty_beside_fifty_thousand() -> Asked:
    rows = people(alike, n=50_030)
    rows["origin"][:30] = "Vess"
    return Asked(rows, ROLES, EEOC | {"checks": "quick"})


@situation("Numbers that are as right for every group.", "meets", 0, nobody=True)
def numbers_alike() -> Asked:
    rows = people(alike, n=6000, mirra=0.5)
    rng = np.random.default_rng(1)
    wage = 7 + rng.normal(size=6000)
    return Asked(
        rows | {"deserved": wage, "decision": wage + 0.3 * rng.normal(size=6000)},
        NUMBERS,
        {"policy": "engineering-regression"},
    )


@situation("Three posts, given to every group alike, no rule.", None, 0, nobody=True)
def several_classes_alike() -> Asked:
    rows = people(alike, n=4000)
    rng = np.random.default_rng(1)
    post = rng.choice(["manage", "advise", "guard"], 4000).astype(object)
    truth = np.where(rng.random(4000) < 0.7, post, rng.permutation(post)).astype(object)
    return Asked(rows | {"decision": post, "deserved": truth}, ROLES | {"positive": "manage"})


@situation("Treated alike, and the rows weigh very differently.", "meets", 0, nobody=True)
def weights_and_alike() -> Asked:
    rows = people(alike, n=6000)
    weight = np.random.default_rng(1).exponential(3000.0, 6000)
    return Asked(rows | {"weight": weight}, ROLES | {"weight": "weight"}, EEOC)


@situation("Everybody is of one origin: nothing can be compared.", "not_enough_evidence", 3, nobody=True)
def everybody_in_one_group() -> Asked:
    rows = people(alike)
    same: dict[str, Any] = {"origin": np.full(2400, "Lunda", dtype=object)}
    return Asked(rows | same, ROLES | {"protected": ["origin"]}, EEOC)


@situation(
    "Of 1,000 Mirra 400 are granted, of 1,000 Lunda 500: the ratio is 0.80, the limit itself.",
    "not_enough_evidence",
    3,
    first="Mirra",
    about=DECISIONS,
)
def a_figure_exactly_at_the_limit() -> Asked:
    said = np.concatenate([np.arange(1000) < 400, np.arange(1000) < 500])
    rng = np.random.default_rng(0)
    rows = {"origin": np.repeat(["Mirra", "Lunda"], 1000).astype(object), "decision": answers(said)}
    rows["deserved"] = answers(rng.random(2000) < 0.2 + 0.6 * said)
    return Asked(rows, ROLES | {"protected": ["origin"]}, EEOC)


@situation("Outcomes are recorded, and nobody has the good one: no error rate of the deserving exists.", "meets", 0)
def an_outcome_that_nobody_has() -> Asked:
    rows = people(alike, n=4000)
    return Asked(rows | {"deserved": answers(np.zeros(4000, dtype=bool))}, ROLES, EEOC)
