"""The people that benchmarks count: as many as wanted, with the shares of the 1994 census extract called Adult."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Columns = Literal["category", "str", "object"]

SEX = {"Female": 0.3315, "Male": 0.6685}
RACE = {"Amer-Indian-Eskimo": 0.0096, "Asian-Pac-Islander": 0.0311, "Black": 0.0959, "Other": 0.0083, "White": 0.8551}
#: Share of incomes above the line, by sex; and how often a prediction errs.
BASE_RATE = {"Female": 0.1093, "Male": 0.3038}
ERROR_RATE = 0.15


def people(rows: int, *, columns: Columns, seed: int = 0) -> Any:
    """A pandas frame: sex, race, label and prediction (0 or 1).

    `columns` says how sex and race are kept: categorical, as pandas keeps strings by itself, or as Python objects.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    sex = rng.choice(len(SEX), rows, p=np.array(list(SEX.values())))
    share = np.array(list(RACE.values()))
    race = rng.choice(len(RACE), rows, p=share / share.sum())
    label = (rng.random(rows) < np.array(list(BASE_RATE.values()))[sex]).astype(np.int64)
    prediction = np.where(rng.random(rows) < ERROR_RATE, 1 - label, label)
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical.from_codes(sex, categories=pd.Index(list(SEX))),
            "race": pd.Categorical.from_codes(race, categories=pd.Index(list(RACE))),
            "label": label,
            "prediction": prediction,
        }
    )
    return frame if columns == "category" else frame.astype({"sex": columns, "race": columns})
