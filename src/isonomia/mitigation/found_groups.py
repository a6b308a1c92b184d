"""Subgroups that a search found as groups of a fix: who is in which, also among people the search has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, to_numpy, wrap
from isonomia.discovery import SubgroupResult
from isonomia.errors import DataError, close_to

#: The group of everyone who is in none of the subgroups.
OTHERS = "others"


def subgroup_columns(found: SubgroupResult, data: Any, *, overlapping: bool = False) -> dict[str, NDArray[Any]]:
    """The subgroups as `sensitive_features` of a fix.

    Parameters
    ----------
    found : SubgroupResult
        What `discovery.find_subgroups` returned. Search among people whom the fix is not judged on.
    data : Dataset or frame
        The people: their features decide who is in which subgroup.
    overlapping : bool
        Whether there is a column of truth values per subgroup (for multicalibration). Otherwise one column names, for
        each person, the best subgroup that they are in, or "others": groups that do not overlap (for thresholds and
        reductions).

    Examples
    --------
    >>> from isonomia.discovery import find_subgroups
    >>> town, age = np.repeat(["north", "south"], 500), np.tile(["old", "young"], 500)
    >>> wrong = ((town == "north") & (age == "old")).astype(float)
    >>> found = find_subgroups({"town": town, "age": age}, errors=wrong, k=1)
    >>> others = {"town": ["north", "north", "south"], "age": ["old", "young", "old"]}
    >>> subgroup_columns(found, others)["subgroup"].tolist()
    ['town = north, age = old', 'others', 'others']
    """
    features = _encode_like(found.features, data)
    names = [str(name) for name in next(iter(found.tables.values()))["slice"].values]
    masks = [one.mask(features) for one in found.subgroups]
    if overlapping:
        return dict(zip(names, masks, strict=True))
    rows = len(next(iter(features.values())))
    column = np.full(rows, OTHERS, dtype=object)
    for name, mask in reversed([*zip(names, masks, strict=True)]):
        column[mask] = name
    return {"subgroup": column}


def _encode_like(known: Mapping[str, Codes], data: Any) -> dict[str, Codes]:
    """The columns of other people in the codes of those that were searched; values met for the first time are apart."""
    table = wrap(data.frame if isinstance(data, Dataset) else data)
    features = {}
    for name, column in known.items():
        if name not in table.columns:
            raise DataError(
                f"The subgroups are described by '{name}', which is not a column.{close_to(name, table.columns)}"
            )
        bands = data.roles.bands.get(name) if isinstance(data, Dataset) else None
        if column.edges is not None:
            new = Codes.cut(to_numpy(table[name]), column.edges, name=name)
        elif bands is not None:
            new = Codes.bands(table[name].to_numpy(), bands, name=name)
        else:
            new = Codes.encode(table[name], name=name)
        code_of = {label: code for code, label in enumerate(column.labels)}
        codes = np.array([code_of.get(label, column.size) for label in new.labels], dtype=np.uint32)
        if len(new) and codes.min() == column.size:
            raise DataError(
                f"No value of '{name}' is known to the search. Give the column as it was searched; dates cannot be "
                "given again."
            )
        features[name] = Codes(name, codes[new.codes], (*column.labels, object()))
    return features
