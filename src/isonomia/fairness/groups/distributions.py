"""Numbers predicted for groups, compared over their whole distribution: means, quantiles, distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite, smallest, sum_by
from isonomia.data import Backend
from isonomia.errors import DataError, NotApplicable
from isonomia.evidence import Column, Picture, Result, Table, benjamini_hochberg
from isonomia.evidence.intervals import without_bootstrap
from isonomia.fairness.groups.comparisons import strata_of
from isonomia.fairness.groups.grouping import By, Group, form_groups, rows_with_attributes
from isonomia.fairness.groups.histograms import Histograms
from isonomia.fairness.groups.tables import group_columns
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.subject import Subject, SubjectOptions, is_column
from isonomia.typing import Floats

#: The quantiles compared, unless others are given.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MEASURES = ("mean_difference", "standardised_difference", "ks", "wasserstein")


@dataclass(frozen=True, repr=False)
class DistributionParity(Result):
    """Distributions of predictions, group against reference.

    The main table, ``distances``, has a row for each group: ``group, reference, n, mean_difference,
    standardised_difference, ks, wasserstein``, each with ``_low`` and ``_high``, ``p_value`` and ``p_adjusted`` (of the
    Kolmogorov-Smirnov test). ``quantiles`` has a row for each group and quantile.
    """


def distribution_parity(
    data: Any = None,
    model: Any = None,
    *,
    quantiles: Sequence[float] = QUANTILES,
    control: Any = None,
    by: By | Sequence[Sequence[str]] = "intersection",
    **given: Unpack[SubjectOptions],
) -> DistributionParity:
    """Are predicted numbers (or scores) distributed alike in all groups?

    Group against reference, F and G their distribution functions:

    - mean difference, and standardised: divided by sqrt((s_F^2 + s_G^2) / 2);
    - Kolmogorov-Smirnov distance sup |F - G|, with the asymptotic p-value at the effective size;
    - Wasserstein distance, the integral of |F - G|: how far predictions would have to be moved, on average;
    - quantiles: differences F^-1(q) - G^-1(q).

    The figures are exact. Intervals come from multinomial draws of a table of groups x bins of the predictions (at most
    128 bins of equal shares), so rows are never touched again. Distances between resampled distributions lie too high;
    the lower end is therefore the reflected quantile, 2 d - q, not below 0, and the interval errs on the wide side.

    Parameters
    ----------
    data : Dataset, frame, Subject, or column of numbers
        A column holds the predictions. Of a classifier, probabilities or scores are compared.
    model : optional
        Anything that predicts; as in `group_metrics`.
    quantiles : sequence of float in (0, 1)
    control, by, **given
        As in `group_metrics`; the reference "best" is the group with the highest mean of each way of grouping
        and, with `control`, of each stratum (among groups with enough rows, where there are any).

    References
    ----------
    C. Dwork et al. (2012), ITCS; R. Jiang et al. (2020), Wasserstein fair classification, UAI; P. C. Austin (2009),
    Stat. Med. 28:3083 (standardised differences).

    Examples
    --------
    >>> r = distribution_parity([1, 2, 3, 4, 2, 3, 4, 5], sensitive_features=["a"] * 4 + ["b"] * 4, reference="a")
    >>> row = next(r.tables["distances"].rows())
    >>> row["group"], row["mean_difference"], row["ks"], row["wasserstein"]
    ('group=b', 1.0, 0.25, 1.0)
    """
    if data is None or is_column(data):
        given.setdefault("task", "regression" if given.get("y_score") is None else "binary")
    subject = Subject.of_predictions(data, model, counted=True, **given)
    levels = _check_quantiles(quantiles)
    columns, factors = subject.needs_attributes(), subject.columns(control, "control")
    rows, _ = rows_with_attributes(columns, subject.settings.missing, subject.counts)
    if rows is None:
        return subject.noted(_distributions(subject, factors, levels, by))
    factors = tuple(column.take(rows).observed() for column in factors)
    return subject.noted(_distributions(subject.take(rows), factors, levels, by))


def has_numbers(surface: Surface) -> bool:
    """Whether there is one number per row: a prediction, the probability of the positive class, or a score."""
    return _numbers_of(surface) is not None


def _numbers_of(surface: Surface) -> Floats | None:
    kinds = (surface.continuous, surface.probability, surface.score)
    return next((np.asarray(kind, dtype=float) for kind in kinds if kind is not None and kind.ndim == 1), None)


def _numbers(surface: Surface) -> Floats:
    numbers = _numbers_of(surface)
    if numbers is not None:
        return numbers
    raise NotApplicable(msg("there are only decisions, and no numbers or scores whose distributions could differ"))


def _distributions(
    subject: Subject, control: Sequence[Codes], levels: Floats, by: By | Sequence[Sequence[str]]
) -> DistributionParity:
    """The comparison over rows that all take part."""
    numbers, columns = _numbers(subject.surface), subject.attributes
    settings, kind = subject.settings, subject.backend
    cells = composite([*control, *columns])
    groups = form_groups(columns, control=control, by=by, labels=cells.labels)
    of_groups = groups.indicator([group.cells for group in groups.groups])
    sizes = (sum_by(cells.codes, subject.counts, cells.size) @ of_groups).astype(np.int64)
    strata, extra = strata_of(groups, sizes, subject.reference)
    membership = np.hstack([of_groups, groups.indicator(extra)])
    pairs = [
        (member, stratum.reference, stratum.reference_name)
        for stratum in strata
        for member in stratum.members
        if stratum.reference is not None and not np.array_equal(membership[:, member], membership[:, stratum.reference])
    ]
    first, second = np.array([p[0] for p in pairs], int), np.array([p[1] for p in pairs], int)
    codes = cells.codes.astype(smallest(cells.size))
    histograms = Histograms.of(numbers, codes, membership, subject.weights, subject.counts)
    exact = histograms.compare(first, second, levels)
    ends = histograms.intervals(
        first, second, levels, exact, n_boot=settings.n_boot, level=settings.level, seed=settings.seed
    )
    members = [groups.groups[member] for member in first.tolist()]
    against = [name for _, _, name in pairs]
    controls = {column.name: [groups.groups[i].control[column.name] for i in first.tolist()] for column in control}
    tables = {
        "distances": _distances(members, against, controls, sizes[first], exact, ends, settings.min_per_group, kind),
        "quantiles": _quantiles(members, against, controls, levels, exact, ends, kind),
    }
    return DistributionParity(
        "distribution_parity",
        msg("Distributions of predictions"),
        tables,
        {"rows": len(subject)},
        (),
        _pictures(tuple(controls)) if pairs else (),
        notes=(
            _NOTE,
            *(() if pairs else (msg("There is only one group, so nothing can be compared."),)),
            *without_bootstrap(settings.n_boot),
        ),
    )


def _pictures(controls: tuple[str, ...]) -> tuple[Picture, ...]:
    labels = [*controls, "group"]
    return (
        Picture(
            "forest",
            "distances",
            msg("Wasserstein distance of each group to its reference, with intervals"),
            {"labels": labels, "value": "wasserstein", "reference": 0.0},
        ),
        Picture(
            "forest",
            "quantiles",
            msg("Differences of quantiles from the reference, with intervals"),
            {"labels": labels, "value": "difference", "facet": "quantile", "reference": 0.0},
        ),
    )


_NOTE = msg(
    "Figures are exact; intervals are a bootstrap on binned counts (at most 128 bins), conservative for distances."
)


def _check_quantiles(given: Sequence[float]) -> Floats:
    levels = np.asarray(list(given), dtype=float)
    if levels.ndim != 1 or levels.size == 0 or not ((levels > 0) & (levels < 1)).all():
        raise DataError(f"`quantiles` must be numbers between 0 and 1, such as (0.1, 0.5, 0.9); got {given!r}.")
    return levels


def _distances(
    members: Sequence[Group],
    against: list[str],
    controls: dict[str, list[str]],
    sizes: NDArray[Any],
    exact: dict[str, Floats],
    ends: dict[str, tuple[Floats, Floats]],
    min_per_group: int,
    backend: Backend | None,
) -> Table:
    p = exact["p_value"]
    return Table(
        (
            *(Column(name, values) for name, values in controls.items()),
            group_columns(members)[0],
            Column("reference", against, title=msg("reference")),
            Column("n", sizes, format="int", title=msg("rows")),
            *(Column(name, exact[name], *ends[name], format="num", title=_TITLES[name]) for name in MEASURES),
            Column("p_value", p, format="p", title=msg("p-value")),
            Column("p_adjusted", benjamini_hochberg(p), format="p", title=msg("p adjusted")),
            Column("small", sizes < min_per_group, title=msg("small group")),
        ),
        msg("Distances between the groups' distributions"),
        backend,
    )


_TITLES = {
    "mean_difference": msg("mean difference"),
    "standardised_difference": msg("standardised difference"),
    "ks": msg("Kolmogorov-Smirnov distance"),
    "wasserstein": msg("Wasserstein distance"),
}


def _quantiles(
    members: Sequence[Group],
    against: list[str],
    controls: dict[str, list[str]],
    levels: Floats,
    exact: dict[str, Floats],
    ends: dict[str, tuple[Floats, Floats]],
    backend: Backend | None,
) -> Table:
    m = levels.size
    low, high = (end.ravel() for end in ends["quantile_difference"])
    difference = exact["quantile_difference"].ravel()
    return Table(
        (
            *(Column(name, [value for value in values for _ in range(m)]) for name, values in controls.items()),
            group_columns([group for group in members for _ in range(m)])[0],
            Column("reference", [name for name in against for _ in range(m)], title=msg("reference")),
            Column("quantile", np.tile(levels, len(members)), format="num", title=msg("quantile")),
            Column("value", exact["quantile"].ravel(), format="num", title=msg("value")),
            Column("difference", difference, low, high, format="num", title=msg("difference")),
        ),
        msg("Quantiles of predictions, group and reference"),
        backend,
    )
