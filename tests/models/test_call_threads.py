"""Short calls and small fits run on one thread, long ones on as many as there were."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401  brings OpenMP
from threadpoolctl import threadpool_info, threadpool_limits

from isonomia import Dataset
from isonomia.models import Model
from isonomia.models.batch_size import FIRST_CALL
from isonomia.models.call_threads import FEW_ROWS, SHORT_CALL, CallThreads, one_thread, threads_to_fit

DATA = Dataset({"x": np.arange(60.0)})


def threads(kind: str = "openmp") -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == kind}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2):
        yield


def test_one_thread_ends_where_it_began() -> None:
    with one_thread("openmp"):
        assert (threads("openmp"), threads("blas")) == ({1}, {2})
    with one_thread():
        assert (threads("openmp"), threads("blas")) == ({1}, {1})
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert (threads("openmp"), threads("blas")) == ({2}, {2})


def test_fits_to_many_rows_keep_their_threads() -> None:
    with threads_to_fit(FEW_ROWS - 1):
        assert threads() == {1}
    with threads_to_fit(FEW_ROWS):
        assert threads() == {2}


def test_calls_expected_to_be_long_keep_their_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])
    calls, seen = CallThreads(), []
    for rows in (FIRST_CALL, 100, 300, 100, 10**6):
        with calls.of(rows):
            seen += threads()
            clock[0] += rows * SHORT_CALL / 200  # 200 rows take as long as a short call may
    assert seen == [1, 1, 2, 1, 2]


def test_an_unknown_model_is_not_asked_about_many_rows_on_one_thread() -> None:
    with CallThreads().of(FIRST_CALL + 1):
        assert threads() == {2}


def test_a_model_that_fails_leaves_the_threads_as_they_were() -> None:
    def fails(frame: object) -> None:
        raise RuntimeError

    with pytest.raises(Exception, match="failed"):
        Model.of(fails).surface(DATA)
    assert threads() == {2}


def test_short_calls_of_a_model_run_on_one_thread() -> None:
    seen: set[int] = set()

    def answer(frame: object) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        seen.update(threads())
        return np.full(60, 0.5)

    Model.of(answer, task="regression").surface(DATA)
    assert seen == {1}
    assert threads() == {2}
