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
from isonomia.report import schema

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
        ({"schema_version": "9.0"}, "schema version '9.0'"),
        ({"schema_version": "1.0"}, "damaged"),
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
