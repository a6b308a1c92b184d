"""Stores for the tests: each test that asks for one runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import isonomia as iso
from isonomia.store import Store


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty store."""
    with iso.store.open(address) as opened:
        yield opened
