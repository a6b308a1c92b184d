"""Conditional statistical parity: are groups selected alike among people who are alike in legitimate factors?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.errors import SpecError
from isonomia.evidence import Column, Table, benjamini_hochberg, finite, normal_p, score_difference
from isonomia.evidence.intervals import bootstrap_interval, difference_error, normal_interval, spread_of
from isonomia.fairness.criteria.criterion import Criterion, criterion
from isonomia.fairness.groups.gaps import Aggregate
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.fairness.groups.grouping import By
from isonomia.languages import Message, msg
from isonomia.metrics import Measured
from isonomia.parameters import Choice, Number, validated
from isonomia.subject import BestOff, Subject, SubjectOptions
from isonomia.typing import Floats


@validated(threshold=Number(at_least=0, at_most=1).or_none(), aggregate=Choice(("worst", "mean")))
def conditional_statistical_parity(
    data: Any = None,
    model: Any = None,
    *,
    control: Any,
    threshold: float | None = None,
    aggregate: Aggregate = "worst",
    by: By | Sequence[Sequence[str]] = "intersection",
    **given: Unpack[SubjectOptions],
) -> Criterion:
    """Is the favourable decision given at the same rate to all groups, at the same values of legitimate factors?

    max over groups of P(decision = 1 | factors, group) - min over groups, the worst over the values of the factors.
    ``tables["adjusted"]`` has one figure for each group: the difference to the reference within each stratum, averaged
    with the weights of Mantel and Haenszel, n_g n_r / (n_g + n_r); beside it the plain difference. Where the two point
    in opposite directions the factor turns the picture round (Simpson's paradox), which a note tells. A regression:
    mean predictions, in standard deviations of all predictions.

    `control` holds the factors, as in `group_metrics`; a column given by itself holds the decisions.

    Strata in which fewer than two groups have `min_per_group` rows cannot be compared; a note says how many.

    References
    ----------
    S. Corbett-Davies et al. (2017), KDD; N. Mantel, W. Haenszel (1959), J. Natl. Cancer Inst. 22:719.

    Examples
    --------
    >>> predicted = [1] * 32 + [0] * 8 + [1] * 16 + [0] * 64 + [1] * 64 + [0] * 16 + [1] * 8 + [0] * 32
    >>> sex, department = ["F"] * 120 + ["M"] * 120, ["easy"] * 40 + ["hard"] * 80 + ["easy"] * 80 + ["hard"] * 40
    >>> r = conditional_statistical_parity(predicted, sensitive_features=sex, control={"department": department},
    ...                                    reference="M")
    >>> r.difference.value, r.passes
    (0.0, True)
    >>> [round(v, 3) for v in r.tables["adjusted"]["plain_difference"].values]
    [-0.2]
    """
    subject = Subject.of_predictions(data, model, counted=True, **given)
    factors = subject.columns(control, "control")
    if {column.name for column in factors} & {column.name for column in subject.attributes}:
        raise SpecError("A protected attribute cannot be a legitimate factor of its own: it would explain itself away.")
    found = criterion(
        "conditional_statistical_parity",
        subject,
        threshold=threshold,
        aggregate=aggregate,
        by=by,
        control=control,
    )
    assert found.metrics is not None
    adjusted, turned = _adjusted(found.metrics, subject.reference, subject.settings.level, subject.backend)
    notes = (*found.notes, *_strata_notes(found.metrics), *turned)
    return subject.noted(replace(found, tables={"adjusted": adjusted, **found.tables}, notes=notes))


def _strata_notes(result: GroupMetrics) -> list[Message]:
    """How many strata hold fewer than two groups that can be compared."""
    assert result.groups is not None
    strata: dict[Any, int] = {}
    for group, size in zip(result.groups.groups, result.sizes.tolist(), strict=True):
        key = (group.by, tuple(group.control.items()))
        strata[key] = strata.get(key, 0) + (size >= result.min_per_group)
    thin = sum(count < 2 for count in strata.values())
    if not thin:
        return []
    return [
        msg(
            "In {thin:int} of {all:int} strata, fewer than two groups have {least:int} rows, so nothing can be "
            "compared there.",
            thin=thin,
            all=len(strata),
            least=result.min_per_group,
        )
    ]


def _adjusted(
    result: GroupMetrics, reference: Any, level: float, backend: Backend | None
) -> tuple[Table, list[Message]]:
    """Differences to the reference, averaged over the strata, beside the plain ones."""
    assert result.groups is not None
    rows: list[dict[str, Any]] = []
    notes: list[Message] = []
    for name, part in result.measured.items():
        strata = _by_group_name(result)
        for way in dict.fromkeys(way for way, _ in strata):
            names = [group for found, group in strata if found == way]
            totals = {group: sum(part.size[list(strata[way, group].values())]) for group in names}
            base = _reference(names, totals, reference, result)
            for group in names:
                if group == base:
                    continue
                row = _averaged(part, strata[way, group], strata[way, base], level)
                rows.append({"metric": name, "group": group, "reference": base, **row})
                if row["difference"] is not None and row["difference"][0] * row["plain_difference"] < 0:
                    notes.append(
                        msg(
                            "{group} and {reference}: the overall difference and the difference within strata have "
                            "opposite signs (Simpson's paradox).",
                            group=group,
                            reference=base,
                        )
                    )
    p = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=float))
    table = Table.from_rows(
        rows,
        (
            Column("metric", title=msg("metric")),
            Column("group", title=msg("group")),
            Column("reference", title=msg("reference")),
            Column("difference", format="num", title=msg("difference within strata")),
            Column("plain_difference", format="num", title=msg("overall difference")),
            Column("strata", format="int", title=msg("strata")),
            Column("p_value", format="p", title=msg("p-value")),
        ),
        title=msg("Differences within strata of legitimate factors"),
        backend=backend,
    ).with_columns(Column("p_adjusted", p, format="p", title=msg("p adjusted")))
    return table, notes


def _by_group_name(result: GroupMetrics) -> dict[tuple[tuple[str, ...], str], dict[Any, int]]:
    """(way of grouping, group) to its index in each stratum."""
    assert result.groups is not None
    found: dict[tuple[tuple[str, ...], str], dict[Any, int]] = {}
    for index, group in enumerate(result.groups.groups):
        found.setdefault((group.by, group.name), {})[tuple(group.control.items())] = index
    return found


def _reference(names: Sequence[str], totals: Mapping[str, float], reference: Any, result: GroupMetrics) -> str:
    """One reference for all strata: the group named by the user where it is a single one, else the largest."""
    assert result.groups is not None
    (by,) = {group.by for group in result.groups.groups if group.name in names}
    wanted = reference if isinstance(reference, Mapping) else {}
    wanted = wanted.together(by) if isinstance(wanted, BestOff) else wanted
    allowed = {
        name: [str(one) for one in (value if isinstance(value, list | tuple | set) else [value])]
        for name, value in wanted.items()
    }
    for group in result.groups.groups:
        texts = group.texts
        if group.name in names and (
            (allowed and all(text in allowed.get(key, ()) for key, text in texts.items()))
            or (isinstance(reference, str) and list(texts.values()) == [reference])
        ):
            return group.name
    return max(names, key=lambda name: totals[name])


def _averaged(part: Measured, own: dict[Any, int], base: dict[Any, int], level: float) -> dict[str, Any]:
    shared = [key for key in own if key in base]
    g, r = np.array([own[key] for key in shared], int), np.array([base[key] for key in shared], int)
    n, m = part.size[g], part.size[r]
    defined = (n > 0) & (m > 0)
    g, r, n, m = g[defined], r[defined], n[defined], m[defined]
    all_own, all_base = np.array(list(own.values())), np.array(list(base.values()))
    plain = _mean(part, all_own) - _mean(part, all_base)
    if not g.size:
        return {"difference": None, "plain_difference": plain, "strata": 0, "p_value": None}
    weight = n * m / (n + m)
    weight = weight / weight.sum()
    value = float(weight @ (part.value[g] - part.value[r]))
    low, high, p = _averaged_ends(part, g, r, weight, value, level)
    return {
        "difference": (value, finite(low), finite(high)),
        "plain_difference": plain,
        "strata": g.size,
        "p_value": finite(p),
    }


def _averaged_ends(
    part: Measured, g: NDArray[Any], r: NDArray[Any], weight: Floats, value: float, level: float
) -> tuple[float, float, float]:
    """The interval of the averaged difference, and its test.

    Rates: from the score interval (l, u) of each stratum's difference d, value - sqrt(sum w^2 (d - l)^2) and value +
    sqrt(sum w^2 (u - d)^2), tested with the pooled variances p (1 - p) (1/n + 1/m) N / (N - 1) of the strata. Others:
    replicates or standard errors.
    """
    if not part.rate:
        one, other = part.figures.take(g), part.figures.take(r)
        if one.draws is not None and other.draws is not None:
            drawn = weight @ (one.draws - other.draws)
            low, high = bootstrap_interval(value, drawn, level)
            error = float(spread_of(drawn))
        else:
            error = float(np.sqrt(weight**2 @ difference_error(one, other) ** 2))
            low, high = normal_interval(value, error, level)
        return float(low), float(high), float(normal_p(value / error)) if error > 0 else float("nan")
    n, m, own, base = part.size[g], part.size[r], part.value[g], part.value[r]
    low, high = score_difference(own * n, n, base * m, m, level)
    d = own - base
    pooled = (own * n + base * m) / (n + m)
    error = float(np.sqrt(weight**2 @ (pooled * (1 - pooled) * (1 / n + 1 / m) * (n + m) / (n + m - 1))))
    p = float(normal_p(value / error)) if error > 0 else 1.0
    below, above = (float(np.sqrt(weight**2 @ side**2)) for side in (d - low, high - d))
    return value - below, value + above, p


def _mean(part: Measured, indices: NDArray[Any]) -> float:
    size = part.size[indices]
    return float(np.nan_to_num(part.value[indices]) @ size / size.sum()) if size.sum() > 0 else float("nan")
