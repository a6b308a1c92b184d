"""Templates of texts: literal parts with gaps, which are named after what fills them in the source."""

from __future__ import annotations

import ast
import itertools
import string
from collections import defaultdict
from collections.abc import Sequence

Part = tuple[str, str | None]  # a literal, or the name of a gap and its format

#: Functions and methods that change how a value is written, not what it is.
_FUNCTIONS = frozenset(
    [
        "str",
        "repr",
        "sorted",
        "list",
        "set",
        "tuple",
        "min",
        "max",
        "int",
        "float",
        "dict",
        "next",
        "round",
        "map",
        "sum",
        "printable",
        "unquote",
        "_printable",
        "_unquote",
    ]
)
_METHODS = frozenset(
    "rstrip strip lower upper item replace tolist hide splitlines decode sum min max get".split()  # noqa: SIM905
)


def shape(template: str) -> tuple[str, ...]:
    """A template without the names of its gaps: what the text of an error is compared with."""
    parts: list[str] = []
    for literal, name, form, _ in string.Formatter().parse(template):
        parts += [literal] if name is None else [literal, f"\0{form}"]
    runs = itertools.groupby(filter(None, parts), key=lambda part: part.startswith("\0"))
    return tuple(part for gap, run in runs for part in ([*run] if gap else ["".join(run)]))


def gap_name(node: ast.expr) -> str:
    """A readable name for what fills a gap."""
    match node:
        case ast.Name(id=name):
            return name.strip("_")
        case ast.Attribute(value=ast.Call(func=ast.Name(id="type"), args=[value]), attr="__name__"):
            return f"type_of_{gap_name(value)}"
        case ast.Attribute(value=value, attr="__name__"):
            return gap_name(value)
        case ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            return f"n_{gap_name(value)}"
        case ast.Call(func=ast.Name(id="close_to" | "did_you_mean")):
            return "suggestion"
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[value]):
            return gap_name(value)
        case ast.Call(func=ast.Name(id=name), args=[*_, value]) if name in _FUNCTIONS:
            return gap_name(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _METHODS:
            return gap_name(value)
        case ast.Call(func=function):
            return name_of(function).strip("_")
        case ast.GeneratorExp(generators=[first, *_]) | ast.ListComp(generators=[first, *_]):
            return gap_name(first.iter)
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.FormattedValue(value=value):
            return gap_name(value)
        case ast.BinOp(left=value) | ast.IfExp(body=value) | ast.BoolOp(values=[value, *_]):
            return gap_name(value)
        case ast.JoinedStr(values=values):
            return next((gap_name(value) for value in values if isinstance(value, ast.FormattedValue)), "part")
    return "part"


def name_of(function: ast.expr) -> str:
    """The name of what is called."""
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def template_of(parts: Sequence[Part]) -> str:
    """The template of a text; gaps that touch are one, since nothing tells where one ends and the other begins."""
    taken: dict[str, int] = defaultdict(int)
    out: list[str] = []
    touching = False
    for index, (text, form) in enumerate(parts):
        if form is None:
            out.append(text.replace("{", "{{").replace("}", "}}"))
            touching = touching and not text
            continue
        if touching:
            continue
        touching = True
        if index == len(parts) - 1 and out and out[-1].endswith("."):
            text = "suggestion"
        taken[text] += 1
        name = text if taken[text] == 1 else f"{text}_{taken[text]}"
        out.append(f"{{{name}:{form}}}" if form else f"{{{name}}}")
    return "".join(out)
