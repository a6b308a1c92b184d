"""The commands that list a registry, or describe one entry with its options: checks, methods, metrics and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.output.screen import Screen

if TYPE_CHECKING:
    from isonomia.metrics import Metric
    from isonomia.parameters import Parameter

Entry = dict[str, Any]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One entry, in full.")]


def command(entries: Callable[[], Iterable[Entry]], columns: tuple[str, ...], purpose: str) -> Callable[..., None]:
    """A command that lists entries; the first of `columns` is what an entry is called by."""

    def listed(*, name: Name = None, talk: ScreenOptions) -> None:
        show(list(entries()), columns, name, talk.screen())

    listed.__doc__ = purpose
    return listed


def show(entries: list[Entry], columns: tuple[str, ...], name: str | None, screen: Screen) -> None:
    """The entries as a table, or the one named in full."""
    from isonomia.errors import SpecError, close_to
    from isonomia.evidence import Table

    word = columns[0]
    if name is None:
        if screen.json:
            screen.data(entries)
        screen.table(Table.of({column: [_text(entry[column]) for entry in entries] for column in columns}))
        return
    found = next((entry for entry in entries if entry[word] == name), None)
    if found is None:
        raise SpecError(f"Unknown {word} {name!r}.{close_to(name, [entry[word] for entry in entries])}")
    if screen.json:
        screen.data(found)
    for key, value in found.items():
        if key != "options":
            screen.say(f"{key:12} {_text(value)}")
    for option, facts in found.get("options", {}).items():
        screen.say(f"  --option {option}={_text(facts['default'])}  {facts['help']}")
        screen.say(f"      {facts['takes']}")


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _options(parameters: Iterable[Parameter]) -> dict[str, Any]:
    return {one.name: one.describe() for one in parameters}


def _finite(value: float) -> float | str:
    """A bound that JSON can hold."""
    return value if abs(value) != float("inf") else ("infinity" if value > 0 else "-infinity")


def _checks() -> Iterable[Entry]:
    from isonomia.audit import CHECKS

    for entry in CHECKS:
        yield {
            "check": entry.id,
            "within": entry.within,
            "purpose": entry.purpose,
            "question": entry.question.text(),
            "options": _options(entry.parameters),
        }


def _methods() -> Iterable[Entry]:
    from isonomia.discovery import METHODS

    for method in METHODS:
        yield {
            "method": method.id,
            "finds": method.finds,
            "purpose": method.purpose,
            "tasks": list(method.tasks),
            "needs": list(method.needs),
            "reference": method.reference,
            "options": _options(method.parameters),
        }


def _mitigations() -> Iterable[Entry]:
    from isonomia.mitigation import MITIGATIONS

    for entry in MITIGATIONS:
        yield {
            "mitigation": entry.id,
            "stage": entry.stage,
            "purpose": entry.purpose,
            "tasks": list(entry.tasks),
            "needs": list(entry.needs),
            "randomised": "yes" if entry.randomised else "no",
            "reference": entry.reference,
            "options": _options(entry.parameters),
        }


def _explainers() -> Iterable[Entry]:
    from isonomia.explain import EXPLAINERS

    for entry in EXPLAINERS:
        yield {
            "explainer": entry.id,
            "outputs": list(entry.outputs),
            "exact_for": entry.exact_for,
            "purpose": entry.purpose,
            "reference": entry.reference,
            "options": _options(entry.parameters),
        }


def _scenarios() -> Iterable[Entry]:
    from isonomia.robustness import SCENARIOS

    for entry in SCENARIOS:
        yield {
            "scenario": entry.id,
            "purpose": entry.purpose,
            "tasks": list(entry.tasks),
            "needs": list(entry.needs),
            "level": entry.level,
            "max_level": _finite(entry.max_level),
            "unit": "" if entry.unit is None else entry.unit.text(),
            "options": _options([entry.strength, *entry.parameters]),
        }


def _perturbers() -> Iterable[Entry]:
    from isonomia.robustness import PERTURBERS

    for entry in PERTURBERS:
        yield {
            "perturber": entry.id,
            "changes": list(entry.kinds),
            "max_level": _finite(entry.max_level),
            "purpose": entry.purpose,
            "options": _options([entry.strength]),
        }


def _formats() -> Iterable[Entry]:
    from isonomia.data import FILE_FORMATS
    from isonomia.models import MODEL_FORMATS

    for form in FILE_FORMATS:
        yield {
            "format": form.id,
            "of": "data",
            "suffixes": list(form.suffixes),
            "purpose": form.purpose,
            "extra": form.extra or "none",
            "trust": "not needed",
            "options": _options(form.parameters),
        }
    for entry in MODEL_FORMATS:
        yield {
            "format": entry.id,
            "of": "models",
            "suffixes": list(entry.suffixes),
            "purpose": entry.purpose,
            "extra": entry.extra or "none",
            "trust": "needed" if entry.trust else "not needed",
            "options": _options(entry.parameters),
        }


def _metric(metric: Metric) -> Entry:
    return {
        "metric": metric.id,
        "aliases": list(metric.aliases),
        "purpose": metric.purpose,
        "tasks": list(metric.tasks),
        "needs": list(metric.surface),
        "labels": "needed" if metric.needs_labels else "not needed",
        "better": {"higher": "higher", "lower": "lower", "none": "neither"}[metric.direction],
        "range": [_finite(end) for end in metric.range],
        "fewest rows": metric.min_samples,
        "references": list(metric.references),
    }


def metrics(
    *,
    name: Name = None,
    task: Annotated[
        str | None, typer.Option("--task", metavar="T", help="Only for binary, multiclass or regression.")
    ] = None,
    talk: ScreenOptions,
) -> None:
    """List the metrics, or describe one."""
    from isonomia.data import Task
    from isonomia.metrics import METRICS
    from isonomia.parameters import Choice

    Choice(get_args(Task)).or_none().check("--task", task)
    chosen = METRICS if name is None else (METRICS[name],)  # also by a second name, which no list has
    listed = [_metric(metric) for metric in chosen if task is None or task in metric.tasks]
    show(listed, ("metric", "aliases", "tasks", "better", "purpose"), name, talk.screen())


#: Command -> what it does.
LISTINGS: dict[str, Callable[..., None]] = {
    "checks": command(_checks, ("check", "within", "purpose"), "List the checks of audits, or describe one."),
    "methods": command(_methods, ("method", "finds", "purpose"), "List the discovery methods, or describe one."),
    "mitigations": command(
        _mitigations,
        ("mitigation", "stage", "tasks", "needs", "purpose"),
        "List the mitigations (fixes before, in and after training), or describe one.",
    ),
    "explainers": command(
        _explainers,
        ("explainer", "outputs", "exact_for", "purpose"),
        "List the ways to compute Shapley values, or describe one.",
    ),
    "metrics": metrics,
    "scenarios": command(
        _scenarios,
        ("scenario", "tasks", "needs", "level", "purpose"),
        "List the scenarios of stress tests, or describe one.",
    ),
    "perturbers": command(
        _perturbers,
        ("perturber", "changes", "max_level", "purpose"),
        "List the perturbations of inputs, or describe one.",
    ),
    "formats": command(
        _formats, ("format", "of", "suffixes", "purpose"), "List the formats of data and model files, or describe one."
    ),
}
