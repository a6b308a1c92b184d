"""`isonomia policies`: list, show, schema, template."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.policies import load_policy, policy_names

runner = CliRunner()


@pytest.mark.parametrize("words", [["policies"], ["policies", "list"]])
def test_the_list_names_kind_and_status(words: list[str]) -> None:
    shown = runner.invoke(app, words).stdout
    assert all(name in shown for name in policy_names())
    assert "documentation" in shown
    assert "practice" in shown
    listed = json.loads(runner.invoke(app, ["policies", "list", "--json"]).stdout)
    assert [entry["policy"] for entry in listed] == list(policy_names())


def test_one_policy_is_shown_with_its_rules() -> None:
    shown = " ".join(runner.invoke(app, ["policies", "show", "eeoc"]).stdout.split())
    assert "rule selection-rate-ratio: selection rate ratio" in shown
    assert "at_least 0.8" in shown
    record = json.loads(runner.invoke(app, ["policies", "show", "eeoc", "--json"]).stdout)
    assert load_policy(record) == load_policy("eeoc")


def test_an_unknown_policy_is_a_clear_error() -> None:
    done = runner.invoke(app, ["policies", "show", "eoec"])
    assert done.exit_code == 2
    assert "Did you mean 'eeoc'" in done.stderr
    assert runner.invoke(app, ["policies", "show", "nothing"]).stderr.count("us-lending") == 1


def test_shipped_policies_are_shown_in_portuguese() -> None:
    listed = " ".join(runner.invoke(app, ["policies", "--lang", "pt-BR"]).stdout.split())
    assert "Regra dos quatro quintos" in listed
    shown = runner.invoke(app, ["policies", "show", "engineering", "--lang", "pt-BR"]).stdout
    assert "diferença de acurácia" in shown
    assert "Nenhum par de grupos" in shown


def test_the_template_is_a_policy_that_the_schema_accepts(tmp_path: Path) -> None:
    text = runner.invoke(app, ["policies", "template"]).stdout
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    assert {rule.kind for rule in load_policy(file).rules} == {"metric", "check", "findings"}
    schema = json.loads(runner.invoke(app, ["policies", "schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))
    assert runner.invoke(app, ["policies", "show", str(file)]).exit_code == 0
