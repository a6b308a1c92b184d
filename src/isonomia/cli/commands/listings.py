"""The commands that list a registry, or describe one entry with its options: checks, methods, metrics and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.output.headings import heading, shown, worded
from isonomia.cli.output.screen import Screen
from isonomia.languages import Name, error_text, msg

if TYPE_CHECKING:
    from isonomia.metrics import Metric
    from isonomia.parameters import Parameter

Entry = dict[str, Any]
EntryName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One entry, in full.")]


def command(entries: Callable[[], Iterable[Entry]], columns: tuple[str, ...], purpose: str) -> Callable[..., None]:
    """A command that lists entries; the first of `columns` is what an entry is called by."""

    def listed(*, name: EntryName = None, talk: ScreenOptions) -> None:
        show(list(entries()), columns, name, talk.screen())

    listed.__doc__ = purpose
    return listed


def show(entries: list[Entry], columns: tuple[str, ...], name: str | None, screen: Screen) -> None:
    """The entries as a table, or the one named in full."""
    from isonomia.errors import SpecError, close_to
    from isonomia.evidence import Column, Table

    word, language = columns[0], screen.language
    if name is None:
        if screen.json:
            screen.data(entries)
        cells = {column: [shown(entry[column], language) for entry in entries] for column in columns}
        screen.table(Table.of(cells, [Column(column, title=heading(column)) for column in columns]))
        return
    found = next((entry for entry in entries if entry[word] == name), None)
    if found is None:
        raise SpecError(f"Unknown {word} {name!r}.{close_to(name, [entry[word] for entry in entries])}")
    if screen.json:
        screen.data(found)
    told = [(heading(key).text(language), value) for key, value in found.items() if key != "options"]
    width = max(12, *(len(field) for field, _ in told))
    for field, value in told:
        screen.say(f"{field:{width}} {shown(value, language)}")
    for option, facts in found.get("options", {}).items():
        screen.say(f"  --option {option}={_typed(facts['default'])}  {shown(facts['help'], language)}")
        screen.say(f"      {error_text(facts['takes'], language)}")
        if "function_default" in facts:
            own = msg("Default of the Python function: {value}", value=_typed(facts["function_default"]))
            screen.say(f"      {own.text(language)}")


def _typed(value: Any) -> str:
    """A default as a person would type it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _options(parameters: Iterable[Parameter]) -> dict[str, Any]:
    return {one.name: {**one.describe(), "help": Name.literal(one.help)} for one in parameters}


def _words(values: Iterable[str]) -> list[str]:
    return [worded(value) for value in values]


def _finite(value: float) -> float | str:
    """A bound that JSON can hold."""
    return value if abs(value) != float("inf") else worded("infinity" if value > 0 else "-infinity")


def _checks() -> Iterable[Entry]:
    from isonomia.audit import CHECKS

    for entry in CHECKS:
        yield {
            "check": entry.id,
            "within": entry.within,
            "purpose": Name.literal(entry.purpose),
            "question": Name(entry.question),
            "options": _options(entry.parameters),
        }


def _methods() -> Iterable[Entry]:
    from isonomia.discovery import METHODS

    for method in METHODS:
        yield {
            "method": method.id,
            "finds": worded(method.finds),
            "purpose": Name.literal(method.purpose),
            "tasks": _words(method.tasks),
            "needs": _words(method.needs),
            "reference": method.reference,
            "options": _options(method.parameters),
        }


def _mitigations() -> Iterable[Entry]:
    from isonomia.mitigation import MITIGATIONS

    for entry in MITIGATIONS:
        yield {
            "mitigation": entry.id,
            "stage": worded(entry.stage),
            "purpose": Name.literal(entry.purpose),
            "tasks": _words(entry.tasks),
            "needs": _words(entry.needs),
            "randomised": worded("yes" if entry.randomised else "no"),
            "reference": entry.reference,
            "options": _options(entry.parameters),
        }


def _explainers() -> Iterable[Entry]:
    from isonomia.explain import EXPLAINERS

    for entry in EXPLAINERS:
        yield {
            "explainer": entry.id,
            "outputs": list(entry.outputs),
            "exact_for": Name.literal(entry.exact_for),
            "purpose": Name.literal(entry.purpose),
            "reference": entry.reference,
            "options": _options(entry.parameters),
        }


def _scenarios() -> Iterable[Entry]:
    from isonomia.robustness import SCENARIOS

    for entry in SCENARIOS:
        yield {
            "scenario": entry.id,
            "purpose": Name.literal(entry.purpose),
            "tasks": _words(entry.tasks),
            "needs": _words(entry.needs),
            "level": entry.level,
            "max_level": _finite(entry.max_level),
            "unit": "" if entry.unit is None else Name(entry.unit),
            "options": _options([entry.strength, *entry.parameters]),
        }


def _perturbers() -> Iterable[Entry]:
    from isonomia.robustness import PERTURBERS

    for entry in PERTURBERS:
        yield {
            "perturber": entry.id,
            "changes": _words(entry.kinds),
            "max_level": _finite(entry.max_level),
            "purpose": Name.literal(entry.purpose),
            "options": _options([entry.strength]),
        }


def _formats() -> Iterable[Entry]:
    from isonomia.data import FILE_FORMATS
    from isonomia.models import MODEL_FORMATS

    for form in FILE_FORMATS:
        yield {
            "format": form.id,
            "of": worded("data"),
            "suffixes": list(form.suffixes),
            "purpose": Name.literal(form.purpose),
            "extra": form.extra or worded("none"),
            "trust": worded("not needed"),
            "options": _options(form.parameters),
        }
    for entry in MODEL_FORMATS:
        yield {
            "format": entry.id,
            "of": worded("models"),
            "suffixes": list(entry.suffixes),
            "purpose": Name.literal(entry.purpose),
            "extra": entry.extra or worded("none"),
            "trust": worded("needed" if entry.trust else "not needed"),
            "options": _options(entry.parameters),
        }


def _metric(metric: Metric) -> Entry:
    return {
        "metric": metric.id,
        "aliases": list(metric.aliases),
        "purpose": Name.literal(metric.purpose),
        "tasks": _words(metric.tasks),
        "needs": _words(metric.surface),
        "labels": worded("needed" if metric.needs_labels else "not needed"),
        "better": worded("neither" if metric.direction == "none" else metric.direction),
        "range": [_finite(end) for end in metric.range],
        "fewest rows": metric.min_samples,
        "references": list(metric.references),
    }


def metrics(
    *,
    name: EntryName = None,
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
