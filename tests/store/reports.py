"""Small audits for the tests of the store."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import isonomia as iso
from isonomia import Report

CHECKS = ("performance", "group_fairness")


def people(seed: int = 0, *, shift: float = 0.5, n: int = 400, **names: str) -> iso.Dataset:
    """Women and men of three groups; men are favoured by `shift`. `names` replace values, to make hostile ones."""
    rng = np.random.default_rng(seed)
    sex, race, x = rng.choice(["F", "M"], n), rng.choice(["A", "B"], n), rng.normal(size=n)
    columns: dict[str, Any] = {
        "sex": [names.get(value, value) for value in sex],
        "race": [names.get(value, value) for value in race],
        "x": x,
        "y": (x + rng.normal(size=n) > 0).astype(int),
        "p": ((x + shift * (sex == "M")) > 0).astype(int),
    }
    return iso.Dataset(columns, target="y", protected=["sex", "race"], prediction="p", name="people")


@cache
def audited(seed: int = 0, shift: float = 0.5, n: int = 400) -> Report:
    """An audit of binary decisions with a policy."""
    data = people(seed, shift=shift, n=n)
    return iso.audit(data, policy="eeoc", checks=CHECKS, seed=0, n_boot=50)
