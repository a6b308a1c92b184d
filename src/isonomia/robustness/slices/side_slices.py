"""The slices of two tables in the same codes: of their rows, or of cells where an engine counts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.counting import Codes, smallest
from isonomia.counting.cuts import Cut
from isonomia.subject import Subject
from isonomia.subject.counted_columns import CountedColumns


def aligned(one: Codes, two: Codes) -> tuple[Codes, Codes]:
    """Both columns over the labels of either, missing last.

    >>> a, b = aligned(Codes.encode(["x", "y"]), Codes.encode(["y", None]))
    >>> a.labels == b.labels, b.labels, b.codes.tolist()
    (True, ('x', 'y', None), [1, 2])
    """
    if one.labels == two.labels:
        return one, two
    labels = list(dict.fromkeys([*one.labels, *two.labels]))
    if None in labels:
        labels = [label for label in labels if label is not None] + [None]
    index = {label: code for code, label in enumerate(labels)}
    out = []
    for column in (one, two):
        table = np.array([index[label] for label in column.labels], dtype=smallest(len(labels)))
        out.append(Codes(column.name, table[column.codes], tuple(labels), column.edges))
    return out[0], out[1]


def in_codes(column: Codes, like: Codes) -> Codes:
    """A column in the codes of another, which has all of its labels."""
    index = {label: code for code, label in enumerate(like.labels)}
    table = np.array([index[label] for label in column.labels], dtype=smallest(max(like.size, 1)))
    return Codes(like.name, table[column.codes], like.labels, like.edges)


class SideSlices:
    """The slices of one side: of its rows, or of cells where an engine counts them."""

    def __init__(self, subject: Subject, cuts: Sequence[Cut]) -> None:
        self.subject, self.cuts = subject, {cut.name: cut for cut in cuts}
        self._counted = None if subject.counts is None else CountedColumns.with_cuts(subject, cuts)
        self.expect([(name,) for name in self.cuts])

    def expect(self, sets: Sequence[tuple[str, ...]]) -> None:
        """Count by these sets of features in few statements."""
        if self._counted is not None:
            self._counted.parts(sets)

    def part(self, names: tuple[str, ...]) -> Subject:
        """The rows, by these features."""
        return self.subject if self._counted is None else self._counted.parts([names])[0]

    def codes(self, name: str, names: tuple[str, ...]) -> Codes:
        """A feature on the rows by some features."""
        return self.cuts[name].codes(self.part(names).known)
