"""What the sensitive attribute adds to predictions: disparity between groups, importance and rank, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.counting import count_by
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Estimate, Result, Table, gaps_of_figures
from isonomia.evidence.intervals import Figures, student_interval
from isonomia.explain.attribute_use import attribute_used
from isonomia.explain.compared import attribute_column, compared_groups
from isonomia.explain.explainer import EXPLAINERS, Explainer
from isonomia.explain.outputs import OUTPUT_NAMES, OUTPUTS, Output
from isonomia.explain.prepare import Prepared, prepare
from isonomia.explain.sensitive_figures import GroupFigures, SensitiveRequest, by_sampling, by_values
from isonomia.explain.shapley_values import MAX_MODEL_ROWS, choose
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text, together
from isonomia.parameters import Anything, Boolean, Choice, Integer, Number, Text, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Indices

_TITLES = {
    "disparity": msg("disparity of the contribution"),
    "importance": msg("mean size of the contribution"),
    "importance_bound": msg("mean size of the contribution, a cautious estimate"),
    "rank": msg("rank among the columns"),
}


@dataclass(frozen=True)
class Sensitive(Result):
    """What the sensitive attribute adds (see `sensitive`).

    Attributes
    ----------
    disparity : Estimate
        Mean contribution of the unprivileged group less that of the reference; of more than two groups the largest
        less the smallest mean.
    importance : Estimate
        Mean |contribution| over all people.
    importance_bound : Estimate
        A figure that noise makes smaller, not larger: the truth lies between it and `importance`.
    rank : Estimate
        The rank of the importance among all columns, 1 = first.
    method : str
        The explainer, or "direct".
    model_rows : int
        How many rows the model was asked about.
    sampling_error : float or None
        Half the width of the disparity's interval that comes from sampling alone; None where values are exact.
    model_seconds : float
        How long the model itself took.
    label : str or None
        The class explained where it is one of several.
    """

    disparity: Estimate = field(default_factory=lambda: Estimate.missing("not computed"), kw_only=True)
    importance: Estimate = field(default_factory=lambda: Estimate.missing("not computed"), kw_only=True)
    importance_bound: Estimate = field(default_factory=lambda: Estimate.missing("not computed"), kw_only=True)
    rank: Estimate = field(default_factory=lambda: Estimate.missing("not computed"), kw_only=True)
    method: str = field(default="", kw_only=True)
    model_rows: int = field(default=0, kw_only=True)
    sampling_error: float | None = field(default=None, kw_only=True)
    model_seconds: float = field(default=0.0, kw_only=True)
    label: str | None = field(default=None, kw_only=True)


@validated(
    attribute=Text("the name of a protected attribute").or_none("for the first"),
    method=Choice(lambda: ("auto", "direct", *EXPLAINERS.ids())),
    output=Choice(OUTPUTS),
    error=Number(above=0).or_none("for what 10,000 draws per group give"),
    importance=Boolean(),
    label=Anything("a class"),
    max_background=Integer(4).or_none("for the method's own"),
    max_model_rows=Integer(1),
)
def sensitive(
    data: Any,
    model: Any = None,
    *,
    attribute: str | None = None,
    method: str = "auto",
    output: Output = "probability",
    background: Any = "data",
    error: float | None = None,
    importance: bool = True,
    label: Any = None,
    max_background: int | None = None,
    max_model_rows: int = MAX_MODEL_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Sensitive:
    """Disparity, importance and rank of what the sensitive attribute adds to predictions, with intervals.

    disparity = mean of phi_A over the group - mean of phi_A over the reference; importance = mean of |phi_A|; rank =
    1 + the number of columns with a larger mean |phi|. phi_A is the Shapley value of the attribute (see `shapley`).

    Parameters
    ----------
    data, model, **given
        As in `shapley`; `reference` (or `privileged`) names the group to compare with, `seed` starts everything random.
    attribute : str, optional
        The protected attribute; by default the first.
    method : str
        An explainer; "direct" samples the disparity itself, without a value for any row; "auto" takes exact values
        where there are any within `max_model_rows`, else "direct".
    output : str
        What is explained: probability, log odds, decision, score or a predicted number (see `shapley`).
    background, label, progress
        As in `shapley`.
    max_background : int, optional
        Background rows beyond which a sample is drawn; by default up to the method.
    max_model_rows : int
        How many rows the model may be asked about.
    error : float, optional
        Half the width of the disparity's interval that may come from sampling ("direct").
    importance : bool
        Whether "direct" also samples importance and rank, on some of the people.

    Returns
    -------
    Sensitive
        The table `groups` has the mean contribution of every group and its disparity.

    Notes
    -----
    Intervals cover the choice of people and of background rows: phi(x; b) = -phi(b; x), so values of the background
    rows against people show what each background row adds. Where values are noisy, mean |phi| is too large; the mean
    of phi from one half of the background (and of the draws) times the sign from the other half is too small. Both are
    given. The rank's interval is a bootstrap over people, with draws of what four parts of the background show to vary.

    Examples
    --------
    >>> import isonomia as iso
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 2, 200), rng.normal(size=200)])
    >>> y = (X[:, 0] + X[:, 1] + rng.normal(size=200) > 0.5).astype(int)
    >>> data = iso.Dataset({"sex": X[:, 0], "skill": X[:, 1], "y": y}, target="y", protected=["sex"],
    ...                    privileged={"sex": 1})
    >>> found = sensitive(data, iso.Model.of(LogisticRegression().fit(X, y), features=["sex", "skill"]))
    >>> round(found.disparity.value, 2), found.rank.value, found.method
    (-0.23, 2.0, 'enumeration')
    """
    subject = Subject.of(data, model, progress=progress, **given)
    column = attribute_column(subject, attribute)
    compared = compared_groups(subject, column)
    names, who = compared.names, compared.present
    prepared = prepare(subject, output=output, background=background, rows=np.flatnonzero(who), label=label)
    players = prepared.space.players
    prepared.needs_one_class()
    if column.name not in players.names:
        return _absent(prepared, column.name)
    if len(names) < 2:
        reason = msg("all rows have the same value of {column}", column=column.name)
        return _nothing(prepared, column.name, Estimate.missing(reason), reason)
    request = SensitiveRequest(
        player=players.names.index(column.name),
        groups=compared.group[who],
        count=len(names),
        level=subject.settings.level,
        n_boot=subject.settings.n_boot,
        error=error,
        importance=importance,
        max_background=max_background,
        max_model_rows=max_model_rows,
        seed=subject.settings.seed,
    )
    explainer = _explainer(method, prepared, request)
    figures = by_sampling(prepared, request) if explainer is None else by_values(prepared, request, explainer)
    return _assembled(prepared, column.name, names, request, figures)


def _explainer(method: str, prepared: Prepared, request: SensitiveRequest) -> Explainer | None:
    """The explainer to take; None for direct sampling."""
    if method == "direct":
        return None
    budget = request.max_model_rows // 4
    if method != "auto":
        return choose(method, prepared.case(request.max_background, budget))
    for explainer in EXPLAINERS:
        limit = request.max_background or explainer.max_background
        case = prepared.case(limit, budget)
        usable = explainer.order is not None and explainer.exact_for and explainer.pairwise
        if usable and explainer.reason(case) is None and explainer.cost(case) <= budget:
            return explainer
    return None


def _absent(prepared: Prepared, column: str) -> Sensitive:
    note = msg(
        "The model does not use {column}, so it adds nothing by itself; other columns may stand in for it.",
        column=column,
    )
    return _nothing(prepared, column, Estimate(0.0, 0.0, 0.0, n=len(prepared.chosen), note=as_text(note)), note)


def _nothing(prepared: Prepared, column: str, figure: Estimate, note: Message) -> Sensitive:
    """The result where there is nothing to measure."""
    rank = Estimate.missing(note)
    return prepared.subject.noted(
        Sensitive(
            "explain_sensitive",
            _title(prepared, column),
            values={"disparity": figure, "importance": figure},
            notes=(note,),
            titles=_TITLES,
            disparity=figure,
            importance=figure,
            importance_bound=figure,
            rank=rank,
            model_rows=prepared.space.model_rows,
            label=prepared.label,
        )
    )


def _title(prepared: Prepared, column: str) -> Message:
    return prepared.about(msg("What {column} adds to the {what}", column=column, what=OUTPUT_NAMES[prepared.output]))


def _largest(figures: GroupFigures, size: Indices, level: float) -> Estimate:
    """The largest less the smallest mean of groups of more than one person."""
    kept = size >= 2
    if kept.sum() < 2:
        return Estimate.missing(msg("fewer than two groups have more than one person"))
    gap = gaps_of_figures(Figures(figures.mean[kept], error=figures.mean_error[kept]), level)
    ends = float(gap.difference_low), float(gap.difference_high)
    return Estimate(float(gap.difference), *ends, n=int(size[kept].sum()), method="simultaneous", level=level)


def _assembled(
    prepared: Prepared, column: str, names: tuple[str, ...], request: SensitiveRequest, figures: GroupFigures
) -> Sensitive:
    size = count_by(request.groups, request.count)
    smallest = int(size[size >= 2].min(initial=len(request.groups)))  # of groups that have an interval

    alone = [name for name, n in zip(names, size, strict=True) if n < 2]

    def estimate(value: float, error: float, n: int) -> Estimate:
        if n < 2:
            return Estimate(value, n=n, level=request.level)
        low, high = student_interval(value, error, n, request.level)
        return Estimate(value, float(low), float(high), n=n, method="normal", level=request.level)

    rows = [
        {
            "group": name,
            "n": int(size[at]),
            "contribution": estimate(figures.mean[at], figures.mean_error[at], int(size[at])),
            "disparity": msg("the reference")
            if at == 0
            else estimate(figures.difference[at], figures.difference_error[at], min(int(size[at]), int(size[0]))),
        }
        for at, name in enumerate(names)
    ]
    disparity = rows[1]["disparity"] if request.count == 2 else _largest(figures, size, request.level)
    assert isinstance(disparity, Estimate)
    shapes = (
        Column("group", title=msg("group")),
        Column("n", format="int", title=msg("rows")),
        Column("contribution", format="num4", title=msg("mean contribution")),
        Column("disparity", format="num4", title=_TITLES["disparity"]),
    )
    title = _title(prepared, column)
    notes = figures.notes
    if alone:
        notes = (
            *notes,
            msg(
                "Groups of one person ({groups}) have no interval and do not count for the largest difference.",
                groups=together(alone),
            ),
        )
    if smallest < prepared.subject.settings.min_per_group:
        notes = (*notes, msg("A group has only {n:# row|# rows}: its interval is rough.", n=smallest))
    return prepared.subject.noted(
        Sensitive(
            "explain_sensitive",
            title,
            {"groups": Table.from_rows(rows, shapes, title=title, backend=prepared.subject.backend)},
            {
                "disparity": disparity,
                "importance": figures.importance,
                "importance_bound": figures.bound,
                "rank": figures.rank,
            },
            findings=attribute_used(prepared, column, names, disparity, figures.rank),
            notes=notes,
            titles=_TITLES,
            formats={"disparity": "num4", "importance": "num4", "importance_bound": "num4", "rank": "int"},
            disparity=disparity,
            importance=figures.importance,
            importance_bound=figures.bound,
            rank=figures.rank,
            method=figures.method,
            model_rows=prepared.space.model_rows,
            sampling_error=figures.sampling_error,
            model_seconds=prepared.space.seconds,
            label=prepared.label,
        )
    )
