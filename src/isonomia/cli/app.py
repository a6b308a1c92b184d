"""The program `isonomia`: its commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isonomia._version import __version__
from isonomia.cli.audit import audit
from isonomia.cli.compare import compare
from isonomia.cli.datasets import datasets
from isonomia.cli.demo import demo
from isonomia.cli.discover import discover
from isonomia.cli.discover_pairs import pairs
from isonomia.cli.exits import guarded
from isonomia.cli.explain import explain
from isonomia.cli.fairness import fairness
from isonomia.cli.listings import LISTINGS
from isonomia.cli.mitigate import mitigate
from isonomia.cli.run import run
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
    add_completion=False,
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


app.command()(demo)
app.command()(audit)
app.command()(fairness)
app.command()(explain)
app.command()(mitigate)
app.command()(run)
app.command()(compare)
app.add_typer(datasets, name="datasets")
app.command()(synth)
discover.command("pairs")(pairs)
app.add_typer(discover, name="discover")
app.add_typer(study, name="study")
for name, listing in LISTINGS.items():
    app.command(name)(listing)


def main() -> None:
    """Run the program; its exit code is the verdict's, or tells what went wrong."""
    app(prog_name="isonomia")
