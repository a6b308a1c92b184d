"""Reports and results as files and on the screen."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia.atomic import write_whole
from isonomia.cli.output.screen import Screen
from isonomia.errors import Cancelled, InternalError, IsonomiaError, SpecError, kind_of
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.audit import FailOn, Report
    from isonomia.cli.output.store import Keeping
    from isonomia.evidence import Result
    from isonomia.report import Form


def check_outputs(
    out: Path | None, junit: Path | None = None, *, pdf: bool = False, summary: Path | None = None
) -> None:
    """Refuse what could not be written, before the work begins."""
    if summary is not None and summary.suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"`--summary` is a page: name a file that ends in .html; got {str(summary)!r}.")
    if out is not None:
        from isonomia.report.saving import check_target

        check_target(out)
    for file in filter(None, (junit, summary)):
        if file.is_dir():
            raise _refused(errno.EISDIR, file)
    folder = out.parent if out is not None and out.is_file() else out
    for path in filter(None, (folder, junit and junit.parent, summary and summary.parent)):
        there = next(above for above in (path, *path.absolute().parents) if above.exists())
        if not there.is_dir():
            raise _refused(errno.ENOTDIR, there)
        if not os.access(there, os.W_OK):
            raise _refused(errno.EACCES, there)
    _check_pdf(pdf, out)


def _refused(code: int, path: Path) -> OSError:
    return OSError(code, os.strerror(code), str(path))


def _check_pdf(pdf: bool, out: Path | None) -> None:
    if not pdf:
        return
    if out is None:
        raise SpecError("`--pdf` and `--annex` write into the folder of the report; name the folder with --out.")
    from isonomia.report import find_chromium
    from isonomia.report.saving import check_target

    if not check_target(out):
        raise SpecError(
            f"`--pdf` and `--annex` write into a folder, and --out names the file {str(out)!r}. Name a folder; or "
            "leave them out: --out report.pdf is a PDF."
        )
    find_chromium()


def write_result(screen: Screen, result: Result, page: Path, record: Mapping[str, Any]) -> None:
    """Write a result as an HTML page, and its record as JSON beside it."""
    write_whole(page, result.to_html(screen.language))
    write_whole(page.with_suffix(".json"), json.dumps(record, allow_nan=False, indent=1) + "\n")
    screen.say(msg("Full report: {path}", path=str(page)))


def deliver(
    report: Report,
    screen: Screen,
    *,
    out: Path | None,
    junit: Path | None = None,
    pdf: bool = False,
    annex: bool = False,
    summary: Path | None = None,
    keeping: Keeping | None = None,
    fail_on: FailOn = "verdict",
) -> dict[str, Path]:
    """Keep the report, show the summary (or the JSON), and write the requested files; returns where its forms are."""
    from isonomia.report import dumps
    from isonomia.report import summary as on_screen

    lost = Lost()
    if keeping is not None:
        with lost.part():
            report = keeping.keep(report, screen)
    saved: dict[str, Path] = {}
    if out is not None:
        with lost.part():
            saved |= report.save(out, language=screen.language)
        printed: list[Form] = [form for form, wanted in (("pdf", pdf), ("annex", annex)) if wanted]  # type: ignore[misc]
        if printed:  # apart: what was written stays where printing fails
            with lost.part():
                saved |= report.save(out, formats=printed, language=screen.language)
    if summary is not None:
        with lost.part():
            report.save(summary, formats=["summary"], language=screen.language)
    if junit is not None:
        from isonomia.cli.output.junit import to_junit

        with lost.part():
            write_whole(junit, to_junit(report.document, screen.language, policy=report.policy, fail_on=fail_on))
    if screen.json:
        sys.stdout.write(dumps(report.document))
    if screen.talks:
        screen.show(on_screen(report.document, screen.language))
        screen.say()
        if "html" in saved:
            screen.say(msg("Full report: {path}", path=str(saved["html"])))
        elif out is None:
            screen.say(msg("Pass --out FOLDER to write the full report."))
    lost.end()
    return saved


class Lost:
    """Outputs that could not be written, each of which leaves the others alone."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []

    @contextmanager
    def part(self) -> Iterator[None]:
        """An output; that it failed is said when all others are done."""
        try:
            yield
        except Cancelled:
            raise
        except Exception as error:
            self._errors.append(error)

    def end(self) -> None:
        """End the command with what was lost, if anything was."""
        if len(self._errors) == 1 and not isinstance(self._errors[0], IsonomiaError):
            raise self._errors[0]
        if self._errors:  # what was given was examined: that it cannot be kept is no wrong input
            raise InternalError("\n".join(map(_said, self._errors))) from self._errors[0]


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error}: '{error.filename or '?'}'."
    return str(error) if isinstance(error, IsonomiaError) else kind_of(error)
