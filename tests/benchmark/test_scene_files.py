"""Scenes on disk: the same to the last bit, prepared once, whole or not there, within a bound, without pickles."""

from __future__ import annotations

import io
import os
import time
import zipfile
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isonomia.benchmark import CENTRE, Setting, scene_files
from isonomia.benchmark.scene_files import prepared, scene_bytes, scene_from_bytes, scene_key
from isonomia.benchmark.scenes import Scene, build
from isonomia.data import wrap

TINY = replace(CENTRE, n_pairs=2, group_rows=40, background=300, judged=500)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISONOMIA_SCENES", str(tmp_path))
    return tmp_path


def path_of(folder: Path, setting: Setting, seed: int = 0) -> Path:
    return folder / f"{scene_key(setting, seed)}.scene"


def no_build(setting: Setting, seed: int) -> Scene:
    raise AssertionError("prepared again")


def assert_same(one: Scene, other: Scene) -> None:
    for mine, theirs in ((one.people, other.people), (one.fresh, other.fresh)):
        assert (mine.protected, mine.features) == (theirs.protected, theirs.features)
        assert mine.kinds == theirs.kinds
        assert wrap(mine.frame).schema == wrap(theirs.frame).schema
        for name in mine.columns:
            assert np.array_equal(mine.column(name).to_numpy(), theirs.column(name).to_numpy())
    for name in ("outcome", "score", "shift"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(one.model.predict(one.fresh.frame), other.model.predict(other.fresh.frame))
    assert np.array_equal(one.usual_density, other.usual_density)
    assert [truth.subgroup.to_dict() for truth in one.truths] == [truth.subgroup.to_dict() for truth in other.truths]
    assert [truth.partner.to_dict() for truth in one.truths] == [truth.partner.to_dict() for truth in other.truths]
    assert all(np.array_equal(a.rows, b.rows) for a, b in zip(one.truths, other.truths, strict=True))
    assert [truth.shift for truth in one.truths] == [truth.shift for truth in other.truths]


@pytest.mark.parametrize(
    "setting",
    [
        TINY,
        replace(TINY, model="oracle", bias=1.0),
        replace(TINY, model="network", task="multiclass"),
        replace(TINY, model="oracle", task="regression"),
        replace(TINY, model="forest", task="regression", falls_on="members"),
    ],
    ids=lambda setting: setting.text,
)
def test_what_is_read_is_what_was_built(setting: Setting) -> None:
    built = build(setting, 3)
    assert_same(built, scene_from_bytes(scene_bytes(built), setting, 3))


def test_a_scene_is_prepared_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepared(TINY, 0)
    monkeypatch.setattr(scene_files, "build", no_build)
    assert_same(first, prepared(TINY, 0))
    assert [file.name for file in folder.glob("*.scene")] == [path_of(folder, TINY).name]
    assert not list(folder.glob("*.part"))


def test_keys_change_with_what_a_scene_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {scene_key(TINY, 0), scene_key(TINY, 1), scene_key(replace(TINY, bias=-2.0), 0)}
    monkeypatch.setattr(scene_files, "FORM", scene_files.FORM + 1)
    keys.add(scene_key(TINY, 0))
    assert len(keys) == 4


def with_a_pickle(content: bytes) -> bytes:
    """The same file with an array of objects, which only a pickle can hold."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name != "score.npy":
                new.writestr(name, old.read(name))
                continue
            array = io.BytesIO()
            np.save(array, np.array([{"a": 1}], dtype=object), allow_pickle=True)
            new.writestr(name, array.getvalue())
    return out.getvalue()


def test_damaged_and_foreign_files_count_as_missing(folder: Path) -> None:
    first = prepared(TINY, 0)
    path = path_of(folder, TINY)
    whole = path.read_bytes()
    for content in (b"", b"not a zip", whole[: len(whole) // 2], whole[:-1], with_a_pickle(whole)):
        path.write_bytes(content)
        assert_same(first, prepared(TINY, 0))
        assert path.read_bytes() == whole or zipfile.ZipFile(path).testzip() is None


def test_the_folder_has_a_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = replace(TINY, model="oracle")
    for seed in range(2):
        prepared(oracle, seed)
        os.utime(path_of(folder, oracle, seed), (seed + 1, seed + 1))
    left = folder / ".killed.part"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    monkeypatch.setattr(scene_files, "MAX_FOLDER", int(2.5 * path_of(folder, oracle, 0).stat().st_size))
    prepared(oracle, 0)  # used now, so the other one is the oldest
    prepared(oracle, 2)
    assert {file.name for file in folder.glob("*.scene")} == {path_of(folder, oracle, seed).name for seed in (0, 2)}
    assert not left.exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ISONOMIA_SCENES", str(tmp_path / "file" / "scenes"))
    assert_same(build(TINY, 0), prepared(TINY, 0))


def _prepare_counting(counts: Path) -> None:
    def counted(setting: Setting, seed: int) -> Scene:
        with counts.open("a") as stream:
            stream.write("built\n")
        time.sleep(0.3)
        return build(setting, seed)

    scene_files.build = counted  # type: ignore[attr-defined]  a process of its own
    prepared(TINY, 0)


def test_processes_that_need_one_scene_wait_for_the_first(folder: Path) -> None:
    pytest.importorskip("fcntl")
    counts = folder / "counts"
    processes: list[Any] = [get_context("spawn").Process(target=_prepare_counting, args=(counts,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert counts.read_text() == "built\n"


def _prepare_many() -> None:
    for seed in range(10_000):
        prepared(replace(TINY, model="oracle"), seed)


def test_killed_processes_leave_nothing_half_written(folder: Path) -> None:
    pytest.importorskip("fcntl")
    rng = np.random.default_rng(5)
    for _ in range(2):
        process = get_context("spawn").Process(target=_prepare_many)
        before = len(list(folder.glob("*.scene")))
        process.start()
        ends = time.monotonic() + 120
        while len(list(folder.glob("*.scene"))) < before + 2:
            assert time.monotonic() < ends, "no scene was prepared"
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.join()
    seeds = {path_of(folder, replace(TINY, model="oracle"), seed): seed for seed in range(200)}
    kept = list(folder.glob("*.scene"))
    assert len(kept) >= 4
    for path in kept:
        scene_from_bytes(path.read_bytes(), replace(TINY, model="oracle"), seeds[path])
