"""Options of checks: declared, validated before the work starts, the same at every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS, Check, read_check_options, read_spec, spec_schema
from isonomia.cli.app import app
from isonomia.errors import SpecError
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.parameters import Integer, Parameter, options_schema

ALL = [(entry.id, one) for entry in CHECKS for one in entry.parameters]
#: Values that no option but one of any kind takes.
STRANGE: list[Any] = [object(), {"?": object()}, -1.5, True, "?"]


@pytest.fixture(scope="module")
def data() -> iso.Dataset:
    rng = np.random.default_rng(0)
    n = 200
    frame = {"sex": rng.choice(["F", "M"], n), "pay": rng.uniform(0, 9, n), "y": rng.integers(0, 2, n)}
    return iso.Dataset({**frame, "p": rng.integers(0, 2, n)}, target="y", protected=["sex"], prediction="p")


@pytest.mark.parametrize("code", CHECKS.ids())
def test_an_unknown_option_is_refused_before_the_work_starts(code: str, data: iso.Dataset) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the work has started")

    with pytest.raises(SpecError, match=rf"^The check '{code}' has no option 'no_such_option'"):
        iso.audit(data, checks=[code], options={code: {"no_such_option": 1}}, progress=never)


@pytest.mark.parametrize(("code", "parameter"), ALL, ids=lambda part: getattr(part, "name", part))
def test_a_value_of_another_kind_is_refused_by_its_path(code: str, parameter: Parameter) -> None:
    refused = 0
    for value in STRANGE:
        try:
            parameter.kind.read(value)
        except ValueError:
            refused += 1
            with pytest.raises(SpecError) as told:
                read_check_options({code: {parameter.name: value}})
            assert f"`options.{code}.{parameter.name}`" in str(told.value)
    assert refused or parameter.kind.schema() == {}


@pytest.mark.parametrize(("code", "parameter"), ALL, ids=lambda part: getattr(part, "name", part))
def test_defaults_are_valid_and_every_option_has_a_line_of_help(code: str, parameter: Parameter) -> None:
    read_check_options({code: {parameter.name: parameter.default}})
    assert parameter.help, f"{code}.{parameter.name} has no help"
    if "default" in parameter.schema():
        jsonschema.validate(parameter.schema()["default"], parameter.kind.schema())


@pytest.mark.parametrize("code", CHECKS.ids())
def test_the_schema_of_a_spec_types_the_options_of_every_check(code: str) -> None:
    validator = jsonschema.Draft202012Validator(spec_schema())
    assert validator.is_valid({"dataset": "people.csv", "options": {code: {}}})
    assert not validator.is_valid({"dataset": "people.csv", "options": {code: {"no_such_option": 1}}})
    own = options_schema(CHECKS[code].parameters)["properties"]
    for name, schema in own.items():
        if schema.get("type") in ("integer", "number"):
            assert not validator.is_valid({"dataset": "people.csv", "options": {code: {name: "many"}}})


def test_all_problems_of_a_spec_are_told_together() -> None:
    spec = {
        "dataset": "people.csv",
        "sed": 3,
        "metric": "acuracy",
        "checks": ["performance", "wek_spots"],
        "scenarios": [{"type": "label_noise", "lvel": 0.1}],
        "options": {"weak_spots": {"bins": 0, "critcal": 1}, "drft": {}},
    }
    with pytest.raises(SpecError) as told:
        read_spec(spec)
    problems = "\n".join(told.value.problems)
    for part in (
        "`sed`",
        "`metric`: ",
        "wek_spots",
        "The scenario 'label_noise' has no option 'lvel'. Did you mean 'level'?",
        "`options.weak_spots.bins` must be a whole number of at least 1; got 0.",
        "The check 'weak_spots' has no option 'critcal'. Did you mean 'critical'?",
        "Unknown check 'drft'. Did you mean 'drift'?",
    ):
        assert part in problems
    assert len(told.value.problems) == 7


def test_the_command_line_says_the_same(tmp_path: Path, data: iso.Dataset) -> None:
    table = tmp_path / "people.csv"
    rows = zip(*(data.column(name).to_list() for name in data.columns), strict=True)
    table.write_text("\n".join([",".join(data.columns), *(",".join(map(str, row)) for row in rows)]))
    spec = tmp_path / "spec.json"
    spec.write_text(
        json.dumps({"dataset": "people.csv", "target": "y", "prediction": "p", "options": {"drift": {"bin": 3}}})
    )
    done = CliRunner().invoke(app, ["run", str(spec)])
    assert done.exit_code == 2
    assert "The check 'drift' has no option 'bin'. Did you mean 'bins'?" in " ".join(done.output.split())


def test_options_for_a_check_that_does_not_run_are_refused(data: iso.Dataset) -> None:
    with pytest.raises(SpecError, match="`options` names 'drift', which is not among the checks that run"):
        iso.audit(data, checks=["performance"], options={"drift": {"bins": 3}})


def test_a_check_of_another_package_gets_its_options_with_defaults(data: iso.Dataset) -> None:
    seen = []

    def run(subject: Any, *, depth: int, width: int) -> Result:
        seen.append((depth, width))
        return Result("mine", msg("Mine"))

    parameters = (Parameter("depth", Integer(1), 3, "how deep"), Parameter("width", Integer(1), 4, "how wide"))
    texts = {"title": msg("Mine"), "question": msg("Mine?"), "purpose": "mine"}
    CHECKS.add(Check(id="mine", run=run, parameters=parameters, **texts))  # type: ignore[arg-type]
    try:
        iso.audit(data, checks=["mine"], options={"mine": {"depth": np.int64(7)}})
    finally:
        CHECKS._entries.pop("mine")
    assert seen == [(7, 4)]
