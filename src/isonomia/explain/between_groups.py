"""What each column adds to the difference between two groups' mean outputs, with both sampling errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from isonomia.errors import BudgetError, NotApplicable
from isonomia.evidence import Estimate
from isonomia.evidence.intervals import student_interval
from isonomia.explain.contributions import Runner
from isonomia.explain.explainer import EXPLAINERS, Explainer
from isonomia.explain.prepare import Prepared
from isonomia.languages import Message, once
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class Between:
    """Contributions of M columns to a difference of means, which they add up to.

    Attributes
    ----------
    value, error : (M,) arrays
        Contributions and their standard errors.
    freedom : (M,) array
        Degrees of freedom (Welch and Satterthwaite).
    total, total_error, total_freedom : float
        The same of the difference itself.
    influence : (N, M) array
        What each row adds to each contribution's deviation from its expectation.
    limit : float
        No contribution, and no difference, can be larger: intervals end there.
    """

    value: Floats
    error: Floats
    freedom: Floats
    total: float
    total_error: float
    total_freedom: float
    influence: Floats
    limit: float = np.inf
    notes: tuple[Message, ...] = ()

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """Intervals of the contributions."""
        low, high = student_interval(self.value, self.error, self.freedom + 1, level)
        return np.maximum(low, -self.limit), np.minimum(high, self.limit)

    def total_estimate(self, n: int, level: float) -> Estimate:
        """The difference itself."""
        low, high = student_interval(self.total, self.total_error, self.total_freedom + 1, level)
        ends = max(float(low), -self.limit), min(float(high), self.limit)
        return Estimate(self.total, *ends, n=n, method="normal", level=level)

    def less(self, other: Between) -> Between:
        """The contributions less those of another model for the same people: errors are those of the differences."""
        influence = self.influence - other.influence
        return replace(
            self,
            value=self.value - other.value,
            error=np.sqrt((influence**2).sum(axis=0)),
            freedom=np.minimum(self.freedom, other.freedom),
            total=self.total - other.total,
            total_error=float(np.sqrt((influence.sum(axis=1) ** 2).sum())),
            total_freedom=min(self.total_freedom, other.total_freedom),
            influence=influence,
            limit=self.limit + other.limit,
            notes=once((*self.notes, *other.notes)),
        )

    def aligned(self, own: tuple[str, ...], names: tuple[str, ...]) -> Between:
        """The same contributions in the order of other columns; one that the model does not take adds nothing."""
        at = np.array([own.index(name) if name in own else -1 for name in names], dtype=np.intp)
        here = at >= 0

        def moved(part: Floats, fill: float) -> Floats:
            return np.where(here, part[..., at], fill)

        return replace(
            self,
            value=moved(self.value, 0.0),
            error=moved(self.error, 0.0),
            freedom=moved(self.freedom, self.total_freedom),
            influence=moved(self.influence, 0.0),
        )

    @property
    def p_value(self) -> Floats:
        """Tests that a contribution is 0; NaN where it does not vary between people."""
        known = self.error > 1e-12 * np.maximum(1e-300, np.abs(self.value).max(initial=0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(known, 2 * stdtr(self.freedom, -np.abs(self.value) / self.error), np.nan)


def exact_or_sampled(prepared: Prepared, rows: int, background: int, max_model_rows: int) -> Explainer:
    """The first explainer that is exact for the output and takes the whole background, else sampled orders."""
    case = replace(prepared.case(None, max_model_rows), rows=rows, background=background)
    for explainer in EXPLAINERS:
        whole = explainer.max_background is None or background <= explainer.max_background
        if explainer.order is None or not explainer.exact_for or not whole or explainer.reason(case) is not None:
            continue
        if explainer.cost(case) <= max_model_rows:
            return explainer
    sampled = EXPLAINERS["sampling"]
    if reason := sampled.reason(case):
        raise NotApplicable(reason)
    if sampled.cost(case) > max_model_rows:
        raise BudgetError(
            f"Sampled values of {rows:,} rows need at least {sampled.cost(case):,} model rows; `max_model_rows` leaves "
            f"{max_model_rows:,} for them. Allow more, or give fewer rows."
        )
    return sampled


def other_group(run: Runner, people: Indices, others: Indices) -> Between:
    """Contributions to the mean of `people` less the mean of `others`, who are each other's background.

    phi(x; b) = -phi(b; x), so the values of either group against the other show what each of its rows adds:
    the variance is Var(phi) / n + Var(psi) / m, with psi(b) = -(values of b against people).
    """
    prepared = run.prepared
    rows, back = prepared.located[people], prepared.located[others]
    share, share_back = _shares(prepared.weights[people]), _shares(prepared.weights[others])
    everyone = np.arange(len(prepared.space.players))
    phi, _ = run(rows, back, prepared.weights[others], everyone, 0)
    psi = -run(back, rows, prepared.weights[people], everyone, 1)[0]
    one, other = _centred(phi, share), _centred(psi, share_back)
    # exact values agree both ways; of sampled ones the mean is less noisy
    return _assembled(run, 0.5 * (share @ phi + share_back @ psi), [(people, one), (others, other)], widest=1.0)


def common_background(run: Runner, people: Indices, others: Indices) -> Between:
    """Contributions to the mean of `people` less the mean of `others`, both against the same background rows."""
    prepared = run.prepared
    pool, weights, everyone = prepared.pool, prepared.pool_weights, np.arange(len(prepared.space.players))
    influence, total, against = [], np.zeros(len(everyone)), np.zeros((len(pool), 1))
    for seed, (rows, sign) in enumerate(((people, 1.0), (others, -1.0))):
        share = _shares(prepared.weights[rows])
        phi, _ = run(prepared.located[rows], pool, weights, everyone, seed)
        influence.append((rows, sign * _centred(phi, share)))
        total = total + sign * (share @ phi)
        back, _ = run(pool, prepared.located[rows], prepared.weights[rows], everyone, 2 + seed)
        against = against - sign * back
    back = _centred(against, _shares(weights))
    outside = np.arange(len(pool)) + (0 if pool is prepared.located else len(prepared.located))
    return _assembled(run, total, [*influence, (outside, back)], widest=2.0)


def _assembled(run: Runner, value: Floats, parts: list[tuple[Indices, Floats]], *, widest: float) -> Between:
    """Contributions with the errors that the rows' deviations give: those of one row are added before squaring.

    `widest` is the largest contribution to a mean of outputs between 0 and 1.
    """
    size = 1 + max(int(rows.max()) for rows, _ in parts)
    influence = np.zeros((size, len(value)))
    for rows, part in parts:
        influence[rows] += part
    both = np.column_stack([influence, influence.sum(axis=1)])
    variance = (both**2).sum(axis=0)
    squares = [((part.sum(axis=1, keepdims=True) if k else part) ** 2).sum(axis=0) for k in (0, 1) for _, part in parts]
    sizes = [len(rows) for _, rows in parts]
    shares = [np.append(squares[k], squares[k + len(parts)]) for k in range(len(parts))]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = sum(share**2 / max(1, n - 1) for share, n in zip(shares, sizes, strict=True))
        freedom = np.where(spread > 0, sum(shares) ** 2 / spread, sum(sizes))
    return Between(
        value=value,
        error=np.sqrt(variance[:-1]),
        freedom=freedom[:-1],
        total=float(value.sum()),
        total_error=float(np.sqrt(variance[-1])),
        total_freedom=float(freedom[-1]),
        influence=influence,
        limit=widest if run.prepared.output in ("probability", "decision") else np.inf,
        notes=run.notes,
    )


def _shares(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def _centred(values: Floats, share: Floats) -> Floats:
    """Deviations of the weighted mean, whose squares add up to its variance."""
    correction = np.sqrt(len(share) / max(1, len(share) - 1))
    return np.asarray(share[:, None] * (values - share @ values) * correction)
