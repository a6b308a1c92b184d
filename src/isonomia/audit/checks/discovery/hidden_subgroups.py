"""Which subgroups, of any features, are treated worse: found on one part of the rows, measured on the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.discovery import METHODS, SubgroupResult, find_subgroups
from isonomia.errors import NotApplicable
from isonomia.evidence import Finding, Picture, Result, Table, rank
from isonomia.languages import Message, msg
from isonomia.parameters import Entry, Number, Parameter, Several, parameters_of
from isonomia.subject import Subject

#: Below this many rows two parts show nothing.
_FEWEST = 200
#: Rows a subgroup must hold, at least.
_SMALLEST = 32


@check(
    "hidden_subgroups",
    order=200,
    title=msg("Hidden subgroups"),
    question=msg("Which subgroups, defined by any features, does the model treat worse?"),
    purpose="searches all features for subgroups with more errors; found on 60% of the rows, measured on the rest",
    within="full",
    counted=True,
    parameters=(
        Parameter(
            "methods",
            Several(Entry(METHODS.where(finds="subgroups")), 1, single=True),
            ["sliceline"],
            "the searches to run",
        ),
        Parameter("alpha", Number(above=0, at_most=1), 0.99, "SliceLine's weight of the error compared with the size"),
        *parameters_of(
            find_subgroups,
            "k",
            "max_l",
            "min_support",
            "holdout",
            "bins",
            "features",
            "max_seconds",
            holdout=0.4,
        ),
    ),
)
def hidden_subgroups(subject: Subject, *, methods: list[str], **options: Any) -> Result:
    """SliceLine on errors (or other methods) with a holdout, so that p-values are those of fresh rows.

    Where the model gives scores, errors are compared with those that the scores let expect: decisions near the border
    are wrong more often, also those of the best possible model. P-values join both parts of the rows, or
    are those of all rows, and are adjusted with the other tests of the run.
    """
    assert subject.truth is not None  # says why the check does not apply, where there is no target
    subject.needs_decisions()
    if not subject.data.features:
        raise NotApplicable(msg("the data have no features to search"))
    if len(subject) < _FEWEST:
        raise NotApplicable(
            msg("the search needs at least {least:int} rows: one part to search, the other to measure", least=_FEWEST)
        )
    searches = [_search(subject, method, options) for method in methods]
    tables: dict[str, Table] = {}
    pictures: list[Picture] = []
    findings: list[Finding] = []
    notes: list[Message] = []
    for found in searches:
        name = found.method
        tables[name] = replace(found.tables["subgroups"], title=found.title)
        pictures += [
            replace(picture, table=name)
            for picture in found.pictures
            if picture.table == "subgroups" and len(tables[name])
        ]
        findings += [
            replace(
                finding,
                code=f"hidden_subgroups.{name}",
                evidence=f"hidden_subgroups/{name}",
                test=finding.test and ("hidden_subgroups", name, finding.test[-1]),
            )
            for finding in found.findings
        ]
        notes += [note for note in found.notes if note not in notes]
    return Result(
        "hidden_subgroups",
        msg("Hidden subgroups"),
        tables,
        {f"{found.method}_tested": found.metrics["TSN"] for found in searches},
        _distinct(findings),
        tuple(pictures),
        tuple(notes),
        titles={
            f"{found.method}_tested": msg("Subgroups tested by {method}", method=found.method) for found in searches
        },
    )


def _search(subject: Subject, method: str, given: dict[str, Any]) -> SubgroupResult:
    options = {"max_overlap": 0.6, **given}
    alpha = options.pop("alpha")
    if METHODS[method].measure is None:
        options.pop("holdout")
    if METHODS[method].nested:
        options |= {"metric": _metric(subject)}
    if method == "sliceline":
        options |= {"alpha": alpha}
    if method == "divexplorer":
        options |= {"rank_by": "t", "min_support": options["min_support"] or _support(subject, options["holdout"])}
    return find_subgroups(
        subject,
        method=method,
        seed=subject.settings.seed,
        progress=subject.progress,
        **options,
    )


def _metric(subject: Subject) -> str:
    """Errors beyond those that scores let expect; plain errors where there are no scores."""
    surface = subject.surface
    return "error_given_score" if surface.label is not None and surface.probability is not None else "error"


def _support(subject: Subject, holdout: float) -> int:
    """The rows a subgroup must hold: 1% of those searched, as SliceLine has it."""
    searched = round(len(subject) * (1 - holdout))
    return max(_SMALLEST, -(-searched // 100))


def _distinct(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings that chance does not explain, those about the same people only once."""
    out: list[Finding] = []
    for finding in rank(findings):
        people = (tuple(sorted(finding.who.items())), finding.n)
        if finding.sure and all(people != (tuple(sorted(other.who.items())), other.n) for other in out):
            out.append(finding)
    return tuple(out)
