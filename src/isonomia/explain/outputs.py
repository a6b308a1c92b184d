"""What is explained: the probability, the log odds, a score, the decision or a predicted number."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isonomia.data import Task, index_of
from isonomia.errors import NotApplicable, SpecError
from isonomia.languages import Message, msg
from isonomia.models import Surface
from isonomia.typing import Floats

Output = Literal["probability", "log_odds", "rescaled", "decision", "score", "number"]
#: What a user may ask for; a regression is always explained as its number.
OUTPUTS: tuple[Output, ...] = ("probability", "log_odds", "rescaled", "decision", "score")
OUTPUT_NAMES: dict[str, Message] = {
    "probability": msg("probability"),
    "log_odds": msg("log odds"),
    "rescaled": msg("rescaled log odds"),
    "decision": msg("decision"),
    "score": msg("score"),
    "number": msg("predicted number"),
}
#: The mean of an output over people, within a sentence.
MEAN_NAMES: dict[str, Message] = {
    "probability": msg("the mean probability"),
    "log_odds": msg("the mean of the log odds"),
    "rescaled": msg("the mean of the rescaled log odds"),
    "decision": msg("the rate of positive decisions"),
    "score": msg("the mean score"),
    "number": msg("the mean predicted number"),
}


def output_for(output: Output, surface: Surface) -> Output:
    """The output to explain: a regression's number whatever is asked by default; else what the model can give."""
    if surface.task == "regression":
        if output != "probability":
            raise SpecError(f"A regression has no {output.replace('_', ' ')}; leave out `output`.")
        return "number"
    needed = {"decision": surface.label, "score": surface.score}.get(output, surface.probability)
    if needed is None:
        parts = {"decision": surface.label, "score": surface.score, "probability": surface.probability}
        others = [f"output={name!r}" for name, part in parts.items() if part is not None]
        raise NotApplicable(
            f"the model gives no {'probabilities' if output not in ('decision', 'score') else output + 's'}; "
            f"explain it with {' or '.join(others)}"
        )
    return output


def chosen_classes(surface: Surface, label: Any) -> list[int]:
    """Which classes are explained: the one named; else the positive one of two, or all of several."""
    if surface.task == "regression":
        return [0]
    if label is None:
        return [1] if surface.task == "binary" else list(range(len(surface.classes)))
    index = index_of(label, surface.classes)
    if index is None:
        raise SpecError(f"`label` must be one of the classes {list(surface.classes)}; got {label!r}.")
    return [index]


def output_table(surface: Surface, output: Output) -> Floats:
    """The output of every row and class (n, classes); of a regression (n, 1).

    Log odds of two classes are log p / (1 - p); of several, log p less its mean over the classes.
    """
    if surface.task == "regression":
        assert surface.continuous is not None
        return surface.continuous[:, None]
    if output == "decision":
        assert surface.label is not None
        return np.asarray(surface.label[:, None] == np.arange(len(surface.classes)), dtype=float)
    if output == "score":
        assert surface.score is not None
        return np.stack([-surface.score, surface.score], axis=1)
    assert surface.probability is not None
    table = surface.probability
    table = np.stack([1 - table, table], axis=1) if table.ndim == 1 else table
    return log_odds(table, surface.task) if output == "log_odds" else table


def log_odds(table: Floats, task: Task) -> Floats:
    """Log odds of a table of probabilities; a probability of 0 or 1 has none."""
    if ((table <= 0) | (table >= 1)).any():
        raise NotApplicable(
            "some probabilities are exactly 0 or 1, so their log odds are infinite; explain "
            "output='probability' instead"
        )
    logs = np.log(table)
    if task == "binary":
        odds = logs[:, 1] - np.log1p(-table[:, 1])
        return np.stack([-odds, odds], axis=1)
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))
