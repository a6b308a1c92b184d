"""Every criterion of fairness over every protected attribute, one score, and what it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.measurements import GROUP_METRICS
from isonomia.evidence import Finding, Result, Table
from isonomia.fairness import Suite, suite
from isonomia.languages import msg
from isonomia.metrics import METRICS
from isonomia.parameters import NAMES, Parameter, parameters_of
from isonomia.subject import Subject

#: Gaps that the check of group fairness reports per group; reporting them again would count them twice.
_TOLD_BY_GROUP = (
    "demographic_parity",
    "equal_opportunity",
    "equalized_odds",
    "predictive_equality",
    "predictive_parity",
    "overall_accuracy_equality",
    "mean_parity",
    "mean_error_parity",
    "error_parity",
)
#: Parity of predicted numbers, which says little where the true ones differ: a notice beside the errors.
_PARITY_OF_NUMBERS = ("distribution_parity",)
#: Tables and pictures that the same check shows; of comparisons those of the other metrics are left.
_SHOWN_BY_GROUP = ("by_group", "comparisons")
ELSEWHERE = msg(
    "The rates of each group and the findings about single gaps are in the check group_fairness: run both, as in "
    "checks='group_fairness,fairness_suite'."
)


@check(
    "fairness_suite",
    counted=True,
    order=80,
    family="people",
    title=msg("Fairness suite"),
    question=msg("Which fairness criteria hold for each attribute and intersection, and what is the overall score?"),
    purpose="every criterion with its threshold, tests, and an overall score between 0 and 1 with its parts",
    parameters=(
        *parameters_of(suite),
        Parameter(
            "control", NAMES.or_none(), None, "columns whose legitimate influence is taken out; numbers are binned"
        ),
    ),
)
def fairness_suite(subject: Subject, *, control: list[str] | None, **options: Any) -> Result:
    """All criteria; findings, tables and tests are those that the check of group fairness does not have already."""
    subject.needs_attributes()
    subject.needs_decisions()
    found = suite(subject if control is None else subject.in_rows(), control=control, **options)
    explained = subject.task == "regression" and subject.outcome.truth is not None
    findings = tuple(
        replace(tested, severity="notice") if explained and tested.metric in _PARITY_OF_NUMBERS else tested
        for finding in found.findings
        if finding.code.split(".")[1] not in _TOLD_BY_GROUP and (tested := _with_own_test(finding, found))
    )
    tables = {name: table for name, table in found.tables.items() if name not in _SHOWN_BY_GROUP}
    tables["measures"] = tables["measures"].without("p_adjusted")
    if (others := _other_comparisons(found, subject)) is not None:
        tables["comparisons"] = others
    pictures = tuple(picture for picture in found.pictures if picture.table not in _SHOWN_BY_GROUP)
    titles = {"overall_fairness_score": msg("overall fairness score (0 to 1; not a verdict)")}
    notes = (*found.notes, ELSEWHERE)
    return Result(found.code, found.title, tables, found.values, findings, pictures, notes, titles=titles)


def _other_comparisons(found: Suite, subject: Subject) -> Table | None:
    """Comparisons of metrics that the check of group fairness does not test: they belong to the family too."""
    table = found.tables["comparisons"]
    tested = {METRICS[name].id for name in GROUP_METRICS[subject.task]}
    rows = [row for row, name in enumerate(table["metric"].values) if METRICS[name.split("[")[0]].id not in tested]
    return table.take(rows) if rows else None


def _with_own_test(finding: Finding, found: Suite) -> Finding:
    """The finding with the test of its group against the reference: the one that all checks of a run share.

    The suite's own tests ask whether groups differ at all; pooled with those of single groups they would count one
    gap twice.
    """
    name = finding.code.split(".")[1]
    metrics = {metric for (_, own), judged in found.criteria.items() if own == name for metric in judged.metrics}
    table = found.tables["comparisons"]
    p_value, tests = table["p_value"], table["p_value"].keys or ()
    for end in (finding.who, finding.reference):
        for row, key in enumerate(table["group"].keys or ()):
            p = p_value.estimate(row).value
            if table["metric"].values[row] in metrics and key == tuple(end.items()) and p is not None:
                return replace(finding, p_value=p, p_adjusted=table["p_adjusted"].estimate(row).value, test=tests[row])
    return replace(finding, test=None)
