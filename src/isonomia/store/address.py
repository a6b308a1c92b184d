"""Where a store is: the file of a SQLite database or the address of a PostgreSQL one, shown without its password."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy import URL, make_url

from isonomia.errors import StoreError, require

#: The environment variable that names the store where none is given.
VARIABLE = "ISONOMIA_STORE"
#: File systems over a network, where SQLite's locks and its write-ahead log do not work.
NETWORK = ("nfs", "cifs", "smb", "afs", "ceph", "gluster", "lustre", "gpfs", "beegfs", "9p", "ncp", "davfs", "fuse.")
#: What libpq reads from the query of an address and nobody else may.
_SECRETS = ("password", "sslpassword", "passfile", "sslkey")
_EXPECTED = "Give the path of a file (runs.db), sqlite:///PATH or postgresql://USER@HOST/NAME."


@dataclass(frozen=True, repr=False)
class Address:
    """The address of a store.

    >>> read_address("postgresql://ann:secret@db.example.org/audits?sslpassword=x")
    postgresql://ann:***@db.example.org/audits?sslpassword=***
    >>> read_address("runs.db").is_file
    True
    """

    url: URL

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path:
        """The file."""
        return Path(str(self.url.database))

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Every text that no message may show."""
        named = [value for name in _SECRETS for value in _several(self.url.query.get(name, ()))]
        return tuple(filter(None, [self.url.password, *named]))

    def hide(self, text: object) -> str:
        """A text without the secrets of the address."""
        shown = str(text)
        for secret in self.secrets:
            shown = shown.replace(secret, "***")
        return shown

    def __str__(self) -> str:
        if self.is_file:
            return str(self.path)
        query = {name: "***" if name in _SECRETS else value for name, value in self.url.query.items()}
        plain = self.url.set(drivername="postgresql", query=query)
        return plain.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")

    def __repr__(self) -> str:
        return str(self)


def read_address(given: str | os.PathLike[str] | None) -> Address:
    """The address that a user names; without one, that of the environment variable ``ISONOMIA_STORE``."""
    text = os.fspath(given) if given is not None else os.environ.get(VARIABLE, "")
    if not isinstance(text, str) or not text.strip():
        raise StoreError(f"No store was named. {_EXPECTED} Or set the environment variable {VARIABLE}.")
    if "://" not in text:
        return Address(URL.create("sqlite", database=str(Path(text).expanduser().absolute())))
    try:
        url = make_url(text)
    except Exception:
        raise StoreError(f"'{_without_user(text)}' is not the address of a store. {_EXPECTED}") from None
    kind = url.drivername.split("+")[0]
    if kind in ("postgresql", "postgres"):
        require("psycopg", extra="postgres", purpose="A store in PostgreSQL")
        return Address(url.set(drivername="postgresql+psycopg"))
    if kind != "sqlite":
        raise StoreError(f"A store in '{kind}' is not supported. {_EXPECTED}")
    if not url.database or url.database == ":memory:":
        raise StoreError("A store in memory is lost when the program ends. " + _EXPECTED)
    return Address(URL.create("sqlite", database=str(Path(url.database).expanduser().absolute())))


def check_place(address: Address) -> None:
    """Refuse a folder that is not there, a path that is not a file, and a file system over a network."""
    folder = address.path.parent
    try:
        if not folder.is_dir():
            raise StoreError(f"There is no folder '{folder}' for the store; create it first.")
        if address.path.exists() and not address.path.is_file():
            raise StoreError(f"'{address.path}' is not a file. {_EXPECTED}")
        kind = file_system(folder)
    except OSError as error:
        raise StoreError(f"The store {address.path} cannot be reached: {error.strerror}.") from None
    if kind is not None and kind.startswith(NETWORK):
        raise StoreError(
            f"'{address.path}' is on a network file system ({kind}), where several writers damage a SQLite file. "
            "Use a local folder, or a PostgreSQL store (postgresql://USER@HOST/NAME)."
        )


def file_system(folder: Path) -> str | None:
    """The kind of file system a folder is on, as Linux names it; None where the machine does not tell."""
    table = Path("/proc/self/mounts")
    if not table.exists():
        return None
    resolved = folder.resolve()
    mounts = [line.split()[1:3] for line in table.read_text(encoding="utf-8", errors="replace").splitlines()]
    points = [(Path(point.replace("\\040", " ")), kind) for point, kind in mounts]
    above = [(len(point.parts), kind) for point, kind in points if resolved.is_relative_to(point)]
    return max(above, key=lambda found: found[0])[1] if above else None


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _without_user(text: str) -> str:
    """A text that should have been an address, without what may be a name and a password."""
    text = re.sub(r"://.*@", "://***@", text, flags=re.DOTALL)
    return re.sub(r"\?.*", "?***", text, flags=re.DOTALL)
