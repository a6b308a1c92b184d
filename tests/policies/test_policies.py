"""Policies: what a file may hold, what is refused, aliases, schema; every shipped one through the three tasks."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit.verdicts.verdict import judge
from isonomia.policies import RULE_KINDS, Policy, load_policy, policy_names, policy_schema
from isonomia.subject import Subject

RATIO = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8}
VALIDATOR = jsonschema.Draft202012Validator(policy_schema())


def own(*rules: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"id": "own", "title": "own", "rules": list(rules), **facts}


def test_the_old_name_of_a_policy_works_and_warns() -> None:
    with pytest.warns(FutureWarning, match="'ecoa' is now called 'us-lending'"):
        assert load_policy("ecoa") == load_policy("us-lending")
    assert "ecoa" not in policy_names()


@pytest.mark.parametrize("name", policy_names())
def test_a_shipped_policy_states_its_source_and_standing(name: str) -> None:
    policy = load_policy(name)
    assert policy.id == name
    assert policy.source
    assert policy.about
    assert all(rule.citation for rule in policy.rules)
    assert policy.status == "internal" or policy.as_of is not None, "a text that can change needs the day of the check"
    assert load_policy(json.loads(json.dumps(policy.record()))) == policy
    VALIDATOR.validate(policy.record())
    words = f"{policy.title} {policy.about}".lower()
    assert "compl" not in words.replace("complete", ""), "a profile documents; it does not say that anything complies"
    kinds = {rule.kind for rule in policy.rules}
    assert kinds == {"figure"} if policy.kind == "documentation" else "figure" not in kinds


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (own(RATIO, {"kind": "figure", "name": "f", "check": "pairs"}), "write two policies"),
        (own(RATIO, kind="documentation"), "write two policies"),
        (own({"kind": "figure", "name": "f", "check": "pairs"}), "write two policies"),
        (own(RATIO, RATIO), "came more than once"),
        (own({**RATIO, "at_most": 1.0}), "either at_least or at_most"),
        (own({**RATIO, "at_least": None}), "either at_least or at_most"),
        (own({**RATIO, "at_least": float("inf")}), "finite"),
        (own({**RATIO, "at_least": float("nan")}), "finite"),
        (own({**RATIO, "metric": "selection_rat"}), "selection_rate"),
        (own({**RATIO, "measure": "difference"}), "at_most"),
        (own({**RATIO, "unit": "sd"}), "regression"),
        (own({**RATIO, "measure": "value", "attributes": ["sex"]}), "all rows"),
        (own({**RATIO, "kind": "magic"}), "metric"),
        (own({"kind": "check", "name": "c", "check": "pairs", "at_most": 1}), "figure"),
        (own({"kind": "findings", "name": "f", "severity": "bad"}), "severity"),
        (own({"kind": "findings", "name": "f", "at_most": -1}), "at_most"),
        (own({"kind": "figure", "name": "f"}, kind="documentation"), "either a metric or a check"),
        (own({"kind": "figure", "name": "f", "metric": "tpr", "table": "x"}, kind="documentation"), "table"),
        (own(), "rules"),
        (own(*[{**RATIO, "name": f"r{i}"} for i in range(201)]), "rules"),
        (own(RATIO, in_force={"from": "2027-01-01", "until": "2026-01-01"}), "before `from`"),
        (own(RATIO, in_force={"from": "soon"}), "in_force"),
        (own(RATIO, status="law"), "status"),
        (own(RATIO, id="../../etc/passwd"), "id"),
        (own(RATIO, title="x" * 5000), "title"),
        (own({**RATIO, "decide": "point"}), "decide"),
        (own({**RATIO, "id": "Has Spaces"}), "id"),
    ],
)
def test_a_mistake_in_a_policy_is_named(content: dict[str, Any], says: str) -> None:
    with pytest.raises(iso.SpecError) as error:
        load_policy(content)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "rules: [&a {name: x}, *a]",
        "!!python/object/apply:os.system ['true']",
        "id: a\nid: b\n",
        "[" * 5000,
        "- a\n- b\n",
        "id: own\ntitle: own\nrules: 3\n",
        "id: own\ntitle: own\nrules: [3, null, [], {}]\n",
        "\x00",
    ],
)
def test_a_hostile_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(iso.SpecError):
        load_policy(file)


def test_markup_and_braces_in_a_policy_mean_nothing() -> None:
    hostile = "<script>{0}</script> {x!r:>99999} |\u202e"
    frame = pd.DataFrame({"sex": ["a", "b"] * 500, "p": [1, 1, 0, 1] * 250})
    policy = own({**RATIO, "name": hostile, "citation": hostile}, title=hostile, about=hostile, source=hostile)
    report = iso.audit(iso.Dataset(frame, prediction="p", protected=["sex"]), policy=policy, checks="representation")
    assert report.verdict is not None
    assert hostile in str(report.verdict.title)
    assert "<script>{0}" not in report.to_html()
    assert "\u202e" not in report.to_markdown()
    assert iso.Report.from_dict(report.to_dict()).verdict == report.verdict


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    wrong = [
        {**RATIO, "at_most": 1.0},
        {**RATIO, "at_least": None},
        {**RATIO, "metric": "nothing"},
        {"name": "f", "severity": "critical"},
        {"kind": "figure", "name": "f"},
        {**RATIO, "unknown": 1},
    ]
    assert [VALIDATOR.is_valid(own(rule)) for rule in wrong] == [False] * len(wrong)
    assert VALIDATOR.is_valid(own(RATIO))
    assert set(RULE_KINDS) == {"metric", "check", "findings", "figure"}


TODAY = date(2026, 11, 17)


@pytest.mark.parametrize(
    ("dates", "status", "says", "not_says"),
    [
        ({"from": "2023-07-05"}, "in_force", "In force since July 5, 2023.", "before that"),
        ({"from": "2027-12-02"}, "adopted", "It applies from December 2, 2027; this audit was made on", "In force"),
        ({"until": "2025-01-31"}, "rescinded", "It applied until January 31, 2025; this audit was made on", "In force"),
        ({"from": "2026-11-17", "until": "2026-11-17"}, "in_force", "In force since November 17, 2026.", "applied"),
        (None, "practice", "Status: customary practice, not law.", "In force"),
        (None, "proposed", "Status: proposed, not in force.", "since"),
    ],
)
def test_a_verdict_says_whether_the_policy_is_in_force(dates: Any, status: str, says: str, not_says: str) -> None:
    subject = Subject.of(iso.Dataset({"s": ["a", "b"] * 50, "p": [0, 1] * 50}, prediction="p", protected=["s"]))
    verdict = judge(load_policy(own(RATIO, in_force=dates, status=status)), subject, on=TODAY)
    text = " ".join(map(str, verdict.notes))
    assert says in text
    assert not_says not in text
    in_portuguese = " ".join(note.text("pt-BR") for note in verdict.notes)
    assert "audit was made" not in in_portuguese


def _people(task: str) -> iso.Dataset:
    rng = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame({"sex": rng.choice(["women", "men"], n), "race": rng.choice(["Black", "White"], n)})
    score = rng.normal(0, 1, n) + 0.8 * (frame["sex"] == "men")
    truth = score + rng.normal(0, 1, n)
    if task == "regression":
        frame["y"], frame["p"] = truth, score
    elif task == "binary":
        frame["y"], frame["p"] = (np.where(part > 0, "hired", "refused") for part in (truth, score))
    else:
        frame["y"], frame["p"] = (np.array(list("abc"))[np.digitize(part, [-0.5, 0.7])] for part in (truth, score))
    favourable = {"positive": "hired"} if task == "binary" else {}
    return iso.Dataset(frame, target="y", prediction="p", protected=["sex", "race"], task=task, **favourable)


#: What each shipped policy says of these people; none of them has a model to disturb inputs of.
EXPECTED = {
    "eeoc": ("exceeds", "exceeds", "not_applicable"),
    "us-lending": ("exceeds", "exceeds", "not_applicable"),
    "engineering": ("exceeds", "exceeds", "not_applicable"),
    "engineering-regression": ("not_applicable", "not_applicable", "not_enough_evidence"),
    "nyc-ll144": ("documents", "incomplete", "documents"),
    "eu-ai-act": ("incomplete", "incomplete", "incomplete"),
    "br-lgpd-20": ("documents", "documents", "documents"),
}


def test_every_shipped_policy_is_expected() -> None:
    assert set(EXPECTED) == set(policy_names())


@pytest.mark.parametrize(("at", "task"), list(enumerate(("binary", "multiclass", "regression"))))
def test_every_shipped_policy_through_the_three_tasks(at: int, task: str) -> None:
    data = _people(task)
    for name in policy_names():
        report = iso.audit(data, policy=name, checks="quick", n_boot=100)
        assert report.verdict is not None
        assert report.verdict.outcome == EXPECTED[name][at], (name, str(report.verdict.reason))
        for language in ("en", "pt-BR"):
            sentences = [report.verdict.reason, *(one.sentence for one in report.verdict.criteria)]
            assert all(one is not None and "{" not in one.text(language) for one in sentences)  # type: ignore[union-attr]
        code = {"exceeds": 1, "meets": 0, "documents": 0, "not_applicable": 4}.get(report.verdict.outcome, 3)
        assert report.exit_code == code


def test_a_policy_is_the_same_after_its_record(tmp_path: Path) -> None:
    policy = load_policy(own(RATIO, in_force={"from": "2026-01-01"}))
    assert isinstance(policy, Policy)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy.record()), encoding="utf-8")
    assert load_policy(file) == policy
    assert policy.record()["in_force"]["from"] == "2026-01-01"
