"""Conditions as a person reads them, in original units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isonomia.counting import MISSING, Codes
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import among, between, either, is_in, is_value, together

#: A set of values is described by what it leaves out where that is at most this many.
_FEW = 4
#: A longer set names this many of its values, and how many more there are.
_NAMED = 30


def condition_text(column: Codes, codes: Sequence[int]) -> str:
    """One condition as a person reads it.

    >>> age = Codes.cut([18, 30, 70], [18, 25, 60, 80], name="age")
    >>> condition_text(age, (1,)), condition_text(age, (1, 2))
    ('age in [25, 60)', 'age in [25, 80]')
    >>> letter = Codes.encode(list("abcde"), name="x")
    >>> condition_text(letter, (0, 2)), condition_text(letter, (0, 2, 3, 4))
    ('x in {a, c}', 'x not in {b}')
    """
    if column.missing is not None and tuple(codes) == (column.missing,):
        return Name(msg("{column} is missing", column=column.name))
    if column.edges is not None:
        return is_in(column.name, _range_text(column, codes))
    if len(codes) == 1:
        return is_value(column.name, column.text(codes[0]), " = ")
    left_out = sorted(set(range(column.size)) - set(codes))
    if len(left_out) < len(codes) and len(left_out) <= _FEW:
        others = among(column.text(code) for code in left_out)
        return Name(msg("{column} not in {values}", column=column.name, values=others))
    return is_in(column.name, _set_text(column, codes))


def value_text(column: Codes, codes: Sequence[int]) -> str:
    """The value of a feature in a subgroup, without the feature's name."""
    if len(codes) == 1:
        return column.text(codes[0])
    if column.edges is not None:
        return _range_text(column, codes)
    return among(column.text(code) for code in codes)


def _set_text(column: Codes, codes: Sequence[int]) -> str:
    return among((column.text(code) for code in codes[:_NAMED]), more=max(0, len(codes) - _NAMED))


def _range_text(column: Codes, codes: Sequence[int]) -> str:
    """Adjacent bins as one range; others as a union."""
    edges = column.edges or ()
    last = len(edges) - 2
    parts: list[str] = []
    bins = sorted(code for code in codes if code != column.missing)
    start = 0
    for i, code in enumerate(bins):
        if i + 1 == len(bins) or bins[i + 1] != code + 1:
            low, high = edges[bins[start]], edges[code + 1]
            parts.append(between(low, high, closed=code == last))
            start = i + 1
    if column.missing is not None and column.missing in codes:
        parts.append(MISSING)
    return parts[0] if len(parts) == 1 else Name(either(Message("{part}", {"part": part}) for part in parts))


def slice_text(subgroup: Subgroup, features: Mapping[str, Codes]) -> str:
    """The whole subgroup as a person reads it."""
    if subgroup.text is not None:
        return subgroup.text
    parts = [_conjunction_text(subgroup.conditions, features)]
    for others in subgroup.without:
        parts.append(Name(msg("not ({conditions})", conditions=_conjunction_text(others, features))))
    return together(parts)


def _conjunction_text(conditions: Mapping[str, tuple[int, ...]], features: Mapping[str, Codes]) -> str:
    parts = [condition_text(features[name], codes) for name, codes in conditions.items()]
    return together(parts) if parts else Name(msg("everyone"))
