"""The one entrance to all subgroup methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Binning, Bins
from isonomia.counting.bins import BINNINGS, BINS, DEFAULT_BINS
from isonomia.counting.lattice import DEFAULT_BUDGET
from isonomia.data import Task
from isonomia.discovery.method import SUBGROUP_METHODS, Method
from isonomia.discovery.subgroups import _reading, present
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.nested import added_by_conditions, without_idle_conditions
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.ranges import best_ranges, in_bins_of, rectangles_like, wider_bins
from isonomia.discovery.subgroups.result import SubgroupResult
from isonomia.errors import SpecError
from isonomia.events import Clock, Progress, ProgressLike
from isonomia.evidence import holm
from isonomia.languages import Message, msg
from isonomia.models import Model
from isonomia.parameters import NAMES, SEED, Choice, Either, Integer, Number, defaults_of, validated
from isonomia.subject import Reading

#: With `max_overlap` a method is run for this many times `k`, so that enough are left.
_SPARE = 8
#: Values of a protected attribute listed in `dsn_by_attr_value`, at most.
_MAX_VALUES = 100


@validated(
    k=Integer(1),
    max_l=Integer(1).or_none("for no limit"),
    min_support=Either(Integer(1), Number(above=0, at_most=1, hint=" (a share of the rows)")).or_none(),
    bins=BINS,
    binning=Choice(BINNINGS),
    features=NAMES.or_none("for all"),
    protected=NAMES.or_none(),
    seed=SEED,
    max_seconds=Number(above=0).or_none("for no limit"),
    max_memory=Integer(1 << 20, hint=" (bytes)"),
    holdout=Number(above=0, below=1, hint=", such as 0.5").or_none(),
    max_overlap=Number(at_least=0, at_most=1).or_none(),
)
def find_subgroups(
    data: Any,
    model: Any = None,
    *,
    method: str = "sliceline",
    y_true: Any = None,
    y_pred: Any = None,
    y_score: Any = None,
    errors: Any = None,
    k: int = 5,
    max_l: int | None = 3,
    min_support: float | int | None = None,
    bins: Bins = DEFAULT_BINS,
    binning: Binning = "quantile",
    features: Sequence[str] | None = None,
    protected: Sequence[str] | str | None = None,
    metric: str | Sequence[str] | None = None,
    positive: Any = None,
    task: Task | None = None,
    weights: Any = None,
    seed: int = 0,
    max_seconds: float | None = None,
    max_memory: int = DEFAULT_BUDGET,
    holdout: float | None = None,
    max_overlap: float | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> SubgroupResult:
    """Find subgroups that a model treats differently.

    Parameters
    ----------
    data : Dataset, Subject, or any frame of features
        The rows to search. Rows without a true outcome are left out.
    model : model, Surface or None
        Who predicts; None where predictions or errors are given, or are columns of the dataset.
    method : str
        The name of a method in `METHODS` (``isonomia methods`` lists them).
    y_true, y_pred, y_score, errors : columns, optional
        True outcomes, decisions (or probabilities), probabilities, and errors of any kind (at least 0).
    k : int
        How many subgroups.
    max_l : int or None
        How many conditions a subgroup may have; None for no limit.
    min_support : float or int, optional
        The minimum size of a subgroup: a share of the rows (float) or a number of them (int).
    bins, binning
        How numeric features are cut: see `counting.encode_features`.
    features, protected : sequence of str, optional
        The columns that conditions may be on (all by default); protected columns of a bare frame.
    metric : str or several, optional
        The outcome rate examined ("fpr", "fnr", "error_rate", ...), where a method takes one.
    positive, task : optional
        As in `Dataset`, for a bare frame.
    weights : column or its name, optional
        One weight per row.
    seed : int
    max_seconds : float, optional
        Maximum number of seconds; then the search stops and returns what it has, flagged as partial.
    max_memory : int
        Bytes that a search over conjunctions may work with (bitsets and cells; the conjunctions of a level may take as
        much again). Where more would be needed it stops, flagged as partial.
    holdout : float, optional
        Share of the rows that is kept out of the search; what was found is measured on it. The p-values then need
        adjusting for the subgroups reported alone (Holm). Where subgroups are conjunctions with a higher (or lower)
        average, bins of numeric features are half as wide: the search runs on bins and on twice as wide ones, all
        rectangles of the narrow bins of two features are looked at, and neighbouring bins are joined to the range that
        departs most. Conditions that add nothing are dropped, and what is adjusted is the largest of the p-values
        against all other rows and against the rest of each subgroup with one condition less.
    max_overlap : float, optional
        Leave out subgroups that share more than this much of their rows (intersection over union) with a better one.
    progress : callable or Progress, optional
        Receives the events of the search; a `Progress` can cancel it.
    **options
        The method's own parameters.

    Returns
    -------
    SubgroupResult

    Examples
    --------
    >>> people = {"sex": ["F", "M"] * 100, "city": ["x", "x", "y", "y"] * 50}
    >>> wrong = [1, 0, 0, 0] * 50  # women of city x
    >>> result = find_subgroups(people, method="sliceline", errors=wrong, k=1)
    >>> row = next(result.tables["subgroups"].rows())
    >>> row["slice"], row["size"], row["slice_average_error"]
    ('sex = F, city = x', 50, 1.0)
    """
    chosen = SUBGROUP_METHODS[method]
    clock = Clock(max_seconds, Progress.of(progress))
    given = {**defaults_of(chosen.parameters), **chosen.read(options)}
    reading: Reading = {
        "y_true": y_true,
        "y_pred": y_pred,
        "y_score": y_score,
        "weights": weights,
        "protected": protected,
        "positive": positive,
        "task": task,
    }
    subject = _reading.read_subject(data, model, features, reading, clock.progress)
    problem = _reading.read_problem(
        subject,
        chosen,
        errors=_reading.read_errors(errors, subject),
        limits=(k, max_l, min_support),
        bins=_finest(bins, ranges=holdout is not None and chosen.nested),
        binning=binning,
        metric=metric,
        seed=seed,
        clock=clock,
        max_memory=_reading.check_memory(max_memory),
        options=given,
    )
    widened = problem if max_overlap is None else replace(problem, k=problem.k * _SPARE)
    with clock.progress.stage(chosen.id, msg("Searching for subgroups"), total=1) as stage:
        if holdout is None:
            measured, search = problem, chosen.run(widened)
            search, masks = _without_repeats(search, measured, max_overlap, problem.k)
        else:
            measured, search = _with_holdout(chosen, widened, holdout, max_overlap, problem.k)
            masks = [item.mask(measured.by_name) for item in search.subgroups]
        stage.at(1)
    return subject.noted(_assemble(chosen, problem, measured, search, masks, clock))


def _finest(bins: Bins, *, ranges: bool) -> Bins:
    """Half as wide bins where ranges of several are looked for."""
    return 2 * bins if ranges and isinstance(bins, int) else bins


def _with_holdout(
    method: Method, problem: Problem, holdout: float, max_overlap: float | None, k: int
) -> tuple[Problem, Search]:
    """Search one part of the rows, measure what was found on the other.

    What is measured is chosen on the part searched: without conditions that add nothing there, and without repeats.
    """
    if method.measure is None:
        raise SpecError(f"The method '{method.id}' cannot measure what it found on other rows; leave `holdout` out.")
    order = np.random.default_rng(problem.seed).permutation(problem.n)
    cut = problem.n - round(problem.n * holdout)
    if cut < 1 or cut == problem.n:
        raise SpecError(f"`holdout` leaves one of the two parts empty: {problem.n} rows, holdout {holdout:g}.")
    searched, other = problem.take(np.sort(order[:cut])), problem.take(np.sort(order[cut:]))
    search = _in_ranges(method, searched) if method.nested else method.run(searched)
    search, _ = _without_repeats(search, searched, max_overlap, k)
    again = [method.measure(other, subgroup) for subgroup in search.subgroups]
    adjusted = holm([_largest_p(method, other, item) for item in again])
    subgroups = tuple(
        replace(item, p_adjusted=None if np.isnan(p) else float(p)) for item, p in zip(again, adjusted, strict=True)
    )
    note = msg(
        "Found on {found:int} rows, measured on the other {measured:int}; p-values are adjusted for those listed.",
        found=cut,
        measured=problem.n - cut,
    )
    return other, replace(search, subgroups=subgroups, notes=(*search.notes, note))


def _in_ranges(method: Method, problem: Problem) -> Search:
    """Search bins twice and four times as wide, then ranges of the finest bins, without conditions that add nothing.

    The most striking subgroup comes first.
    """
    assert method.measure is not None  # `_with_holdout` refuses such methods
    wide = wider_bins(problem)
    wider = wider_bins(wide)
    search: Search = method.run(wide)
    other: Search = method.run(wider)
    found = [in_bins_of(item, problem) for item in search.subgroups]
    found += [in_bins_of(in_bins_of(item, wide), problem) for item in other.subgroups]
    if problem.max_l >= 2:
        found += rectangles_like(problem, found, problem.k)
    ranged = [method.measure(problem, best_ranges(problem, item)) for item in found]
    possible = sum(column.size for column in problem.features)

    def rank(item: Subgroup) -> float:
        """The p-value times how many subgroups have as many conditions: more of them differ more by chance."""
        conditions = len(item.conditions)
        p = 1.0 if item.p_value is None else max(item.p_value, 1e-300)
        return math.log(p) + conditions * math.log(possible) - math.lgamma(conditions + 1)

    ordered = sorted((method.measure(problem, item) for item in _shortened(problem, ranged)), key=rank)
    return replace(
        search,
        subgroups=tuple(ordered),
        tested=search.tested + other.tested,
        nodes=search.nodes + other.nodes,
        complete=search.complete and other.complete,
    )


def _shortened(problem: Problem, found: Sequence[Subgroup]) -> tuple[Subgroup, ...]:
    """Subgroups without idle conditions; those that become the same are listed once."""
    out: dict[tuple[object, ...], Subgroup] = {}
    for item in found:
        shorter = without_idle_conditions(problem, item)
        out.setdefault((present.kind_of_finding(item), *sorted(shorter.conditions.items())), shorter)
    return tuple(out.values())


def _largest_p(method: Method, problem: Problem, item: Subgroup) -> float:
    """The largest p-value of a subgroup: against all other rows, and against the rest of each larger subgroup."""
    if item.p_value is None:
        return np.nan
    return float(max([item.p_value, *(added_by_conditions(problem, item).values() if method.nested else ())]))


def _without_repeats(
    search: Search, problem: Problem, max_overlap: float | None, k: int
) -> tuple[Search, list[NDArray[np.bool_]]]:
    """The search without subgroups that repeat a better one, and the rows of those that stay."""
    if max_overlap is None:
        return search, [item.mask(problem.by_name) for item in search.subgroups]
    kept: list[Subgroup] = []
    masks: list[NDArray[np.bool_]] = []
    for item in search.subgroups:
        mask = item.mask(problem.by_name)
        kinds = [present.kind_of_finding(one) for one in (*kept, item)]
        enough = kinds[:-1].count(kinds[-1]) >= k
        if not enough and present.overlaps([*masks, mask], kinds)[-1] <= max_overlap:
            kept.append(item)
            masks.append(mask)
    return replace(search, subgroups=tuple(kept)), masks


def _assemble(
    method: Method,
    problem: Problem,
    measured: Problem,
    search: Search,
    masks: list[NDArray[np.bool_]],
    clock: Clock,
) -> SubgroupResult:
    backend = problem.data.backend if problem.data is not None else "polars"
    table = present.subgroup_table(measured, search, masks, backend)
    notes: list[Message] = list(search.notes)
    if not search.complete and clock.over:
        notes.append(msg("The time limit ended the search early: subgroups not reached may be worse than those shown."))
    elif not search.complete:
        notes.append(
            msg("The memory limit ended the search early: subgroups not reached may be worse than those shown.")
        )
    if not search.subgroups:
        notes.append(msg("This method found no subgroup that differs."))
    return SubgroupResult(
        code=f"subgroups.{method.id}",
        title=msg("Subgroups treated differently ({method})", method=method.id),
        tables={"subgroups": table, **search.tables},
        values=search.values,
        findings=present.findings_of(method.id, search, table, measured.by_name),
        pictures=(*present.pictures_of(table), *search.pictures),
        notes=tuple(notes),
        method=method.id,
        metrics=_metrics(problem, search, clock),
        complete=search.complete,
        subgroups=search.subgroups,
        features=problem.by_name,
        details=search.details,
        outcome=problem.outcome,
    )


def _metrics(problem: Problem, search: Search, clock: Clock) -> dict[str, Any]:
    found = len(search.subgroups) if search.found is None else search.found
    seconds = clock.seconds
    rate = found / search.tested if search.tested else None
    return {
        "TSN": search.tested,
        "DSN": found,
        "SUR": rate,
        "DSR": rate,
        "DSS": seconds / found if found else None,
        "total_time": seconds,
        "RUNTIME": seconds,
        "dsn_by_attr_value": _by_value(problem, search),
        "nodes_visited": search.nodes or search.tested,
        "n_model_rows": problem.model.n_rows if isinstance(problem.model, Model) else 0,
        "n_model_calls": problem.model.n_calls if isinstance(problem.model, Model) else 0,
    }


def _by_value(problem: Problem, search: Search) -> dict[str, dict[str, int]]:
    """For each value of the protected attributes: rows that have it, and subgroups found that are about it."""
    out: dict[str, dict[str, int]] = {}
    for column in problem.features:
        if column.name not in problem.protected:
            continue
        counts = column.counts()
        for code in np.argsort(-counts, kind="stable")[:_MAX_VALUES].tolist():
            about = sum(code in item.conditions.get(column.name, ()) for item in search.subgroups)
            out[f"{column.name}={column.text(code)}"] = {"TSN": int(counts[code]), "DSN": about}
    return out
