"""What went wrong in a part of the work, as a sentence: the error, and the place where it arose."""

from __future__ import annotations

import os

from isonomia.errors import Cancelled, IsonomiaError, kind_of, place_of, show_trace
from isonomia.languages.error_texts import error_message
from isonomia.languages.message import Message, msg


def fault_message(error: BaseException, owner: str = "") -> Message:
    """Why a part of the work has no result; the part alone is lost.

    The error is raised again where the caller wants the work to end, and where ISONOMIA_FAULTS=raise asks for the first
    unexpected error instead of a report without the part, as the tests of this package do.

    >>> str(fault_message(MemoryError()))
    'an unexpected error: MemoryError'
    """
    if isinstance(error, Cancelled):
        raise error
    if isinstance(error, IsonomiaError):
        return _known(error, owner)
    if os.environ.get("ISONOMIA_FAULTS") == "raise":
        raise error
    show_trace(error)
    place = place_of(error, owner)
    if not place:
        return msg("an unexpected error: {error}", error=kind_of(error))
    return msg("an unexpected error: {error} (at {place})", error=kind_of(error), place=place)


def _known(error: IsonomiaError, owner: str) -> Message:
    """An error of ours, and the place in a model or a plug-in that made it so."""
    cause, message = error.__cause__, error_message(error)
    place = "" if cause is None or isinstance(cause, IsonomiaError) else place_of(cause, owner)
    if not place or place.startswith("isonomia."):
        return message
    return msg("{error} (at {place})", error=message, place=place)
