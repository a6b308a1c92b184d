"""The combination: observed people, exact parts, diverse seeds, a guided frontier search."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact import linear
from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.natural import Plausible, add_subgroups, naturalness
from isonomia.discovery.pairs.searches.coverage import Cells
from isonomia.discovery.pairs.searches.exact import linear_part, tree_part
from isonomia.discovery.pairs.searches.frontier_search import search_frontier
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.parameters import Boolean, Integer, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: Shares of the budget for observed people, for people drawn uniformly, and for bisections.
OBSERVED, UNIFORM, BISECTION = 0.15, 0.05, 0.10
#: Only people at least as likely as this share of the data's own rows are searched, one flood after the other.
LEVELS = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0)
#: Tests where no budget of tests or rows is given.
DEFAULT_TESTS = 100_000
#: Forests with more leaves than this are not worth the certifying of their boxes.
MAX_LEAVES = 5000
#: Descents of a tree for each part of a proof, about a third of a second.
WORK = 1_000_000
#: Trees that were read are compared with the model on 2,000 people; a smaller budget of rows than this is not.
MIN_ROWS = 10_000


@pair_method(
    "auto",
    "observed people, exact parts where the model can be read, bisected seeds, a frontier search over kinds of people",
    reference="Isonomia",
)
@validated(exact=Boolean(), max_boxes=Integer(1), lift=Boolean(), natural=Boolean())
def auto(
    space: Space, *, exact: bool = True, max_boxes: int = 20_000, lift: bool = True, natural: bool = True
) -> Search:
    """First what is cheap and certain, then a search for many and diverse people.

    A. Rows of the data in all protected variants (all of them where 15% of the budget allows).
    B. Where the model can be read (`exact`): shares, proofs and people drawn from what was certified, half of the
       remaining budget at most unless nothing else is left to find.
    C. Seeds: people drawn uniformly, and bisections between people of the data with opposite decisions.
    D. A flood from all of them, cell by cell of a coarse map (`Cells`), the most promising steps first.
       With `natural`, it stays among people as likely as half of the data's own rows, but for one of each kind that
       nobody so likely is found in; the demand is lowered step by step where nobody is left to find.
    E. The findings as subgroups of the data (`lift`), and how natural the people found are.

    Parameters
    ----------
    exact
        Whether to prove what can be proved about a model that can be read.
    max_boxes
        Maximum number of boxes of the branch and bound.
    lift
        Whether to describe the findings as subgroups of the data.
    natural
        Whether to prefer people who resemble those of the data: fewer kinds of people, but more likely ones.
    """
    budget = _budget(space)
    cells = Cells(space)
    pool: list[tuple[Floats, Floats]] = []
    complete = False
    if len(space.people):
        some = min(len(space.people), max(100, int(OBSERVED * budget)))
        chosen = space.rng.permutation(len(space.people))[:some]
        answer = yield space.people[chosen]
        pool.append((answer.rows[answer.found], answer.margin[answer.found]))
        complete = some == len(space.people) and bool(answer.tested.all())
        tested = int(answer.fresh.sum())
        space.facts.update(observed_tests=tested, observed_found=int((answer.found & answer.fresh).sum()))
        if complete and lift:
            mask = np.zeros(len(space.people), dtype=bool)
            mask[chosen] = answer.found
            add_subgroups(space, mask)
    if exact:
        sure = _exact_rows(space, max_boxes, budget)
        space.loop.count_outside()
        for rows in sure:
            answer = yield rows
            pool.append((answer.rows[answer.found], answer.margin[answer.found]))
    if space.facts.get("share_high") == 0.0:
        return
    uniform = max(100, int(UNIFORM * budget))
    answer = yield space.drawn(uniform)
    pool.append((answer.rows[answer.found], answer.margin[answer.found]))
    space.facts.update(uniform_tests=int(answer.fresh.sum()), uniform_found=int((answer.found & answer.fresh).sum()))
    answer = yield _bisected(space, max(50, int(BISECTION * budget / 5)))
    pool.append((answer.rows[answer.found], answer.margin[answer.found]))
    seeds = np.concatenate([rows for rows, _ in pool])
    margins = np.concatenate([margin for _, margin in pool])
    resembling = Plausible(space) if natural and len(space.people) and len(space.movable) else None
    for level in LEVELS if resembling is not None else (0.0,):
        likely = _anyone if resembling is None else partial(resembling.likely, level=level)
        start = likely(seeds)
        found = yield from search_frontier(space, cells, seeds[start], margins[start], likely=likely)
        seeds, margins = np.concatenate([seeds[~start], found.rows]), np.concatenate([margins[~start], found.margin])


def _anyone(rows: Floats) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=bool)


def finish(space: Space, rows: Floats) -> None:
    """Facts about the people found, after the search: cells and naturalness."""
    cells = Cells(space)
    space.facts.update(cells=cells.covered(rows) if len(rows) else 0, cells_of=list(cells.names), cells_all=cells.count)
    if "observed_tests" in space.facts:
        space.facts["naturalness"] = naturalness(space, rows)


def _budget(space: Space) -> int:
    """Tests that the budget allows in all."""
    ledger = space.loop.ledger
    tests = ledger.max_tests if ledger.max_tests is not None else None
    each = space.probe.n_variants * ledger.times_asked
    rows = None if ledger.max_model_rows is None else ledger.max_model_rows // each
    known = [int(one) for one in (tests, rows) if one is not None]
    return min(known) if known else DEFAULT_TESTS


def _exact_rows(space: Space, max_boxes: int, budget: int) -> list[Floats]:
    """People from the certified part; none where the model cannot be read (which is not an error here)."""
    left = max(1, min(space.loop.ledger.tests_left, space.loop.ledger.rows_left(space.probe.n_variants), budget))
    try:
        if space.loop.ledger.rows_left(1) < MIN_ROWS and not linear.is_linear(space.probe.oracle):
            raise NotApplicable(f"comparing trees with the model takes rows, and fewer than {MIN_ROWS:,} are left")
        if _leaves(space.probe.oracle.estimator) > MAX_LEAVES:  # seen without reading them
            raise NotApplicable(
                f"the forest has more than {MAX_LEAVES:,} leaves, too many for a proof within another search"
            )
        rows = (
            linear_part(space, left)
            if linear.is_linear(space.probe.oracle)
            else tree_part(space, max_boxes, left, max_leaves=MAX_LEAVES, work=WORK)
        )
    except NotApplicable as reason:
        space.facts["exact"] = f"not applicable: {reason.reason}"
        return []
    space.facts["exact"] = "yes"
    certain = space.facts["share_high"] - space.facts["share_low"] < 0.5 * space.facts["share_high"]
    if not certain:  # only a part was certified: leave most of the budget to the search
        rows = rows[: left // 4]
    return [rows[start : start + 5000] for start in range(0, len(rows), 5000)]


def _leaves(model: Any) -> int:
    """Leaves of a scikit-learn forest, also at the end of a pipeline, or of its first trees if they are too many."""
    last = model.steps[-1][1] if getattr(model, "steps", None) else model
    found = getattr(last, "estimators_", None)
    members = [] if found is None else list(np.ravel(found))
    leaves = 0
    for one in members if all(hasattr(one, "tree_") for one in members) else []:
        leaves += int(one.tree_.n_leaves)
        if leaves > MAX_LEAVES:
            break
    return leaves


def _bisected(space: Space, n: int) -> Floats:
    """People next to a decision boundary: halfway, again and again, between two of the data decided differently."""
    people = space.people if len(space.people) else space.domain.sample(5000, space.rng)
    some = people[space.rng.permutation(len(people))[: max(4 * n, 500)]]
    label = space.labels(some)
    first = np.flatnonzero(label == label[0])
    second = np.flatnonzero(label != label[0])
    if len(first) == 0 or len(second) == 0:
        return np.empty((0, people.shape[1]))
    a, b = some[space.rng.choice(first, n)].copy(), some[space.rng.choice(second, n)].copy()
    b[:, space.protected] = a[:, space.protected]
    start = space.labels(a)
    for _ in range(6):
        middle = _between(space, a, b)
        same = space.labels(middle) == start
        a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
    near: NDArray[np.float64] = np.concatenate([a, b])
    return near


def _between(space: Space, a: Floats, b: Floats) -> Floats:
    """Halfway: the mean of numbers, either one's category."""
    coin = space.rng.random(a.shape) < 0.5
    middle = np.where(space.domain.nominal, np.where(coin, a, b), (a + b) / 2)
    close = space.domain.whole & (np.abs(a - b) <= 1)
    return space.domain.snap(np.where(close, np.where(coin, a, b), middle))
