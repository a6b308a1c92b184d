"""The table and the model that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia.cli.roles import read_privileged, read_protected, read_score

if TYPE_CHECKING:
    from isonomia.data import Dataset
    from isonomia.models import Model


def read_table(
    source: str,
    *,
    na: Sequence[str] | None = None,
    protected: Sequence[str] | None = None,
    privileged: Sequence[str] | None = None,
    score: Sequence[str] | None = None,
    **roles: Any,
) -> Dataset:
    """A file; or, where there is none of that name, a dataset of the catalog with its own roles and those given.

    `protected`, `privileged` and `score` are as written on the command line, the other roles as `read` takes them.
    """
    from isonomia.data import catalog, read

    given = {
        **roles,
        "protected": read_protected(protected or []),
        "privileged": read_privileged(privileged or []),
        "score": read_score(score or []),
    }
    given = {name: value for name, value in given.items() if value}
    if not Path(source).exists() and source in catalog.names():
        found = catalog.load(source)
        return found.with_roles(**given) if given else found
    return read(source, na_values=list(na or ()), **given)


def read_model(source: str | None, *, trust: bool) -> Model | None:
    """The model of a file, `module:callable` or an address; none where none is named."""
    if source is None:
        return None
    from isonomia.models import load_model

    return load_model(source, trust=trust)
