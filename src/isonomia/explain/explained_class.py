"""Of several classes, the one that is predicted most unequally."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.compared import attribute_column, compared_groups
from isonomia.explain.outputs import Output, output_for, output_table
from isonomia.languages import Message, msg
from isonomia.subject import Subject


def explained_class(subject: Subject, attribute: str | None = None, *, output: Output = "probability") -> Any:
    """The class to explain where several can be predicted and none is named; None where there are not several.

    It is the class whose mean output differs most between a group of the attribute and the reference. Groups with fewer
    people than the subject's `min_per_group` do not decide, unless all have fewer.

    Parameters
    ----------
    subject : Subject
    attribute : str, optional
        The protected attribute; by default the first.
    output : str
        What is compared: "probability", or "decision" (the share of people who get the class), and so on.

    Examples
    --------
    >>> import isonomia as iso
    >>> data = iso.Dataset({"sex": ["f", "f", "m", "m"], "grade": ["a", "b", "c", "a"]}, target="grade",
    ...                    protected=["sex"])
    >>> model = iso.Model.of(lambda frame: ["b", "b", "a", "b"], task="multiclass", classes=["a", "b", "c"])
    >>> explained_class(Subject.of(data, model), output="decision")
    'a'
    """
    if subject.task != "multiclass":
        return None
    groups = compared_groups(subject, attribute_column(subject, attribute))
    table = output_table(subject.surface, output_for(output, subject.surface))
    weights = np.ones(len(subject)) if subject.weights is None else subject.weights
    parts = [groups.rows(group) for group in range(len(groups.names))]
    large = [part for part in parts[1:] if len(part) >= subject.settings.min_per_group] or parts[1:]
    if not large or not len(parts[0]):
        raise NotApplicable(msg("there are not two groups of {column} with people in them", column=groups.attribute))
    means = [np.average(table[part], axis=0, weights=weights[part]) for part in (parts[0], *large) if len(part)]
    widest = np.abs(np.stack(means[1:]) - means[0]).max(axis=0)
    return subject.surface.classes[int(widest.argmax())]


def several_classes(subject: Subject) -> tuple[Message, ...]:
    """The note of a result about `explained_class`: that it was picked, and what this does; none without a choice."""
    if subject.task != "multiclass":
        return ()
    return (
        msg(
            "Of {n:int} classes, the one that differs most between the groups of an attribute is explained, against "
            "the others. It was picked on the same people, which makes its gap look somewhat larger than it is.",
            n=len(subject.surface.classes),
        ),
    )
