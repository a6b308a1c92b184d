"""A study as a file: datasets of one's own by path, models and measures of one's own as module:name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isonomia.config_files import problems_of, read_mapping
from isonomia.data import is_database, read
from isonomia.errors import IsonomiaError, SpecError, close_to
from isonomia.models import TRUST, Trust, import_object
from isonomia.models.estimators import LIBRARIES
from isonomia.parameters import validated
from isonomia.study.running import run_study


@validated(trust=TRUST)
def read_study_spec(path: str | os.PathLike[str], *, trust: bool | Sequence[str] | Trust = False) -> dict[str, Any]:
    """The options of `run_study` from a YAML or JSON file, with datasets read and models and measures imported.

    ``datasets`` and ``models`` and ``measures`` are lists of names, or mappings: an entry without a value is one of the
    study's own; a dataset is a mapping with ``path`` and roles (as in `isonomia.read`); a model or measure is
    ``module:name``. A path is relative to the file. All problems are raised together.

    Parameters
    ----------
    path : path
        The file.
    trust : bool, or sequence of str
        Whether to import the models and measures that the file names, and connect to the databases: True allows modules
        below the working folder, estimators of known libraries and any database; names allow only these modules,
        wherever they are, and addresses.

    Raises
    ------
    SpecError
        Where the file names an option that does not exist, or something in it cannot be read or imported, or may not
        be without the word of the caller.
    """
    source = Path(path)
    if not source.is_file():
        raise SpecError(f"There is no file {str(source)!r}; name a YAML or JSON file with the options of the study.")
    options = read_mapping(source)
    allowed = [name for name in inspect.signature(run_study).parameters if name not in ("folder", "progress")]
    problems = [f"There is no option {name!r}.{close_to(name, allowed)}" for name in options if name not in allowed]
    word = Trust.given(trust).asked_by("study")
    if word.everything:
        word = replace(word, names=(*word.names, *LIBRARIES))
    readers = {"datasets": _dataset, "models": import_object, "measures": import_object}
    for name, reader in readers.items():
        if isinstance(options.get(name), Mapping):
            options[name] = _entries(options[name], name, reader, (source.parent, word), problems)
    if problems:
        raise problems_of(problems, f"the study in {source.name!r}")
    if options.get("paper") is not None:
        options["paper"] = source.parent / str(options["paper"])
    return options


def _entries(
    given: Mapping[str, Any], kind: str, reader: Any, place: tuple[Path, Trust], problems: list[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            found[str(name)] = None if value is None else _read(reader, kind, value, *place)
        except (IsonomiaError, TypeError) as error:
            problems.append(f"{kind}.{name}: {error}")
    return found


def _read(reader: Any, kind: str, value: Any, folder: Path, word: Trust) -> Any:
    if kind == "datasets":
        return reader(value, folder, word)
    if not isinstance(value, str) or ":" not in value:
        raise SpecError(f"must be 'module:name'; got {value!r}")
    return reader(value, word)


def _dataset(value: Any, folder: Path, word: Trust) -> Any:
    if not isinstance(value, Mapping) or not isinstance(value.get("path"), str):
        raise SpecError(f"must be a mapping with 'path' and the roles of columns; got {value!r:.80}")
    roles = {str(name): one for name, one in value.items() if name != "path"}
    if is_database(value["path"]):
        word.allow_address(value["path"])
        return read(value["path"], **roles)
    return read(str(folder / value["path"]), **roles)
