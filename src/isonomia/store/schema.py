"""Which tables a store has: made where it is empty, brought up to date when asked, refused where they are not known."""

from __future__ import annotations

from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from isonomia.errors import StoreError
from isonomia.store import tables

#: How the tables of a store compare with what this version knows.
State = Literal["empty", "current", "older"]


def state_of(connection: Connection, shown: str) -> State:
    """How the tables of a store compare with this version's; an error where they are newer, foreign or incomplete."""
    names = set(inspect(connection).get_table_names())
    known = _revisions()
    if "alembic_version" not in names:
        if names & set(tables.metadata.tables):
            raise StoreError(
                f"The database {shown} has tables of other software (such as "
                f"'{sorted(names & set(tables.metadata.tables))[0]}'). Give the store a database of its own."
            )
        return "empty"
    current = _revision(connection)
    if current is None:
        return "empty"
    if current not in known:
        raise StoreError(
            f"The store {shown} was written by a newer version of Isonomia (its tables are '{current}'; this version "
            f"knows up to '{known[-1]}'). Update Isonomia: pip install --upgrade isonomia."
        )
    if current != known[-1]:
        return "older"
    if missing := sorted(set(tables.metadata.tables) - names):
        raise StoreError(
            f"The store {shown} is damaged: the table '{missing[0]}' is missing. Restore it from a backup, or export "
            "what is left into a new store."
        )
    return "current"


def upgrade(connection: Connection) -> tuple[str | None, str]:
    """Run the migrations that a store lacks; returns the revision before and after."""
    before = _revision(connection)
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return before, _revisions()[-1]


def _revision(connection: Connection) -> str | None:
    found = MigrationContext.configure(connection).get_current_heads()
    return found[0] if found else None


def _revisions() -> list[str]:
    """The revisions this version knows, the first one first."""
    scripts = ScriptDirectory.from_config(_config())
    return [script.revision for script in scripts.walk_revisions()][::-1]


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "isonomia:store/migrations")
    config.set_main_option("path_separator", "os")
    return config
