"""The standard error that a caller wants of sampled values, and the note where the budget did not reach it."""

from __future__ import annotations

from isonomia.languages import Message, msg
from isonomia.parameters import Number, Parameter

ERROR = Parameter(
    "error", Number(above=0).or_none("for what one round gives"), None, "largest standard error of a value asked for"
)


def missed_error(error: float, target: float) -> Message:
    """A note that values are less precise than requested."""
    return msg(
        "Standard errors are up to {error:num}, more than the {asked:num} requested: allow more model rows.",
        error=error,
        asked=target,
    )
