"""The public names of the package and of every room, against a checked-in list, and the page that describes them.

`make exports` (or ``python tests/test_exports.py``) writes both again; the list's diff shows what a change gives to
users or takes from them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import isonomia

LIST = Path(__file__).with_name("exports.txt")
PAGE = Path(__file__).parents[1] / "docs" / "api.md"


def rooms() -> list[str]:
    """The package and its rooms: directories directly below it that Python can import."""
    found = (info.name for info in pkgutil.iter_modules(isonomia.__path__) if info.ispkg)
    return ["isonomia", *(f"isonomia.{name}" for name in sorted(found))]


def exported() -> list[str]:
    """Every public name, as ``room.name``, in order."""
    return sorted(f"{room}.{name}" for room in rooms() for name in importlib.import_module(room).__all__)


def test_exported_names_are_the_listed_ones() -> None:
    listed, found = set(LIST.read_text(encoding="utf-8").split()), set(exported())
    assert found == listed, (
        f"new: {sorted(found - listed)}; gone: {sorted(listed - found)}. "
        "If this is meant, run: python tests/test_exports.py"
    )


def test_every_exported_name_is_there() -> None:
    missing = [
        f"{room}.{name}"
        for room in rooms()
        for name in importlib.import_module(room).__all__
        if not hasattr(importlib.import_module(room), name)
    ]
    assert not missing


def summary(thing: object) -> str | None:
    """The first line of an object's own docstring; None for constants and types that have none."""
    documented = inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)
    text = inspect.getdoc(thing) if documented else None
    return text.splitlines()[0] if text else None


def call(name: str, thing: object) -> str:
    """How it is called: a function with its parameters and short defaults; a class with at most twelve of them."""
    try:
        parameters = [one for one in inspect.signature(thing).parameters.values() if one.name != "self"]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    if inspect.isclass(thing) and not 0 < len(parameters) <= 12:
        return name
    shown, starred = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        plain = one.default is None or isinstance(one.default, bool | int | float | str)
        default = "" if one.default is one.empty else f"={one.default!r}" if plain else "=..."
        shown.append(f"{stars}{one.name}{default}")
    return f"{name}({', '.join(shown)})"


def cell(text: str) -> str:
    """A text as a cell of a Markdown table."""
    return text.replace("\\|", "|").replace("|", "\\|")


def page() -> str:
    """Every public class and function with its parameters and the first line of its docstring, by room."""
    lines = [
        "# Public names",
        "",
        "Written from signatures and docstrings by `make exports`. `help(iso.fairness.group_metrics)` shows one whole:",
        "parameters, formula, what its interval assumes, an example that runs.",
    ]
    for room in rooms():
        module = importlib.import_module(room)
        things = {name: getattr(module, name) for name in module.__all__ if not name.startswith("_")}
        lines += ["", f"## `{room}`", "", (summary(module) or "").strip(), "", "| name | what it is |", "|---|---|"]
        lines += [
            f"| `{cell(call(name, thing))}` | {cell(text)} |"
            for name, thing in things.items()
            if (text := summary(thing))
        ]
    return "\n".join(lines).replace("``", "`") + "\n"


def test_the_page_of_names_is_written_from_docstrings() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/api.md is out of date: run `make exports`"


def test_every_public_function_says_what_it_is() -> None:
    silent = [
        f"{room}.{name}"
        for room in rooms()
        for name in importlib.import_module(room).__all__
        if inspect.isroutine(thing := getattr(importlib.import_module(room), name)) and not summary(thing)
    ]
    assert not silent


if __name__ == "__main__":
    LIST.write_text("\n".join(exported()) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{LIST.name}: {len(exported())} names\n")
