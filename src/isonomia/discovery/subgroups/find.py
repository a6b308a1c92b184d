"""`find_subgroups`: data and a model in, subgroups treated differently out, by any method."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from isonomia.counting import Binning, Bins
from isonomia.counting.bins import BINNINGS, BINS, DEFAULT_BINS
from isonomia.counting.lattice import DEFAULT_BUDGET
from isonomia.data import Task
from isonomia.discovery.method import SUBGROUP_METHODS
from isonomia.discovery.questions import answered
from isonomia.discovery.subgroups._choosing import resolve
from isonomia.discovery.subgroups.question import Rows, SubgroupQuestion
from isonomia.discovery.subgroups.result import SubgroupResult
from isonomia.events import Clock, Progress, ProgressLike
from isonomia.keeping import Keeper
from isonomia.languages import Message
from isonomia.parameters import NAMES, SEED, Boolean, Choice, Either, Integer, Number, defaults_of, validated

#: The method that is chosen by what is known about the rows.
AUTO = "auto"
#: Roles of a bare frame that are taken beside the options of a method.
ROLES = ("target", "prediction", "score", "privileged", "weight", "ignore")


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
    one_by_one=Boolean().or_none(),
    reuse=Boolean(),
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
    one_by_one: bool | None = None,
    store: Keeper | str | os.PathLike[str] | None = None,
    analysis: str | None = None,
    reuse: bool = False,
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
        The name of a method in `METHODS` (``isonomia methods`` lists them), or "auto": what finds most where the
        bias is known (docs/benchmark.md), one by one, measured on held-out rows; a note of the result names it.
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
        adjusting for the subgroups measured alone (Holm). Where subgroups are conjunctions with a higher (or lower)
        average this is done twice, with other rows kept out; those that the rows searched put least to chance get more
        of the level, and half of it goes to the p-values of all rows, times how many subgroups there were to find. Bins
        of numeric features are half as wide: the search runs on bins and on twice as wide ones,
        all rectangles of the narrow bins of two features are looked at, and neighbouring bins are joined to the range
        that departs most. Conditions that add nothing are dropped, and what is adjusted is the largest of the p-values
        against all other rows and against the rest of each subgroup with one condition less. By default none, and in
        "auto" half where errors can be compared.
    max_overlap : float, optional
        Leave out subgroups that share more than this much of their rows (intersection over union) with a better one.
    one_by_one : bool, optional
        Whether subgroups are found one after another, each by what it has beyond those before it: a list of different
        problems rather than several names of one. After each the expected values of its rows are raised (or lowered)
        to what was observed, and the search goes on with what is left; its p-values are given what was found before.
        For methods that compare averages of conjunctions; by default as published, and in "auto" as measured.
    store : Store or address, optional
        Where the result is kept, under `analysis` (see `isonomia.store.open`).
    analysis : str, optional
        What the search belongs to, such as "loans".
    reuse : bool
        Whether an earlier answer in the store is given again where the question is the same: data, model, method,
        options, budget, seed and version of Isonomia. Nothing is searched, trained or asked then, and `details` is
        None.
    progress : callable or Progress, optional
        Receives the events of the search; a `Progress` can cancel it.
    **options
        The method's own parameters; for a bare frame also the roles ``target``, ``prediction``, ``score``,
        ``privileged``, ``weight`` and ``ignore``, as in `Dataset`.

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
    roles: Any = {name: options.pop(name) for name in ROLES if name in options}
    if method != AUTO:  # what is wrong is reported before any data are read
        SUBGROUP_METHODS[method].read(options)
    clock = Clock(max_seconds, Progress.of(progress))
    rows = Rows(
        data=data,
        model=model,
        features=features,
        reading={
            **roles,
            "y_true": y_true,
            "y_pred": y_pred,
            "y_score": y_score,
            "weights": weights,
            "protected": protected,
            "positive": positive,
            "task": task,
        },
        errors=errors,
        progress=clock.progress,
    )
    settings: dict[str, Any] = {
        "metric": metric,
        "holdout": holdout,
        "max_overlap": max_overlap,
        "one_by_one": one_by_one,
    }
    notes: tuple[Message, ...] = ()
    if method == AUTO:
        method, settings, options, notes = resolve(rows.subject, errors is not None, settings, options)
    chosen = SUBGROUP_METHODS[method]
    question = SubgroupQuestion(
        rows=rows,
        method=chosen,
        options={**defaults_of(chosen.parameters), **chosen.read(options)},
        limits=(k, max_l, min_support),
        bins=bins,
        binning=binning,
        clock=clock,
        max_memory=max_memory,
        seed=seed,
        notes=notes,
        **{**settings, "one_by_one": bool(settings["one_by_one"])},
    )
    return answered(question, store, analysis, reuse=reuse)
