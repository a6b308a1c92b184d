"""What a fix did: two columns of decisions about the same people, compared through one paired table of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Missing, Task, to_numpy
from isonomia.errors import DataError
from isonomia.evidence import Result
from isonomia.fairness import form_groups
from isonomia.fairness.groups.grouping import BY, By
from isonomia.fairness.judging.questions import few_without
from isonomia.languages import msg
from isonomia.mitigation.judging.bands import gaps_of, simultaneous
from isonomia.mitigation.judging.comparison import Comparison, levelled_metrics
from isonomia.mitigation.judging.effect_findings import findings_of
from isonomia.mitigation.judging.effect_tables import pictures_of, tables_of, values_of
from isonomia.mitigation.judging.paired import add_numbers, count_decisions
from isonomia.models import encode_labels, finite_numbers
from isonomia.parameters import validated
from isonomia.subject import Subject
from isonomia.typing import Floats


class ComparisonOptions(TypedDict, total=False):
    """Columns beside the decisions, and the settings of comparisons (see `subject.Settings`)."""

    sensitive_features: Any
    weights: Any
    positive: Any
    task: Task | None
    n_boot: int
    level: float
    seed: int
    min_per_group: int
    missing: Missing


class BeforeAfter(Result):
    """What changed between two columns of decisions (see `before_after`)."""

    @property
    def criteria(self) -> Any:
        """Each criterion before, after and its change, with simultaneous intervals."""
        return self.to_frame("criteria")

    @property
    def groups(self) -> Any:
        """Each metric of each group before, after and its change."""
        return self.to_frame("groups")

    @property
    def changes(self) -> Any:
        """Who changes decision: newly granted and newly refused, rightly or wrongly, by group."""
        return self.to_frame("changes")

    @property
    def levelling(self) -> Any:
        """For each metric whether the fix levels up, trades or levels down."""
        return self.to_frame("levelling")

    @property
    def price(self) -> Any:
        """Accuracy and decisions changed for each point of gap that was closed."""
        return self.to_frame("price")


@validated(by=BY)
def before_after(
    y_true: Any,
    before: Any,
    after: Any,
    *,
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[ComparisonOptions],
) -> BeforeAfter:
    """Compare two columns of decisions (or scores, or predicted numbers) about the same people.

    Everything follows from one paired table n(group, label, before, after). Bootstrap replicates of all figures come
    from multinomial draws over its cells, so that before and after are always those of the same people.

    Parameters
    ----------
    y_true : column or None
        True outcomes; None where they are not known (only selection rates are compared then).
    before, after : columns
        Decisions; fractions stand for probabilities, which are cut at 0.5. Numbers for a regression.
    by : "each", "intersection", "all" or lists of names
        The groups, as in `fairness.group_metrics`.
    **given
        `sensitive_features`, `weights`, `positive`, `task`, and the settings of comparisons (see `Settings`).

    Returns
    -------
    BeforeAfter
        Tables ``criteria`` (each criterion before, after, change), ``groups`` (each metric of each group), ``changes``
        (newly granted and refused, rightly or wrongly), ``levelling``, ``price`` and ``flows``.

    Notes
    -----
    Intervals are simultaneous: value +- c se, where c is the 95% quantile of the largest |replicate - mean| / se over
    all gaps and groups (max-t). A group is *raised* or *lowered* by one-sided tests with a common critical value over
    groups and metrics, so that one false alarm in any of them has at most 5% probability. A fix *levels up* where a
    group is raised and none is lowered, *trades* where both happen and *levels down* where a group is lowered and none
    is raised.

    References
    ----------
    J. P. Romano, M. Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing, JASA 100:94.
    B. Mittelstadt, S. Wachter, C. Russell (2023), The unfairness of fair machine learning: levelling down.

    Examples
    --------
    >>> y = [1, 0] * 100
    >>> was, now = [1, 0] * 50 + [0, 0] * 50, [1, 0] * 100
    >>> result = before_after(y, was, now, sensitive_features={"sex": ["M"] * 100 + ["F"] * 100})
    >>> row = next(result.tables["changes"].rows())
    >>> row["group"], row["granted"], row["refused"]
    ('sex=F', 50, 0)
    >>> [row["verdict"] for row in result.tables["levelling"].rows()][0]
    'levels_up'
    """
    comparison = read_comparison(y_true, before, {"after": after}, by, given)
    return BeforeAfter(
        code="before_after",
        title=msg("Before and after a fix"),
        tables=tables_of(comparison, 0),
        values=values_of(comparison, 0),
        findings=findings_of(comparison, 0),
        pictures=pictures_of(comparison),
        notes=comparison.subject.notes,
    )


def read_comparison(
    y_true: Any,
    before: Any,
    after: dict[str, Any],
    by: By | Sequence[Sequence[str]],
    given: Mapping[str, Any],
) -> Comparison:
    """The decisions of everyone before and after each fix, read and counted."""
    scores = _are_scores(before, y_true, given)
    options = dict(given) | ({"y_score": before} if scores else {})
    subject = Subject.of(y_true, None if scores else before, **options)
    subject.needs_attributes()
    subject.needs_decisions()
    columns = {name: _read(column, subject, name) for name, column in after.items()}
    return compare(subject, columns, by)


def compare(
    subject: Subject,
    after: dict[str, NDArray[Any]],
    by: By | Sequence[Sequence[str]],
    *,
    level: float | None = None,
    larger: Sequence[int] = (),
) -> Comparison:
    """Measures, gaps and simultaneous intervals of one or several fixes; columns as codes of the subject's classes.

    `larger` are rows that groups must have in further figures (see `gaps_of`).
    """
    settings, truth = subject.settings, subject.outcome.truth
    groups = form_groups(subject.needs_attributes(), by=by)
    n_boot = max(settings.n_boot, 100)
    if subject.task == "regression":
        assert subject.surface.continuous is not None
        was: NDArray[Any] = subject.surface.continuous
        measures = add_numbers(
            groups, truth, was, list(after.values()), weights=subject.weights, n_boot=n_boot, seed=settings.seed
        )
    else:
        assert subject.surface.label is not None
        was = subject.surface.label
        measures = count_decisions(
            groups,
            truth,
            was,
            list(after.values()),
            subject.surface.classes,
            favourable=subject.favourable,
            weights=subject.weights,
            n_boot=n_boot,
            seed=settings.seed,
        )
    gaps = gaps_of(measures, groups, settings.min_per_group, larger, few_without(subject))
    bands = simultaneous(measures, gaps, level or settings.level, levelled_metrics(measures))
    return Comparison(subject=subject, groups=groups, was=was, after=after, measures=measures, gaps=gaps, bands=bands)


def _are_scores(column: Any, y_true: Any, given: Mapping[str, Any]) -> bool:
    """Whether a column holds fractions although the outcome is one of two classes."""
    values = to_numpy(column)
    if values.dtype.kind != "f" or given.get("task") == "regression" or np.all(np.mod(values, 1) == 0):
        return False
    if y_true is None:
        return bool(((values >= 0) & (values <= 1)).all())
    return len(np.unique(to_numpy(y_true).astype(str))) <= 2


def _read(column: Any, subject: Subject, name: str) -> NDArray[Any]:
    """A column of decisions (or numbers) of all rows given, as codes of the subject's classes."""
    values = to_numpy(column)
    if len(values) != subject.rows.size:
        raise DataError(f"There are {subject.rows.size} decisions before and {len(values)} of {name!r}.")
    values = values[subject.rows]
    if subject.task == "regression":
        numbers: Floats = finite_numbers(values, what=name)
        return numbers
    if values.dtype.kind == "f" and not np.all(np.mod(values, 1) == 0):
        if len(subject.surface.classes) != 2:
            raise DataError(f"{name!r} contains fractions; expected one of several classes. Give decisions.")
        return (finite_numbers(values, what=name) >= 0.5).astype(np.uint8)
    return encode_labels(values, subject.surface.classes, what=name)
