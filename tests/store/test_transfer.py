"""Runs as files, and back: records stay the same, byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.store.reports import audited

import isonomia as iso
from isonomia.errors import StoreError
from isonomia.store import Store


def test_a_store_exported_and_imported_has_the_same_records(store: Store, tmp_path: Path) -> None:
    runs = [store.keep(audited(seed), analysis=name) for seed, name in enumerate(["loans", "loans", "cards"])]
    store.set_baseline(runs[0])
    assert store.export(tmp_path / "out") == 3
    with iso.store.open(tmp_path / "other.db") as other:
        assert other.import_(tmp_path / "out") == (3, 0)
        assert other.import_(tmp_path / "out") == (0, 3)
        assert other.runs() == store.runs()
        assert [other.record(run.id) for run in runs] == [store.record(run.id) for run in runs]
        assert other.analyses()[1].baseline_run == runs[0].id
        figure = {"analysis": "loans", "who": {"sex": "F"}}
        assert other.history("tpr", **figure).to_dict() == store.history("tpr", **figure).to_dict()
        assert other.export(tmp_path / "again") == 3
    files = [sorted(p.relative_to(tmp_path / d) for p in (tmp_path / d).rglob("*.*")) for d in ("out", "again")]
    assert files[0] == files[1]
    assert all((tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files[0])


def test_a_folder_of_reports_is_imported_without_loss(tmp_path: Path) -> None:
    for seed in range(2):
        audited(seed).save(tmp_path / "reports" / f"week-{seed}", formats=("json",))
    with iso.store.open(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match="--analysis NAME"):
            store.import_(tmp_path / "reports")
        assert store.import_(tmp_path / "reports", analysis="loans") == (2, 0)
        assert store.import_(tmp_path / "reports", analysis="loans") == (0, 2)
        records = {store.record(run) for run in store.runs("loans")}
    assert records == {path.read_bytes() for path in (tmp_path / "reports").rglob("report.json")}


def test_files_that_are_not_runs_are_refused(tmp_path: Path) -> None:
    with iso.store.open(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match="There is no folder"):
            store.import_(tmp_path / "nowhere")
        (tmp_path / "in").mkdir()
        with pytest.raises(StoreError, match=r"no report\.json"):
            store.import_(tmp_path / "in", analysis="loans")
        (tmp_path / "in" / "report.json").write_text("[1]")
        with pytest.raises(StoreError, match="is not a report"):
            store.import_(tmp_path / "in", analysis="loans")
        (tmp_path / "in" / "report.json").write_text('{"schema_version": "9.0"}')
        with pytest.raises(StoreError, match=r"schema version .9\.0"):
            store.import_(tmp_path / "in", analysis="loans")
        run = {"id": "../../etc", "analysis": "loans", "kind": "audit"}
        (tmp_path / "in" / "store.json").write_text(json.dumps({"isonomia_store": 1, "analyses": [], "runs": [run]}))
        with pytest.raises(StoreError, match="invalid run id"):
            store.import_(tmp_path / "in")
        assert store.runs() == []
