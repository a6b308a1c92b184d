"""Every error a user can meet.

The tree::

    IsonomiaError
    ├── DataError              a table, a column or an array is not what it should be
    │   └── SourceError        the source of the rows stopped answering: an audit keeps what it had finished
    ├── ModelError             a model cannot be loaded or does not answer as it should
    │   └── UntrustedError     a model file would have to be trusted and was not
    ├── SpecError              options or a spec are wrong (all problems together in `.problems`)
    ├── UnknownName            a module or an object has no such name; also an AttributeError
    ├── AuditFailed            an audit does not meet its policy; also an AssertionError, for tests
    ├── StoreError             a store cannot be opened, read or written
    │   └── LeaseLost          somebody else works on what was claimed
    ├── NotApplicable          the question has no answer for this input; `.reason` says why
    ├── MissingExtraError      an optional package is needed; names its install command
    ├── InternalError          the program itself failed in a part of its work; the message says what was kept
    └── Cancelled              the caller ended the work before it was finished

A message says what was found, what was expected and what to do.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any


class IsonomiaError(Exception):
    """Base of all errors raised on purpose by this package."""


class DataError(IsonomiaError, ValueError):
    """A table, a column or an array is not what it should be."""


class SourceError(DataError):
    """The source of the rows stopped answering: a lost connection, a full disk. An audit asks no further."""


class ModelError(IsonomiaError):
    """A model cannot be loaded, or does not answer as it should."""


class UntrustedError(ModelError):
    """A model file would have to be trusted to be loaded, and was not."""


class SpecError(IsonomiaError, ValueError):
    """Options or a spec are wrong; `problems` lists every one of them."""

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems) or (message,)
        super().__init__(message)


class UnknownName(IsonomiaError, AttributeError):  # noqa: N818  what happened
    """A module or an object has no such name; the message says what to write instead, where that is known."""


class BudgetError(SpecError):
    """The budget given is too small for the question: allow more, or ask about less. An audit goes on without it."""


class AuditFailed(IsonomiaError, AssertionError):  # noqa: N818  what happened
    """An audit does not meet its policy; the message lists the criteria."""


class StoreError(IsonomiaError):
    """A store cannot be opened, read or written as asked; nothing that it holds is lost."""


class LeaseLost(StoreError):  # noqa: N818  what happened to the lease
    """What was claimed from a store belongs to somebody else by now: its lease ran out."""


class NotApplicable(IsonomiaError):  # noqa: N818  a statement, not a fault
    """The question has no answer for this input.

    >>> raise NotApplicable("there is no positive label in the group")
    Traceback (most recent call last):
    ...
    isonomia.errors.NotApplicable: there is no positive label in the group

    `reason` is the English text. `message` is what was given: a text, or a `Message` that a report translates.
    """

    message: Any

    def __init__(self, reason: object) -> None:
        self.message = reason
        self.reason = str(reason)
        super().__init__(self.reason)


class Cancelled(IsonomiaError):  # noqa: N818  what the caller asked for, not a fault
    """The caller ended the work before it was finished; see `isonomia.Progress`."""

    def __init__(self, message: str = "The work was cancelled before it was finished.") -> None:
        super().__init__(message)


class MissingExtraError(IsonomiaError, ImportError):
    """An optional package is needed and is not installed, or does not import."""


class InternalError(IsonomiaError):
    """The program failed in a part of its work, through no fault of what it was given; what was finished is kept."""


#: What a part of the work may raise that costs this part alone: all but what ends a program on purpose. A model or a
#: plug-in may call `sys.exit`, which is not for it to decide.
FAULTS = (Exception, SystemExit)


def place_of(error: BaseException, owner: str = "") -> str:
    """Where an error arose: module and line of the innermost code of this package, of a model or of a plug-in.

    Code of the standard library and of other installed packages is passed over, since it only did what it was asked;
    `owner` is a module whose package is not.

    >>> try:
    ...     nearest(1, None)
    ... except TypeError as error:
    ...     print(place_of(error).rstrip("0123456789"))
    isonomia.errors:
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    own = {"isonomia", owner.partition(".")[0]}
    found = next(((frame, line) for frame, line in reversed(frames) if _is_ours(frame, own)), None)
    return "" if found is None else f"{found[0].f_globals.get('__name__', '?')}:{found[1]}"


def _is_ours(frame: FrameType, own: set[str]) -> bool:
    module, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
    package = module.partition(".")[0]
    if package in own:
        return True
    installed = (sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    known = package in sys.stdlib_module_names or file.startswith(tuple(installed))
    return not known and (Path(file).is_absolute() or module == "__main__")


def kind_of(error: BaseException) -> str:
    """The type of an error and the first line of its text, which may be long or empty.

    >>> kind_of(ZeroDivisionError("division by zero")), kind_of(MemoryError())
    ('ZeroDivisionError: division by zero', 'MemoryError')
    """
    try:
        text = next(iter(str(error).splitlines()), "")[:LONGEST_TEXT]
    except Exception:  # the error of a model may fail to say what it is
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


#: A longer text of somebody else's error is cut.
LONGEST_TEXT = 500


def show_trace(error: BaseException) -> None:
    """Print where an error arose in full, for those who set ISONOMIA_TRACEBACK=1."""
    if os.environ.get("ISONOMIA_TRACEBACK") == "1":
        traceback.print_exception(error)


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    >>> require("no_such_package", extra="onnx", purpose="reading ONNX models")
    Traceback (most recent call last):
    ...
    isonomia.errors.MissingExtraError: reading ONNX models needs the package 'no_such_package', which could \
not be imported (No module named 'no_such_package'). Install it with: pip install 'isonomia[onnx]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"{purpose} needs the package '{package}', which could not be imported ({error}). "
            f"Install it with: pip install 'isonomia[{extra}]'"
        ) from error


def nearest(word: object, choices: Iterable[object]) -> list[str]:
    """The choices most similar to a word, at most three; an empty list where none is similar.

    >>> nearest("gendr", ["age", "gender"])
    ['gender']
    """
    return difflib.get_close_matches(str(word), [str(choice) for choice in choices], n=3, cutoff=0.6)


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """A question that names the nearest choices, or nothing where none is similar.

    >>> did_you_mean("gendr", ["age", "gender"]), did_you_mean("x", ["age", "gender"])
    (" Did you mean 'gender'?", '')
    """
    names = [f"'{name}'" for name in nearest(word, choices)]
    return f" Did you mean {' or '.join(names)}?" if names else ""


def close_to(word: object, choices: Iterable[object]) -> str:
    """A sentence that names the nearest choices, or all of them when none is similar.

    >>> close_to("gendr", ["age", "gender"])
    " Did you mean 'gender'?"
    >>> close_to("x", ["age", "gender"])
    " Available: 'age', 'gender'."
    """
    names = [str(choice) for choice in choices]
    if question := did_you_mean(word, names):
        return question
    if not names:
        return " None is available."
    listed = ", ".join(f"'{name}'" for name in names[:12])
    return f" Available: {listed}{f' and {len(names) - 12} more' if len(names) > 12 else ''}."
