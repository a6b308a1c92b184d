"""The first page: the answer in short sentences, in both languages, for every verdict and task.

``python tests/report/test_first_page.py`` writes the texts anew; the diff shows what readers will meet.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import isonomia as iso
from isonomia.evidence import Estimate, Finding, Result
from isonomia.languages import Message, Words, msg
from isonomia.report import Criterion, Document, Section, Verdict, VerdictOutcome, to_html
from isonomia.report.first_page import AFFECTED, UNEXAMINED, steps

SNAPSHOTS = Path(__file__).with_name("first_pages.txt")
WORDS = Words(values={"sex": {"F": "women", "M": "men"}})
REASON = msg("Women are approved 0.67 times as often as men (59% and 89%); the limit is 0.80.")
BASIS = msg("A limit is exceeded only where the whole interval lies beyond it.")


def finding(number: int, remedy: str | None, people: Estimate | None, severity: str = "critical") -> Finding:
    return Finding(
        f"group_fairness.figure_{number}",
        severity,  # type: ignore[arg-type]
        Message.literal(f"Statement {number} about women."),
        Estimate(-0.3, -0.35, -0.24, n=339),
        who={"sex": "F"} if number == 1 else {},
        n=339,
        topic=f"topic {number}",
        remedy=remedy,
        people=people,
    )


def example(task: str, outcome: VerdictOutcome | None) -> Document:
    """A report with more of everything than the first page can name."""
    found = (
        finding(1, "check_base_rates", Estimate(98.7, 80.7, 117.3, n=339)),
        finding(2, "check_base_rates", Estimate(1.2)),
        finding(3, "remove_attribute", Estimate(-31.0, -45.0, -18.0), "warning"),
        finding(4, "collect_rows", None, "notice"),
    )
    result = Result("group_fairness", msg("Group fairness"), findings=found)
    checks = [Section("group_fairness", msg("Group fairness"), msg("Are groups treated alike?"), "issue", result)]
    why = msg("no reference data were given; set this check's option `reference`")
    checks += [
        Section(f"drift_{number}", msg("Drift"), msg("Did the data change?"), "not_applicable", reason=why)
        for number in range(UNEXAMINED + 1)
    ]
    verdict = None
    if outcome is not None:
        verdict = Verdict(
            outcome,
            "eeoc",
            msg("US EEOC four-fifths rule"),
            "29 CFR 1607",
            (Criterion("ratio", outcome, Estimate(0.67, 0.61, 0.73), 0.8, "at_least", who={"sex": "F"}),),
            REASON,
            basis=BASIS,
            notes=(msg("Status: in force."),),
        )
    subject = {"dataset": "hmda", "rows": 2380, "task": task, "model": "LogisticRegression(C=1)"}
    return Document("Audit of hmda", subject, tuple(checks), verdict=verdict, created="2026-11-15", words=WORDS)


def text_of(html: str) -> list[str]:
    """The lines that a reader sees."""
    body = html[html.index("<body") :]
    body = re.sub(r"<style>.*?</style>|<script.*?</script>|<a class=.skip.*?</a>", "", body, flags=re.S)
    lines = re.sub(r"</?(p|h\d|li|ol|ul|div|section|header|footer|main|body|html)\b[^>]*>", "\n", body)
    plain = (unescape(re.sub(r"<[^>]+>", "", line)) for line in lines.splitlines())
    return [" ".join(line.split()) for line in plain if line.strip() and "Isonomia" not in line]


def snapshots() -> str:
    parts = []
    for task in ("binary", "multiclass", "regression"):
        for outcome in (None, *get_args(VerdictOutcome)):
            if task != "binary" and outcome not in (None, "exceeds"):
                continue  # the page does not depend on the task in other ways
            for language in ("en", "pt-BR"):
                page = to_html(example(task, outcome), language, extent="first_page")
                parts.append("\n".join([f"== {task}, {outcome}, {language}", *text_of(page)]))
    return "\n\n".join(parts) + "\n"


def test_the_texts_are_those_that_were_agreed() -> None:
    assert snapshots() == SNAPSHOTS.read_text(encoding="utf-8")


def test_the_verdict_alone_says_how_it_is() -> None:
    lines = text_of(to_html(example("binary", "exceeds"), extent="first_page"))
    assert REASON.text() in lines
    assert f"{BASIS} Status: in force." in lines
    assert not [line for line in lines if line.startswith("Found: ") or "alike" in line or "passed" in line]
    without = text_of(to_html(example("binary", None), extent="first_page"))
    assert "No policy was given, so there is no verdict." in without
    assert any(line.startswith("Found: 2 critical") for line in without)


def test_people_are_counted_where_they_are_worse_off() -> None:
    text = " ".join(text_of(to_html(example("binary", "exceeds"), extent="first_page")))
    assert "Statement 1 about women. About 99 people are affected (81 to 117)." in text
    assert "Statement 2 about women. About 1 person is affected." in text
    assert "Statement 3 about women." in text
    assert "Statement 3 about women. About" not in text, "they are better off"


def test_every_matter_says_what_to_do_and_for_whom() -> None:
    """The action stands beside what it is for; one that was said is not said again; lines are left to fill in."""
    html = to_html(example("binary", "exceeds"), extent="first_page")
    rows = re.findall(r"<li class=\"(?:critical|warning|notice)\">(.*?)</li>", html, re.DOTALL)
    assert len(rows) == AFFECTED
    told = [[one for one in text_of(f"<body>{row}") if one not in ("By whomUntil",)] for row in rows]
    assert told[0][0].startswith("Statement 1 about women.")
    assert told[0][-1].startswith("Check whether the true outcomes of these groups differ")
    assert "The same as for 1." in [row[-1] for row in told]
    assert all("By whom" in row and "Until" in row for row in rows)


def test_people_that_a_sentence_counts_are_not_counted_again() -> None:
    """Also where the sentence is made of another one; the strip is of the people that the rate is a share of."""
    told = msg("{people:num} more of {n:int}.", people=30.0, n=120)
    whole = Message("{said} It takes the records as true.", {"said": told})
    one = replace(finding(1, None, Estimate(30.0, 20.0, 40.0, n=120)), message=whole)
    result = Result("group_fairness", msg("X"), findings=(one,))
    document = Document("Audit", {}, (Section("group_fairness", msg("X"), msg("X"), "issue", result),))
    html = to_html(document, extent="first_page")
    assert "30.0 more of 120." in html
    assert "are affected" not in html
    assert "<span>30 of 120</span>" in html


def test_people_are_drawn_as_a_share_of_those_it_is_about() -> None:
    html = to_html(example("binary", "exceeds"), extent="first_page")
    row = re.search(r"Statement 1 about women.*?</li>", html, re.DOTALL)
    assert row is not None
    filled = re.search(r'<path class="affected" d="([^"]*)"/><path d="([^"]*)"', row[0])
    assert filled is not None
    assert (filled[1].count("M"), filled[2].count("M")) == (15, 35)  # 99 of 339 are 29%
    assert "<span>99 of 339</span>" in row[0]


def test_what_to_do_about_the_audit_itself_is_said() -> None:
    unsure = steps(example("binary", "not_enough_evidence"))
    assert unsure[0].text().startswith("Collect more data on the groups")
    assert [step.text() for step in steps(Document("Audit", {}))] == [
        "Repeat the audit whenever the model or the data change."
    ]
    failed = Section("x", msg("X"), msg("X"), "failed", reason="broken")
    assert steps(replace(example("binary", "exceeds"), sections=(failed,)))[0].text().startswith("Repair and repeat")


def data(task: str) -> iso.Dataset:
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.choice(["F", "M"], n)
    score = rng.normal(size=n) + 0.6 * (sex == "M")
    frame = {"sex": sex, "years_of_work": rng.integers(0, 40, n)}
    if task == "regression":
        frame |= {"pay_rate": score + rng.normal(size=n), "guess": score}
    elif task == "multiclass":
        frame |= {
            "pay_rate": np.digitize(score, [-0.5, 0.8]).astype(str),
            "guess": np.digitize(score, [0, 1]).astype(str),
        }
    else:
        frame |= {"pay_rate": (score + rng.normal(size=n) > 0).astype(int), "guess": (score > 0.3).astype(int)}
    labels = {"sex": {"F": "women", "M": "men"}}
    return iso.Dataset(frame, target="pay_rate", protected=["sex"], prediction="guess", task=task, labels=labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_real_audit_reads_in_short_sentences_without_code(task: str) -> None:
    report = iso.audit(data(task), checks="quick", policy="eeoc" if task == "binary" else None, seed=0, n_boot=50)
    for language in ("en", "pt-BR"):
        lines = text_of(report.to_html(language, extent="first_page"))
        page = "\n".join(lines[2:])  # after the title and the date
        for sentence in re.split(r"[.?!](?:\s|$)|\n|·", page):
            assert len(sentence.split()) <= 30, sentence
        assert not re.findall(r"\w+=\w+|\b[a-zA-Z]+_[a-zA-Z]+", page)
    if task == "binary":
        assert "women" in page.lower()


def test_every_group_that_is_worse_off_is_named_and_every_step_says_for_whom() -> None:
    """Two groups below a third, in attributes whose intersections have long names; a class with an underscore."""
    rng = np.random.default_rng(4)
    n = 4000
    colour = rng.choice(["branca", "parda", "preta"], n, p=[0.5, 0.3, 0.2])
    rate = 0.8 - 0.25 * (colour == "parda") - 0.3 * (colour == "preta")
    frame = {"raça_cor": colour, "sexo": rng.choice(["feminino", "masculino"], n), "idade": rng.integers(18, 80, n)}
    rate -= 0.3 * ((colour == "parda") & (frame["sexo"] == "feminino") & (frame["idade"] < 30))
    frame["decisão"] = np.where(rng.random(n) < rate, "pré_aprovada", "negada")
    protected = {"raça_cor": None, "sexo": None, "idade": [30, 60]}
    roles = {"prediction": "decisão", "positive": "pré_aprovada", "protected": protected}
    report = iso.audit(frame, policy="us-lending", checks=["group_fairness"], n_boot=50, **roles)
    for language in ("en", "pt-BR"):
        page = "\n".join(text_of(report.to_html(language, extent="first_page"))[2:])
        rows = re.findall(r'<li class="(?:critical|warning|notice)">(.*?)</li>', report.to_html(language), re.DOTALL)
        first, second = (text_of(f"<body>{row}")[0].lower() for row in rows[:2])
        assert ("parda" in first) == ("preta" in second), "each in an entry of its own"
        assert ("preta" in first) != ("parda" in first)
        assert ("parda" in second) != ("preta" in second)
        assert not re.findall(r"\w+=\w+|[^\W\d]+_[^\W\d]+", page)
        for sentence in re.split(r"[.?!](?:\s|$)|\n|·", page):
            assert len(sentence.split()) <= 30, sentence


def test_classes_with_underscores_are_words_in_a_verdict() -> None:
    rng = np.random.default_rng(5)
    sex = rng.choice(["F", "M"], 900)
    guess = np.array(["not_recommended", "priority", "very_recommended"])[
        np.clip(rng.integers(0, 3, 900) + (sex == "M"), 0, 2)
    ]
    truth = np.where(rng.random(900) < 0.8, guess, "priority")
    frame = {"sex": sex, "admission": truth, "guess": guess}
    report = iso.audit(
        frame, target="admission", prediction="guess", protected=["sex"], policy="engineering", checks="quick"
    )
    assert "_" not in "\n".join(text_of(report.to_html(extent="first_page"))[2:])


def test_groups_that_are_left_out_make_no_long_sentence() -> None:
    """Six groups too small to compare: three are named, in a sentence of their own."""
    rng = np.random.default_rng(1)
    sizes = {"north": 150, "south": 120, **{f"district {k}": 3 + k for k in range(6)}}
    region = np.repeat(list(sizes), list(sizes.values()))
    truth = rng.integers(0, 2, region.size)
    decided = np.where(rng.random(region.size) < 0.75, truth, 1 - truth)
    frame = {"region": region, "grade": truth, "decided": decided}
    roles = {"target": "grade", "prediction": "decided", "protected": ["region"]}
    report = iso.audit(frame, policy="engineering", n_boot=50, **roles)
    for language, said in (
        ("en", "Groups too small to compare: "),
        ("pt-BR", "Grupos pequenos demais para comparar: "),
    ):
        page = "\n".join(text_of(report.to_html(language, extent="first_page"))[2:])
        assert said in page
        assert max(len(sentence.split()) for sentence in re.split(r"[.?!](?:\s|$)|\n|·", page)) <= 30


def test_an_action_that_was_said_is_not_said_again() -> None:
    changes = [
        Finding(
            "counterfactual",
            "critical",
            Message.literal(f"It changes with {name}."),
            Estimate(0.1),
            columns=(name,),
            remedy="remove_attribute",
            tier="people",
        )
        for name in ("age", "sex")
    ]
    result = Result("counterfactual", msg("X"), findings=tuple(changes))
    document = Document("Audit", {}, (Section("counterfactual", msg("X"), msg("X"), "issue", result),))
    text = "\n".join(text_of(to_html(document, extent="first_page")))
    assert text.count("Remove the attribute") == 1
    assert text.index("It changes with age") < text.index("Remove the attribute") < text.index("It changes with sex")
    assert text.index("It changes with sex") < text.index("The same as for 1.")


if __name__ == "__main__":
    SNAPSHOTS.write_text(snapshots(), encoding="utf-8")
