"""On how many threads short work runs: on one, where threads would wait for each other longer than they work.

Boosted trees of scikit-learn start threads for every tree and wait for them after it. Where other programs use the
processors too, a call that takes a fraction of a second on one thread can take many times as long on several.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from isonomia.models.batch_size import FIRST_CALL

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

#: Calls of a model that take no longer than this on one thread are made on one.
SHORT_CALL = 0.2
#: Fits to fewer rows than this run on one thread.
FEW_ROWS = 50_000


@contextmanager
def one_thread(kind: Literal["openmp", "blas"] | None = None) -> Iterator[None]:
    """Hold OpenMP (boosted trees), BLAS (products of matrices) or, without `kind`, both to one thread."""
    with _libraries(len(sys.modules)).limit(limits=1, user_api=kind):
        yield


@contextmanager
def threads_to_fit(rows: int) -> Iterator[None]:
    """Hold OpenMP to one thread while models are fitted to few rows, and asked about them."""
    if rows >= FEW_ROWS:
        yield
        return
    with one_thread("openmp"):
        yield


class CallThreads:
    """Lets the calls of one model use threads where they are long enough to gain from them.

    A call is expected to take as long per row as the quickest one before it did on one thread, in time of the
    processor: what other programs do does not matter.

    Examples
    --------
    >>> calls = CallThreads()
    >>> with calls.of(10):
    ...     time.sleep(0.01)
    >>> calls.seconds(10) < SHORT_CALL                                     # asleep, not at work
    True
    """

    def __init__(self) -> None:
        self._each: float | None = None

    def seconds(self, rows: int) -> float:
        """How long a call is expected to take on one thread; before any other, one of few rows is taken to be short."""
        each = SHORT_CALL / FIRST_CALL if self._each is None else self._each
        return each * rows

    @contextmanager
    def of(self, rows: int) -> Iterator[None]:
        """Make a call of so many rows."""
        if self.seconds(rows) > SHORT_CALL:
            yield
            return
        began = time.thread_time()
        with one_thread("openmp"):
            yield
        each = (time.thread_time() - began) / max(rows, 1)
        self._each = each if self._each is None else min(self._each, each)


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The libraries with threads; looked for again once other modules have been imported, which takes milliseconds."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()
