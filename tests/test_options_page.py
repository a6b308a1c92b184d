"""The help of every declared option, and the page of options, which is written from the declarations.

Run this file to write ``docs/options.md`` again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from isonomia.audit import CHECKS
from isonomia.data import FILE_FORMATS, Dataset
from isonomia.discovery import METHODS
from isonomia.models import MODEL_FORMATS, Model
from isonomia.parameters import Parameter, parameters_of
from isonomia.robustness import PERTURBERS, SCENARIOS

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
#: Starts that make no sense without the name of the option before them.
ODD = re.compile(
    r"(As in|By default|Of|For|At|Where|More|Smaller|After|The larger|Other|All|Any|Those|This|Looked|Sent|Equal"
    r"|Applied|Most)\b",
    re.IGNORECASE,
)

Entries = Iterable[tuple[str, str, tuple[Parameter, ...]]]


def declared() -> Iterator[tuple[str, Entries]]:
    """Every kind of entry: id, purpose and parameters of each."""
    roles, options = parameters_of(Dataset), parameters_of(Model.of)
    yield (
        "Data and models",
        [
            ("Dataset, read", "the roles of the columns of a table", roles),
            ("Model.of, load_model", "how a model is called and what it returns", options),
        ],
    )
    yield "Checks", [(one.id, one.purpose, one.parameters) for one in CHECKS]
    yield (
        "Methods that find subgroups",
        [(one.id, one.purpose, one.parameters) for one in METHODS.where(finds="subgroups")],
    )
    yield "Methods that find pairs", [(one.id, one.purpose, one.parameters) for one in METHODS.where(finds="pairs")]
    yield "Scenarios", [(one.id, one.purpose, (one.strength, *one.parameters)) for one in SCENARIOS]
    yield "Perturbers", [(one.id, one.purpose, (one.strength,)) for one in PERTURBERS]
    yield "Formats of data files", [(one.id, one.purpose, one.parameters) for one in FILE_FORMATS]
    yield "Formats of model files", [(one.id, one.purpose, one.parameters) for one in MODEL_FORMATS]


OPTIONS = [
    pytest.param(one, id=f"{entry}.{one.name}")
    for _, entries in declared()
    for entry, _, parameters in entries
    for one in parameters
]


@pytest.mark.parametrize("option", OPTIONS)
def test_help_stands_on_its_own(option: Parameter) -> None:
    assert 3 < len(option.help) <= 120
    assert not ODD.match(option.help), option.help


def page() -> str:
    """The page of options."""
    lines = [
        "# Options",
        "",
        "Written from the declarations by `make exports`. `isonomia checks NAME` (and `methods`, `scenarios`,",
        "`perturbers`, `formats`) shows the same in a terminal. Where a check has another default than its function in",
        "Python has, both are there: an audit runs many checks, and gives each less time.",
    ]
    for title, entries in declared():
        lines += ["", f"## {title}"]
        for entry, purpose, parameters in entries:
            lines += ["", f"### {entry}", "", f"{purpose[0].upper()}{purpose[1:]}."]
            if parameters:
                lines += ["", "| option | default | values | help |", "|---|---|---|---|"]
                lines += [_row(one) for one in parameters]
    return "\n".join(lines) + "\n"


def _row(one: Parameter) -> str:
    facts = one.describe()
    default = "" if facts["default"] is None else f"`{facts['default']}`"
    if "function_default" in facts:
        default = f"{default or 'set by the audit'} (function: `{facts['function_default']}`)"
    cells = (f"`{one.name}`", default, facts["takes"], one.help)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/test_options_page.py"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"options.md: {len(OPTIONS)} options")
