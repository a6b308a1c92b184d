"""The report as a PDF, printed by a Chromium that is installed: offline, without scripts, in a profile of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from isonomia.errors import IsonomiaError, MissingExtraError
from isonomia.evidence import Result
from isonomia.report.document import Document
from isonomia.report.inquiry import Inquiry
from isonomia.report.page import Extent, paper_html

#: Names of the browser on the path, in the order in which they are tried; the variable names another one.
BROWSERS, VARIABLE = ("chromium", "chromium-browser", "google-chrome"), "ISONOMIA_CHROMIUM"
#: Printing that takes longer is ended, in seconds.
MOST_SECONDS = 120.0

_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # the page loads nothing; neither does the browser
    "--no-pdf-header-footer",
)


def find_chromium() -> str:
    """The path of the browser that prints.

    The variable ``ISONOMIA_CHROMIUM`` names it; else it is looked for on the path.
    """
    named = os.environ.get(VARIABLE)
    if named and shutil.which(named) is None:
        raise MissingExtraError(
            f"{VARIABLE} names {named!r}, which is not a program that can be run. Correct its path."
        )
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise MissingExtraError(
            f"A PDF is printed by Chromium, and none of {', '.join(BROWSERS)} is on the path. Install it (Debian: "
            f"apt-get install chromium), or set {VARIABLE} to its path. report.html prints from any browser."
        )
    return found


def to_pdf(
    part: Document | Result | Inquiry, language: str = "en", *, extent: Extent = "short", seconds: float = MOST_SECONDS
) -> bytes:
    """The report as a PDF on A4 paper: the first page, the findings and the criteria; the annex on request.

    Parameters
    ----------
    part : Document, Result or Inquiry
        What is no report is printed whole.
    language : "en" or "pt-BR"
    extent : "short", "whole" or "first_page"
        "short" is what people read, a few pages; "whole" has the annex with everything that was measured.
    seconds : float
        Printing that takes longer ends with an error.
    """
    browser = find_chromium()
    page = paper_html(part, language, extent if isinstance(part, Document) else "whole")
    with tempfile.TemporaryDirectory(prefix="isonomia-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_bytes(page.encode("utf-8", "replace"))
        command = [browser, *_FLAGS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri()]
        if os.name == "posix" and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium does not start its sandbox for root
        try:
            ran = subprocess.run(command, capture_output=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise IsonomiaError(
                f"{browser} did not print the report within {seconds:g} seconds. Print report.html from a browser."
            ) from None
        except OSError as error:
            raise IsonomiaError(f"{browser} could not be started ({error}). Check {VARIABLE} and the path.") from None
        if not target.is_file() or not target.stat().st_size:
            last = ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise IsonomiaError(
                f"{browser} ended with code {ran.returncode} and printed nothing ({' '.join(last) or 'no message'}). "
                "Print report.html from a browser."
            )
        return target.read_bytes()
