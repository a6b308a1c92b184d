"""The program `isonomia`: its commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isonomia._version import __version__
from isonomia.cli.audit import audit
from isonomia.cli.benchmark import benchmark
from isonomia.cli.card import card
from isonomia.cli.compare import compare
from isonomia.cli.datasets import datasets
from isonomia.cli.demo import demo
from isonomia.cli.discover import discover, subgroups
from isonomia.cli.discover_pairs import pairs
from isonomia.cli.exits import guarded
from isonomia.cli.explain import explain
from isonomia.cli.fairness import fairness
from isonomia.cli.listings import LISTINGS
from isonomia.cli.mitigate import mitigate
from isonomia.cli.option_words import Command
from isonomia.cli.policies import policies
from isonomia.cli.run import run
from isonomia.cli.runs import runs
from isonomia.cli.runs_watch import watch
from isonomia.cli.study import study
from isonomia.cli.synth import synth


class Door(TyperGroup):
    """A group of commands behind which no error goes unsaid."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, guarded."""
        with guarded():
            return super().invoke(ctx)


app = typer.Typer(
    name="isonomia",
    cls=Door,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Examine what a model does to people: is it even-handed, whom does it treat differently, how sure are we?",
    epilog="Exit codes of audits: 0 meets the policy, 1 exceeds it, 2 bad input or spec, 3 not enough evidence, "
    "4 nothing was evaluated, 5 internal error.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def door(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version, and stop.")
    ] = False,
) -> None:
    """Examine what a model does to people: is it even-handed, whom does it treat differently, how sure are we?"""


app.command(cls=Command)(demo)
app.command(cls=Command)(audit)
app.command(cls=Command)(fairness)
app.command(cls=Command)(explain)
app.command(cls=Command)(mitigate)
app.command(cls=Command)(run)
app.command(cls=Command)(compare)
app.command(cls=Command)(card)
app.add_typer(datasets, name="datasets")
app.command(cls=Command)(synth)
discover.command("subgroups", cls=Command)(subgroups)
discover.command("pairs", cls=Command)(pairs)
app.add_typer(discover, name="discover")
app.add_typer(benchmark, name="benchmark")
app.add_typer(study, name="study")
runs.command("watch")(watch)
app.add_typer(runs, name="runs")
app.add_typer(policies, name="policies")
for name, listing in LISTINGS.items():
    app.command(name, cls=Command)(listing)


def main() -> None:
    """Run the program; its exit code is the verdict's, or tells what went wrong."""
    app(prog_name="isonomia")
