"""`isonomia demo`: data with known bias, a model trained on them, an audit of it, and what the audit saw."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import Seed
from isonomia.cli.output.screen import Screen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isonomia.audit import Report
    from isonomia.counting import Codes
    from isonomia.data import Dataset
    from isonomia.data.synthetic import Subgroup
    from isonomia.evidence import Finding
    from isonomia.languages import Message

#: The share of applications that the model is trained on; the rest is audited.
TRAINED = 0.5
#: What is tried at the end: fixes of the training data.
FIXES = ("reweighing", "sampling", "massaging")


def demo(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder for the report, data and model.")
    ] = Path("out/demo"),
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1000, help="Applications for a loan.")] = 20_000,
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Train a model on data with known bias, audit it, and try what helps.

    The data are applications for a loan; the end shows which of the known biases the audit saw, and what fixes of the
    training change for the people who are worst off.
    """
    from isonomia.data import estimator_backend

    estimator_backend()  # without a library for tables that a model takes nothing is begun
    import sklearn.ensemble  # noqa: F401  the limit below reaches only libraries that are there

    from isonomia.audit import audit, choose_checks
    from isonomia.benchmark import BENCHMARK_MODELS
    from isonomia.cli.commands.mitigate import show, write
    from isonomia.cli.output.frames import write_frame
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.cli.output.report import deliver
    from isonomia.data import wrap
    from isonomia.data.synthetic import credit
    from isonomia.languages import msg
    from isonomia.mitigation import Mitigated
    from isonomia.models import save_model
    from isonomia.models.call_threads import one_thread

    screen = talk.screen()
    screen.say(
        msg("Credit data with three known biases, a gradient boosting model trained on half, audited on the rest.")
    )
    out.mkdir(parents=True, exist_ok=True)
    # One thread: so few rows gain nothing from more, and on a busy machine boosting's threads wait for one another.
    with ProgressBar(screen, msg("Making data")) as progress, one_thread():
        generated = credit(rows, seed=seed)
        train, test = split(generated.dataset, seed)
        progress.stage("training", msg("Training a model")).at(0)
        model = BENCHMARK_MODELS["boosting"].train(train, seed)
        report = audit(
            test,
            model,
            checks=[*(entry.id for entry in choose_checks("standard")), "mitigation"],
            policy="eeoc",
            options={"mitigation": {"train": train, "methods": FIXES, "max_rows": rows}},
            seed=seed,
            language=screen.language,
            progress=progress,
        )
        progress.stage("writing", msg("Writing files")).at(0)
        write_frame(wrap(test.frame).select([*test.features, str(test.target)]), out / "applications.csv")
        save_model(model, out / "model.skops")
    deliver(report, screen, out=out, junit=None)
    fixed = report["mitigation"]
    assert isinstance(fixed, Mitigated)
    if screen.talks:
        show(screen, fixed)
    write(screen, fixed, out)
    if screen.talks:
        _compare_with_truth(screen, generated.truth.biased, test, report)
        screen.say()
        screen.say(msg("What helps, in pictures: {path}", path=f"{out / 'report.html'}#check-mitigation"))
        screen.say()
        screen.say(msg("Try it yourself:"))
        screen.say(
            f"  isonomia audit {out / 'applications.csv'} --model {out / 'model.skops'} --target decision "
            "--positive granted --protected sex,ethnicity,age:25,60 --privileged sex=male --policy us-lending"
        )


def split(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Rows to train on and rows to audit, drawn at random."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(data))
    cut = int(TRAINED * len(data))
    return data.take(np.sort(order[:cut])), data.take(np.sort(order[cut:]))


def _compare_with_truth(screen: Screen, biased: tuple[Subgroup, ...], data: Dataset, report: Report) -> None:
    """Which of the biases that were put in show up as findings."""
    from isonomia.evidence import Column, Table
    from isonomia.languages import msg
    from isonomia.subject import dataset_attributes

    attributes = dataset_attributes(data)
    seen = [nearest(subgroup.matches(data.frame), attributes, report.findings) for subgroup in biased]
    screen.say()
    screen.table(
        Table(
            (
                Column("subgroup", [str(subgroup) for subgroup in biased], title=msg("known bias against")),
                Column("bias", [subgroup.bias for subgroup in biased], format="num", title=msg("log-odds")),
                Column("seen", seen, title=msg("found by the audit")),
            ),
        )
    )


def nearest(inside: NDArray[np.bool_], attributes: Sequence[Codes], findings: Sequence[Finding]) -> Message:
    """The finding whose people are a subgroup's, or else the smallest larger group that holds them: a sentence."""
    from isonomia.benchmark.matching import SAME_PEOPLE, covers, jaccard
    from isonomia.languages import People, msg

    known = {column.name for column in attributes}
    about = [finding.who for finding in findings if finding.who and known.issuperset(finding.who)]
    people = {People.of(who): _people(who, attributes) for who in about}
    overlap = dict(zip(people, jaccard(list(people.values()), [inside])[:, 0].tolist(), strict=True))
    same = {who: shared for who, shared in overlap.items() if shared >= SAME_PEOPLE}
    around = {who: shared for who, shared in overlap.items() if covers(people[who], inside)}
    if same:
        return msg("yes: {who}", who=max(same, key=same.__getitem__))
    if around:
        return msg("only within a larger group: {who}", who=max(around, key=around.__getitem__))
    return msg("no")


def _people(who: Mapping[str, str], attributes: Sequence[Codes]) -> NDArray[np.bool_]:
    """Which rows a finding is about."""
    named = [column for column in attributes if column.name in who]
    masks = [column.codes == column.texts.index(who[column.name]) for column in named]
    return functools.reduce(operator.and_, masks)
