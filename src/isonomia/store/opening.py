"""Opening a store: its tables are made where the database is empty, and refused where they are not known."""

from __future__ import annotations

import os
from typing import Any

from sqlalchemy import func, select

from isonomia.errors import StoreError
from isonomia.store.address import read_address
from isonomia.store.database import PATIENCE, Database
from isonomia.store.schema import state_of, upgrade
from isonomia.store.store import Store


def open(  # noqa: A001  the word users know, always behind its room: iso.store.open
    address: str | os.PathLike[str] | None = None, *, upgrade_tables: bool = False, patience: float = PATIENCE
) -> Store:
    """The store at an address; its tables are made where the database is empty.

    Parameters
    ----------
    address : path or URL, optional
        A file (``runs.db``, ``sqlite:///runs.db``) or ``postgresql://USER@HOST/NAME``. By default what the environment
        variable ``ISONOMIA_STORE`` names.
    upgrade_tables : bool
        Whether tables of an older version are brought up to date; without it they are refused, so that nobody's tables
        change by being looked at.
    patience : float
        Seconds for which a transaction is tried again after a lost connection or a conflict.

    Raises
    ------
    StoreError
        Where there is no such database, or it was written by a newer version, or cannot be used.
    """
    database = Database(read_address(address), patience=0)  # a wrong address is an error at once
    shown = str(database.address)
    try:
        state = database.read(lambda connection: state_of(connection, shown))
        if state == "empty" or (state == "older" and upgrade_tables):
            database.patience = patience
            database.write(lambda connection: _brought_up(connection, shown))
        elif state == "older":
            raise StoreError(
                f"The tables of the store {shown} are those of an older version of Isonomia. Make a copy of it, then "
                "run: isonomia runs upgrade --store ADDRESS"
            )
    except BaseException:
        database.close()
        raise
    database.patience = patience
    return Store(database)


def _brought_up(connection: Any, shown: str) -> None:
    """The tables made, or brought up to date, unless another process did so in the meantime."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("isonomia.store"))))
    if state_of(connection, shown) != "current":
        upgrade(connection)
