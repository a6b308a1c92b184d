"""The JSON record: its schema, its steadiness, no number that JSON does not know."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from isonomia.errors import SpecError
from isonomia.evidence import Column, Estimate, Result, Table
from isonomia.languages import msg
from isonomia.report import Criterion, Document, Section, Verdict, dumps, from_json, schema, to_json


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("which", ["document", "hostile"])
def test_a_record_validates(which: str, request: pytest.FixtureRequest) -> None:
    record = json.loads(dumps(request.getfixturevalue(which)))
    jsonschema.Draft202012Validator(schema()).validate(record)
    assert record["schema_version"] == "1.0"
    assert record["verdict"]["outcome"] == "exceeds"
    assert set(record["checks"]) == {"group_fairness", "calibration", "weak_spots", "drift", "proxies"}
    assert record["checks"]["drift"]["outcome"] == "skipped"
    assert record["counts"]["total"] == 5


def test_the_smallest_record_validates() -> None:
    record = to_json(Document("Audit", {}))
    jsonschema.Draft202012Validator(schema()).validate(record)
    assert record["verdict"]["outcome"] == "not_applicable"
    assert record["verdict"]["policy"] is None


def test_a_key_too_many_does_not_validate(document: Document) -> None:
    record = to_json(document) | {"score": 0.9}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(record)


def test_hostile_names_come_back_whole(hostile: Document) -> None:
    record = json.loads(dumps(hostile))
    assert record["findings"][0]["who"] == dict(hostile.findings[0].who)
    assert "x" * 5000 in json.dumps(record)


def test_only_created_timings_and_the_hash_differ(document: Document) -> None:
    later = replace(
        document,
        created="2027-01-01T00:00:00+00:00",
        timings={"reading": 9.0},
        sections=tuple(replace(section, seconds=section.seconds + 1) for section in document.sections),
    )
    one, other = to_json(document), to_json(later)
    assert {key for key in one if one[key] != other[key]} == {"created", "timings", "sha256"}
    slower = to_json(replace(later, created=document.created))
    assert {key for key in one if one[key] != slower[key]} == {"timings"}
    assert list(one) == list(other)


def test_missing_numbers_are_null_and_infinite_ones_survive() -> None:
    table = Table((Column("x", [float("nan"), float("inf"), 1.5]),))
    result = Result("c", msg("yes"), {"t": table}, {"e": Estimate(float("inf"), n=3), "f": float("-inf")})
    section = Section("c", msg("yes"), msg("no"), "passed", result)
    document = Document("Audit", {"rate": float("nan")}, (section,), fingerprint={"x": float("inf")})
    record = json.loads(dumps(document), parse_constant=pytest.fail)
    kept = record["checks"]["c"]["result"]
    infinite = {"$": "float", "value": "inf"}
    assert kept["tables"]["t"]["columns"][0]["values"] == [None, infinite, 1.5]
    assert kept["values"]["e"]["value"] == infinite
    jsonschema.Draft202012Validator(schema()).validate(record)
    loaded = from_json(record)["c"].result
    assert loaded is not None
    assert list(loaded.tables["t"]["x"].values) == [None, float("inf"), 1.5]
    assert loaded.values == {"e": Estimate(float("inf"), n=3), "f": float("-inf")}


def test_findings_of_a_check_are_places_in_the_ranking(document: Document) -> None:
    record = to_json(document)
    for code, check in record["checks"].items():
        assert [record["findings"][place]["check"] for place in check["findings"]] == [code] * len(check["findings"])
    assert len(record["checks"]["group_fairness"]["findings"]) == len(document.findings)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Section("c", msg("yes"), msg("no"), "skipped"), "needs a reason"),
        (lambda: Section("c", msg("yes"), msg("no"), "fine"), "must be one of"),  # type: ignore[arg-type]
        (lambda: Verdict("good", "eeoc", "x"), "must be one of"),  # type: ignore[arg-type]
        (lambda: Criterion("x", "meets", Estimate(0.1), side="below"), "must be one of"),  # type: ignore[arg-type]
        (lambda: Document("x", {}, (Section("c", msg("yes"), msg("no"), "passed"),) * 2), "more than once"),
        (
            lambda: Document("x", {}, (Section("group", msg("yes"), msg("no"), "passed"),))["grup"],
            "Did you mean 'group'",
        ),
    ],
)
def test_wrong_documents_are_refused(make: object, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        make()  # type: ignore[operator]
