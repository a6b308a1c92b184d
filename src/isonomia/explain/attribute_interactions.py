"""How a protected attribute works together with every other column: Shapley interaction indices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from scipy.special import gammaln

from isonomia.errors import BudgetError, NotApplicable, SpecError
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.evidence.intervals import student_interval
from isonomia.explain.background import distinct
from isonomia.explain.compared import Compared, attribute_column, compared_groups
from isonomia.explain.methods.enumeration import all_coalitions
from isonomia.explain.mixing import coalition_values
from isonomia.explain.outputs import OUTPUT_NAMES, OUTPUTS, Output
from isonomia.explain.prepare import Prepared, prepare
from isonomia.explain.shapley_values import MAX_MODEL_ROWS
from isonomia.explain.trees.model import tree_model
from isonomia.explain.trees.values import tree_values
from isonomia.languages import msg
from isonomia.parameters import Choice, Integer, Text, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Floats, Indices

#: With more columns there are too many coalitions to ask a model about.
MAX_PLAYERS = 12


@dataclass(frozen=True, eq=False)
class Interactions(Result):
    """How an attribute interacts with the other columns (see `interactions`).

    Attributes
    ----------
    columns : tuple of str
        The other columns.
    per_person : (n, columns) array
        The interaction index of every person explained.
    method : "trees" or "enumeration"
    model_rows : int
        How many rows the model was asked about.
    """

    columns: tuple[str, ...] = field(default=(), kw_only=True)
    per_person: Floats = field(default_factory=lambda: np.empty((0, 0)), kw_only=True)
    method: str = field(default="", kw_only=True)
    model_rows: int = field(default=0, kw_only=True)


@validated(
    attribute=Text("the name of a protected attribute").or_none("for the first"),
    output=Choice(OUTPUTS),
    max_model_rows=Integer(1),
)
def interactions(
    data: Any,
    model: Any = None,
    *,
    attribute: str | None = None,
    output: Output = "probability",
    background: Any = "data",
    label: Any = None,
    max_model_rows: int = MAX_MODEL_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Interactions:
    """The Shapley interaction index of the attribute A with every other column j.

    I_j = sum over coalitions S without A and j of |S|! (M - |S| - 2)! / (M - 1)! (v(S + A + j) - v(S + A) - v(S + j) +
    v(S)): by how much j adds more where A is that of the person than where it is that of the background. 0 for models
    in which the two columns are added.

    Parameters
    ----------
    data, model, output, background, label, max_model_rows, progress, **given
        As in `shapley`; `background` is "data", a Dataset or a frame.
    attribute : str, optional
        The protected attribute, which the model must take; by default the first.

    Returns
    -------
    Interactions
        ``tables["columns"]``: mean |I_j| over everyone. ``tables["groups"]``: the mean of I_j in each group.

    Notes
    -----
    Exact: from the leaves of trees where the output is their sum, else from all coalitions of at most 12 columns.
    Intervals are about the choice of people.

    References
    ----------
    M. Grabisch, M. Roubens (1999), Int. J. Game Theory 28:547.
    """
    subject = Subject.of(data, model, progress=progress, **given)
    groups = compared_groups(subject, attribute_column(subject, attribute))
    if isinstance(background, str) and background == "other_group":
        raise SpecError("`background` must be 'data', a Dataset or a frame for interactions; got 'other_group'.")
    rows = np.flatnonzero(groups.present)
    prepared = prepare(subject, output=output, background=background, rows=rows, label=label)
    players = prepared.space.players
    if groups.attribute not in players.names:
        raise NotApplicable(msg("the model does not use {column}", column=groups.attribute))
    prepared.needs_one_class()
    lead = players.names.index(groups.attribute)
    people, of_person = np.unique(prepared.located[rows], axis=0, return_inverse=True)
    found, method = _values(prepared, people, lead, max_model_rows)
    others = np.array([index for index in range(len(players)) if index != lead], dtype=np.intp)
    return _result(prepared, groups, found[of_person.ravel()][:, others], others, method)


def _values(prepared: Prepared, people: Floats, lead: int, budget: int) -> tuple[Floats, str]:
    """Interactions (n, M), and the method."""
    back, weights = distinct(prepared.pool, prepared.pool_weights)
    space = prepared.space
    try:
        model = tree_model(space, prepared.output, back)
        if model.rescales:
            raise NotApplicable("rescaled values have no interactions")
    except NotApplicable:  # not trees, or another output than the sum of their leaves
        return _every_coalition(prepared, people, back, weights, lead, budget), "enumeration"
    rows, others = model.rows(people), model.rows(back)
    raw = tree_values(model.trees, rows, others, model.player, background_weights=weights, lead=lead)
    return model.values(raw)[:, :, 0], "trees"


def _every_coalition(
    prepared: Prepared, people: Floats, back: Floats, weights: Floats, lead: int, budget: int
) -> Floats:
    space, count = prepared.space, len(prepared.space.players)
    needed = len(people) * len(back) << count
    if count > MAX_PLAYERS or needed > budget:
        raise BudgetError(
            f"Interactions of {count} columns over {len(people):,} people and {len(back):,} background rows need "
            f"{needed:,} model rows; `max_model_rows` allows {budget:,}. Give fewer rows, or a smaller background."
        )
    coalitions = all_coalitions(count)
    worth = coalition_values(space, people, back, weights, coalitions, prepared.subject.progress)
    return np.asarray(worth[:, :, 0] @ interaction_matrix(count, lead))


def interaction_matrix(players: int, lead: int) -> Floats:
    """The matrix (2^M, M) from v(S) of all coalitions to the interactions of one player (0 with itself).

    >>> interaction_matrix(2, 0).tolist()
    [[0.0, 1.0], [0.0, -1.0], [0.0, -1.0], [0.0, 1.0]]
    """
    inside = all_coalitions(players)
    own = inside[:, [lead]]
    rest = inside.sum(axis=1, keepdims=True) - inside - own
    share = np.exp(gammaln(rest + 1) + gammaln(np.maximum(players - rest - 1, 1)) - gammaln(max(players, 2)))
    matrix = np.where(inside == own, share, -share)
    matrix[:, lead] = 0.0
    return np.asarray(matrix)


def _result(prepared: Prepared, groups: Compared, values: Floats, others: Indices, method: str) -> Interactions:
    level, weights = prepared.subject.settings.level, prepared.weights[prepared.chosen]
    names = tuple(prepared.space.players.names[index] for index in others)
    group = groups.group[prepared.chosen]
    mean, low, high = _means(np.abs(values), weights, level)
    order = np.argsort(-mean, kind="stable")
    rows = [{"column": names[at], "size": (float(mean[at]), max(0.0, float(low[at])), float(high[at]))} for at in order]
    by_group = []
    for number, name in enumerate(groups.names):
        own = group == number
        if own.sum() < 2:
            continue
        parts = _means(values[own], weights[own], level)
        by_group += [
            {"group": name, "column": names[at], "interaction": tuple(float(part[at]) for part in parts)}
            for at in order
        ]
    column = Column("column", title=msg("column"))
    title = msg("How {column} interacts with the other columns", column=groups.attribute)
    backend = prepared.subject.backend
    sizes = (column, Column("size", format="num4", title=msg("mean size of the interaction")))
    means = (
        Column("group", title=msg("group")),
        column,
        Column("interaction", format="num4", title=msg("mean interaction")),
    )
    tables = {
        "columns": Table.from_rows(rows, sizes, title=title, backend=backend),
        "groups": Table.from_rows(
            by_group,
            means,
            title=msg("Mean interaction with {column} by group", column=groups.attribute),
            backend=backend,
        ),
    }
    return prepared.subject.noted(
        Interactions(
            "explain_interactions",
            title,
            tables,
            pictures=(Picture("bars", "columns", title, {"labels": "column", "value": "size"}),),
            notes=(msg("What is explained: {what}.", what=OUTPUT_NAMES[prepared.output]),),
            columns=names,
            per_person=values,
            method=method,
            model_rows=prepared.space.model_rows,
        )
    )


def _means(values: Floats, weights: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    share = weights / weights.sum()
    mean = share @ values
    error = np.sqrt((share**2) @ (values - mean) ** 2 * len(share) / max(1, len(share) - 1))
    return (mean, *student_interval(mean, error, len(share), level))
