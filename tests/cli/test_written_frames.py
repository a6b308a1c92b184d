"""Tables that commands write: each by its own library, and the same again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from isonomia.cli.output.frames import SUFFIXES, write_frame
from isonomia.data import read, to_frame
from isonomia.data.frames import BACKENDS

COLUMNS: dict[str, list[Any]] = {"name": ["Ana, x", "Zoë", None], "n": [1, 2, 3], "share": [0.5, None, 0.25]}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_library_of_the_frame_writes_it(
    backend: Any, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = to_frame(COLUMNS, backend)
    path = tmp_path / f"table{suffix}"
    with monkeypatch.context() as alone:
        if backend != "polars":
            alone.setitem(sys.modules, "polars", None)
        write_frame(frame, path)
    first = path.read_bytes()
    write_frame(frame, path)
    assert path.read_bytes() == first
    back = read(path, backend="polars").frame
    shares = back["share"].fill_nan(None).to_list()
    assert {**{name: back[name].to_list() for name in COLUMNS}, "share": shares} == COLUMNS
