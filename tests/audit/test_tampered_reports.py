"""Stored reports that were tampered with: our error, or a safe page; nothing raw, and no live markup."""

from __future__ import annotations

import copy
import io
import json
import random
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.cli.output.junit import to_junit
from isonomia.report import summary

LIVE = "<script>alert(1)</script>"
#: What stands in for a value of a report.
STRANGE: list[Any] = [
    *(None, True, -1, 0, 3.5, 10**400, float("nan"), float("inf"), 1e308, "", LIVE, "x" * 5000, "\ud800", "{n", "{0}"),
    *([], {}, [1, 2], ["a"] * 3, {"a": {"b": {}}}, "2026-99-99", "\u202e\x1b[31m"),
    *({"$": "message"}, {"$": "nope"}, {"$": ["a"]}, {"$": "tuple", "items": 5}, {"$": "estimate"}),
    {"$": "message", "template": "{x:pct}{y}", "params": {}},
    {"$": "message", "template": LIVE, "params": {}},
    {"$": "message", "template": "[a](javascript:b)", "params": {}},
    {"$": "message", "template": "{x}", "params": {"x": LIVE}},
    {"$": "coded", "levels": [1], "codes": [5]},
]


@cache
def sound() -> iso.Report:
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"] * 100)
    said = (rng.random(200) < np.where(sex == "F", 0.2, 0.7)).astype(int)
    frame = {"sex": sex, "x": rng.normal(size=200), "y": rng.integers(0, 2, 200), "p": said}
    data = iso.Dataset(frame, target="y", protected=["sex"], prediction="p")
    checks = ["performance", "group_fairness", "representation", "fairness_suite"]
    return iso.audit(data, checks=checks, policy="eeoc", n_boot=20)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a record; of long lists the first four."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    for key, part in items:
        yield (*at, key)
        yield from paths(part, (*at, key))


def doors(report: iso.Report) -> dict[str, Callable[[], Any]]:
    """Everything that shows a report."""
    return {
        "page": report.to_html,
        "fragment": lambda: report.to_html("pt-BR", page=False),
        "markdown": lambda: report.to_markdown("pt-BR"),
        "record": report.to_dict,
        "code": lambda: report.exit_code,
        "text": lambda: repr(report),
        "terminal": lambda: Console(file=io.StringIO(), width=100).print(summary(report.document)),
        "frames": lambda: [report.to_frame(part) for part in ("findings", "criteria", "entries")],
        "comparison": lambda: iso.compare(sound(), report).to_html(),
        "junit": lambda: ET.fromstring(to_junit(report.document).encode("utf-8", "replace")),
    }


def shown(record: Any) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the record was changed
            report = iso.Report.from_dict(record)
    except iso.IsonomiaError:
        return "refused"
    for name, door in doors(report).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # figures that are not numbers
            try:
                found = door()
            except iso.IsonomiaError:
                continue
        if name in ("page", "fragment", "comparison"):
            assert LIVE not in found
            assert "javascript:b" not in found or "href" not in found.split("javascript:b")[0][-20:]
        if name == "markdown":
            assert LIVE not in found
            assert "](javascript" not in found
    return "shown"


@pytest.mark.parametrize("seed", range(4))
def test_values_that_were_changed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISONOMIA_FAULTS")
    chance, record = random.Random(seed), json.loads(sound().to_json())
    places = list(paths(record))
    counts = {"refused": 0, "shown": 0}
    for _ in range(40):
        changed, path = copy.deepcopy(record), chance.choice(places)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        if chance.random() < 0.15:
            del inner[path[-1]]
        else:
            inner[path[-1]] = copy.deepcopy(chance.choice(STRANGE))
        counts[shown(changed)] += 1
    assert min(counts.values()) > 0, counts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "3",
        '{"schema_version": 3}',
        '{"schema_version": "99.0"}',
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"schema_version": "1.0", "title": ' + "9" * 5000 + "}",
        '{"schema_version": "1.0", "findings": NaN}',
        '{"schema_version": "1.0", "schema_version": "1.0"}',
        "\ud800",
    ],
    ids=lambda text: text[:30] or "empty",
)
@pytest.mark.parametrize("door", ["load", "compare", "card", "import"])
def test_files_that_are_no_reports(text: str, door: str, tmp_path: Path) -> None:
    file, good = tmp_path / "report.json", tmp_path / "good.json"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    good.write_text(sound().to_json())
    if door == "load":
        with pytest.raises(iso.DataError):
            iso.Report.load(file)
        return
    words = {
        "compare": ["compare", str(good), str(file)],
        "card": ["card", str(file)],
        "import": ["runs", "import", str(file), "--store", str(tmp_path / "runs.db")],
    }[door]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 2
    assert "Internal" not in ended.output
    assert "Traceback" not in ended.output


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_values_that_are_deep_or_keys_that_come_twice() -> None:
    record = json.loads(sound().to_json())
    with pytest.raises(iso.DataError, match="damaged"):
        iso.Report.from_dict({**record, "subject": deep(5000)})
    text = sound().to_json()
    twice = text.replace('"created":', '"created": {"a": 1}, "created":', 1)
    assert iso.Report.from_dict(json.loads(twice)).to_dict() == sound().to_dict()
