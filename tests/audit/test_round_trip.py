"""A stored report is the same report again, in either language."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import isonomia as iso
from isonomia.evidence.column import plain
from isonomia.languages import encode
from isonomia.report import SCHEMA_VERSION, schema

Audited = Callable[[str, str], iso.Report]


@pytest.mark.parametrize(
    ("task", "checks"), [("binary", "standard"), ("binary", "full"), ("multiclass", "full"), ("regression", "full")]
)
def test_a_report_comes_back_whole(task: str, checks: str, audited: Audited, tmp_path: Path) -> None:
    report = audited(task, checks)
    assert report.document.counts["failed"] == 0
    written = report.to_dict()
    report.save(tmp_path, formats=("json",))
    loaded = iso.Report.load(tmp_path)
    assert loaded.to_dict() == written
    assert json.loads((tmp_path / "report.json").read_text()) == written
    jsonschema.Draft202012Validator(schema()).validate(written)
    for language in ("en", "pt-BR"):
        assert loaded.to_html(language) == report.to_html(language)
        assert loaded.to_markdown(language) == report.to_markdown(language)
    assert (loaded.exit_code, loaded.policy, loaded.findings) == (report.exit_code, report.policy, report.findings)
    for section in report.document.sections:
        for name, table in {} if section.result is None else section.result.tables.items():
            assert list(loaded[section.code].tables[name].frame()) == list(table.frame())


OLD = Path(__file__).parents[1] / "report" / "report-1.1.json"


def test_a_report_of_schema_1_loads_and_compares() -> None:
    old = iso.Report.load(OLD)
    record = json.loads(OLD.read_text())
    assert old.verdict is not None
    assert old.verdict.outcome == record["verdict"]["outcome"]
    texts = [finding["message"]["text"] for finding in record["findings"]]
    assert sorted(str(finding.message) for finding in old.findings) == sorted(texts)
    table = record["checks"]["group_fairness"]["tables"]["by_group"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert list(old["group_fairness"].tables["by_group"].rows()) == rows
    assert old["group_fairness"].tables["by_group"]["tpr"].low is not None
    again = iso.Report.from_dict(old.to_dict())
    assert again.to_dict() == old.to_dict()
    assert again.to_html("pt-BR") == old.to_html("pt-BR")
    same = iso.compare(old, again)
    assert not same.worse
    assert len(same.tables["changes"]) > 20
    assert set(same.tables["changes"]["difference"].values.tolist()) == {0.0}  # type: ignore[union-attr]


def test_a_report_of_schema_2_loads() -> None:
    """Version 2 wrote the values of every row; what was written then is read in the same words, in either language."""
    file = OLD.with_name("report-2.0.json")
    record = json.loads(file.read_text())
    old = iso.Report.load(file)
    assert [str(finding.message) for finding in old.findings] == [one["message"]["text"] for one in record["findings"]]
    for code, check in record["checks"].items():
        for name, table in check["result"]["tables"].items():
            loaded = old[code].tables[name]
            for column in table["columns"]:
                assert [_flat(value) for value in column["values"]] == [
                    encode(plain(value)) for value in loaded[column["name"]].values
                ]
    again = old.to_dict()
    assert again["schema_version"] == SCHEMA_VERSION
    assert iso.Report.from_dict(again).to_markdown("pt-BR") == old.to_markdown("pt-BR")
    assert len(json.dumps(again)) < 0.6 * len(json.dumps(record))


def _flat(value: Any) -> Any:
    """A value of version 2 as version 3 writes it: a name has template and parameters of its own."""
    if isinstance(value, list):
        return [_flat(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("$") == "name":
        value = {"$": "name", **value["message"], "text": value["text"]}
    return {key: _flat(item) for key, item in value.items()}


def test_an_index_that_no_level_has_is_refused(audited: Audited) -> None:
    record = audited("binary", "quick").to_dict()
    columns = record["checks"]["group_fairness"]["result"]["tables"]["comparisons"]["columns"]
    coded = next(column["values"] for column in columns if isinstance(column["values"], dict))
    for wrong in (-1, len(coded["levels"])):
        coded["codes"][0] = wrong
        with pytest.raises(iso.DataError, match="damaged"):
            iso.Report.from_dict(record)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ([], "no schema_version"),
        ({"schema_version": "9.0"}, "schema version 9.0"),
        ({"schema_version": "3.0"}, "damaged"),
        ({"schema_version": "2.0"}, "damaged"),
        ({"schema_version": "1.1"}, "damaged"),
    ],
)
def test_what_is_not_a_report_is_refused(record: Any, says: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(record))
    with pytest.raises(iso.DataError, match=says):
        iso.Report.load(tmp_path)


def test_an_unknown_kind_of_value_is_refused(audited: Audited) -> None:
    record = audited("binary", "quick").to_dict()
    record["subject"]["rows"] = {"$": "os.system", "value": "ls"}
    with pytest.raises(iso.DataError, match=r"Unknown kind of value 'os\.system'"):
        iso.Report.from_dict(record)


def test_the_fingerprint_tells_which_model_file_was_audited(people: dict[str, Any], tmp_path: Path) -> None:
    import hashlib

    frame = {**people, "y": (people["pay"] > 50).astype(int)}
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(
        np.column_stack([frame["pay"], frame["hours"]]), frame["y"]
    )
    file = iso.models.save_model(model, tmp_path / "model.skops")
    data = iso.Dataset(frame, target="y", protected=["sex"], features=["pay", "hours"])
    report = iso.audit(data, iso.load_model(file), checks="performance", n_boot=0)
    assert report.document.fingerprint["model_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert report.document.fingerprint["model_sha256"] in report.to_html()
    assert "model_sha256" not in iso.audit(data, model, checks="performance", n_boot=0).document.fingerprint


def test_a_remedy_is_an_id_with_a_sentence(audited: Audited) -> None:
    from isonomia.evidence import REMEDIES, Estimate, Finding
    from isonomia.languages import msg

    found = Finding("c.x", "notice", msg("yes"), Estimate(0.1), remedy="collect_rows")
    assert (found.advice, found.to_dict()["remedy"]) == (REMEDIES["collect_rows"], "collect_rows")
    assert Finding.from_dict(found.to_dict()) == found
    with pytest.raises(ValueError, match="no remedy 'colect_rows'"):
        Finding("c.x", "notice", msg("yes"), Estimate(0.1), remedy="colect_rows")
    with_advice = [finding for finding in audited("binary", "standard").findings if finding.remedy]
    assert with_advice
    assert all(finding.advice is not None and finding.advice.text("pt-BR") for finding in with_advice)
