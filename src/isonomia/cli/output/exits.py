"""How a command ends: exit codes, and the message when something went wrong.

0 meets the policy, 1 exceeds it, 2 bad input or spec, 3 not enough evidence, 4 nothing was evaluated, 5 internal error.
The first, second, fourth and fifth come from a verdict (`isonomia.audit` decides); the others from here, and 130 where
the user interrupts with Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import typer

from isonomia.cli.output.reader import reader_language
from isonomia.errors import Cancelled, InternalError, IsonomiaError
from isonomia.languages import error_text

BAD_INPUT = 2
INTERNAL = 5
#: As shells report a process that was interrupted: never a verdict.
INTERRUPTED = 130
#: A disk that is full or fails is nobody's wrong input.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else []))


@contextmanager
def guarded() -> Iterator[None]:
    """Turn every error into a message on stderr and its exit code; a traceback only with ISONOMIA_TRACEBACK=1.

    Warnings are their text alone.
    """
    shown = warnings.showwarning
    warnings.showwarning = _warned
    try:
        yield
    except (Cancelled, KeyboardInterrupt) as error:
        raise _end("Interrupted: the work was ended before it was finished.", INTERRUPTED) from error
    except InternalError as error:
        raise _end(str(error), INTERNAL) from error
    except IsonomiaError as error:
        raise _end(str(error), BAD_INPUT) from error
    except OSError as error:
        code = INTERNAL if error.errno in FULL else BAD_INPUT
        raise _end(f"{error.strerror or error}: '{error.filename or '?'}'.", code) from error
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if type(error).__module__.startswith("typer"):
            raise _misused(error) from error
        message = f"Internal error in Isonomia: {type(error).__name__}: {error}"
        raise _end(f"{message}\nSet ISONOMIA_TRACEBACK=1 to see where it happened.", INTERNAL) from error
    finally:
        warnings.showwarning = shown


def _warned(message: Warning | str, *_: Any, **__: Any) -> None:
    from isonomia.cli.output.screen import printable

    sys.stderr.write(f"{printable(error_text(str(message), reader_language()), lines=True)}\n")


def _misused(error: Any) -> Exception:
    """A usage error of typer's in our words, which typer shows itself in English and we in other languages."""
    from isonomia.config_files import plainly

    if isinstance(getattr(error, "message", None), str):
        error.message = plainly(error.message)
    if reader_language() == "en" or not hasattr(error, "show"):
        return error  # type: ignore[no-any-return]
    buffer = StringIO()
    error.show(buffer)
    return _end(buffer.getvalue().rstrip("\n"), error.exit_code)


def _end(message: str, code: int) -> typer.Exit:
    from isonomia.cli.output.screen import printable

    if os.environ.get("ISONOMIA_TRACEBACK") == "1":
        traceback.print_exc()
    sys.stderr.write(f"{printable(error_text(message, reader_language()), lines=True)}\n")
    return typer.Exit(code)
