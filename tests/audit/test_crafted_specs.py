"""Specs that somebody else wrote: each ends in an error of ours or the right report, soon; none runs anything."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia import IsonomiaError, SpecError
from isonomia.audit import read_spec

#: Seconds of CPU that any of them may take; most take hundredths.
SECONDS = 5.0
BASE = {"dataset": "people.csv", "target": "y", "positive": 1, "protected": ["sex"], "score": "p"}
SMALL = {"checks": ["performance"], "n_boot": 0}

CODE = [
    *(
        "subprocess:check_output",
        "subprocess:Popen",
        "os:system",
        "os:_exit",
        "sys:exit",
        "builtins:exec",
        "builtins:eval",
    ),
    *(
        "pickle:loads",
        "shutil:rmtree",
        "ctypes:CDLL",
        "importlib:import_module",
        "isonomia.cli.app:main",
        "webbrowser:open",
    ),
    *("joblib:load", "numpy:load", "pandas:read_pickle", "pty:spawn", "code:interact", "antigravity:geohash", "this:s"),
    *(
        "__main__:os.system",
        "tests.audit.conftest:os",
        "no_such_module:run",
        "mine:predict",
        "mine:os.system",
        "evil.pkl",
    ),
    *(
        "evil.joblib",
        "evil.skops",
        "evil.pt",
        "evil.json",
        "evil.ubj",
        "evil.txt",
        "evil.onnx",
        "evil.cbm",
        "evil.pkl.gz",
    ),
    *(
        "http://127.0.0.1:9/x",
        "https://user:pw@127.0.0.1:9/x",
        "HTTP://127.0.0.1:9",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
    ),
]
PATHS = [
    *(
        "/dev/zero",
        "/dev/stdin",
        "/dev/random",
        "pipe",
        "pipe.csv",
        "/etc/passwd",
        "/etc/shadow",
        "../people.csv",
        ".",
        "..",
        "/",
    ),
    *(
        "",
        " ",
        "~",
        "~nobody_here/x.csv",
        "people.csv\x00.txt",
        "*.csv",
        "{a,b}.csv",
        "[x].csv",
        "\\\\host\\share\\x.csv",
        "C:\\x.csv",
    ),
    *(
        "http://127.0.0.1:9/x.csv",
        "s3://bucket/x.parquet",
        "postgresql://127.0.0.1:9/x",
        "postgres://",
        "sqlite:///x.db",
    ),
    *(
        "jdbc:postgresql://x",
        "duckdb://x",
        "x" * 5000 + ".csv",
        "‮vsc.elpoep",
        "loop.csv",
        "/proc/self/environ",
        "/proc/self/mem",
    ),
]
ENTRIES: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        1e308,
        float("nan"),
        float("inf"),
        "",
        " ",
        "\x00",
        "x" * 10_000,
        "💥",
        "‮",
        "<script>alert(1)</script>",
    ),
    *(
        [],
        {},
        [[]],
        [None],
        {"": ""},
        {"a": {"b": {"c": {}}}},
        ["sex"] * 9999,
        {"sex": [1, 2, "x", None]},
        10**399,
        1 << 70,
    ),
]
KEYS = [
    *(
        "dataset",
        "model",
        "target",
        "positive",
        "protected",
        "privileged",
        "prediction",
        "score",
        "weight",
        "time",
        "task",
    ),
    *(
        "features",
        "ignore",
        "labels",
        "checks",
        "scenarios",
        "n_trials",
        "policy",
        "seed",
        "n_boot",
        "level",
        "missing",
    ),
    *(
        "min_per_group",
        "reference",
        "language",
        "out",
        "options",
        "metric",
        "name",
        "reference_dataset",
        "train_dataset",
    ),
]
YAML = {
    "tag that calls": "dataset: !!python/object/apply:os.system ['touch pwned']\n",
    "tag that makes": "dataset: !!python/object/new:subprocess.Popen [['touch', 'pwned']]\n",
    "tag that names": "model: !!python/name:os.system\ndataset: people.csv\n",
    "tag that imports": "model: !!python/module:antigravity\ndataset: people.csv\n",
    "own tag": "dataset: !evil people.csv\n",
    "binary": "dataset: !!binary cGVvcGxlLmNzdg==\n",
    "set": "dataset: people.csv\nprotected: !!set {sex, y}\n",
    "pairs": "dataset: people.csv\nprotected: !!pairs [a: 1, a: 2]\n",
    "date": "dataset: people.csv\ntarget: 2024-01-01\n",
    "no date": "dataset: people.csv\ntarget: 2024-99-99\n",
    "anchor": "dataset: &a people.csv\nmodel: *a\n",
    "billion laughs": "a: &a [x,x]\n"
    + "".join(f"{b}: &{b} [*{a},*{a}]\n" for a, b in itertools.pairwise("abcdefghij")),
    "holds itself": "dataset: &a [*a]\n",
    "merge": "dataset: people.csv\n<<: {target: y}\n",
    "merge of nothing": "dataset: people.csv\n<<: 3\n",
    "two documents": "dataset: people.csv\n---\ndataset: people.csv\n",
    "a list as key": "? [a, b]\n: 1\ndataset: people.csv\n",
    "deep flow": "dataset: " + "[" * 20_000,
    "deep block": "".join(" " * depth + "a:\n" for depth in range(900)),
    "deep dashes": "dataset:\n " + "- " * 20_000,
    "many values": "dataset: people.csv\nchecks: [" + "a, " * 300_000 + "a]\n",
    "many keys": "".join(f"k{index}: 1\n" for index in range(70_000)),
    "many lines": "dataset: people.csv\nchecks:\n" + "- performance\n" * 60_000,
    "long text": "dataset: people.csv\ntarget: '" + "x" * 900_000 + "'\n",
    "long number": "dataset: people.csv\nseed: " + "9" * 900_000 + "\n",
    "long hex": "dataset: people.csv\nseed: 0x" + "F" * 900_000 + "\n",
    "long sixties": "dataset: people.csv\nseed: 1" + ":59" * 290_000 + "\n",
    "long float": "dataset: people.csv\nlevel: 0." + "3" * 900_000 + "\n",
    "long comment": "dataset: people.csv\n" + "#" * 900_000,
    "long folded": "dataset: >\n" + " people\n" * 100_000,
    "many quotes": "dataset: " + "'" * 200_000,
    "many questions": "? " * 20_000,
    "many colons": "a" + ": a" * 20_000,
    "tabs": "dataset:\tpeople.csv\n\tx: 1\n",
    "null": "dataset: \x00\n",
    "escape": "dataset: \x1b[2Jpeople.csv\n",
    "half a pair": 'dataset: "\\ud800"\n',
    "nothing": "",
    "a text": "people.csv",
    "a list": "- dataset\n",
    "null document": "null\n",
    "directive": "%YAML 9.9\n---\ndataset: people.csv\n",
}
JSON = {
    "twice": '{"dataset": "people.csv", "dataset": "x"}',
    "deep": '{"dataset": ' + "[" * 100_000,
    "deep and closed": '{"dataset": ' + "[" * 900 + "]" * 900 + "}",
    "many values": '{"dataset": "people.csv", "checks": [' + '"a",' * 220_000 + '"a"]}',
    "many mappings": '{"dataset": "people.csv", "scenarios": [' + "{}," * 250_000 + "{}]}",
    "long number": '{"dataset": "people.csv", "seed": ' + "9" * 4000 + "}",
    "longer number": '{"dataset": "people.csv", "seed": ' + "9" * 900_000 + "}",
    "large power": '{"dataset": "people.csv", "level": 1e999999}',
    "no number": '{"dataset": "people.csv", "level": NaN}',
    "half a pair": '{"dataset": "\\ud800"}',
    "a number": "3",
    "cut": '{"dataset": "people',
    "its own kind": '{"$": "message", "dataset": "people.csv"}',
    "private": '{"dataset": "people.csv", "_replaced": ["model.path"], "model": "mine:predict"}',
    "dunder": '{"dataset": "people.csv", "__class__": "x", "model": {"path": "a", "__init__": 1}}',
}


def specs() -> Iterator[tuple[str, bytes, str]]:
    """What it is, the content of the file, and its suffix."""
    for code in CODE:
        yield f"model {code}", json.dumps({**BASE, **SMALL, "model": code}).encode(), ".json"
    for path in PATHS:
        for key in ("dataset", "model", "policy", "reference_dataset", "train_dataset"):
            if key in ("dataset", "policy") or PATHS.index(path) % 4 == 0:
                yield f"{key} {path[:30]!r}", json.dumps({**BASE, **SMALL, key: path}).encode(), ".json"
    for out in ("..", "/", "/tmp/../tmp", "a/../../b", "link", "people.csv", "out\x00", "x" * 5000, "mine.py"):
        yield f"out {out[:20]!r}", json.dumps({**BASE, **SMALL, "out": out}).encode(), ".json"
    pairs = [(key, value) for index, key in enumerate(KEYS) for value in ENTRIES[index % 4 :: 4]]
    for key, value in pairs:
        yield f"{key}: {value!r:.30}", json.dumps({**BASE, **SMALL, key: value}).encode(), ".json"
    for name, text in YAML.items():
        yield f"yaml, {name}", text.encode("utf-8", "surrogatepass"), ".yaml"
    for name, text in JSON.items():
        yield f"json, {name}", text.encode(), ".json"
    for encoding in ("utf-16", "utf-32", "cp1252", "utf-7"):
        yield encoding, "dataset: pêople.csv\n".encode(encoding), ".yaml"
    for options in (
        {"drift": {"reference": "/dev/zero"}},
        {"drift": {"reference": "evil.pkl"}},
        {"drift": {"reference": "postgresql://127.0.0.1:9/x"}},
        {"overfit": {"train": "pipe"}},
        {"performance": {"metric": "os:system"}},
        {"no_such_check": {}},
        {"mitigation": {"estimator": "os:system"}},
        {"__class__": {"__init__": 1}},
    ):
        checks = {"checks": sorted(options)}
        yield f"options {options}", json.dumps({**BASE, **SMALL, **checks, "options": options}).encode(), ".json"
    query = {"path": "postgresql://127.0.0.1:9/x", "query": "SELECT pg_read_file('/etc/passwd')"}
    yield "a query", json.dumps({"dataset": query, "model": "evil.skops"}).encode(), ".json"
    pattern = {"path": "/**/*.parquet", "engine": "duckdb"}
    yield "every file", json.dumps({"dataset": pattern, "target": "y", **SMALL}).encode(), ".json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder: people, a module of one's own, files that run something when opened, a pipe, a loop."""
    place = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 120), "p": rng.random(120)})
    frame["y"] = (rng.random(120) < frame["p"]).astype(int)
    frame.to_csv(place / "people.csv", index=False)
    (place / "mine.py").write_text("import os\nopen('pwned', 'w')\ndef predict(rows):\n    return rows['p'] > 0.5\n")
    bomb = b"cos\nsystem\n(S'touch pwned'\ntR."
    for name in ("pkl", "joblib", "skops", "pt", "json", "ubj", "txt", "onnx", "cbm", "pkl.gz"):
        (place / f"evil.{name}").write_bytes(bomb)
    (place / "link").symlink_to(place.parent)
    (place / "loop.csv").symlink_to(place / "loop.csv")
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(place / name)
    return place


@pytest.fixture
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was run or connected to: nothing should be."""
    seen: list[str] = []

    def refuse(what: str) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            seen.append(f"{what}{args[1:]!r:.200}")
            raise AssertionError(what)

        return run

    for owner, names in ((os, ("system", "_exit", "execv", "execve", "posix_spawn", "fork", "popen", "kill")),):
        for name in names:
            monkeypatch.setattr(owner, name, refuse(name))
    monkeypatch.setattr(subprocess.Popen, "__init__", refuse("Popen"))
    monkeypatch.setattr(socket.socket, "connect", refuse("connect"))
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return seen


def ends_well(run: Callable[[], Any], what: str) -> str:
    """The problem with how a spec ended; nothing where it was an error of ours or a report, soon."""
    started = time.process_time()
    try:
        run()
    except IsonomiaError as error:
        if not str(error).strip():
            return f"{what}: an error without a text"
    except BaseException as error:
        return f"{what}: {type(error).__name__}: {error!s:.200}"
    took = time.process_time() - started
    return f"{what}: {took:.1f} seconds" if took > SECONDS else ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders on this system")
@pytest.mark.parametrize("part", range(8))
def test_crafted_specs_end_well(folder: Path, watched: list[str], part: int) -> None:
    before = sorted(item.name for item in folder.parent.iterdir())
    given = list(specs())
    assert len(given) > 350
    problems = []
    for index, (what, content, suffix) in enumerate(given):
        if index % 8 != part:
            continue
        path = folder / f"spec{suffix}"
        path.write_bytes(content)
        problems.append(ends_well(lambda path=path: iso.run(path), what))
    assert [problem for problem in problems if problem] == []
    assert watched == []
    assert not (folder / "pwned").exists()
    assert sorted(item.name for item in folder.parent.iterdir()) == before


def test_right_specs_among_them_are_run(folder: Path, watched: list[str]) -> None:
    """A mark of the byte order before JSON or YAML is no reason to refuse; what is there is audited."""
    assert iso.run({**BASE, **SMALL}).document.subject["rows"] == 120
    for suffix in (".json", ".yaml"):
        for mark in (b"", b"\xef\xbb\xbf"):
            (folder / f"good{suffix}").write_bytes(mark + json.dumps({**BASE, **SMALL}).encode())
            assert iso.run(folder / f"good{suffix}").document.subject["rows"] == 120


def test_a_long_list_is_refused_before_anything_looks_at_it(folder: Path) -> None:
    """900 KB of short names took 14 seconds and 200 MB."""
    for suffix, text in ((".yaml", YAML["many values"]), (".json", JSON["many values"])):
        (folder / f"long{suffix}").write_text(text)
        started = time.process_time()
        with pytest.raises(SpecError, match="more than 50,000 values"):
            read_spec(folder / f"long{suffix}")
        assert time.process_time() - started < SECONDS


def test_devices_and_pipes_are_never_waited_for(folder: Path) -> None:
    for path in ("/dev/zero", "/dev/stdin", folder / "pipe", folder / "loop.csv", folder, "/proc/self/mem"):
        with pytest.raises(IsonomiaError):
            read_spec(path)


# mappings of Python ---------------------------------------------------------------------------------------------------


class Endless(Mapping[str, Any]):
    """A mapping without an end."""

    def __getitem__(self, key: str) -> Any:
        return 1

    def __iter__(self) -> Iterator[str]:
        return (f"k{index}" for index in itertools.count())

    def __len__(self) -> int:
        return 1


class Changing(dict[str, Any]):
    """A dict that answers differently each time it is asked."""

    asked = 0

    def items(self) -> Any:
        self.asked += 1
        model = "people.csv" if self.asked == 1 else "os:system"
        return {**BASE, **SMALL, "reference_dataset": model}.items()

    def __getitem__(self, key: str) -> Any:
        return "os:system"

    def get(self, key: str, default: Any = None) -> Any:
        return "os:system"


class Raising(dict[str, Any]):
    """A dict that raises what it is told."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def items(self) -> Any:
        raise self.error


class Text(str):
    """A text that changes what it is once it was looked at."""

    def partition(self, sign: str) -> Any:
        return ("os", ":", "system")

    def startswith(self, *args: Any) -> bool:
        return False


def endless_list() -> dict[str, Any]:
    class Growing(list[Any]):
        def __iter__(self) -> Any:
            return itertools.repeat("a")

    return {**BASE, "checks": Growing(["a"])}


def itself() -> dict[str, Any]:
    given: dict[str, Any] = {**BASE}
    given["options"] = given
    return given


HOSTILE: dict[str, Callable[[], Any]] = {
    "endless": Endless,
    "endless inside": lambda: {**BASE, "options": Endless()},
    "endless list": endless_list,
    "raises": lambda: Raising(RuntimeError("no")),
    "exits": lambda: Raising(SystemExit(3)),
    "raises inside": lambda: {**BASE, "dataset": Raising(KeyError("x"))},
    "holds itself": itself,
    "keys of all kinds": lambda: {**BASE, 3: 4, None: 1, (1, 2): 3, b"x": 1},
    "objects": lambda: {**BASE, "model": object(), "policy": object(), "dataset": object()},
    "a function": lambda: {**BASE, "model": os.system},
    "a class": lambda: {**BASE, "model": subprocess.Popen},
    "bytes": lambda: {**BASE, "dataset": b"people.csv"},
    "a path": lambda: {**BASE, "dataset": Path("people.csv")},
    "a number too long": lambda: {**BASE, "seed": 10**5000},
    "a generator": lambda: {**BASE, "checks": (name for name in ["performance"])},
    "a text of its own": lambda: {**BASE, **SMALL, "model": Text("people.csv")},
    "numbers of NumPy": lambda: {**BASE, **SMALL, "seed": np.int64(3), "level": np.float64(0.9)},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mappings_end_well(folder: Path, watched: list[str], name: str) -> None:
    given = HOSTILE[name]()
    assert ends_well(lambda: iso.run(given), name) == ""
    assert watched == []


def test_a_mapping_is_read_once(folder: Path, watched: list[str]) -> None:
    given = Changing(BASE)
    read = read_spec(given)
    assert given.asked == 1
    assert (read.reference_dataset, read.model) == ("people.csv", None)
