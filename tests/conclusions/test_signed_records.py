"""What a report claims and what its figures say: a record that was changed is not taken for what it was."""

from __future__ import annotations

import copy
import hashlib
import json
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.report import content_hash

POLICIES = ("eeoc", "us-lending", "engineering", "br-lgpd-20", "nyc-ll144")


def people(seed: int = 0, n: int = 600, gap: float = 0.45) -> dict[str, Any]:
    """People of two sexes and three origins; women get the decision less often by `gap`."""
    rng = np.random.default_rng(seed)
    sex, origin = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n, p=[0.5, 0.47, 0.03])
    said = (rng.random(n) < np.where(sex == "F", 0.75 - gap, 0.75)).astype(int)
    truth = np.where(rng.random(n) < 0.8, said, 1 - said)
    return {"sex": sex, "origin": origin, "x": rng.normal(size=n), "y": truth, "p": said}


@cache
def audited(policy: str = "eeoc", gap: float = 0.45, checks: str = "quick", **given: Any) -> iso.Report:
    data = iso.Dataset(people(gap=gap), target="y", protected=["sex", "origin"], prediction="p", features=["x"])
    return iso.audit(data, checks=checks, policy=policy, n_boot=50, **given)


def record_of(report: iso.Report) -> Any:
    return json.loads(report.to_json())


def rehashed(record: Any) -> Any:
    """The record with a hash that is right: what somebody does who knows how it is made."""
    return {**record, "sha256": content_hash(record)}


def loaded(record: Any) -> list[str]:
    """The warnings of loading a record."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        iso.Report.from_dict(record)
    return [str(one.message) for one in caught]


def test_the_hash_can_be_made_without_isonomia() -> None:
    record = record_of(audited())
    covered = {key: record[key] for key in record if key not in ("sha256", "isonomia_version", "timings")}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"))
    assert record["sha256"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("gap", [0.0, 0.45])
def test_what_an_audit_writes_loads_without_a_word(policy: str, gap: float) -> None:
    report = audited(policy, gap)
    assert loaded(record_of(report)) == []
    assert loaded(report.to_dict()) == []
    assert iso.Report.from_dict(record_of(report)).to_dict()["sha256"] == record_of(report)["sha256"]


def test_every_exceeds_replaced_by_meets_is_noticed() -> None:
    """The forgery that today goes through: exit code 1 becomes 0, and nothing says so."""
    text = audited().to_json()
    assert json.loads(text)["verdict"]["outcome"] == "exceeds"
    forged = json.loads(text.replace('"exceeds"', '"meets"'))
    assert "was changed after it was written" in loaded(forged)[0]
    assert ["does not follow from its figures" in one for one in loaded(rehashed(forged))] == [True]
    assert "selection-rate-ratio[sex]" in loaded(rehashed(forged))[0]


def _first(record: Any) -> Any:
    return next(one for one in record["verdict"]["criteria"] if one["by"] == ["sex"])


def _outcome(record: Any) -> None:
    _first(record)["outcome"] = record["verdict"]["outcome"] = "meets"


def _limit(record: Any) -> None:
    _first(record).update(threshold=0.2, outcome="meets", least=0.3)
    record["verdict"]["outcome"] = "meets"


def _removed(record: Any) -> None:
    record["verdict"]["criteria"].remove(_first(record))


def _whole(record: Any) -> None:
    record["verdict"]["outcome"] = "meets"


def _other_sentence(record: Any) -> None:
    record["verdict"]["reason"] = record["verdict"]["title"]


def _no_verdict(record: Any) -> None:
    record["verdict"] = {"outcome": "not_applicable", "policy": None, "title": None, "source": "", "criteria": []}
    record["verdict"]["reason"] = None


def _no_figure(record: Any) -> None:
    _first(record)["estimate"].update(value=None, note="lost")
    _outcome(record)


def _other_policy(record: Any) -> None:
    record["verdict"]["policy"] = "us-lending"


@pytest.mark.parametrize(
    "change", [_outcome, _limit, _removed, _whole, _other_sentence, _no_verdict, _no_figure, _other_policy]
)
def test_a_verdict_that_does_not_follow_is_noticed_whatever_the_hash_says(change: Callable[[Any], None]) -> None:
    record = record_of(audited())
    change(record)
    assert len(loaded(record)) >= 1
    assert any("does not follow" in one for one in loaded(rehashed(record)))


def test_a_group_that_was_left_out_is_not_turned_into_meets() -> None:
    report = audited("us-lending", 0.0)
    record = record_of(report)
    one = next(one for one in record["verdict"]["criteria"] if one["by"] == ["origin"])
    assert one["outcome"] == "not_enough_evidence"
    one["outcome"] = "meets"
    assert any("origin" in text for text in loaded(rehashed(record)))


def test_findings_that_were_dropped_do_not_become_a_met_rule() -> None:
    rule = {"name": "no critical finding", "kind": "findings"}
    report = iso.audit(
        iso.Dataset(people(), target="y", protected=["sex"], prediction="p", features=["x"]),
        checks="quick",
        policy={"id": "mine", "title": "Mine", "rules": [rule]},
        n_boot=50,
    )
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"
    record = record_of(report)
    assert loaded(record) == []
    one = record["verdict"]["criteria"][0]
    one["outcome"] = record["verdict"]["outcome"] = "meets"
    one["estimate"]["value"] = 0
    assert any("does not follow" in text for text in loaded(rehashed(record)))


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_load_without_a_word(task: str) -> None:
    rng = np.random.default_rng(1)
    frame = people()
    shift = 2.0 * (frame["sex"] == "M")
    frame["y"] = rng.normal(50, 5, len(shift)) + shift if task == "regression" else rng.choice(["a", "b", "c"], 600)
    frame["p"] = frame["y"] + rng.normal(0, 2, 600) if task == "regression" else rng.choice(["a", "b", "c"], 600)
    data = iso.Dataset(frame, target="y", protected=["sex", "origin"], prediction="p", features=["x"], task=task)
    policy = "engineering-regression" if task == "regression" else "engineering"
    report = iso.audit(data, checks="quick", policy=policy, n_boot=50)
    assert loaded(record_of(report)) == []


def test_a_record_without_a_hash_is_said_to_have_none() -> None:
    record = record_of(audited())
    del record["sha256"]
    assert "no hash" in loaded(record)[0]


def test_every_door_that_reads_a_report_warns(tmp_path: Path) -> None:
    text = audited("nyc-ll144").to_json()
    forged = copy.deepcopy(json.loads(text))
    forged["created"] = "2020-01-01T00:00:00+00:00"
    file = tmp_path / "report.json"
    file.write_text(json.dumps(forged))
    for door in (lambda: iso.Report.load(file), lambda: iso.compare(file, audited("nyc-ll144"))):
        with pytest.warns(UserWarning, match="was changed after it was written"):
            door()


@pytest.mark.parametrize(
    "words", ["compare {0} {0}", "card {0}", "runs import {1} --analysis loans --store {1}/runs.db"]
)
def test_every_command_that_reads_a_report_says_so(words: str, tmp_path: Path) -> None:
    record = record_of(audited("nyc-ll144"))
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps({**record, "created": "2020-01-01T00:00:00+00:00"}))
    line = [part.format(folder / "report.json", folder) for part in words.split()]
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the tests make errors of them
        ended = CliRunner().invoke(app, line)
    assert ended.exit_code in (0, 1, 3), ended.output
    assert "was changed after it was written" in ended.stderr
