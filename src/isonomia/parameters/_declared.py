"""Options as data: a parameter, the parameters of a function, and options read against them."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from isonomia.errors import SpecError, close_to
from isonomia.parameters._kind import Kind, Schema
from isonomia.parameters.other_words import renamed

P = ParamSpec("P")
R = TypeVar("R")


#: Of a default: there is none.
UNSET = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One option: its name, the kind of its values, its default and one line of help.

    >>> from isonomia.parameters import Integer
    >>> bins = Parameter("bins", Integer(2), 10, "how many bins a number is cut into")
    >>> bins.schema()
    {'type': 'integer', 'minimum': 2, 'default': 10, 'description': 'how many bins a number is cut into'}
    """

    name: str
    kind: Kind[Any]
    default: Any = None
    help: str = ""
    own: Any = UNSET
    """The default of the function whose option it is, where an entry has another one."""

    def schema(self) -> Schema:
        """The JSON schema of its values."""
        default = {} if plain(self.default) is None else {"default": plain(self.default)}
        return {**self.kind.schema(), **default, **({"description": self.help} if self.help else {})}

    def describe(self) -> dict[str, Any]:
        """What a listing shows: JSON values only."""
        own = {} if self.own is UNSET else {"function_default": plain(self.own)}
        return {"default": plain(self.default), **own, "takes": self.kind.expected, "help": self.help}


def plain(value: Any) -> Any:
    """A default as JSON can write it; None for an object."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return None


def _other_keywords(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names that ``**given: Unpack[Options]`` takes; none without such a parameter, None where any name is."""
    open_ended = [
        one for one in inspect.signature(function).parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD
    ]
    if not open_ended:
        return ()
    inner = typing.get_args(typing.get_type_hints(function).get(open_ended[0].name))
    return tuple(typing.get_type_hints(inner[0])) if inner and typing.is_typeddict(inner[0]) else None


def _by_position(signature: Mapping[str, inspect.Parameter]) -> tuple[list[str], int]:
    """The parameters that are given by position, without `self`, and how many values may be."""
    leading = [name for name, one in signature.items() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return [name for name in leading if name not in ("self", "cls")], len(leading)


def validated(**kinds: Kind[Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check arguments of a function against declared kinds before it runs.

    Each value arrives as plain Python. An unknown keyword is refused with the nearest name. The declarations are
    `parameters_of` the function.

    >>> from isonomia.parameters import Integer
    >>> @validated(bins=Integer(2))
    ... def histogram(values, *, bins=10):
    ...     return bins
    >>> histogram([1, 2], bins=1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `bins` must be a whole number of at least 2; got 1.
    >>> histogram([1, 2], bin=3)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `histogram` has no option 'bin'. Did you mean 'bins'?
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function).parameters
        names = tuple(signature)
        undeclared = [name for name in kinds if name not in signature]
        if undeclared:
            raise TypeError(f"{function.__qualname__} has no parameter {undeclared[0]!r} to validate")
        others = functools.cache(lambda: _other_keywords(function))
        leading, most = _by_position(signature)
        open_ended = any(one.kind is one.VAR_POSITIONAL for one in signature.values())
        owner = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            if not options.keys() <= signature.keys():
                known = others()
                options = renamed(options, (*names, *(known or ())))  # type: ignore[assignment]
                for name in options:
                    if name not in signature and known is not None and name not in known:
                        near = close_to(name, (*names, *known))
                        raise SpecError(f"`{owner}` has no option {name!r}.{near}")
            if len(args) > most and not open_ended:
                got = len(args) - most + len(leading)
                named = [f"{name}=" for name in names[most:]]
                raise SpecError(
                    f"`{owner}` takes {', '.join(leading)} by position; got {got} values. Give the others by name: "
                    f"{', '.join(named[:8])}{', ...' if len(named) > 8 else ''}"
                )
            for name, kind in kinds.items():
                if name in options:
                    options[name] = kind.check(name, options[name])
            if args:
                args = tuple(  # type: ignore[assignment]
                    kinds[name].check(name, value) if name in kinds else value
                    for name, value in zip((*names[:most], *[""] * len(args)), args, strict=False)
                )
            return function(*args, **options)

        checked.__kinds__ = kinds  # type: ignore[attr-defined]
        return checked

    return decorate


def parameters_of(function: Callable[..., Any], *names: str, **defaults: Any) -> tuple[Parameter, ...]:
    """The parameters that a `validated` function, or a class by its `__kinds__` or `__init__`, declares.

    All of them, or those named.

    Defaults come from the signature unless others are given (a default of None then allows None); the help is the
    text about the parameter in the docstring.
    """
    made = getattr(function, "__init__", None) if isinstance(function, type) else None
    kinds: Mapping[str, Kind[Any]] = getattr(function, "__kinds__", None) or getattr(made, "__kinds__", {})
    signature, texts = inspect.signature(function).parameters, docstring_help(function)
    found = []
    for name in names or kinds:
        kind = kinds[name]
        default = signature[name].default
        own: Any = UNSET
        if name in defaults:
            own = default if plain(default) != plain(defaults[name]) else UNSET
            default = defaults[name]
            kind = kind.or_none() if default is None else kind
        found.append(
            Parameter(name, kind, None if default is inspect.Parameter.empty else default, texts.get(name, ""), own)
        )
    return tuple(found)


_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$")


def docstring_help(function: Callable[..., Any]) -> dict[str, str]:
    """The first sentence about each parameter in a numpydoc docstring."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    try:
        start = lines.index("Parameters") + 2
    except ValueError:
        return {}
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for index in range(start, len(lines)):
        line = lines[index]
        if index + 1 < len(lines) and lines[index + 1].startswith("---"):
            break
        if line[:1].strip() and (entry := _ENTRY.match(line)):
            current = [name.lstrip("*") for name in entry[1].split(", ")]
            texts |= {name: [] for name in current}
        else:
            for name in current:
                texts[name].append(line.strip())
    return {name: _first_sentence(" ".join(part).strip()) for name, part in texts.items()}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;").replace("`", "").replace("``", "")


def read_options(
    parameters: Iterable[Parameter], given: Mapping[str, Any], *, owner: str, path: str = "", also: Sequence[str] = ()
) -> dict[str, Any]:
    """The options given as plain values, or one `SpecError` with everything that is wrong with them.

    Parameters
    ----------
    owner
        Whose options they are, in messages ("The check 'drift'").
    path
        What stands before a name in messages ("options.drift.").
    also
        Further names to suggest for one that is unknown.

    >>> from isonomia.parameters import Integer
    >>> read_options([Parameter("bins", Integer(2), 10)], {"bin": 3}, owner="The check 'drift'")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: The check 'drift' has no option 'bin'. Did you mean 'bins'?
    """
    known = {one.name: one for one in parameters}
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in given.items():
        try:
            if name not in known:
                options = f".{close_to(name, (*known, *also))}" if known or also else "; it has none."
                raise SpecError(f"{owner} has no option {name!r}{options}")
            values[name] = known[name].kind.check(f"{path}{name}", value)
        except SpecError as error:
            named = name not in known or not path or str(error).startswith(f"`{path}")
            problems += error.problems if named else [f"`{path}{name}`: {problem}" for problem in error.problems]
    if problems:
        raise gathered(problems)
    return values


def gathered(problems: Sequence[str]) -> SpecError:
    """One error of one or several problems."""
    if len(problems) == 1:
        return SpecError(problems[0])
    listed = "\n".join(f"  - {problem}" for problem in problems)
    return SpecError(f"{len(problems)} options are wrong:\n{listed}", problems)


def options_schema(parameters: Iterable[Parameter]) -> Schema:
    """The JSON schema of a mapping of options."""
    return {
        "type": "object",
        "properties": {one.name: one.schema() for one in parameters},
        "additionalProperties": False,
    }


def defaults_of(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Every default by its name."""
    return {one.name: one.default for one in parameters}
