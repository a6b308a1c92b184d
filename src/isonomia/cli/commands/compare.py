"""`isonomia compare`: did the new model get worse, and where?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.output.screen import Screen
from isonomia.errors import SpecError
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.audit import Comparison
    from isonomia.evidence import Table

#: Findings that are new or gone are shown up to this many; files have all of them.
MAX_FINDINGS = 12


def compare(
    *,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A report.json, or the folder it is in.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The report to compare with it.")],
    fail_on: Annotated[
        Literal["criteria", "gaps", "any"],
        typer.Option(
            "--fail-on", metavar="F", help="End with 1 on worse: criteria (of the policy), gaps too, or any figure too."
        ),
    ] = "gaps",
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="T", min=0, max=0.99, help="Growth of a gap that is still allowed.")
    ] = 0.0,
    out: Annotated[
        list[Path] | None, typer.Option("--out", metavar="FILE", help="Write it: .md (a pull request), .html or .json.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML for continuous integration.")
    ] = None,
    talk: ScreenOptions,
) -> None:
    """Compare two reports: did the new model get worse?

    Ends with 1 where something that counts got worse (--fail-on says what counts), and with 3 where a criterion of the
    policy was not examined again.
    """
    from isonomia.atomic import write_whole
    from isonomia.audit import compare as compare_reports

    screen = talk.screen()
    writers = [(path, _writer(path)) for path in out or []]
    comparison = compare_reports(before, after, fail_on=fail_on, tolerance=tolerance)
    for path, write in writers:
        write_whole(path, write(comparison, screen.language))
    if junit is not None:
        from isonomia.cli.output.junit import comparison_junit

        write_whole(junit, comparison_junit(comparison, screen.language))
    show_comparison(screen, comparison)
    raise typer.Exit(comparison.exit_code)


def show_comparison(screen: Screen, comparison: Comparison) -> None:
    """What changed between two reports, on the screen or as JSON."""
    from isonomia.audit.comparison import MAX_SENTENCES
    from isonomia.audit.comparison_forms import moved

    if screen.json:
        screen.data(_record(comparison))
    for sentence in comparison.lead:
        screen.say(sentence)
    if len(comparison.sentences) > MAX_SENTENCES:
        screen.say(msg("... and {n:int} more.", n=len(comparison.sentences) - MAX_SENTENCES))
    _show(screen, comparison.tables["criteria"])
    gaps = comparison.tables["gaps"].without("code")
    changed = moved(gaps, "trend", "unclear")
    _show(screen, changed)
    if len(gaps) > len(changed):
        screen.say(msg("{n:One gap has|# gaps have} no clear change.", n=len(gaps) - len(changed)))
    findings = comparison.tables["findings"]
    new = moved(findings, "state", "unchanged")
    _show(screen, new.take(range(min(len(new), MAX_FINDINGS))))
    if len(new) > MAX_FINDINGS:
        screen.say(msg("... and {n:int} more findings that changed.", n=len(new) - MAX_FINDINGS))
    screen.say(msg("{n:# finding is|# findings are} unchanged.", n=len(findings) - len(new)))
    if comparison.fail_on == "any":
        _show(screen, moved(comparison.tables["changes"], "direction", "same"))
    for note in comparison.notes:
        screen.say(note)


def _record(comparison: Comparison) -> dict[str, object]:
    facts = {"worse": comparison.worse, "worse_in": list(comparison.worse_in), "fail_on": comparison.fail_on}
    return {**comparison.to_dict(), **facts, "sentences": [sentence.to_dict() for sentence in comparison.sentences]}


def _writer(path: Path) -> Callable[[Comparison, str], str]:
    """What writes a file, by its suffix."""
    from json import dumps

    from isonomia.audit.comparison_forms import comparison_markdown

    writers: dict[str, Callable[[Comparison, str], str]] = {
        ".md": comparison_markdown,
        ".html": lambda comparison, language: comparison.to_html(language),
        ".json": lambda comparison, language: dumps(_record(comparison), allow_nan=False, indent=1) + "\n",
    }
    if path.suffix.lower() not in writers:
        raise SpecError(f"The file to write must end in {', '.join(writers)}; got {path.name!r}.")
    return writers[path.suffix.lower()]


def _show(screen: Screen, table: Table) -> None:
    if len(table):
        screen.table(table, title=None if table.title is None else table.title.text(screen.language))
