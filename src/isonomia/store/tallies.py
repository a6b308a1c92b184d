"""Tallied cells of a run: the counts behind its figures, without a person in them.

A cell is a combination of values with the number of its rows and their sums. Cells of few rows could point at
somebody: they are merged into one cell, "other" on every axis, before they are kept. Totals stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from isonomia.counting import Cells, Codes
from isonomia.errors import StoreError
from isonomia.languages import decode, encode
from isonomia.store import tables
from isonomia.store.keys import check_slug
from isonomia.store.records import as_bytes, from_bytes, pack, unpack

#: Cells of fewer rows are merged.
MIN_CELL = 5
#: The label of what was merged.
OTHER = "other"


def merged(cells: Cells, min_cell: int) -> Cells:
    """The cells, those of fewer rows than `min_cell` as one.

    >>> city = Codes.encode(["x"] * 9 + ["y", "z"], name="city")
    >>> kept = merged(Cells.of([city]), 5)
    >>> kept.columns[0].labels, kept.columns[0].codes.tolist(), kept.n.tolist()
    (('x', 'y', 'z', 'other'), [0, 3], [9, 2])
    """
    small = cells.n < min_cell
    if not small.any():
        return cells
    columns = [
        replace(column, codes=np.where(small, column.size, column.codes), labels=(*column.labels, OTHER))
        for column in cells.columns
    ]
    weights: dict[str, Any] = {"w": cells.w, "w2": cells.w2} if cells.weighted else {}
    return Cells.from_groups(columns, n=cells.n, sums=cells.sums, products=cells.products, **weights)


def add_cells(connection: Connection, run: str, name: str, given: Cells, *, min_cell: int = MIN_CELL) -> None:
    """Keep the cells of a run under a name, in place of earlier ones."""
    slug = check_slug(name, "name")
    packed, sha256 = pack(as_bytes(_written(merged(given, min_cell))))
    connection.execute(tables.cells.delete().where(tables.cells.c.run == run, tables.cells.c.name == slug))
    connection.execute(tables.cells.insert().values(run=run, name=slug, record=packed, record_sha256=sha256))


def read_cells(connection: Connection, run: str, name: str) -> Cells:
    """The cells that were kept."""
    query = select(tables.cells).where(tables.cells.c.run == run)
    rows = {row.name: row for row in connection.execute(query)}
    if name not in rows:
        known = ", ".join(sorted(rows)) or "none"
        raise StoreError(f"The run {run} has no cells '{name}'. Available: {known}.")
    what = f"the cells '{name}' of run {run}"
    return _read(from_bytes(unpack(rows[name].record, rows[name].record_sha256, what), what))


def _written(given: Cells) -> dict[str, Any]:
    return {
        "columns": [
            {
                "name": column.name,
                "labels": encode(list(column.labels)),
                "edges": None if column.edges is None else encode(list(column.edges)),
                "codes": column.codes.tolist(),
            }
            for column in given.columns
        ],
        "n": given.n.tolist(),
        "w": encode(given.w.tolist()) if given.weighted else None,
        "w2": encode(given.w2.tolist()) if given.weighted else None,
        "sums": {name: encode(total.tolist()) for name, total in given.sums.items()},
        "products": [[list(key), encode(total.tolist())] for key, total in given.products.items()],
    }


def _read(given: Mapping[str, Any]) -> Cells:
    columns = [
        Codes(
            name=one["name"],
            codes=np.array(one["codes"], dtype=np.int64).astype(np.uint32),
            labels=tuple(decode(one["labels"])),
            edges=None if one["edges"] is None else tuple(decode(one["edges"])),
        )
        for one in given["columns"]
    ]
    weights = {name: decode(given[name]) for name in ("w", "w2") if given[name] is not None}
    sums = {name: decode(total) for name, total in given["sums"].items()}
    products = {tuple(key): decode(total) for key, total in given["products"]}
    return Cells.from_groups(columns, n=given["n"], sums=sums, products=products, **weights)
