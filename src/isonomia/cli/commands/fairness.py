"""`isonomia fairness`: predictions in a file, no model needed: every criterion, one score, what to worry about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import Missing, Out, Seed
from isonomia.cli.options.table import TableOptions
from isonomia.cli.output.screen import Screen
from isonomia.errors import SpecError
from isonomia.languages import Message, Words, msg, with_people

if TYPE_CHECKING:
    from isonomia.data import Dataset
    from isonomia.fairness import Equivalence, Incompatibility, Suite
    from isonomia.subject import Subject

#: Columns of the table of measures that fit a terminal.
_SHOWN = ("by", "measure", "value", "threshold", "outcome", "lowest", "highest")


def fairness(
    *,
    table: TableOptions,
    config: Annotated[
        Literal["quick", "medium", "full"],
        typer.Option("--config", metavar="C", help="quick, medium or full (with intersections)."),
    ] = "full",
    margin: Annotated[
        float | None, typer.Option("--margin", metavar="M", help="Also test: the same within this margin? 0.05")
    ] = None,
    use: Annotated[
        str | None,
        typer.Option("--use", metavar="U", help="The guide for credit, hiring, justice, health or advertising."),
    ] = None,
    missing: Missing = "group",
    n_boot: Annotated[int, typer.Option("--n-boot", metavar="N", min=0, help="Bootstrap replicates.")] = 1000,
    out: Out = None,
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Measure the fairness of existing predictions.

    Every criterion by attribute and intersection, a score with its parts, and criteria that are incompatible at these
    base rates. It states no verdict: for that, compare the model with a policy by `isonomia audit`.
    """
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.fairness import guide
    from isonomia.report.naming import in_file_words

    screen = talk.screen()
    advice = None if use is None else guide(use)  # type: ignore[arg-type]  # checked there
    with ProgressBar(screen, msg("Reading")):
        data = table.read(screen)
        if not data.protected:
            raise SpecError("`--protected` must name at least one protected attribute: --protected sex,age:25,60")
        subject = _subject(data, missing=missing, n_boot=n_boot, seed=seed)
        found, conflicts, same = _examine(subject, config, margin)
    if screen.json:
        screen.data(_record(found, conflicts, same, advice))
    _show(screen, in_file_words(found, data.words), conflicts, in_file_words(same, data.words), data.words)
    if advice is not None:
        screen.say()
        screen.table(advice.tables["guide"])
    if out is not None:
        _save(data, screen, out, config=config, use=use, missing=missing, n_boot=n_boot, seed=seed)


def _subject(table: Dataset, **options: Any) -> Subject:
    from isonomia.subject import Subject

    return Subject.of(table, **options)


def _examine(
    subject: Subject, config: Literal["quick", "medium", "full"], margin: float | None
) -> tuple[Suite, Incompatibility | None, Equivalence | None]:
    """The suite; what cannot hold together, where that question has an answer; equivalence where a margin is given."""
    from isonomia.errors import NotApplicable
    from isonomia.fairness import equivalence, incompatibility, suite

    subject.needs_attributes()
    subject.needs_decisions()
    found = subject.noted(suite(subject, config=config))
    try:
        conflicts = subject.noted(incompatibility(subject))
    except NotApplicable:
        conflicts = None  # the theorems are about two classes with known outcomes; the suite states what there is
    same = None if margin is None else subject.noted(equivalence(subject, margin=margin))
    return found, conflicts, same


def _record(found: Suite, conflicts: Any, same: Any, advice: Any) -> dict[str, Any]:
    named = {"incompatibility": conflicts, "equivalence": same, "guide": advice}
    return {"suite": found.to_dict(), **{name: part.to_dict() for name, part in named.items() if part is not None}}


def _show(screen: Screen, found: Suite, conflicts: Any, same: Any, words: Words) -> None:
    language = screen.language

    def say(message: Message, **style: Any) -> None:
        screen.say(message.text(language), **style)

    if found.score.value is not None:
        facts = {"score": found.score.value, "low": found.score.low, "high": found.score.high}
        say(msg("Overall fairness score: {score:num} of 1 (from {low:num} to {high:num}).", **facts), style="bold")
    say(found.assessment)
    for title, messages in (
        (msg("Critical issues"), found.critical_issues),
        (msg("Warnings"), found.warnings),
    ):
        if messages:
            screen.say()
            say(title, style="bold")
            for message in messages:
                screen.say(f"- {message.text(language)}")
    screen.say()
    measures = found.tables["measures"]
    alone = [len(by) == 1 for by in measures["by"].keys or ()]
    screen.table(measures.select(_SHOWN).take([row for row, one in enumerate(alone) if one]))
    if not all(alone):
        crossed = len(alone) - sum(alone)
        beyond = sum(bool(one.exceeds) for (by, _), one in found.criteria.items() if len(by) > 1)
        say(
            msg(
                "Of {all:int} measures of intersections, {beyond:int} are beyond their threshold; --json and --out "
                "show them.",
                all=crossed,
                beyond=beyond,
            )
        )
    if same is not None:
        screen.table(same.tables["equivalence"])
    if conflicts is not None:
        screen.say()
        say(conflicts.title, style="bold")
        for sentence in conflicts.story:
            say(words.spoken(with_people(sentence)))
    screen.say()
    for note in found.notes:
        say(note)


def _save(
    table: Dataset, screen: Screen, out: Any, *, config: str, use: str | None, missing: Any, n_boot: int, seed: int
) -> None:
    """The same as a report, with the groups side by side."""
    from isonomia.audit import audit

    checks = ["group_fairness", "fairness_suite", "equivalence", "incompatibility"]
    options = {"fairness_suite": {"config": config}, "incompatibility": {} if use is None else {"use": use}}
    report = audit(
        table, checks=checks, missing=missing, n_boot=n_boot, seed=seed, language=screen.language, options=options
    )
    saved = report.save(out, language=screen.language)
    screen.say()
    screen.say(msg("Full report: {path}", path=str(saved["html"])).text(screen.language))
