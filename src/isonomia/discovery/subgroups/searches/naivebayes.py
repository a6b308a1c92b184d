"""Discrimination patterns of a naive Bayes classifier fitted to the decisions.

Where predictions are given the classifier imitates them, else it is fitted to the true outcomes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average
from isonomia.discovery.subgroups.bayes import NaiveBayes, Patterns, discrimination_patterns, possible_patterns
from isonomia.discovery.subgroups.conditions import slice_text
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.present import subgroup_key
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import DataError
from isonomia.evidence import Column, Table, two_proportions
from isonomia.languages import Message, msg
from isonomia.parameters import Boolean, Choice, Number, Parameter
from isonomia.typing import Floats

COLUMNS = (
    Column("discrimination_score", format="num4", title=msg("Discrimination")),
    Column("divergence", format="num4", title=msg("Divergence (bits)")),
    Column("probability", format="num4", title=msg("Probability")),
    Column("p_unfavorable_sensitive", format="num4", title=msg("Unfavourable, attributes known")),
    Column("p_unfavorable_others", format="num4", title=msg("Unfavourable, attributes not known")),
    Column("sensitive", format="text", title=msg("Sensitive")),
    Column("context", format="text", title=msg("Context")),
)


def run(problem: Problem) -> Search:
    """Fit the classifier and search its patterns."""
    options = problem.options
    smoothing = options["smoothing"]
    decision = _decision(problem)
    network = NaiveBayes.fit(problem.features, decision, weights=problem.weights, smoothing=smoothing)
    if options["paper_compat_swapped_prior"]:
        network = network.swapped_prior()
    sensitive = [name for name in problem.protected if name in problem.by_name]
    if not sensitive:
        raise DataError(
            "Discrimination patterns need a protected attribute among the features; there is none. "
            "Name one with protected=."
        )
    patterns = discrimination_patterns(
        network,
        sensitive,
        delta=options["delta"],
        k=problem.k,
        ranking=options["ranking"],
        max_l=problem.max_l,
        min_probability=problem.min_rows / problem.n,
        clock=problem.clock,
    )
    tests = possible_patterns(patterns.sizes, [name in sensitive for name in network.names], problem.max_l)
    subgroups = tuple(_subgroup(problem, patterns, index, tests) for index in range(len(patterns)))
    return Search(
        subgroups,
        msg("favourable decisions"),
        tested=patterns.nodes,
        nodes=patterns.nodes,
        complete=patterns.complete,
        columns=COLUMNS,
        notes=_notes(problem),
        values={"possible_patterns": float(tests), "prior": network.prior},
        details=network,
    )


PATTERN_COLUMNS = (
    Column("case_id", format="int", title=msg("Pattern")),
    Column("nature", title=msg("Side"), names={"base": msg("context alone"), "sensitive": msg("with the attributes")}),
    Column("subgroup_key", title=msg("Key")),
    Column("slice", title=msg("Subgroup")),
    Column("size", format="int", title=msg("Rows")),
    Column("p_unfavorable", format="num4", title=msg("Unfavourable")),
    Column("outcome", format="num4", title=msg("Outcome")),
    Column("diff_outcome", format="num4", title=msg("Difference from everyone")),
    Column("discrimination_score", format="num4", title=msg("Discrimination")),
)


def describe(problem: Problem, search: Search) -> Search:
    """Each pattern as two rows: its context alone (base), and with the sensitive attributes."""
    rows: list[dict[str, Any]] = []
    everyone = problem.mass.mean(problem.outcome)
    for case, item in enumerate(search.subgroups):
        context = {name: codes for name, codes in item.conditions.items() if name not in item.stats["_sensitive"]}
        for nature, conditions in (("base", context), ("sensitive", dict(item.conditions))):
            side = Subgroup(conditions)
            inside = side.mask(problem.by_name)
            mass = problem.mass.take(inside)
            mean = mass.mean(problem.outcome[inside]) if mass.total > 0 else None
            known = "p_unfavorable_others" if nature == "base" else "p_unfavorable_sensitive"
            rows.append(
                {
                    "case_id": case,
                    "nature": nature,
                    "subgroup_key": subgroup_key(side, problem.by_name),
                    "slice": slice_text(side, problem.by_name),
                    "size": mass.n,
                    "p_unfavorable": item.stats[known],
                    "outcome": mean,
                    "diff_outcome": None if mean is None else mean - everyone,
                    "discrimination_score": item.stats["discrimination_score"],
                }
            )
    if not rows:
        return search
    table = Table.from_rows(
        rows,
        PATTERN_COLUMNS,
        title=msg("Each pattern: its context alone, and with the sensitive attributes"),
        backend=problem.backend,
    )
    return replace(search, tables={**search.tables, "patterns": table})


def _notes(problem: Problem) -> tuple[Message, ...]:
    if problem.label is not None:
        return (msg("The patterns are those of a naive Bayes classifier that imitates the model's decisions."),)
    return (msg("The patterns are those of a naive Bayes classifier fitted to the true outcomes."),)


def _decision(problem: Problem) -> NDArray[np.int64]:
    if problem.label is None and problem.truth is None:
        raise DataError("Discrimination patterns need decisions (a model or y_pred) or true outcomes (y_true).")
    return np.asarray(problem.truth if problem.label is None else problem.label, dtype=np.int64)


def _subgroup(problem: Problem, patterns: Patterns, index: int, tests: int) -> Subgroup:
    sensitive, context = patterns.sensitive(index), patterns.context(index)
    named = {
        name: (sensitive.get(name, context.get(name, -1)),)
        for name in patterns.names
        if name in sensitive or name in context
    }
    stats: dict[str, Any] = {
        "discrimination_score": float(patterns.discrimination[index]),
        "divergence": float(patterns.divergence[index]),
        "probability": float(patterns.probability[index]),
        "p_unfavorable_sensitive": 1 - float(patterns.with_x[index]),
        "p_unfavorable_others": 1 - float(patterns.without_x[index]),
        "sensitive": slice_text(Subgroup({name: (code,) for name, code in sensitive.items()}), problem.by_name),
        "context": slice_text(Subgroup({name: (code,) for name, code in context.items()}), problem.by_name),
        "_sensitive": tuple(sensitive),  # not shown: for measuring it on other rows
    }
    measured = _measured(problem, Subgroup(named, stats), set(sensitive))
    p = measured.p_value
    return replace(measured, p_adjusted=None if p is None else min(1.0, p * tests))


def _measured(problem: Problem, subgroup: Subgroup, sensitive: set[str]) -> Subgroup:
    """The decisions of the rows themselves: with x and y, against with y alone."""
    decision = _decision(problem).astype(float)
    inside = subgroup.mask(problem.by_name)
    context = Subgroup({name: codes for name, codes in subgroup.conditions.items() if name not in sensitive})
    around = context.mask(problem.by_name)
    weights = problem.weights

    def of(rows: NDArray[np.bool_]) -> Any:
        return average(decision[rows], problem.mass.take(rows), binary=True)

    mine, base, others = of(inside), of(around), around & ~inside
    effective = [_effective(weights, rows) for rows in (inside, others)]
    p = None
    if min(effective) > 0:
        rates = [of(rows).value for rows in (inside, others)]
        counts = [rate * n for rate, n in zip(rates, effective, strict=True)]
        p = float(two_proportions(counts[0], effective[0], counts[1], effective[1]))
    return replace(
        subgroup,
        estimate=mine,
        overall=base.value,
        p_value=p,
        message=_sentence(subgroup, mine.value, base.value, int(inside.sum())),
    )


def _effective(weights: Floats | None, rows: NDArray[np.bool_]) -> float:
    if weights is None:
        return float(rows.sum())
    inside = weights[rows]
    return float(inside.sum() ** 2 / (inside @ inside)) if inside.any() else 0.0


def _sentence(subgroup: Subgroup, value: Any, base: Any, n: int) -> Message | None:
    if value is None or base is None:
        return None
    params = {
        "sensitive": subgroup.stats["sensitive"],
        "context": subgroup.stats["context"],
        "value": value,
        "base": base,
        "n": n,
    }
    if subgroup.stats["context"] == "everyone":
        return msg(
            "Favourable for {value:pct} where {sensitive} and for {base:pct} overall ({n:# row|# rows}).", **params
        )
    return msg(
        "Where {context}, favourable for {value:pct} of those with {sensitive} and for {base:pct} of all ({n:# row|# "
        "rows}).",
        **params,
    )


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A pattern's decisions on other rows; the classifier's own figures stay as they are."""
    return _measured(problem, subgroup, set(subgroup.stats["_sensitive"]))


METHODS.add(
    Method(
        id="naivebayes",
        purpose="patterns in which sensitive attributes change a naive Bayes decision, by branch and bound",
        needs=("protected",),
        tasks=("binary",),
        run=run,
        parameters=(
            Parameter(
                "delta", Number(at_least=0, below=1), 0.01, "the difference up to which there is no discrimination"
            ),
            Parameter(
                "ranking",
                Choice(("discrimination", "divergence")),
                "discrimination",
                "by the size of the change, or also by how many people it concerns (divergence)",
            ),
            Parameter(
                "smoothing", Number(at_least=0), 0.0, "added to each count of a value when the classifier is fitted"
            ),
            Parameter(
                "paper_compat_swapped_prior", Boolean(), False, "swap the class priors, as in the published figures"
            ),
        ),
        defaults={"min_support": 1},
        measure=measure,
        describe=describe,
        reference="Y. Choi, G. Farnadi, B. Babaki, G. Van den Broeck (2020), Learning fair naive Bayes classifiers by "
        "discovering and eliminating discrimination patterns, AAAI",
    )
)
