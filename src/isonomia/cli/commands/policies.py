"""`isonomia policies`: the policies that come with the package, one in full, the schema and a template of your own."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.output.headings import heading, shown, worded
from isonomia.cli.output.screen import Screen
from isonomia.languages import Name

policies = CommandGroup("Policies: list them, show one, print the schema or a template of your own.")


@policies.callback(invoke_without_command=True)
def listing(ctx: typer.Context, talk: ScreenOptions) -> None:
    """List the policies that come with the package."""
    if ctx.invoked_subcommand is None:
        _list(talk.screen())


@policies.command("list")
def listed(talk: ScreenOptions) -> None:
    """List the policies that come with the package."""
    _list(talk.screen())


def _list(screen: Screen) -> None:
    from isonomia.evidence import Column, Table
    from isonomia.policies import load_policy, policy_names

    entries = [{"policy": name, **load_policy(name).record()} for name in policy_names()]
    if screen.json:
        screen.data(entries)
    columns = ("policy", "kind", "status", "title", "source")
    cells = {key: [_text(worded(entry[key]), screen.language) for entry in entries] for key in columns}
    screen.table(Table.of(cells, [Column(key, title=heading(key)) for key in columns]))


@policies.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A policy of the list, or your own file.")],
    talk: ScreenOptions,
) -> None:
    """Show one policy with its rules, or say what is wrong with a file."""
    from isonomia.policies import load_policy

    screen = talk.screen()
    record = load_policy(name).record()
    if screen.json:
        screen.data(record)
    for key, value in record.items():
        if key != "rules" and value not in (None, ""):
            screen.say(f"{key:14} {_text(value, screen.language)}")
    for rule in record["rules"]:
        screen.say(f"rule {rule['id']}: {_text(rule['name'], screen.language)}")
        for key, value in rule.items():
            if key not in ("id", "name") and value not in (None, "", [], {}):
                screen.say(f"    {key:12} {_text(value, screen.language)}")


@policies.command("schema")
def schema() -> None:
    """Print the JSON Schema of a policy file, for editors."""
    from json import dumps

    from isonomia.policies import policy_schema

    typer.echo(dumps(policy_schema(), indent=1))


@policies.command("template")
def template() -> None:
    """Print a policy file to start from: isonomia policies template > policy.yaml."""
    from isonomia.policies import policy_template

    typer.echo(policy_template(), nl=False)


def _text(value: Any, language: str) -> str:
    """A value of a policy; the texts of shipped ones are translated."""
    from isonomia.policies import policy_text

    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items() if item is not None)
    if isinstance(value, list | float | Name):
        return shown(value, language)
    return policy_text(str(value)).text(language)
