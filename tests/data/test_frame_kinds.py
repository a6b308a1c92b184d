"""A dataset is the same thing whatever kind of frame its rows came in."""

from __future__ import annotations

import socket

import pytest

from isonomia.data import Dataset

COLUMNS = {"sex": ["F", "M", "F", "M"], "age": [20, 30, 40, 50], "pay": [1.5, 2.0, 3.25, 4.0], "hired": [0, 1, 1, 0]}


def test_same_roles_from_every_kind(frame_kind):
    data = Dataset(frame_kind(COLUMNS), target="hired", protected=["sex"], privileged={"sex": "M"})
    assert len(data) == 4
    assert data.features == ("sex", "age", "pay")
    assert data.kinds == {"sex": "category", "age": "integer", "pay": "numeric", "hired": "integer"}
    assert data.positive == 1


def test_same_fingerprint_from_every_kind(frame_kind):
    assert Dataset(frame_kind(COLUMNS)).fingerprint == Dataset(COLUMNS).fingerprint


def test_network_is_refused():
    with socket.socket() as line, pytest.raises(RuntimeError, match="tried to reach"):
        line.connect(("127.0.0.1", 9))
