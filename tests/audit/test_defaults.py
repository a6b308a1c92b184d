"""An option has the default of its function in the check too, or the page of options and the listing show both."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from isonomia import explain, fairness, robustness
from isonomia.audit import CHECKS
from isonomia.parameters._declared import UNSET, plain

PAGE = (Path(__file__).parents[2] / "docs" / "options.md").read_text(encoding="utf-8")
#: Checks that are a function of this name, or of another one.
CALLED = {
    "fairness_suite": fairness.suite,
    "entropy": fairness.generalized_entropy,
    "explain_gap": explain.gap,
    "explain_sensitive": explain.sensitive,
}


def function_of(code: str) -> Any:
    found = (getattr(room, code, None) for room in (fairness, robustness, explain))
    return CALLED.get(code) or next((one for one in found if inspect.isfunction(one)), None)


KNOWN = [check.id for check in CHECKS if function_of(check.id) is not None]


def test_most_checks_are_compared() -> None:
    assert {"weak_spots", "perturb", "scenarios", "sensitivity", "proxies", "label_bias", "drift"} <= set(KNOWN)
    assert len(KNOWN) >= 20, KNOWN


@pytest.mark.parametrize("code", KNOWN)
def test_two_defaults_of_one_option_are_both_shown(code: str) -> None:
    taken = inspect.signature(function_of(code)).parameters
    section = PAGE.split(f"### {code}\n")[1].split("\n###")[0]
    for one in CHECKS[code].parameters:
        if one.name not in taken or taken[one.name].default is inspect.Parameter.empty:
            continue
        own = taken[one.name].default
        if plain(own) == plain(one.default):
            assert one.own is UNSET
            continue
        assert one.own == own, f"{code}.{one.name}: the check has {one.default}, the function {own}"
        assert one.describe()["function_default"] == plain(own)
        row = next(line for line in section.splitlines() if line.startswith(f"| `{one.name}` |"))
        assert f"function: `{plain(own)}`" in row
