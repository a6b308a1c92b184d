"""FlipTest: match people of two groups by optimal transport, and see whose outcome flips."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import numpy as np

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.searches.flip_report import report
from isonomia.discovery.pairs.searches.matched_groups import MatchedGroups, Solver
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.parameters import Anything, Choice, Integer, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: An attribute with more values than this is not one of groups.
MAX_GROUPS = 20


@pair_method(
    "fliptest",
    "people of two groups matched by optimal transport; whose outcome flips, and what differs between them",
    reference="Black, Yeom & Fredrikson, FlipTest: fairness testing via optimal transport, FAT* 2020",
    alters=False,
    complete=True,
)
@validated(
    group1=Anything("a value of the protected attribute"),
    group2=Anything("a value of the protected attribute"),
    solver=Choice(get_args(Solver)),
    max_exact=Integer(2),
    batch=Integer(2),
    max_runs=Integer(1).or_none("for all"),
)
def fliptest(
    space: Space,
    *,
    group1: Any = None,
    group2: Any = None,
    solver: Solver = "auto",
    max_exact: int = 4000,
    batch: int = 2000,
    max_runs: int | None = None,
) -> Search:
    """Match every person of one group with one of another, and compare decisions, attribute by attribute.

    The cost of a match is the square of the L1 distance over standardised features (categories: 0/1 columns), the
    attribute that is compared left out; other protected attributes are features. F+ are those of the first group who
    are treated better than their counterpart, F- worse; with the exact bijection ``|F+| - |F-|`` is the difference in
    positive decisions (Prop. 2 of the paper). The table "transparency" gives, for F+ and F-, the mean difference and
    the mean sign of the difference to the counterpart in every feature, "groups" the counts of every two groups.

    Unlike other methods it compares real people with each other, so the two of a pair differ in other features too;
    the column ``protected_attribute`` of the table of pairs tells whose groups they were matched across.
    ``metrics["attribute_metrics"]`` has the counts, seconds and distances of every attribute, and of every two of its
    values in ``value_pairs``; ``total_runs`` attributes were tried, ``successful_runs`` compared.

    A limit of tests is shared by the attributes, and by the groups of each; people are then drawn at random. A limit
    of seconds makes batches smaller, and ends between two of them.

    Parameters
    ----------
    group1, group2 : optional
        Values of a single protected attribute; by default all pairs of its values, largest groups first.
    solver : "auto", "assignment", "batches" or "pot"
        Method to match people; "assignment" is exact for groups of equal size: of unequal ones a random equal part is
        taken (or, where the first group is the larger, the second is repeated). "batches" solves random parts of
        `batch` people. "pot" needs the package POT, takes groups of any size whole and cannot be interrupted. "auto":
        exact where the first group has up to `max_exact` people, else batches.
    max_exact : int
        Maximum group size for the exact match.
    batch : int
        People of a random part.
    max_runs : int, optional
        Maximum number of protected attributes to compare, those whose two largest groups differ least in size first.
    """
    if len(space.people) == 0:
        raise NotApplicable("FlipTest matches people of the data; only a domain was given")
    _ask_of_some(space)
    chosen = dict(list(_values(space, group1, group2).items())[:max_runs])
    predicted = space.loop.consult(space.people)
    outcome = predicted.label.astype(float) if predicted.label is not None else space.scores_of(predicted.score)
    score = np.full(len(outcome), np.nan) if predicted.score is None else space.scores_of(predicted.score)
    groups = _matched(space, chosen, outcome, (solver, max_exact, batch))
    if not groups:
        raise NotApplicable("FlipTest needs two groups with at least two people each")
    tried = min(len(space.protected), max_runs or len(space.protected))
    report(space, groups, tried, outcome, score)
    stopped = {one.stopped for one in groups if one.stopped is not None}
    if stopped:
        space.facts["stopped"] = "seconds" if "seconds" in stopped else "tests"
    yield from ()  # a search like every other, with no tests to ask for


def _values(space: Space, group1: Any, group2: Any) -> dict[int, list[tuple[float, float]]]:
    """The two values of each match, for every protected attribute with two groups: the most balanced ones first."""
    if (group1 is None) != (group2 is None):
        raise NotApplicable("FlipTest needs both `group1` and `group2`, or neither")
    if group1 is not None:
        if len(space.protected) != 1:
            raise NotApplicable("`group1` and `group2` are values of one protected attribute; name it: protected=[...]")
        feature = space.domain.features[int(space.protected[0])]
        return {int(space.protected[0]): [(feature.code(group1), feature.code(group2))]}
    pairs: dict[int, list[tuple[float, float]]] = {}
    balance: dict[int, float] = {}
    for column in map(int, space.protected):
        values, counts = np.unique(space.people[:, column], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        kept = [float(values[index]) for index in order if counts[index] >= 2 and not np.isnan(values[index])]
        name = space.domain.names[column]
        if len(kept) < 2 or len(kept) > MAX_GROUPS:
            space.notes.append(
                msg("FlipTest left out {name}: it needs two groups with at least two people each.", name=name)
                if len(kept) < 2
                else msg(
                    "FlipTest left out {name}, which has {n:int} values: it compares up to {most:int} groups. Cut it "
                    "into ranges, or name two values of it alone.",
                    name=name,
                    n=len(kept),
                    most=MAX_GROUPS,
                )
            )
            continue
        pairs[column] = list(itertools.combinations(kept, 2))
        balance[column] = float(counts[order[1]] / counts[order[0]])
    if not pairs:
        raise NotApplicable(
            f"FlipTest compares the groups of a protected attribute with two to {MAX_GROUPS} values, at least two "
            "people each"
        )
    return {column: pairs[column] for column in sorted(pairs, key=lambda column: -balance[column])}


def _ask_of_some(space: Space) -> None:
    """Leave out people, drawn at random, where the model may not be asked about all of them."""
    ledger = space.loop.ledger
    left = ledger.rows_left(1) - 1
    if left >= len(space.people):
        return
    if left < 2:
        raise NotApplicable("fewer rows of the model's budget are left than FlipTest has people to compare")
    space.notes.append(
        msg(
            "The model may be asked about {rows:int} of the {people:int} people: FlipTest compared those, drawn at "
            "random.",
            rows=left,
            people=len(space.people),
        )
    )
    space.people = space.people[np.sort(space.rng.permutation(len(space.people))[:left])]
    space.facts["stopped"] = "model rows"


def _matched(
    space: Space, values: dict[int, list[tuple[float, float]]], outcome: Floats, how: tuple[Solver, int, int]
) -> list[MatchedGroups]:
    """The groups matched, with tests and seconds shared fairly: what one leaves is for those that follow."""
    ledger, done = space.loop.ledger, []
    tests, runs = ledger.tests_left, sum(map(len, values.values()))
    for waiting, (column, pairs) in zip(range(len(values), 0, -1), values.items(), strict=True):
        share = tests // waiting
        for others, (a, b) in zip(range(len(pairs), 0, -1), pairs, strict=True):
            allowed = share // others
            if allowed == 0 or ledger.late:
                space.facts["stopped"] = "seconds" if ledger.late else "tests"
                continue
            left = None if ledger.max_seconds is None else (ledger.max_seconds - ledger.elapsed) / runs
            run = MatchedGroups(space, column, a, b, outcome)
            run.match(*how, tests=allowed, seconds=left)
            share, tests, runs = share - len(run.first), tests - len(run.first), runs - 1
            if len(run.first):
                done.append(run)
    return done
