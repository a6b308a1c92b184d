"""Who is in the data, against who should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import numpy as np

from isonomia.counting import Codes, composite, tally
from isonomia.data import Dataset
from isonomia.errors import SpecError, close_to
from isonomia.evidence import (
    Column,
    Estimate,
    Picture,
    Result,
    Table,
    benjamini_hochberg,
    normal_p,
    wilson,
)
from isonomia.evidence.intervals import quotient
from isonomia.fairness.groups.grouping import BY, By, combinations_of, condition
from isonomia.languages import Message, msg
from isonomia.parameters import validated
from isonomia.subject import Subject, SubjectOptions, is_column
from isonomia.typing import Floats

#: Shares (or counts) of each value of an attribute in a population; or everyone alike.
Population = Mapping[str, Mapping[Any, float]] | Literal["uniform"]


@dataclass(frozen=True, repr=False)
class Representation(Result):
    """Share of each group in the data and in the reference population; `unknown` are groups the reference lacks."""

    unknown: tuple[str, ...] = field(default=())


@validated(by=BY)
def representation(
    data: Any,
    *,
    population: Population = "uniform",
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[SubjectOptions],
) -> Representation:
    """The share of each group in the data against a reference population.

    Parameters
    ----------
    data : Dataset, frame, Subject or column
        With protected attributes. A frame without roles, or a column, holds nothing but the attributes.
    population : "uniform" or mapping
        Shares or counts by attribute and value, as ``{"sex": {"F": 0.51, "M": 0.49}}``; attributes it does not name are
        compared with an equal share for every value. Values of the data that it lacks are flagged, values of it that
        the data lack have a share of 0. Joint shares are named by attributes and values joined:
        ``{"sex x race": {"F, a": 0.2, ...}}``.
    by : "each", "intersection", "all" or lists of names
        The groups looked at. An intersection without joint shares is compared with the product of its attributes'
        shares, as a note states.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`).

    Notes
    -----
    ``ratio`` is share in the data / share in the population (1 = as many as there should be); the p-value is of the
    z-test that a share is the population's, and of a chi-square test for each attribute. Shares of the population are
    taken among the values that the data may have, with rows of a missing value left out.

    Examples
    --------
    >>> found = representation({"sex": ["F"] * 30 + ["M"] * 70}, population={"sex": {"F": 510, "M": 490}})
    >>> found.table["ratio"].round(3).tolist()
    [0.588, 1.429]
    """
    if not isinstance(data, Dataset | Subject) and not {"protected", "sensitive_features"} & given.keys():
        given["sensitive_features"] = data
        data = {"group": data} if is_column(data) else data
    subject = Subject.of(data, counted=True, **given)
    columns, level = subject.needs_attributes(), subject.settings.level
    products: list[str] = []
    sets = combinations_of([column.name for column in columns], by)
    ways = [_joined(names, columns) for names in sets]
    reference = _read_population(population, [*columns, *ways])
    for names, way in zip(sets, ways, strict=True):
        if len(names) > 1 and way.name not in reference:
            products.append(way.name)
            reference[way.name] = _product(names, columns, reference)
    rows: list[dict[str, Any]] = []
    tested: list[dict[str, Any]] = []
    unknown: list[str] = []
    for column in ways:
        part, effective, strange = _one(column, reference.get(column.name), subject, level)
        unknown += strange
        rows += part
        _chi_square(column.name, part, effective, tested)
    kind = subject.backend
    groups = Table.from_rows(
        rows, _GROUPS, title=msg("Groups in the data and in the population"), backend=kind
    ).with_columns(_adjusted([row["p_value"] for row in rows]))
    tests = Table.from_rows(tested, _TESTS, title=msg("Shares in the data and in the population"), backend=kind)
    tables = {"groups": groups, "tests": tests.with_columns(_adjusted([row["p_value"] for row in tested]))}
    picture = Picture(
        "bars", "groups", msg("Share of each group"), {"labels": "group", "value": "share", "facet": "attribute"}
    )
    notes = []
    if products:
        notes.append(
            msg(
                "Shares of {names} in the population are products of single shares, since no joint ones are given.",
                names=", ".join(products),
            )
        )
    if unknown:
        notes.append(msg("The population has no shares for {names}.", names=", ".join(unknown[:10])))
    smallest = _smallest(rows, level)
    found = Representation(
        "representation",
        msg("Representation"),
        tables,
        {"smallest_ratio": smallest},
        (),
        (picture,),
        tuple(notes),
        tuple(unknown),
        titles={"smallest_ratio": msg("smallest share relative to the population")},
    )
    return subject.noted(found)


def _smallest(rows: Sequence[Mapping[str, Any]], level: float) -> Estimate:
    """The smallest ratio, with the interval of its group's share."""
    known = [row for row in rows if row["ratio"][0] is not None]
    if not known:
        return Estimate.missing(msg("no group has an expected share"))
    row = min(known, key=lambda one: one["ratio"][0])
    ratio, low, high = row["ratio"]
    return Estimate(ratio, low, high, n=row["n"], method="wilson", level=level)


def _adjusted(p_values: Sequence[float | None]) -> Column:
    adjusted = benjamini_hochberg(np.array(p_values, dtype=float))
    return Column("p_adjusted", adjusted, format="p", title=msg("p adjusted"))


_GROUPS = (
    Column("attribute", title=msg("protected attribute")),
    Column("group", title=msg("group")),
    Column("n", format="int", title=msg("rows")),
    Column("share", format="pct", title=msg("share")),
    Column("expected", format="pct", title=msg("share in the population")),
    Column("ratio", format="num", title=msg("ratio")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("note", title=msg("note")),
)
_TESTS = (
    Column("attribute", title=msg("protected attribute")),
    Column("statistic", format="num", title=msg("chi-square")),
    Column("freedom", format="int", title=msg("degrees of freedom")),
    Column("p_value", format="p", title=msg("p-value")),
)


def _joined(names: Sequence[str], columns: Sequence[Codes]) -> Codes:
    """One column of the values of several attributes; missing where any of them is."""
    parts = [column for column in columns if column.name in names]
    if len(parts) == 1:
        return parts[0]
    both = composite(parts)
    texts = [dict(zip(part.labels, part.texts, strict=True)) for part in parts]
    labels = [
        None if None in label else ", ".join(text[value] for text, value in zip(texts, label, strict=True))
        for label in both.labels
    ]
    return Codes.encode(np.array(labels, dtype=object)[both.codes], name=" x ".join(names))


def _product(
    names: Sequence[str], columns: Sequence[Codes], reference: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Joint shares as if the attributes were independent of one another."""
    out = {"": 1.0}
    for column in (column for column in columns if column.name in names):
        known = [text for code, text in enumerate(column.texts) if code != column.missing]
        single = reference.get(column.name) or dict.fromkeys(known, 1 / len(known))
        out = {
            f"{before}, {text}" if before else text: share * part
            for before, share in out.items()
            for text, part in single.items()
        }
    return out


def _read_population(population: Population, columns: Sequence[Codes]) -> dict[str, dict[str, float]]:
    if population == "uniform":
        return {}
    if not isinstance(population, Mapping):
        raise SpecError(f"`population` must be 'uniform' or shares by attribute and value; got {population!r}.")
    names = [column.name for column in columns]
    out: dict[str, dict[str, float]] = {}
    for name, shares in population.items():
        if name not in names:
            raise SpecError(f"`population` names {name!r}, which is not a protected attribute.{close_to(name, names)}")
        if not isinstance(shares, Mapping) or not shares:
            raise SpecError(f"`population` must give a share for each value of '{name}'; got {shares!r}.")
        try:
            numbers = {str(value): float(share) for value, share in shares.items()}
        except (TypeError, ValueError):
            raise SpecError(f"The shares of '{name}' in `population` must be numbers; got {shares!r}.") from None
        total = sum(numbers.values())
        if not np.isfinite(total) or total <= 0 or min(numbers.values()) < 0:
            raise SpecError(f"The shares of '{name}' in `population` must be at least 0 and not all 0.")
        out[name] = {value: share / total for value, share in numbers.items()}
    return out


def _one(
    column: Codes, reference: Mapping[str, float] | None, subject: Subject, level: float
) -> tuple[list[dict[str, Any]], float, list[str]]:
    known = [code for code in range(column.size) if code != column.missing]
    table = tally([column], weights=subject.weights, counts=subject.counts)
    counts, w, w2 = table.n, table.w.astype(float), table.w2.astype(float)
    texts = [column.texts[code] for code in known]
    size = w[known].sum()
    effective = size**2 / w2[known].sum() if size else 0.0
    expected: list[float | None]
    expected = [1 / len(known)] * len(known) if reference is None else [reference.get(text) for text in texts]
    absent = [value for value in reference or {} if value not in texts]
    share = [*(w[known] / size if size else np.full(len(known), np.nan)), *([0.0] * len(absent))]
    expected += [(reference or {})[value] for value in absent]
    strange = [condition(column.name, text) for text, e in zip(texts, expected, strict=False) if e is None]
    s, e = np.array(share, dtype=float), np.array(expected, dtype=float)
    low, high = wilson(np.nan_to_num(s * effective), np.full(s.size, effective), level)
    ratio, ratio_low, ratio_high = (quotient(part, e) for part in (s, low, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where((e > 0) & (e < 1), normal_p((s - e) / np.sqrt(e * (1 - e) / effective)), np.nan)
    notes: list[Message | None] = [
        msg("the population does not have this group") if x is None else None for x in expected
    ]
    for index in range(len(known), s.size):
        notes[index] = msg("the data do not have this group")
    ratios = zip(_nones(ratio), _nones(ratio_low), _nones(ratio_high), strict=True)
    figures = zip(
        [*texts, *absent],
        [*counts[known].tolist(), *([0] * len(absent))],
        zip(s.tolist(), low.tolist(), high.tolist(), strict=True),
        _nones(e),
        ratios,
        _nones(p),
        notes,
        strict=True,
    )
    names = ("group", "n", "share", "expected", "ratio", "p_value", "note")
    return [{"attribute": column.name, **dict(zip(names, row, strict=True))} for row in figures], effective, strange


def _nones(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _chi_square(name: str, part: Sequence[Mapping[str, Any]], effective: float, tests: list[dict[str, Any]]) -> None:
    """Pearson's test over the values that the population has, among themselves."""
    pairs = [(row["share"][0], row["expected"]) for row in part if row["expected"]]
    if len(pairs) < 2:
        return
    from scipy.special import chdtrc

    s, e = np.array(pairs).T
    known = s.sum()
    if known <= 0:
        return
    n = effective * known
    statistic = float(n * np.square(s / known - e / e.sum()) @ (e.sum() / e))
    freedom = len(pairs) - 1
    p = float(chdtrc(freedom, statistic))
    tests.append({"attribute": name, "statistic": statistic, "freedom": freedom, "p_value": p})
