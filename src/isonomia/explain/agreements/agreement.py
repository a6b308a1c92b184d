"""Do explanations and fairness measures say the same of a model, and of what a fix changed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from isonomia.evidence import Estimate, Finding, Picture, Result, Table
from isonomia.evidence.intervals import without_bootstrap
from isonomia.explain.agreements.clusters import Clusters, few
from isonomia.explain.agreements.outcomes import UNSIGNED, named, read_outcomes
from isonomia.explain.agreements.tables import Comparison
from isonomia.languages import Message, msg
from isonomia.parameters import LEVEL, N_BOOT, NAMES, SEED, Choice, Number, Text, validated

#: Agreement from here on looks high.
LOOKS_HIGH = 0.5


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """Whether fairness measures and explanations agree.

    ``tables["agreement"]`` has a row per explanation, explainer and fairness measure: how often both show the same
    scenario, how often they would by chance, Cohen's kappa. ``tables["scenarios"]``: the same by scenario, as shares
    of all results. ``tables["changes"]``: correlations of the changes that fixes make. ``tables["improvement"]``: how
    often a fix brought a measure nearer to 0; ``tables["histogram"]`` and ``tables["rows"]``: the changes themselves.
    ``tables["explainers"]``: whether explainers agree with one another, where there are several.
    """

    tolerance: float = 0.005


@validated(
    measures=NAMES.or_none("for all columns of numbers"),
    against=NAMES,
    unsigned=NAMES,
    models=NAMES,
    fix=Text("the name of a column"),
    unmitigated=Text("a value of that column"),
    rows=Choice(("all", "mitigated")),
    tolerance=Number(at_least=0),
    n_boot=N_BOOT,
    level=LEVEL,
    seed=SEED,
)
def agreement(
    results: Any,
    *,
    measures: Sequence[str] | None = None,
    against: Sequence[str] = ("disparity", "importance"),
    unsigned: Sequence[str] = UNSIGNED,
    models: Sequence[str] = ("dataset", "model"),
    fix: str = "fix",
    unmitigated: str = "unmitigated",
    rows: Literal["all", "mitigated"] = "all",
    tolerance: float = 0.005,
    n_boot: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Whether fairness measures and explanations show the same scenario, and change together when a model is fixed.

    A signed measure (unprivileged - privileged) shows one of three scenarios: equal (|value| <= tolerance), favours
    the privileged group (below), favours the unprivileged group (above). A measure without a sign tells equal from
    unequal only; a pair with such a measure is compared in these two. Agreement in per cent misleads: two measures
    that nearly always show the same scenario agree often and have nothing to do with each other. Cohen's kappa,
    (p_o - p_e) / (1 - p_e), is 0 where they agree as often as by chance and 1 where they always do. The change by a
    fix is |measure of the unmitigated model| - |measure of the fixed model|: above 0 the fix brought it nearer to 0.

    Parameters
    ----------
    results : frame, mapping of columns, or list of mappings
        One row per dataset, model, fix and explainer (column `explainer`, where there are several; column `seed` for
        repetitions), with a column per measure.
    measures : names of columns, optional
        The fairness measures; by default every column of numbers that is nothing else.
    against : names of columns
        The measures of the explanation.
    unsigned : names of columns
        Measures that have a size but no sign.
    models : names of columns
        What names a model: the clusters of the bootstrap.
    fix : name of a column
    unmitigated : str
        The value of `fix` of models without a fix.
    rows : "all" or "mitigated"
        Whether scenarios are compared for all results or only for models with a fix.
    tolerance : float
        Up to which size a measure counts as 0.
    n_boot, level, seed
        Replicates of the cluster bootstrap (0 for no intervals), level of the intervals, start of the random draws.

    Returns
    -------
    Agreement

    Notes
    -----
    Intervals draw whole datasets and models with replacement; ends are Student's at the replicates' standard error
    (shares on the logit scale, correlations on Fisher's). P-values are corrected within each table
    (Benjamini-Hochberg).

    References
    ----------
    J. Cohen (1960), Educ. Psychol. Meas. 20:37. J. Cesaro (2020), dissertation, University of Sao Paulo.

    Examples
    --------
    >>> table = {
    ...     "dataset": ["a", "a", "b", "b", "c", "c"], "model": ["lr"] * 6, "fix": ["unmitigated", "reweighing"] * 3,
    ...     "parity": [-0.2, 0.0, -0.3, 0.1, -0.1, -0.05], "disparity": [-0.1, 0.0, -0.2, 0.2, -0.1, 0.1],
    ... }
    >>> found = agreement(table, against=["disparity"], n_boot=0)
    >>> round(next(found.tables["agreement"].rows())["kappa"], 3)
    0.714
    """
    outcomes, chosen = read_outcomes(
        results,
        measures=measures,
        against=against,
        unsigned=unsigned,
        models=models,
        fix=fix,
        unmitigated=unmitigated,
    )
    clusters = Clusters(codes=outcomes.cluster, n_boot=n_boot, seed=seed, level=level)
    compared = Comparison(
        outcomes=outcomes,
        measures=chosen,
        against=tuple(against),
        counted=~outcomes.unmitigated if rows == "mitigated" else np.ones_like(outcomes.unmitigated),
        tolerance=tolerance,
        clusters=clusters,
    )
    tables = {
        "agreement": compared.agreement(),
        "scenarios": compared.by_scenario(),
        "changes": compared.correlations(),
        "improvement": compared.improvement(),
        "histogram": compared.histogram(),
        "rows": compared.rows_of_changes(),
    }
    between = compared.between_explainers()
    if between is not None:
        tables["explainers"] = between
    scope = few(clusters)
    notes = (
        msg("Scenarios: a measure of at most {tolerance:num} in size counts as equal.", tolerance=tolerance),
        msg("Differences are the unprivileged minus the privileged group: below 0 the privileged group is favoured."),
        *(() if scope is None else (scope,)),
        *without_bootstrap(n_boot),
    )
    return Agreement(
        code="agreement",
        title=msg("Agreement of explanations and fairness measures"),
        tables=tables,
        findings=_findings(compared, tables),
        pictures=_pictures(compared),
        notes=notes,
        tolerance=tolerance,
    )


def _findings(compared: Comparison, tables: dict[str, Table]) -> tuple[Finding, ...]:
    found = []
    for against in compared.against:
        kappas = _figures(tables["agreement"], "kappa", against)
        best = max(kappas, key=lambda name: kappas[name].value or -1.0, default=None)
        if best is not None and _beyond_chance(kappas[best]):
            found.append(_best(against, best, tables))
        found += _misleading(against, tables["agreement"])
    return tuple(found)


def _rows_of(table: Table, against: str, **where: str) -> list[int]:
    wanted = {"against": against, "explainer": "all", **where}
    return [row for row in range(len(table)) if all(table[name].values[row] == value for name, value in wanted.items())]


def _figures(table: Table, figure: str, against: str, **where: str) -> dict[str, Estimate]:
    """The figures of the rows of all explainers together, by fairness measure."""
    rows = _rows_of(table, against, **where)
    return {table["measure"].values[row]: table[figure].estimate(row, n=table["n"].values[row]) for row in rows}


def _best(against: str, measure: str, tables: dict[str, Table]) -> Finding:
    kappa = _figures(tables["agreement"], "kappa", against)[measure]
    change = _figures(tables["changes"], "correlation", against, coefficient="pearson")[measure]
    share = _figures(tables["agreement"], "agree", against)[measure]
    return Finding(
        code=f"agreement.{against}",
        severity="notice",
        message=msg(
            "{measure} agrees best with {explanation}: the same scenario in {share:pct} of {n:int} results (kappa "
            "{kappa:num}{ends}); the correlation of their changes is {correlation:num}.",
            measure=_subject(named(measure)),
            explanation=named(against),
            share=share.value,
            n=share.n,
            kappa=kappa.value,
            ends=_ends(kappa),
            correlation=change.value,
        ),
        estimate=kappa,
        n=kappa.n,
        evidence="agreement/agreement",
        columns=(measure, against),
    )


def _misleading(against: str, table: Table) -> list[Finding]:
    """Measures that agree often, but not more often than by chance."""
    found = []
    for row in _rows_of(table, against):
        n = table["n"].values[row]
        share, kappa = table["agree"].estimate(row, n=n), table["kappa"].estimate(row, n=n)
        if kappa.value is None or share.value is None or share.value < LOOKS_HIGH or _beyond_chance(kappa):
            continue
        measure = table["measure"].values[row]
        found.append(
            Finding(
                code="agreement.chance",
                severity="warning",
                message=msg(
                    "{measure} and {explanation} show the same scenario in {share:pct} of results, but chance alone "
                    "would give {chance:pct}: kappa is {kappa:num}{ends}. This agreement says nothing about the model.",
                    measure=_subject(named(measure)),
                    explanation=named(against),
                    share=share.value,
                    chance=table["chance"].values[row],
                    kappa=kappa.value,
                    ends=_ends(kappa),
                ),
                estimate=kappa,
                n=n,
                evidence="agreement/agreement",
                columns=(measure, against),
                p_value=table["p_value"].values[row],
            )
        )
    return found


def _beyond_chance(kappa: Estimate) -> bool:
    """Whether kappa is above 0 beyond its interval."""
    low = kappa.value if kappa.low is None else kappa.low
    return low is not None and low > 0


def _ends(figure: Estimate) -> Message:
    """The interval of a figure in a sentence; nothing where it has none."""
    if figure.low is None or figure.high is None:
        return Message.literal("")
    return msg(", {low:num} to {high:num}", low=figure.low, high=figure.high)


def _subject(name: Message) -> Message:
    return msg("The measure '{name}'", name=name)


def _pictures(compared: Comparison) -> tuple[Picture, ...]:
    """Bars of agreement, heat maps of correlations, histograms, and changes against each other."""
    pictures = []
    for against in compared.against:
        title = named(against)
        pictures += [
            Picture(
                kind="bars",
                table="agreement",
                title=msg("Share of results in the same scenario as {explanation}", explanation=title),
                options={"labels": ["measure"], "value": "agree", "where": {"against": against, "explainer": "all"}},
            ),
            Picture(
                kind="forest",
                table="agreement",
                title=msg("Cohen's kappa with {explanation}", explanation=title),
                options={
                    "labels": ["measure"],
                    "value": "kappa",
                    "reference": 0.0,
                    "where": {"against": against, "explainer": "all"},
                },
            ),
            Picture(
                kind="heatmap",
                table="changes",
                title=msg("Correlation of changes with {explanation}", explanation=title),
                options={
                    "x": "explainer",
                    "y": "measure",
                    "value": "correlation",
                    "middle": 0.0,
                    "range": [-1.0, 1.0],
                    "where": {"against": against, "coefficient": "pearson"},
                },
            ),
        ]
        pictures += [
            Picture(
                kind="scatter",
                table="rows",
                title=msg("Changes: {measure} and {explanation}", measure=named(measure), explanation=title),
                options={"x": against, "y": measure, "color": "explainer" if len(compared.scopes) > 1 else None},
            )
            for measure in compared.measures
        ]
    pictures += [
        Picture(
            kind="histogram",
            table="histogram",
            title=msg("Changes of {measure}", measure=named(measure)),
            options={"where": {"measure": measure}, "reference": 0.0},
        )
        for measure in (*compared.measures, *compared.against)
    ]
    return tuple(pictures)
