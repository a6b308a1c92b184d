"""A run that was kept is the same run again, on both databases."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from tests.store.reports import CHECKS, audited, people

import isonomia as iso
from isonomia.errors import SpecError, StoreError
from isonomia.report import dumps
from isonomia.store import Store, people_of, tables, who_key
from isonomia.store.ids import new_id
from isonomia.store.over_time import since


def _regression() -> iso.Report:
    rng = np.random.default_rng(0)
    sex, y = rng.choice(["F", "M"], 300), rng.normal(size=300)
    data = iso.Dataset(
        {"sex": sex, "y": y, "p": y + rng.normal(size=300)}, target="y", protected=["sex"], prediction="p"
    )
    return iso.audit(data, checks=CHECKS, n_boot=50)


def _classes() -> iso.Report:
    rng = np.random.default_rng(0)
    columns = {"sex": rng.choice(["F", "M"], 300), "y": rng.choice(["a", "b", "c"], 300)}
    columns["p"] = np.where(rng.random(300) < 0.7, columns["y"], "a")
    return iso.audit(iso.Dataset(columns, target="y", protected=["sex"], prediction="p"), checks=CHECKS, n_boot=50)


def _hostile() -> iso.Report:
    data = people(F="F&race=A\x00", M="<script>%26", A="A\n'; DROP TABLE run;--")
    return iso.audit(data, policy="eeoc", checks=CHECKS, n_boot=50, language="pt-BR")


KINDS = {"binary": audited, "classes": _classes, "regression": _regression, "hostile": _hostile}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_the_same_object_again(store: Store, kind: str) -> None:
    report = KINDS[kind]()
    run = store.keep(report, analysis="loans")
    again = store.load(run.id)
    assert again.to_dict() == report.to_dict()
    assert store.record(run) == dumps(report.document).encode("ascii")
    assert again.to_html() == report.to_html()
    assert (run.n_findings, run.rows) == (len(report.findings), report.document.subject["rows"])
    assert run.verdict == (None if report.verdict is None else report.verdict.outcome)


def test_what_is_listed_comes_from_the_report(store: Store) -> None:
    report = audited()
    run = store.keep(report, analysis="loans")
    assert (run.analysis, run.kind, run.state, run.task, run.seed) == ("loans", "audit", "done", "binary", 0)
    assert run.created == datetime.fromisoformat(report.document.created)
    assert run.dataset_fp == report.document.fingerprint["data_sha256"]
    assert run.finished is not None
    assert run.finished.tzinfo is UTC

    def rows(name: str) -> list[Any]:
        table = tables.metadata.tables[name]
        return list(store.database.read(lambda c: c.execute(select(table).where(table.c.run == run.id)).all()))

    assert {row.check: row.outcome for row in rows("outcome")} == {s.code: s.outcome for s in report.document.sections}
    found = sorted(rows("finding"), key=lambda row: row.place)
    assert [(row.code, row.severity, people_of(row.who_key)) for row in found] == [
        (finding.code, finding.severity, dict(finding.who)) for finding in report.findings
    ]
    assert report.verdict is not None
    assert [(row.outcome, row.value) for row in sorted(rows("criterion"), key=lambda row: row.place)] == [
        (criterion.outcome, criterion.estimate.value) for criterion in report.verdict.criteria
    ]
    women = report["group_fairness"].tables["by_group"]
    index = [key == (("sex", "F"),) for key in women["group"].keys or ()].index(True)
    (figure,) = [
        row for row in rows("figure") if (row.metric, row.measure, row.who_key) == ("selection_rate", "value", "sex=F")
    ]
    column = women["selection_rate"]
    assert column.low is not None
    assert column.high is not None
    assert (figure.value, figure.low, figure.high) == (column.values[index], column.low[index], column.high[index])
    assert figure.se == pytest.approx((figure.high - figure.low) / (2 * 1.959963984540054))
    assert figure.n == women["n"].values[index]


def test_a_missing_figure_is_null_with_its_reason_in_the_record(store: Store) -> None:
    columns = {"sex": ["F", "M"] * 60, "y": [0, 1] * 60, "p": [0, 1] * 60}  # no positive label among women
    data = iso.Dataset(columns, target="y", protected=["sex"], prediction="p")
    run = store.keep(iso.audit(data, checks=CHECKS, n_boot=50), analysis="loans")
    table = tables.figure
    query = select(table).where(table.c.run == run.id, table.c.metric == "tpr", table.c.who_key == "sex=F")
    (row,) = [one for one in store.database.read(lambda c: c.execute(query).all()) if one.measure == "value"]
    assert (row.value, row.low, row.se) == (None, None, None)
    by_group = store.load(run)["group_fairness"].tables["by_group"]
    index = [key == (("sex", "F"),) for key in by_group["group"].keys].index(True)
    assert by_group["tpr"].estimate(index).note


def test_runs_are_listed_newest_first_and_page_by_page(store: Store) -> None:
    kept = [store.keep(audited(seed), analysis="loans") for seed in range(3)]
    store.keep(audited(3), analysis="cards")
    ordered = sorted(kept, key=lambda run: (run.created, run.id), reverse=True)
    assert [run.id for run in store.runs("loans")] == [run.id for run in ordered]
    assert [run.analysis for run in store.runs()] == ["cards", "loans", "loans", "loans"] or len(store.runs()) == 4
    assert store.runs("loans", limit=1) == ordered[:1]
    assert store.runs("loans", before=ordered[0].created) == [r for r in ordered if r.created < ordered[0].created]
    assert store.runs("loans", kind="discovery") == []
    assert store.run(ordered[0].id[:35]) == ordered[0]
    assert store.run("loans") == ordered[0]
    assert [one.slug for one in store.analyses()] == ["cards", "loans"]
    with pytest.raises(StoreError, match="has no run 'nothing-like-it'"):
        store.run("nothing-like-it")
    with pytest.raises(StoreError, match="`analysis` must be a name"):
        store.keep(audited(), analysis="Loans 2024")


def test_two_runs_are_compared_as_their_reports_are(store: Store) -> None:
    before, after = store.keep(audited(0), analysis="loans"), store.keep(audited(1, 2.0), analysis="loans")
    assert store.compare(before, after).to_dict() == iso.compare(audited(0), audited(1, 2.0)).to_dict()


def test_a_removed_run_leaves_a_line_in_the_log(store: Store) -> None:
    run, other = store.keep(audited(0), analysis="loans"), store.keep(audited(1), analysis="loans")
    store.set_baseline(run)
    store.remove(run)
    assert [one.id for one in store.runs("loans")] == [other.id]
    assert store.analyses()[0].baseline_run is None
    line = store.log()[0]
    assert (line.action, line.object) == ("remove", f"run:{run.id}")
    assert line.note["record_sha256"] == run.record_sha256
    for name in ("outcome", "criterion", "finding", "figure"):
        table = tables.metadata.tables[name]
        query = select(table.c.run).where(table.c.run == run.id)
        assert store.database.read(lambda c, query=query: c.execute(query).all()) == []


def test_a_changed_record_is_refused(store: Store) -> None:
    run = store.keep(audited(), analysis="loans")
    packed = store.database.read(lambda c: c.execute(select(tables.run.c.record)).scalar_one())
    for damaged in (packed[:-9], packed[:50] + bytes([packed[50] ^ 1]) + packed[51:]):
        update = tables.run.update().values(record=damaged)
        store.database.write(lambda c, update=update: c.execute(update))
        with pytest.raises(StoreError, match="is damaged"):
            store.load(run)


def test_save_keeps_writes_and_compares_with_the_last_run(store: Store, tmp_path: Path) -> None:
    first = audited(0).save(tmp_path / "one", store=store, analysis="loans")
    assert json.loads(first["json"].read_text())["checks"].keys() == {*CHECKS}
    audited(1, 2.0).save(tmp_path / "two", store=store, analysis="loans")
    stored = store.load("loans")
    assert dumps(stored.document) == (tmp_path / "two" / "report.json").read_text()
    since = stored["since_last_run"]
    changed = iso.compare(audited(0), audited(1, 2.0)).tables["changes"]
    moved = sum(direction != "same" for direction in changed["direction"].values)
    assert moved > 0
    assert since.values == {
        "compared": len(changed),
        "changed": moved,
        "new_findings": since.values["new_findings"],
        "gone_findings": since.values["gone_findings"],
    }
    assert len(since.tables["changes"]) == moved
    assert f"{moved} of {len(changed)} figures changed by more than chance" in str(since.notes[0])
    assert "mudaram além do acaso" in since.notes[0].text("pt-BR")
    assert stored.exit_code == audited(1, 2.0).exit_code
    again = store.continued(stored, analysis="loans")  # the section is replaced, not repeated
    assert again.document.counts == stored.document.counts
    assert again["since_last_run"].values["changed"] == 0


def test_save_by_address_and_without_enough_words(address: str, tmp_path: Path) -> None:
    assert audited().save(store=address, analysis="loans") == {}
    with iso.store.open(address) as store:
        assert len(store.runs("loans")) == 1
    for wrong in ({}, {"store": address}, {"path": tmp_path, "analysis": "loans"}):
        with pytest.raises(SpecError):
            audited().save(**wrong)  # type: ignore[arg-type]


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4))
def test_who_key_is_canonical_and_reversible(who: dict[str, str]) -> None:
    key = who_key(who)
    assert key == who_key(dict(reversed(who.items())))
    assert people_of(key) == who
    assert key.isascii()
    assert key.isprintable()


@given(st.data())
def test_different_people_have_different_keys(data: st.DataObject) -> None:
    sets = st.dictionaries(st.text("ab&=%", max_size=3), st.text("ab&=%2", max_size=3), max_size=3)
    one, other = data.draw(sets), data.draw(sets)
    assert (who_key(one) == who_key(other)) == (one == other)


def test_ids_sort_by_time() -> None:
    ids = [new_id() for _ in range(50)]
    assert len(set(ids)) == 50
    times = [int(one.replace("-", "")[:12], 16) for one in ids]
    assert times == sorted(times)
    assert math.isclose(times[-1] / 1000, datetime.now(UTC).timestamp(), abs_tol=5)


def test_a_documentation_profile_has_words_for_its_outcomes() -> None:
    """Its outcomes are not those of a policy with limits."""
    assert str(since._verdict("documents", "incomplete")) == "The verdict was: documented. It is now: incomplete."
