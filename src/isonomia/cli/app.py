"""The program `isonomia`: all its commands."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isonomia._version import __version__
from isonomia.cli.command_group import CommandGroup
from isonomia.cli.commands.audit import audit
from isonomia.cli.commands.benchmark import benchmark
from isonomia.cli.commands.card import card
from isonomia.cli.commands.compare import compare
from isonomia.cli.commands.datasets import datasets
from isonomia.cli.commands.demo import demo
from isonomia.cli.commands.discover_pairs import pairs
from isonomia.cli.commands.discover_subgroups import discover, subgroups
from isonomia.cli.commands.explain import explain
from isonomia.cli.commands.fairness import fairness
from isonomia.cli.commands.listings import LISTINGS
from isonomia.cli.commands.mitigate import mitigate
from isonomia.cli.commands.policies import policies
from isonomia.cli.commands.run import run
from isonomia.cli.commands.runs import runs
from isonomia.cli.commands.runs_watch import watch
from isonomia.cli.commands.study import study
from isonomia.cli.commands.synth import synth
from isonomia.cli.commands.verify import verify
from isonomia.cli.output.exits import guarded
from isonomia.cli.output.reader import language_in, set_reader_language
from isonomia.cli.output.streams import guard_streams


class Guarded(TyperGroup):
    """A group of commands whose errors become a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, guarded."""
        set_reader_language(language_in(ctx.args))
        with guarded():
            return super().invoke(ctx)


app = CommandGroup(
    "Examine what a model does to people: is it even-handed, whom does it treat differently, how sure are we?",
    name="isonomia",
    cls=Guarded,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes of audits: 0 meets the policy, 1 exceeds it, 2 bad input or spec, 3 not enough evidence, "
    "4 nothing was evaluated, 5 internal error.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def program(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Examine what a model does to people: is it even-handed, whom does it treat differently, how sure are we?"""


for function in (demo, audit, fairness, explain, mitigate, run, compare, card, verify):
    app.command()(function)
app.add_typer(datasets, name="datasets")
app.command()(synth)
discover.command("subgroups")(subgroups)
discover.command("pairs")(pairs)
app.add_typer(discover, name="discover")
app.add_typer(benchmark, name="benchmark")
app.add_typer(study, name="study")
runs.command("watch")(watch)
app.add_typer(runs, name="runs")
app.add_typer(policies, name="policies")
for name, listing in LISTINGS.items():
    app.command(name)(listing)


def main() -> None:
    """Run the program; its exit code is the verdict's, or that of an error (`output/exits.py`)."""
    guard_streams()
    try:
        app(prog_name="isonomia")
    finally:
        sys.stdout.flush()  # what could not be written shows now, while the exit code can still say so
