"""The gap between groups, decomposed into columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, get_args

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.events import ProgressLike
from isonomia.explain.between_groups import common_background, exact_or_sampled, other_group
from isonomia.explain.compared import Compared, attribute_column, compared_groups
from isonomia.explain.contributions import Runner
from isonomia.explain.gap_result import Decomposed, GapCriterion, GapDecomposition, gap_result
from isonomia.explain.outputs import OUTPUTS, Output
from isonomia.explain.prepare import Prepared, prepare
from isonomia.explain.shapley_values import MAX_MODEL_ROWS
from isonomia.languages import msg
from isonomia.parameters import NAMES, Choice, Integer, Number, Text, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Bools


@validated(
    criterion=Choice(get_args(GapCriterion)),
    attribute=Text("the name of a protected attribute").or_none("for the first"),
    output=Choice(OUTPUTS),
    block=NAMES.or_none("for none"),
    threshold=Number(above=0),
    max_model_rows=Integer(1),
)
def gap(
    data: Any,
    model: Any = None,
    *,
    criterion: GapCriterion = "demographic_parity",
    attribute: str | None = None,
    output: Output = "probability",
    background: Any = "other_group",
    block: Sequence[str] | None = None,
    label: Any = None,
    threshold: float = 0.02,
    max_model_rows: int = MAX_MODEL_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> GapDecomposition:
    """The gap between each group and the reference as a sum over columns.

    gap = mean output of the group - mean output of the reference = sum over columns j of c_j, where c_j is the mean
    over people x of the group and people b of the reference of the Shapley value phi_j(x; b): what column j adds when a
    row turns from b into x. For a linear model c_j = w_j (mean_j of the group - mean_j of the reference), the
    decomposition of Kitagawa, Oaxaca and Blinder.

    Parameters
    ----------
    data, model, **given
        As in `shapley`; `reference` (or `privileged`) names the group to compare with.
    criterion : "demographic_parity", "equal_opportunity" or "predictive_equality"
        Whether everyone is compared, or people whose true outcome is positive, or negative.
    attribute : str, optional
        The protected attribute; by default the first.
    output : str
        Whose mean is decomposed, see `shapley`; "decision" for selection rates.
    background : "other_group", "data", Dataset or frame
        "other_group": the two groups are each other's background. Otherwise c_j is the mean of phi_j over the group
        less its mean over the reference, against these rows.
    block : sequence of str, optional
        Columns that are one player: what they add together.
    label : optional
        The class explained where there are several.
    threshold : float
        Contributions of this size are findings: as a probability, or in standard deviations of another output.
    max_model_rows : int
        How many rows the model may be asked about.
    progress
        As in `shapley`.

    Returns
    -------
    GapDecomposition

    Notes
    -----
    Exact for trees and linear models (where the output is the sum of leaves, or linear), and where every coalition fits
    into `max_model_rows`; otherwise sampled orders, which also add up to the gap. Intervals cover the choice of people
    on both sides: Var(phi) / n + Var(psi) / m, with psi(b) the value of a row of the other side (Welch). The test of a
    column asks whether its contribution is 0; p-values are adjusted over the columns of all groups (Benjamini and
    Hochberg). Findings have simultaneous intervals, since the largest contributions are picked.

    References
    ----------
    E. Kitagawa (1955), J. Am. Stat. Assoc. 50:1168; T. Begley et al. (2020), arXiv 2010.07389.

    Examples
    --------
    >>> import isonomia as iso
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 300), rng.normal(size=300)
    >>> pay = skill + sex + rng.normal(size=300)
    >>> y = (pay > 0.5).astype(int)
    >>> data = iso.Dataset({"sex": sex, "skill": skill, "pay": pay, "y": y}, target="y", protected=["sex"],
    ...                    privileged={"sex": 1}, features=["skill", "pay"])
    >>> forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(np.column_stack([skill, pay]), y)
    >>> found = gap(data, iso.Model.of(forest, features=["skill", "pay"]))
    >>> found.method, round(found.gaps["0"].value, 2), found.additivity < 1e-12
    ('trees', -0.38, True)
    >>> [(row["column"], round(row["contribution"], 2)) for row in found.tables["contributions"].rows()]
    [('pay', -0.36), ('skill', -0.02)]
    """
    subject = Subject.of(data, model, progress=progress, **given)
    groups = compared_groups(subject, attribute_column(subject, attribute))
    prepared = prepare(subject, output=output, background="data" if _is_other(background) else background, label=label)
    prepared.needs_one_class()
    if block:
        prepared = replace(prepared, space=prepared.space.with_block(block))
    chosen = _chosen(subject, criterion)
    found = _decomposed(prepared, groups, chosen, other=_is_other(background), budget=max_model_rows)
    return gap_result(prepared, groups, found, criterion=criterion, threshold=threshold)


def _is_other(background: Any) -> bool:
    return isinstance(background, str) and background == "other_group"


def _chosen(subject: Subject, criterion: GapCriterion) -> Bools:
    """Which people are compared."""
    if criterion == "demographic_parity":
        return np.ones(len(subject), dtype=bool)
    if subject.task != "binary":
        raise NotApplicable(msg("true outcomes are positive or negative only where there are two classes"))
    return np.asarray(subject.truth == (criterion == "equal_opportunity"))


def _decomposed(prepared: Prepared, groups: Compared, chosen: Bools, *, other: bool, budget: int) -> Decomposed:
    """Contributions for each group but the reference; sizes and mean outputs of all groups."""
    rows = [np.flatnonzero(chosen & groups.present & (groups.group == group)) for group in range(len(groups.names))]
    if len(rows) < 2 or sum(len(part) >= 2 for part in rows) < 2 or len(rows[0]) < 2:
        raise NotApplicable(msg("there are not two groups of {column} with people in them", column=groups.attribute))
    others = [group for group in range(1, len(rows)) if len(rows[group]) >= 2]
    most = max(len(rows[group]) for group in others)
    back = max(most, len(rows[0])) if other else len(prepared.pool)
    share = budget // ((2 if other else 4) * len(others))
    explainer = exact_or_sampled(prepared, max(most, back), back, share)
    found = {}
    for group in others:
        run = Runner(prepared, explainer, max_model_rows=share, seed=prepared.subject.settings.seed)
        between = other_group if other else common_background
        found[group] = between(run, rows[group], rows[0])
    means = []
    for part in rows:
        distinct, inverse = np.unique(prepared.located[part], axis=0, return_inverse=True)
        answer = prepared.space.ask(distinct)[inverse.ravel(), 0] if len(part) else np.array([np.nan])
        means.append(float(np.average(answer, weights=prepared.weights[part] if len(part) else None)))
    return Decomposed(parts=found, sizes=[len(part) for part in rows], means=means, method=explainer.id)
