"""What one column adds for groups, by sampling alone: no Shapley value of any row is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.counting import sum_by
from isonomia.errors import BudgetError
from isonomia.evidence import normal_quantile
from isonomia.explain.prepare import Prepared
from isonomia.languages import msg
from isonomia.typing import Floats, Indices

#: Draws per group of the first round, which show how many more are needed.
FIRST = 1000
#: Draws per group without which there is no interval.
FEWEST = 30
#: Model rows per draw: the column of the person and of the other row, in a coalition and in its complement.
PER_DRAW = 4
#: With more values than this, the other row is drawn from everybody.
MAX_VALUES = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Draws:
    """Sampled contributions: of whom, against whom, and how much.

    Attributes
    ----------
    group, person, back : (n,) arrays
        The person's group; positions of the person and of the background row.
    own : (n,) array
        Code of the person's value of the column; 0 where there are too many values.
    reach : (n,) array
        Share of the background that the other row was drawn from.
    value : (n,) array
        The contribution, times `reach`.
    """

    group: Indices
    person: Indices
    back: Indices
    own: Indices
    reach: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.value)

    def join(self, other: Draws) -> Draws:
        """Both."""
        parts = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__dict__}
        return Draws(**parts)


@dataclass(frozen=True, eq=False, kw_only=True)
class Direct:
    """Mean contributions of a column by group, from draws.

    Attributes
    ----------
    draws : Draws
    mean : (groups,) array
    values : (m,) array
        Code of each background row's value of the column; -1 where there are too many values.
    shares : (m,) array
        Weights of the background rows, which sum to 1.
    same_rows : bool
        Whether the background is the people themselves.
    """

    draws: Draws
    mean: Floats
    values: Indices
    shares: Floats
    same_rows: bool

    def contrast(self, weight: Floats) -> tuple[float, float, float]:
        """sum_g weight_g mean_g; its standard error as an estimate about the people behind the data; that of sampling.

        Draws that share a person or a background row vary together: their errors are added before they are squared
        (two-way clusters). A background row with the person's own value adds 0 and is never drawn: `_unseen` is what
        it would have added.
        """
        size = sum_by(self.draws.group, None, len(self.mean))
        part = weight[self.draws.group] / size[self.draws.group]
        off = part * (self.draws.value - self.mean[self.draws.group])
        sampling = float((off**2).sum())
        people, rows = self.draws.person, len(self.shares)
        back = sum_by(self.draws.back, off, rows) + self._unseen(part)
        if self.same_rows:
            clusters = [sum_by(people, off, rows) + back]
        else:
            clusters = [sum_by(people, off, int(people.max()) + 1), back]
        variance = sum(float((cluster**2).sum()) for cluster in clusters) - sampling
        return float(weight @ self.mean), float(np.sqrt(max(variance, sampling))), float(np.sqrt(sampling))

    def _unseen(self, part: Floats) -> Floats:
        """What each background row adds to the error beside the draws: its value of the column may be common or rare.

        Of row b that is its share times (the mean of the draws that may use b, each over its `reach`, less the mean
        of all): 0 where every draw may use every row.
        """
        draws, known = self.draws, self.draws.reach > 0
        expected = part * self.mean[draws.group]
        mass = np.where(known, expected / np.where(known, draws.reach, 1.0), 0.0)
        own = sum_by(draws.own, mass, int(max(draws.own.max(), self.values.max())) + 1)
        barred = np.where(self.values >= 0, own[self.values], 0.0)
        return np.asarray(self.shares * (mass.sum() - barred - expected.sum()))


def direct(
    prepared: Prepared,
    player: int,
    groups: Indices,
    *,
    error: float | None,
    max_model_rows: int,
    level: float,
    seed: int,
) -> Direct:
    """Sample until the difference of any two groups is known to +- `error`, or the budget is used up.

    mean_g = E over x in g, b with another value of the column, S of
    P(A_b != A_x) [f(x_S, A_x, b_rest) - f(x_S, A_b, b_rest)]: S contains each other column with probability t, t
    uniform (Owen), and is used with its complement.
    """
    sampler = _Sampler(prepared, player, groups, np.random.default_rng(seed))
    count = int(groups.max()) + 1
    most = max_model_rows // (PER_DRAW * count)
    if most < FEWEST:
        raise BudgetError(
            f"Draws for {count} groups need at least {FEWEST * PER_DRAW * count:,} model rows; `max_model_rows` leaves "
            f"{max_model_rows:,} for them. Allow more."
        )
    n_draws = min(most, FIRST)
    found: Draws | None = None
    with prepared.subject.progress.stage("draws", msg("Querying the model about altered rows"), count * most) as stage:
        while True:
            for group in range(count):
                drawn = sampler.draw(group, n_draws)
                found = drawn if found is None else found.join(drawn)
                stage.at(len(found))
            assert found is not None
            size = sum_by(found.group, None, count)
            mean = sum_by(found.group, found.value, count) / size
            spread = sum_by(found.group, (found.value - mean[found.group]) ** 2, count) / (size - 1)
            drawn_so_far, z = int(size[0]), normal_quantile(level)
            target = 10 * FIRST if error is None else int(np.ceil(2 * spread.max() * (z / error) ** 2))
            n_draws = min(target, most) - drawn_so_far
            if n_draws <= 0:
                break
    return Direct(
        draws=found,
        mean=mean,
        values=sampler.theirs if sampler.few else np.full(len(prepared.pool), -1),
        shares=prepared.pool_weights / prepared.pool_weights.sum(),
        same_rows=prepared.pool is prepared.located,
    )


class _Sampler:
    """Draws people, other rows and coalitions, and asks the model about them."""

    def __init__(self, prepared: Prepared, player: int, groups: Indices, rng: np.random.Generator) -> None:
        self.prepared, self.player, self.groups, self.rng = prepared, player, groups, rng
        own = prepared.space.players.owner == player
        both = np.concatenate([prepared.located[:, own], prepared.pool[:, own]])
        _, codes = np.unique(both, axis=0, return_inverse=True)
        codes = codes.ravel()
        self.mine, self.theirs = codes[: len(prepared.located)], codes[len(prepared.located) :]
        self.few = int(codes.max()) < MAX_VALUES

    def draw(self, group: int, count: int) -> Draws:
        """So many contributions of people of a group."""
        prepared = self.prepared
        inside = prepared.chosen[self.groups == group]
        person = self._pick(inside, prepared.weights[inside], count)
        back, share = np.empty(count, dtype=np.intp), np.ones(count)
        values = self.mine[person] if self.few else np.zeros(count, dtype=np.intp)
        for value in np.unique(values):
            here = values == value
            allowed = np.flatnonzero(self.theirs != value) if self.few else np.arange(len(prepared.pool))
            share[here] = prepared.pool_weights[allowed].sum() / prepared.pool_weights.sum()
            if not len(allowed):
                allowed = np.arange(len(prepared.pool))  # nobody differs: the share is 0
            back[here] = self._pick(allowed, prepared.pool_weights[allowed], int(here.sum()))
        value = np.empty(count)
        step = max(1, prepared.space.batch // PER_DRAW)
        for start in range(0, count, step):
            at = slice(start, start + step)
            value[at] = share[at] * self._differences(prepared.located[person[at]], prepared.pool[back[at]])
        return Draws(
            group=np.full(count, group, dtype=np.intp), person=person, back=back, own=values, reach=share, value=value
        )

    def _pick(self, rows: Indices, weights: Floats, count: int) -> Indices:
        """Rows by weight; with equal weights each as often as any other, in random order."""
        if len(rows) and (weights == weights[0]).all():
            rounds = -(-count // len(rows))
            return np.concatenate([self.rng.permutation(rows) for _ in range(rounds)])[:count] if count else rows[:0]
        return np.asarray(self.rng.choice(rows, size=count, p=weights / weights.sum()))

    def _differences(self, x: Floats, b: Floats) -> Floats:
        """What the column adds for x against b, in a random coalition and in its complement."""
        players, n = self.prepared.space.players, len(x)
        t = (self.rng.permutation(n) + self.rng.random(n)) / n
        inside = self.rng.random((n, len(players))) < t[:, None]
        rows = np.empty((PER_DRAW, n, x.shape[1]))
        for at, (coalition, own) in enumerate(((inside, True), (inside, False), (~inside, True), (~inside, False))):
            coalition = coalition.copy()
            coalition[:, self.player] = own
            np.copyto(rows[at], b)
            np.copyto(rows[at], x, where=players.coordinates(coalition))
        answer = self.prepared.space.ask(rows.reshape(-1, x.shape[1]))[:, 0].reshape(PER_DRAW, n)
        return np.asarray(0.5 * (answer[0] - answer[1] + answer[2] - answer[3]))
