"""What every room's tests share: real data, kinds of frames, no network, steady chance."""

from __future__ import annotations

import gc
import itertools
import socket
from collections.abc import Callable, Generator, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests.postgres_cluster import PostgresCluster, postgres_cluster
from tests.public_files import PublicFiles

settings.register_profile(
    "isonomia", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("isonomia")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests are there to stay: garbage is only looked for among what tests make."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


MakeFrame = Callable[[Mapping[str, Any]], Any]


@pytest.fixture(scope="session", autouse=True)
def _scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Scenes of the benchmark are kept in a folder of the tests, not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISONOMIA_SCENES", str(tmp_path_factory.getbasetemp() / "scenes"))
        yield


@pytest.fixture(scope="session")
def shared_data() -> PublicFiles:
    """Public datasets by the names of their files; a test that asks for one that is not here is skipped."""
    return PublicFiles.of_this_machine()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresCluster]:
    """A PostgreSQL server of the tests' own; a test that uses it is marked `postgres`."""
    with postgres_cluster() as cluster:
        yield cluster


@pytest.fixture
def postgres_url(postgres: PostgresCluster) -> Iterator[str]:
    """The address of an empty database on that server."""
    with postgres.database() as url:
        yield url


@pytest.fixture(params=["pandas", "polars", "pyarrow", "dict"])
def frame_kind(request: pytest.FixtureRequest) -> MakeFrame:
    """A constructor from columns to one kind of table; a test that asks for it runs once a kind."""
    return _constructor(request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts from the same seed in every test."""
    return np.random.default_rng(20240229)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Time that moves by so many seconds whenever a clock is looked at: limits end at the same point on any machine."""

    def start(step: float) -> None:
        moments = itertools.count()
        watch = SimpleNamespace(perf_counter=lambda: next(moments) * step)
        monkeypatch.setattr("isonomia.events.time", watch)
        monkeypatch.setattr("isonomia.probing.ledger.time", watch)

    return start


@pytest.fixture(autouse=True)
def _first_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error is raised, not kept to its part of a report; tests of faults take the variable away."""
    monkeypatch.setenv("ISONOMIA_FAULTS", "raise")


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections over the internet protocols, unless the test is marked `socket` or `browser`."""
    if request.node.get_closest_marker("socket") or request.node.get_closest_marker("browser"):
        return
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))


def _guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(self: socket.socket, *args: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            raise RuntimeError(f"a test tried to reach {args[-1]!r}; mark it `socket` if it must")
        return call(self, *args)

    return refuse


def _constructor(kind: str) -> MakeFrame:
    if kind == "dict":
        return dict
    library = pytest.importorskip(kind)
    if kind == "pyarrow":
        return lambda columns: library.table(
            {name: library.array(values, from_pandas=True) for name, values in columns.items()}
        )
    return lambda columns: library.DataFrame(dict(columns))
