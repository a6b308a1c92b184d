"""Which of the classes that can be predicted are favourable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.data import Dataset, favourable_classes, index_of
from isonomia.data.labels import named_classes
from isonomia.errors import ModelError
from isonomia.models import Model, Surface


def favourable_of(
    surface: Surface, dataset: Dataset | None, model: Model | Surface | None, reading: Mapping[str, Any]
) -> tuple[Any, ...]:
    """The favourable classes among those of the predictions: the second of two, of several those that were named.

    The dataset's come first, then those given with columns, then the model's.

    >>> surface = Surface("multiclass", ("approved", "denied", "review"))
    >>> favourable_of(surface, None, None, {"positive": "approved"})
    ('approved',)
    """
    classes = surface.classes
    if surface.task == "binary":
        return classes[1:]
    if surface.task != "multiclass" or not classes:
        return ()
    named = model.positive if isinstance(model, Model) else None
    if dataset is None or not dataset.favourable:
        given = reading.get("positive", named)
        return () if given is None else favourable_classes(classes, given, what="the predictions")
    if named is not None:
        theirs = {index_of(label, dataset.favourable) for label in named_classes(named, dataset.favourable)}
        if theirs != set(range(len(dataset.favourable))):
            raise ModelError(
                f"The model's positive classes are {named!r}, but the dataset's are {list(dataset.favourable)!r}. "
                "Give both the same."
            )
    if dataset.target is None and dataset.roles.prediction is None:  # nobody has looked at the classes so far
        return favourable_classes(classes, dataset.favourable, what="the predictions")
    return tuple(classes[code] for label in dataset.favourable if (code := index_of(label, classes)) is not None)
