"""`isonomia audit`: a table, what its columns are for, and what to hold the model against."""

from __future__ import annotations

from typing import Annotated

import typer

from isonomia.cli.options.model import ModelOptions
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import (
    AnalysisName,
    Annex,
    Changes,
    FailOn,
    Junit,
    Missing,
    Out,
    Pdf,
    Policy,
    Seed,
    StoreAddress,
    Summary,
)
from isonomia.cli.options.table import TableOptions


def audit(
    *,
    table: TableOptions,
    model: ModelOptions,
    policy: Policy = None,
    checks: Annotated[
        str, typer.Option("--checks", metavar="C", help="quick, standard, full, a room (fairness), or checks: a,b")
    ] = "standard",
    changes: Changes = None,
    missing: Missing = "group",
    fail_on: FailOn = "verdict",
    out: Out = None,
    pdf: Pdf = False,
    annex: Annex = False,
    summary: Summary = None,
    junit: Junit = None,
    store: StoreAddress = None,
    analysis: AnalysisName = None,
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Examine what a model does to people.

    With --policy the figures are compared with limits, and the exit code is the verdict; --fail-on counts findings too.
    Groups are compared with the privileged one, else with the best-off one; at a terminal that is asked once.
    """
    from isonomia.audit import audit as examine
    from isonomia.audit import audit_changes, changed_checks, exit_code, read_changes
    from isonomia.cli.output.asking import asked_reference, asks_reference
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.cli.output.report import check_outputs, deliver
    from isonomia.cli.output.store import chosen_store
    from isonomia.data import Dataset
    from isonomia.languages import msg
    from isonomia.subject import Subject

    check_outputs(out, junit, pdf=pdf or annex, summary=summary)
    changed = read_changes(changes)
    settings, options = audit_changes(changed)
    screen = talk.screen()
    keeping = chosen_store(store, analysis)
    with ProgressBar(screen, msg("Reading")) as progress:
        data = table.read(screen)
        if not data.protected:
            screen.remark(msg("No protected attribute is named, so groups are not compared: --protected sex,age:25,60"))
        examined: Dataset | Subject = data
        predictor = model.load()
        if asks_reference(screen, data, settings):
            examined, predictor = Subject.of(data, predictor, progress=progress, counted=True), None
    if isinstance(examined, Subject):
        settings |= asked_reference(screen, examined)
    with ProgressBar(screen, msg("Running checks")) as progress:
        report = examine(
            examined,
            predictor,
            checks=[*read_names(checks, "--checks"), *changed_checks(changed)],
            options=options,
            **settings,
            policy=policy,
            seed=seed,
            missing=missing,
            language=screen.language,
            progress=progress,
        )
    files = {"junit": junit, "summary": summary}
    deliver(report, screen, out=out, **files, pdf=pdf, annex=annex, keeping=keeping, fail_on=fail_on)
    raise typer.Exit(exit_code(report.document, report.policy, fail_on))
