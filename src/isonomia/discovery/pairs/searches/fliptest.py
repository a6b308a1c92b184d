"""FlipTest: match people of two groups by optimal transport, and see whose outcome flips."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.result import Pairs
from isonomia.discovery.pairs.searches.matching import assignment, squared_l1, transport
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.parameters import Anything, Choice, Integer, validated
from isonomia.probing import Search
from isonomia.typing import Floats

Solver = Literal["auto", "assignment", "batches", "pot"]
_COLUMNS = (
    Column("group", title=msg("Group")),
    Column("counterpart", title=msg("Matched with")),
    Column("flips", title=msg("Flips")),
    Column("feature", title=msg("Feature")),
    Column("difference", format="num", title=msg("Mean difference (standard deviations)")),
    Column("sign", format="num", title=msg("Mean sign")),
    Column("n", format="int", title=msg("People")),
)


@pair_method(
    "fliptest",
    "people of two groups matched by optimal transport; whose outcome flips, and what differs between them",
    reference="Black, Yeom & Fredrikson, FlipTest: fairness testing via optimal transport, FAT* 2020",
    alters=False,
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
    """Match every person of one group with one of another, and compare decisions.

    The cost of a match is the square of the L1 distance over standardised features (categories: 0/1 columns), the
    protected attributes left out. F+ are those of the first group who are treated better than their counterpart, F-
    worse; with the exact bijection ``|F+| - |F-|`` is the difference in positive decisions (Prop. 2 of the paper).
    The table "transparency" gives, for F+ and F-, the mean difference and the mean sign of the difference to the
    counterpart in every feature.

    Unlike other methods it compares real people with each other, so the two of a pair differ in other features too.

    Parameters
    ----------
    group1, group2 : optional
        Values of the (single) protected attribute; by default all pairs of its values, largest groups first.
    solver : "auto", "assignment", "batches" or "pot"
        Method to match people; "assignment" is exact for groups of equal size: of unequal ones a random equal part is
        taken (or, where the first group is the larger, the second is repeated). "batches" solves random parts of
        `batch` people. "pot" needs the package POT and takes groups of any size whole. "auto": exact up to `max_exact`
        people per group, then batches.
    max_exact : int
        Maximum group size for the exact match.
    batch : int
        People of a random part.
    max_runs : int, optional
        Maximum number of pairs of values to compare.
    """
    if len(space.people) == 0:
        raise NotApplicable("FlipTest matches people of the data; only a domain was given")
    if len(space.protected) != 1:
        raise NotApplicable("FlipTest compares the values of one protected attribute; name one")
    predicted = space.loop.consult(space.people)
    outcome = predicted.label.astype(float) if predicted.label is not None else space.scores_of(predicted.score)
    score = np.full(len(outcome), np.nan) if predicted.score is None else space.scores_of(predicted.score)
    runs = [_Run(space, a, b, outcome) for a, b in _values(space, group1, group2)][:max_runs]
    if not runs:
        raise NotApplicable("FlipTest needs two groups with at least two people each")
    for run in runs:
        run.match(solver, max_exact, batch)
    _report(space, runs, outcome, score)
    yield from ()  # a search like every other, with no tests to ask for


def _values(space: Space, group1: Any, group2: Any) -> list[tuple[float, float]]:
    column = int(space.protected[0])
    feature = space.domain.features[column]
    if (group1 is None) != (group2 is None):
        raise NotApplicable("FlipTest needs both `group1` and `group2`, or neither")
    if group1 is not None:
        return [(feature.code(group1), feature.code(group2))]
    values, counts = np.unique(space.people[:, column], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = [float(values[index]) for index in order if counts[index] >= 2]
    return list(itertools.combinations(kept, 2))


class _Run:
    """One pair of values: who is matched with whom, at what distance."""

    def __init__(self, space: Space, a: float, b: float, outcome: Floats) -> None:
        self.space, self.a, self.b = space, a, b
        column = space.people[:, space.protected[0]]
        self.first, self.second = np.flatnonzero(column == a), np.flatnonzero(column == b)
        if min(len(self.first), len(self.second)) < 1:
            raise NotApplicable("one of the groups to compare is empty")
        self.outcome = outcome
        self.how = ""

    def match(self, solver: Solver, max_exact: int, batch: int) -> None:
        """Find everyone's counterpart."""
        space, rng = self.space, self.space.rng
        points = _standardised(space, np.concatenate([self.first, self.second]))
        a, b = points[: len(self.first)], points[len(self.first) :]
        if solver == "pot":
            partner = transport(squared_l1(a, b))
            self.how = "transport"
        else:
            small = max(len(a), len(b)) <= max_exact
            whole = solver == "assignment" or (solver == "auto" and small)
            if len(a) != len(b):
                space.notes.append(
                    msg(
                        "The groups differ in size ({a:int} and {b:int}); FlipTest matched equal numbers drawn at "
                        "random.",
                        a=len(a),
                        b=len(b),
                    )
                )
            pool = _equal(len(a), len(b), rng)
            partner = np.empty(len(a), dtype=np.intp)
            size = len(a) if whole else batch
            if not whole:
                space.notes.append(
                    msg("The groups are large; FlipTest matched them in random batches of {n:int}.", n=batch)
                )
            order = rng.permutation(len(a)) if not whole else np.arange(len(a))
            for start in range(0, len(a), size):
                rows = order[start : start + size]
                partner[rows] = pool[rows][assignment(squared_l1(a[rows], b[pool[rows]]))]
            self.how = "assignment" if whole else "batches"
        self.distance = np.abs(a - b[partner]).sum(axis=1)
        self.partner = self.second[partner]

    @property
    def flips(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """F+ (treated better than the counterpart) and F- (worse)."""
        mine, theirs = self.outcome[self.first], self.outcome[self.partner]
        floor = self.space.probe.gamma
        return mine > theirs + floor, mine < theirs - floor


def _equal(n: int, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """`n` indices of `m`: without repetition if there are enough, else each as often as the others (or once more)."""
    if n <= m:
        return np.asarray(rng.permutation(m)[:n], dtype=np.intp)
    rounds = [rng.permutation(m) for _ in range(-(-n // m))]
    return np.asarray(np.concatenate(rounds)[:n], dtype=np.intp)


def _standardised(space: Space, rows: NDArray[np.intp]) -> Floats:
    """Free features with mean 0 and variance 1; a category is one 0/1 column per value, weighed so that two different
    values are two standard deviations apart at most in each."""
    people = space.people[rows]
    columns: list[Floats] = []
    for index in space.free:
        values = people[:, index]
        if space.domain.nominal[index]:
            columns += [(values == level).astype(float) for level in np.unique(values)]
        elif not np.isnan(values).all():
            columns.append(np.where(np.isnan(values), np.nanmean(values), values))
    table = np.stack(columns, axis=1) if columns else np.zeros((len(people), 1))
    spread = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _report(space: Space, runs: list[_Run], outcome: Floats, score: Floats) -> None:
    """Pairs, counts and the transparency report."""
    feature = space.domain.features[int(space.protected[0])]
    first, second, rows, metrics = [], [], [], {}
    better = worse = matched = 0
    for run in runs:
        plus, minus = run.flips
        better, worse, matched = better + int(plus.sum()), worse + int(minus.sum()), matched + len(run.first)
        for name, members in (("F+", plus), ("F-", minus)):
            first.append(run.first[members])
            second.append(run.partner[members])
            rows += _transparency(space, run, name, members)
        name = f"{feature.text(run.a)} / {feature.text(run.b)}"
        metrics[name] = {
            "TSN": len(run.first),
            "DSN": int(plus.sum() + minus.sum()),
            "SUR": float((plus | minus).mean()),
            "positive_flips": int(plus.sum()),
            "negative_flips": int(minus.sum()),
            "mean_distance": float(run.distance.mean()),
            "mean_squared_distance": float((run.distance**2).mean()),
            "solver": run.how,
        }
    a, b = np.concatenate(first), np.concatenate(second)
    codes = space.loop.probe.oracle.task != "regression"
    kind = np.int64 if codes else float
    gap = np.abs(score[a] - score[b]) if not np.isnan(score).any() else np.ones(len(a))
    space.facts["pairs"] = Pairs(
        first=space.people[a],
        columns=np.arange(len(space.domain)),
        other=space.people[b],
        outcome_first=outcome[a].astype(kind),
        outcome_second=outcome[b].astype(kind),
        score_first=score[a],
        score_second=score[b],
        gap=gap,
    )
    total = space.loop.ledger.elapsed
    space.facts.update(
        TSN=matched,
        DSN=better + worse,
        SUR=(better + worse) / matched,
        DSS=total / (better + worse) if better + worse else None,
        positive_flips=better,
        negative_flips=worse,
        mean_distance=float(np.concatenate([run.distance for run in runs]).mean()),
        attribute_metrics=metrics,
        solver=runs[0].how,
        total_runs=len(runs),
    )
    space.tables["transparency"] = Table.from_rows(
        rows,
        _COLUMNS,
        title=msg("What differs between those who flip and their counterparts"),
        backend=space.domain.backend,
    )


def _transparency(space: Space, run: _Run, name: str, members: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Mean difference (in standard deviations of both groups) and mean sign, feature by feature, largest first."""
    attribute = space.domain.features[int(space.protected[0])]
    everyone = space.people[np.concatenate([run.first, run.second])]
    rows: list[dict[str, Any]] = []
    n = int(members.sum())
    for index in space.free:
        if n == 0:
            break
        change = space.people[run.first[members], index] - space.people[run.partner[members], index]
        if np.isnan(change).all():  # a number that none of these people and their counterparts both have
            continue
        if space.domain.nominal[index]:
            different, sign = float((change != 0).mean()), None
        else:
            spread = float(np.nanstd(everyone[:, index]))
            different = float(np.nanmean(change)) / spread if spread > 0 else 0.0
            sign = float(np.nanmean(np.sign(change)))
        feature = space.domain.features[int(index)]
        people = {"group": attribute.text(run.a), "counterpart": attribute.text(run.b), "flips": name, "n": n}
        rows.append({**people, "feature": feature.name, "difference": different, "sign": sign})
    return sorted(rows, key=lambda row: -abs(row["difference"]))
