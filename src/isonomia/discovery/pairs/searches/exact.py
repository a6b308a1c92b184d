"""Exact answers where the model can be read: a pair, a proof that there is none, and the share in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact import linear, share_estimate
from isonomia.discovery.pairs.exact.box_descent import BoxDescent
from isonomia.discovery.pairs.exact.branch_and_bound import Search as BoxSearch
from isonomia.discovery.pairs.exact.branch_and_bound import Widest
from isonomia.discovery.pairs.exact.domain_trees import CHECKED, read_domain_trees
from isonomia.discovery.pairs.exact.gap_seeds import WALKS
from isonomia.discovery.pairs.exact.moment_bounds import bracket
from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.languages.naming import UNWRITTEN
from isonomia.models.call_threads import one_thread
from isonomia.parameters import Boolean, Integer, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: People of the data that are tested where the budget ended before anything was certified.
LAST_TRY = 5000
#: Minimum number of people for comparing the trees with the model.
MIN_CHECKED = 100
#: Parts of the seconds that are left which the share (by boxes, then by moments), then each gap, may take; the rest is
#: for tests of the model.
SHARE_TIME, TAIL_TIME, GAP_TIME = 0.2, 0.55, 0.4
#: Work on tails that takes about as long as a box.
TAIL_WORK = 2000
#: People tested before bounds are computed.
FIRST = 20
#: Bounds this close are one number.
CLOSED = 1e-9


@pair_method(
    "exact",
    "a pair, a proof that there is none, the discriminating share and the widest gap, for linear models and trees",
    reference="Isonomia; prior art for ensembles: Zhao, Toda & Kitamura, arXiv 2512.16386; Ranzato et al., CIKM 2021",
)
@validated(max_boxes=Integer(1), n_pairs=Integer(1), bounds=Boolean())
def exact(space: Space, *, max_boxes: int = 200_000, n_pairs: int = 1000, bounds: bool = True) -> Search:
    """Prove what can be proved about the whole domain.

    Linear models (behind encoders that work column by column): the margin is a sum of one term per feature, so the
    share is that of sums in an interval, counted exactly or bracketed on a grid. Trees, forests and
    gradient boosting (also by histograms) of scikit-learn, XGBoost and LightGBM, of two or several classes or numbers,
    with categories of their own or behind such encoders: branch and bound over boxes, at most `max_boxes` of them.
    What was read is compared with the model first, at random and exactly at the cuts; where they differ there is no
    answer. Then up to `n_pairs` people who are treated differently, drawn where nothing is proved yet and from what was
    certified, are tested on the model itself.

    Not read: steps that mix columns (principal components, polynomials, interactions, texts), scalers of numbers that
    need not keep their order bit by bit (power and quantile transforms of columns with many values), functions of
    one's own, other ensembles (voting, stacking, bagging, calibration), oblivious trees, linear models of several
    classes, columns with missing numbers.

    ``metrics["status"]`` is "pair", "none" (proved) or "undecided"; ``share_low`` and ``share_high`` bracket the share
    of the domain (all combinations of free features equally likely) that is treated differently, and are certain;
    ``share_estimate`` with its 95% interval ``share_estimate_low`` to ``share_estimate_high`` is what ``share_drawn``
    people drawn where nothing is proved tell beside, and is not; ``max_gap`` is the
    largest difference found, ``max_gap_bound`` what it cannot exceed, on the scale ``gap_scale``, which is the one
    that `gamma` is compared with; ``max_gap_at`` is the person. For boosted classifiers ``max_gap_log_odds`` and its
    bound tell the same before the logistic function.

    Parameters
    ----------
    max_boxes
        Maximum number of boxes of the branch and bound.
    n_pairs
        Maximum number of people to test on the model itself.
    bounds
        Whether the share is bounded beyond what boxes prove, and the widest gap of trees searched for and bounded;
        the people tested are the same without.
    """
    probe = space.probe
    if probe.sampled:
        space.notes.append(msg("Exact answers are valid for the protected values that were tested."))
    if space.domain.restricted:
        space.notes.append(
            msg(
                "Shares and gaps refer to the bounds of the domain; neither constraints nor dependencies of the "
                "data are taken into account."
            )
        )
    space.facts.update(share_low=0.0, share_high=1.0, share_estimate=None)  # until more is known
    proof = None if linear.is_linear(probe.oracle) else Proof(space, max_boxes)
    rows = linear_part(space, n_pairs) if proof is None else proof.people(n_pairs)
    found, first = False, 0
    if proof is not None:  # some are tested first: bounds may take all the seconds there are
        ledger = space.loop.ledger
        space.loop.count_outside()
        first = min(FIRST, len(rows), int(min(ledger.tests_left, ledger.rows_left(probe.n_variants))) // 2)
        if first:
            answer = yield rows[:first]
            found = bool(answer.found.any())
        proof.bound(further=bounds)
    for start in range(first, max(first + 1, len(rows)), 1000):
        answer = yield rows[start : start + 1000]
        found = found or bool(answer.found.any())
    if not found and space.facts["share_high"] > 0.0 and len(space.people):
        yield space.people[:LAST_TRY]  # nothing was certified: people in the data may still be found


def lines_of(space: Space) -> list[NDArray[np.intp]]:
    """Sets of variants that may be compared: all, or those that differ in one attribute."""
    count = np.arange(space.probe.n_variants)
    if not space.probe.one_attr_at_a_time or len(space.probe.shape) == 1:
        return [count]
    cube = count.reshape(space.probe.shape)
    lines = []
    for axis, size in enumerate(space.probe.shape):
        lines += list(np.moveaxis(cube, axis, -1).reshape(-1, size))
    return lines


def linear_part(space: Space, n_pairs: int) -> Floats:
    """Facts from the intervals of the margin, and people drawn from them."""
    probe, gamma = space.probe, space.probe.gamma
    left = space.loop.ledger.rows_left(1)
    model = linear.read_linear(probe.oracle, space.free, space.protected, probe.variants, rows_left=left)
    space.loop.count_outside()
    lines = lines_of(space)
    base = np.clip(np.floor((space.domain.low + space.domain.high) / 2), space.domain.low, space.domain.high)
    gap = linear.widest(model, lines, base, space.rng)
    scale = "probability" if model.probability else "decision value" if model.classifier else "prediction"
    _facts(space, "linear", gap, scale)
    if not model.classifier or (gamma > 0 and not model.probability):  # the same gap for everyone
        tolerance = 1e-9 * max(1.0, float(np.abs(model.offsets).max()))
        everyone = float(gap.reached > max(gamma, tolerance))
        space.facts.update(share_low=everyone, share_high=everyone)
        _note_share(space, share_estimate.ShareEstimate(everyone, everyone, everyone, 0))
        return space.domain.sample(n_pairs, space.rng) if everyone else np.empty((0, len(space.domain)))
    intervals = linear.margin_intervals(model, lines, gamma)
    low, high = linear.share_bounds(model, intervals)
    space.facts.update(share_low=low, share_high=high)
    _note_share(space, share_estimate.ShareEstimate((low + high) / 2, low, high, 0))
    return linear.draw_in_intervals(model, intervals, base, 4 * n_pairs, space.rng)[:n_pairs]


def tree_part(
    space: Space, max_boxes: int, n_pairs: int, *, max_leaves: int | None = None, work: int | None = None
) -> Floats:
    """Facts from the boxes, and people who are treated differently; limited as `Proof` is."""
    proof = Proof(space, max_boxes, max_leaves=max_leaves, work=work)
    people = proof.people(n_pairs)
    proof.bound()
    return people


class Proof:
    """What can be proved about trees: first about whom, then how many and by how much.

    `work` limits the descents of a tree (boxes x paths, people x trees) of each step: counted, so that the answer does
    not depend on the machine.
    """

    def __init__(self, space: Space, max_boxes: int, *, max_leaves: int | None = None, work: int | None = None) -> None:
        self.space, self.work = space, work
        probe, left = space.probe, space.loop.ledger.rows_left(1)
        checked = min(CHECKED, left // 10)
        if checked < MIN_CHECKED:
            raise NotApplicable("too few rows of the model's budget are left to compare the trees with the model")
        ensemble = read_domain_trees(
            probe.oracle,
            space.protected,
            probe.variants,
            max_leaves=max_leaves,
            ask=space.loop.consult,
            checked=checked,
        )
        descent = BoxDescent(ensemble, space.domain, space.protected, probe.variants)

        def ask(rows: Floats) -> NDArray[np.bool_]:
            return np.asarray(probe.test(rows).margin > 0)

        self.search = BoxSearch(descent, lines_of(space), probe.gamma, ask)
        if work is not None:
            max_boxes = min(max_boxes, max(100, work // (len(descent.roots) * ensemble.n_classes)))
        self.max_boxes = max_boxes
        self.estimate: share_estimate.ShareEstimate | None = None
        # products this small lose by threads, badly so where others are at work; and one thread adds in one order
        with one_thread("blas"):
            self.certified = self.search.shares(max_boxes, _until(space, SHARE_TIME))

    def people(self, n: int) -> Floats:
        """People treated differently: those among the ones drawn where nothing is proved, then of what was certified.

        The first are the more different from each other, since the open part is most of what there is.
        """
        space, known = self.space, self.certified
        if not space.loop.ledger.spent:
            walks = share_estimate.WALKS if self.work is None else 2 * self.work
            rows = space.loop.ledger.rows_left(1) // 20
            self.estimate = share_estimate.estimate(self.search, known, space.rng.spawn(1)[0], walks=walks, rows=rows)
        drawn = (
            np.empty((0, len(space.domain)))
            if self.estimate is None or not self.estimate.n
            else self.estimate.people[:n]
        )
        if len(known.volume) == 0 or len(drawn) == n:
            return drawn
        return np.concatenate([drawn, self.search.descent.draw(known.boxes, known.volume, n - len(drawn), space.rng)])

    def bound(self, *, further: bool = True) -> None:
        """Bounds of the share, as boxes prove them; `further`, by moments as well, and of the widest gap."""
        space, known, trees = self.space, self.certified, self.search.trees
        low, high = known.share, min(1.0, known.share + known.waiting)
        if further and not known.finished and not space.loop.ledger.spent:
            with one_thread("blas"):
                tails = bracket(self.search, TAIL_WORK * self.max_boxes, _until(space, TAIL_TIME))
            low = max(low, tails.low)
            high = max(low, min(high, tails.high))
            space.facts["tail_boxes"] = tails.boxes
        if further:
            self._widest_gaps()
        space.facts.update(
            share_low=low,
            share_high=high,
            nodes_visited=known.opened,
            certified_boxes=len(known.volume),
            n_leaves=trees.n_leaves,
        )
        if self.estimate is not None:
            _note_share(space, self.estimate)

    def _widest_gaps(self) -> None:
        """Bounds of the widest gap: of predictions, and of what comes before a logistic function."""
        space, trees = self.space, self.search.trees
        boxes, walks = self.max_boxes // 4 + 1, WALKS if self.work is None else self.work
        with one_thread("blas"):
            gap = self.search.widest(boxes, _until(space, GAP_TIME), walks=walks)
            _facts(space, "boxes", gap, trees.scale)
            if trees.link == "logistic":
                raw = self.search.widest(boxes, _until(space, GAP_TIME), "identity", walks=walks)
                space.facts.update(max_gap_log_odds=raw.reached, max_gap_log_odds_bound=raw.bound)


def _note_share(space: Space, estimate: share_estimate.ShareEstimate) -> None:
    """The estimated share, besides the certified bounds and distinct from them."""
    low, high = space.facts["share_low"], space.facts["share_high"]
    estimate = estimate.within(low, high)
    space.facts.update(
        share_estimate=estimate.value,
        share_estimate_low=estimate.low,
        share_estimate_high=estimate.high,
        share_drawn=estimate.n,
    )
    nothing = low < UNWRITTEN and high > 1 - UNWRITTEN  # "between 0.0% and 100.0%" says nothing
    if high <= 0.0 or (nothing and estimate.n == 0):
        return  # that nobody is treated differently is reported at the end
    if nothing:
        note = msg(
            "Estimated, not proved, from {n:int} people drawn: {value:pct} of the domain is treated differently "
            "({lower:pct} to {upper:pct} with 95% confidence).",
            n=estimate.n,
            value=estimate.value,
            lower=estimate.low,
            upper=estimate.high,
        )
    elif high - low <= CLOSED:
        note = msg("Proved: {share:pct} of the domain is treated differently.", share=high)
    elif estimate.n == 0:
        note = msg("Proved: between {low:pct} and {high:pct} of the domain is treated differently.", low=low, high=high)
    else:
        note = msg(
            "Proved: between {low:pct} and {high:pct} of the domain is treated differently. Estimated, not proved, "
            "from {n:int} people drawn where nothing is proved: {value:pct} ({lower:pct} to {upper:pct} with 95% "
            "confidence).",
            low=low,
            high=high,
            n=estimate.n,
            value=estimate.value,
            lower=estimate.low,
            upper=estimate.high,
        )
    space.notes.append(note)


def _until(space: Space, part: float) -> Callable[[], bool]:
    """Whether the budget is spent, or that part of what is left of its seconds now."""
    ledger = space.loop.ledger
    if ledger.max_seconds is None:
        return lambda: ledger.spent
    began = ledger.elapsed
    end = began + part * max(0.0, ledger.max_seconds - began)
    return lambda: ledger.spent or ledger.elapsed >= end


def _facts(space: Space, how: str, gap: Widest, scale: str) -> None:
    """The widest gap, on the scale that `gamma` is compared with."""
    if scale == "probability":
        gap = replace(gap, bound=min(gap.bound, max(1.0, gap.reached)))
    person = None if gap.at is None else dict(zip(space.domain.names, space.domain.texts(gap.at), strict=True))
    space.facts.update(solver=how, max_gap=gap.reached, max_gap_bound=gap.bound, gap_scale=scale, max_gap_at=person)
    if gap.bound > 0:
        facts = {"attributes": ", ".join(space.probe.protected), "gap": gap.reached, "bound": gap.bound}
        space.notes.append(
            msg(
                "Changing {attributes} alone changes the probability by up to {gap:num}, and certainly by no more than "
                "{bound:num}.",
                **facts,
            )
            if scale == "probability"
            else msg(
                "Changing {attributes} alone changes the predicted number by up to {gap:num}, and certainly by no "
                "more than {bound:num}.",
                **facts,
            )
        )


def conclude(space: Space) -> None:
    """The status, however a search with exact parts ended: a pair confirmed by the model, a proof, or neither."""
    facts: dict[str, Any] = space.facts
    if "share_high" not in facts:
        return
    found = space.loop.ledger.dsn > 0
    nobody = facts["share_high"] <= 0.0
    facts["status"] = "pair" if found else "none" if nobody else "undecided"
    if nobody and not found:
        facts["stopped"] = "proved"
        space.notes.append(
            msg(
                "Proved: nobody in the domain is treated differently because of {attributes}.",
                attributes=", ".join(space.probe.protected),
            )
        )
