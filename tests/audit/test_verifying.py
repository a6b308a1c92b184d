"""`isonomia.verify` and `isonomia verify`: is this the record, does its verdict follow, do the figures come again?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.models import save_model
from isonomia.report import content_hash

ROLES: dict[str, Any] = {
    "target": "granted",
    "positive": "yes",
    "protected": {"sex": None, "age": [30, 60]},
    "privileged": {"sex": "M"},
    "features": ["income"],
}


def people(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    sex = rng.choice(["F", "M"], n)
    income = (rng.normal(30, 8, n) + 8 * (sex == "M")).round(2)
    truth = income + rng.normal(0, 4, n) > 34
    age = rng.integers(18, 80, n)
    return pd.DataFrame({"sex": sex, "age": age, "income": income, "granted": np.where(truth, "yes", "no")})


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data, a model file, and the report that an audit of both wrote."""
    folder = tmp_path_factory.mktemp("kept")
    frame = people()
    frame.to_csv(folder / "people.csv", index=False)
    frame.assign(income=frame["income"] + 1).to_csv(folder / "other.csv", index=False)
    for name, strength in (("model.skops", 1.0), ("other.skops", 1e-4)):
        save_model(LogisticRegression(C=strength).fit(frame[["income"]], frame["granted"]), folder / name)
    data = iso.read(folder / "people.csv", **ROLES)
    model = iso.load_model(folder / "model.skops")
    iso.audit(data, model, checks="quick", policy="eeoc", seed=3, n_boot=40).save(folder / "report.json")
    return folder


def called(*words: Any) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["verify", *map(str, words)])
    return ended.exit_code, ended.output


def test_a_record_alone(kept: Path) -> None:
    found = iso.verify(kept / "report.json")
    assert found.exit_code == 0
    assert str(found.headline).startswith("The record is whole and its verdict follows from its figures.")
    assert [str(one) for one in found.table["outcome"]][:2] == ["holds", "holds"]
    code, said = called(kept / "report.json")
    assert code == 0
    assert "were not computed again" in said
    assert json.loads((kept / "report.json").read_text())["sha256"][:12] in said


def test_the_same_data_and_model_give_the_same_report(kept: Path) -> None:
    found = iso.verify(kept / "report.json", data=kept / "people.csv", model=kept / "model.skops")
    assert found.exit_code == 0, found
    assert found.compared > 50
    assert len(found.tables["differences"]) == 0
    code, said = called(kept / "report.json", "--data", kept / "people.csv", "--model", kept / "model.skops")
    assert code == 0
    assert f"all {found.compared} figures came out the same" in said


def test_in_python_with_a_frame_and_an_estimator(kept: Path) -> None:
    data = pd.read_csv(kept / "people.csv")
    found = iso.verify(json.loads((kept / "report.json").read_text()), data=data, model=kept / "model.skops")
    assert found.exit_code == 0, found
    own = iso.Report.load(kept / "report.json")
    assert iso.verify(own, data=iso.Dataset(data, **ROLES), model=str(kept / "model.skops")).exit_code == 0


def test_other_data_and_another_model_differ(kept: Path) -> None:
    code, said = called(kept / "report.json", "--data", kept / "other.csv", "--model", kept / "model.skops")
    assert code == 1
    assert "other data" in said
    code, said = called(kept / "report.json", "--data", kept / "people.csv", "--model", kept / "other.skops")
    assert code == 1
    assert "another model" in said


def test_figures_that_were_changed_with_a_new_hash_are_found_by_computing_them(kept: Path, tmp_path: Path) -> None:
    """The forgery that no hash shows: every figure of a group raised, and the verdict made to follow."""
    record = json.loads((kept / "report.json").read_text())
    table = record["checks"]["group_fairness"]["result"]["tables"]["by_group"]
    column = next(one for one in table["columns"] if one["name"] == "selection_rate")
    column["values"][0] += 0.1
    record["sha256"] = content_hash(record)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(record))
    assert iso.verify(file).exit_code == 0  # nothing in the file shows it
    code, said = called(file, "--data", kept / "people.csv", "--model", kept / "model.skops")
    assert code == 1
    assert "selection" in said.lower()
    found = iso.verify(file, data=kept / "people.csv", model=kept / "model.skops")
    rows = list(found.tables["differences"].rows())
    assert len(rows) == 1
    assert rows[0]["recorded"] == pytest.approx(rows[0]["again"] + 0.1)


def test_a_sentence_that_was_changed_with_a_new_hash_is_found_by_computing_it(kept: Path, tmp_path: Path) -> None:
    record = json.loads((kept / "report.json").read_text())
    record["findings"][0]["message"] = record["title"]
    record["sha256"] = content_hash(record)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(record))
    found = iso.verify(file, data=kept / "people.csv", model=kept / "model.skops")
    assert found.exit_code == 1
    assert "findings" in str(found)


def test_forged_verdicts(kept: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text((kept / "report.json").read_text().replace('"exceeds"', '"meets"'))
    code, said = called(file)
    assert code == 1
    assert "was changed after it was written" in said
    assert "selection-rate-ratio[sex]" in said
    code, said = called(file, "--lang", "pt-BR")
    assert code == 1
    assert "foi alterado depois de gravado" in said


def test_what_cannot_be_checked_is_said_and_ends_with_3(kept: Path, tmp_path: Path) -> None:
    code, said = called(kept / "report.json", "--data", kept / "people.csv")
    assert code == 3
    assert "--model" in said
    frame = people()
    of_columns = iso.audit(
        frame["granted"], frame["granted"], sensitive_features=frame["sex"], positive="yes", n_boot=0
    )
    file = of_columns.save(tmp_path / "columns.json")["json"]
    assert iso.verify(file).exit_code == 0
    found = iso.verify(file, data=kept / "people.csv")
    assert found.exit_code == 3
    assert "columns" in str(found)


@pytest.mark.parametrize("text", ["", "[]", '{"schema_version": "1.0"}'])
def test_what_is_no_report_is_bad_input(text: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    assert called(file)[0] == 2
    assert called(tmp_path / "none.json")[0] == 2


@pytest.mark.parametrize(
    "spec", [{}, {"dataset": 3}, {"dataset": {"nope": 1}}, {"settings": {"n_boot": "many"}}, {"checks": ["nope"]}]
)
def test_a_spec_that_was_tampered_with_is_an_error_of_ours(spec: dict[str, Any], kept: Path) -> None:
    record = json.loads((kept / "report.json").read_text())
    record["spec"] = {**record["spec"], **spec} if spec else {}
    with pytest.raises(iso.IsonomiaError):
        iso.verify(record, data=kept / "people.csv", model=kept / "model.skops")


def test_a_file_that_only_the_report_names_is_not_read_without_a_word(kept: Path, tmp_path: Path) -> None:
    data = iso.read(kept / "people.csv", **{**ROLES, "target": None, "prediction": "granted"})
    options = {"drift": {"reference": str(kept / "other.csv")}}
    report = iso.audit(data, checks=["group_fairness", "drift"], options=options, n_boot=0)
    found = iso.verify(report, data=kept / "people.csv")
    assert found.exit_code == 3
    assert "other.csv" in str(found)
    assert iso.verify(report, data=kept / "people.csv", trust=True).exit_code == 0
