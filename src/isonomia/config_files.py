"""Mappings as people write them: JSON and YAML files read safely, and every mistake in them named with its location."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, Tag, ValidationError

from isonomia.errors import SpecError, close_to

#: A file larger than this is refused.
MAX_BYTES = 1 << 20
#: A content of more values, or nested more deeply, is refused before anything else looks at it.
MAX_VALUES, MAX_DEPTH = 50_000, 100
#: A whole number of more digits is refused: what it is compared with, and messages about it, would take for ever.
MAX_DIGITS = 400

M = TypeVar("M", bound=BaseModel)


def path_of(name: str | os.PathLike[str]) -> Path:
    """The path that a text names; an error where no file can be there: a false home, a name too long, a null.

    >>> path_of("spec.yaml").name
    'spec.yaml'
    """
    try:
        path = Path(name).expanduser()
        os.lstat(path)
    except FileNotFoundError:
        return path
    except (OSError, ValueError, RuntimeError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise SpecError(f"{str(name)!r:.200} is not a path of a file: {cause}.") from None
    return path


def read_mapping(path: Path) -> dict[str, Any]:
    """A mapping from a JSON or YAML file, of bounded size; YAML is read without building any object.

    A key that stands twice is refused, and so are YAML's aliases. Of YAML's words only ``true`` and ``false`` are
    booleans: ``yes`` and ``no`` are texts, as they are in most data.
    """
    as_json = path.suffix == ".json"
    raw = _content(path)
    try:
        text = raw.decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_once) if as_json else yaml.load(text, Loader=_Plain)
    except (UnicodeDecodeError, ValueError, yaml.YAMLError, RecursionError) as error:
        cause = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise SpecError(f"{str(path)!r} cannot be read as {'JSON' if as_json else 'YAML'}: {cause}") from None
    if not isinstance(content, dict):
        raise SpecError(f"{str(path)!r} must hold a mapping of keys to values; it holds {type(content).__name__}.")
    return {str(key): value for key, value in plain(content).items()}


def plain(content: Mapping[Any, Any]) -> dict[Any, Any]:
    """The content as plain dicts, lists and texts, of bounded size and depth; whatever kind of mapping it comes in.

    Each mapping is read once, so that everybody after this sees the same values; other objects stay as they are.
    """
    left = iter(range(MAX_VALUES))

    def copied(value: Any, depth: int) -> Any:
        if next(left, None) is None:
            raise SpecError(f"The content holds more than {MAX_VALUES:,} values; a spec is a short text.")
        if isinstance(value, str):
            return str.__str__(value)  # one of a subclass may answer differently each time
        if not isinstance(value, Mapping | list | tuple):
            if isinstance(value, int) and value.bit_length() > MAX_DIGITS * 4:
                raise SpecError(f"A whole number has more than {MAX_DIGITS} digits; no option takes one.")
            return value
        if depth == MAX_DEPTH:
            raise SpecError(f"The content is nested more than {MAX_DEPTH} levels deep, or holds itself.")
        if isinstance(value, Mapping):
            pairs = list(_first_of(value.items()))
            return {copied(key, depth + 1): copied(item, depth + 1) for key, item in pairs}
        return [copied(item, depth + 1) for item in _first_of(value)]

    try:
        found: dict[Any, Any] = copied(content, 0)
    except SpecError:
        raise
    except (Exception, SystemExit) as error:  # a mapping that somebody wrote may do anything when it is read
        raise SpecError(f"The content cannot be read: {type(error).__name__} from {type(content).__name__}.") from error
    return found


def _first_of(items: Iterable[Any]) -> Iterator[Any]:
    """So many items that one too many is seen; a content may never end."""
    return islice(items, MAX_VALUES + 1)


def _content(path: Path) -> bytes:
    """The bytes of a regular file, at most `MAX_BYTES`; a device or a pipe is never waited for."""
    try:
        if not path.is_file():
            raise SpecError(f"{str(path)!r} is not a file; give one in JSON or YAML.")
        with contextlib.closing(os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb")) as file:
            raw: bytes = file.read(MAX_BYTES + 1) or b""
    except (OSError, ValueError) as error:
        raise SpecError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if len(raw) > MAX_BYTES:
        raise SpecError(f"{str(path)!r} is larger than {MAX_BYTES:,} bytes; a spec is a short text.")
    return raw


def read_value(text: str) -> Any:
    """One value as a YAML file would hold it: a number, true, a text, a short list.

    >>> read_value("0.5"), read_value("[a, b]"), read_value("yes")
    (0.5, ['a', 'b'], 'yes')
    """
    try:
        return yaml.load(text, Loader=_Plain)
    except (ValueError, yaml.YAMLError, RecursionError):
        raise SpecError(f"{text!r:.80} cannot be read as a value; put quotes around a text.") from None


def validated(model: type[M], content: Mapping[str, Any], where: str, *, also: Sequence[str] = ()) -> M:
    """A pydantic model of the content, or one error with all problems, each with its path.

    `also` names keys that are allowed at the top and were taken out before; they are offered as close matches.
    """
    try:
        return model.model_validate(plain(content))
    except ValidationError as error:
        found = [{**item, "loc": _without_tags(item["loc"], content), "tags": item["loc"]} for item in error.errors()]
        raise problems_of([_problem(item, model, also) for item in found if not _follows(item, found)], where) from None


def problems_of(problems: Sequence[str], where: str) -> SpecError:
    """One error that lists all problems."""
    listed = "\n".join(f"  - {problem}" for problem in problems)
    return SpecError(f"{where[0].upper()}{where[1:]} is not valid:\n{listed}", problems)


class _Plain(yaml.SafeLoader):
    """YAML without surprises."""

    composed = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.composed += 1
        if self.composed > MAX_VALUES:
            raise yaml.YAMLError(f"it holds more than {MAX_VALUES:,} values; a spec is a short text")
        if self.check_event(yaml.AliasEvent):  # a few of them can unfold to more than memory holds
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"aliases (*{event.anchor}) are not allowed; write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        _once([(key.value, None) for key, _ in node.value if isinstance(key, yaml.ScalarNode)])
        return super().construct_mapping(node, deep)


def _whole_number(loader: Any, node: Any) -> int:
    if len(node.value) > MAX_DIGITS:
        raise yaml.YAMLError(f"a whole number has more than {MAX_DIGITS} digits")
    found: int = loader.construct_yaml_int(node)
    return found


_Plain.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Plain.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Plain.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def _once(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"the key {key!r} appears twice")
        out[key] = value
    return out


def _without_tags(location: Sequence[Any], content: Any) -> tuple[Any, ...]:
    """Where a problem is, without the names of kinds that pydantic puts between the keys of a content.

    >>> _without_tags(("rules", 0, "metric", "at_least"), {"rules": [{"metric": "tpr", "at_least": "high"}]})
    ('rules', 0, 'at_least')
    """
    path: list[Any] = []
    for index, part in enumerate(location):
        if isinstance(content, Mapping):
            inside = content.get(part)
            if index + 1 < len(location) and not isinstance(inside, Mapping | list | tuple):
                continue
        else:
            inside = content[part] if isinstance(content, list | tuple) and isinstance(part, int) else None
        path.append(part)
        content = inside
    return tuple(path)


def _follows(item: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a list is too short only because what it holds is wrong."""
    own = item["loc"]
    inside = any(len(other["loc"]) > len(own) and other["loc"][: len(own)] == own for other in found)
    return item["type"] == "too_short" and inside


def _problem(item: Any, model: type[BaseModel], also: Sequence[str]) -> str:
    location = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = [*_keys_at(model, item["loc"][:-1], item["tags"]), *(also if len(item["loc"]) == 1 else ())]
        return f"Unknown key `{location}` in the spec.{close_to(item['loc'][-1], known)}"
    if item["type"] == "missing":
        return f"`{location}` is missing."
    if item["type"] == "value_error":
        return f"`{location}`: {item['ctx']['error']}" if location else str(item["ctx"]["error"])
    got = item.get("input")
    shown = f"; got {got!r:.80}" if isinstance(got, str | int | float | bool | None) else ""
    requirement = plainly(item["msg"])
    if requirement == item["msg"]:
        return f"`{location}` is not valid ({requirement}){shown}."
    return f"`{location}` {requirement}{shown}."


#: What pydantic says, and how we say it.
_PLAIN = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"Input should be a valid integer.*", "must be a whole number"),
        (r"Input should be a valid number.*", "must be a number"),
        (r"Input should be a valid string", "must be a text"),
        (r"Input should be a valid boolean.*", "must be true or false"),
        (r"Input should be a valid (?:list|tuple)", "must be a list"),
        (r"Input should be a valid dictionary.*", "must be a mapping of keys to values"),
        (r"Input is not a valid path.*", "must be a path"),
        (r"Input should be greater than or equal to (.+)", r"must be at least \1"),
        (r"Input should be less than or equal to (.+)", r"must be at most \1"),
        (r"Input should be (.+)", r"must be \1"),
        (r"(?:List|Tuple) should have at least (\d+) items? after validation, not (\d+)", r"needs at least \1, has \2"),
        (r"(?:List|Tuple) should have at most (\d+) items? after validation, not (\d+)", r"takes at most \1, has \2"),
        (r"String should have at (least|most) (\d+) characters?", r"must have at \1 \2 characters"),
        (r"String should match pattern (.+)", r"must match the pattern \1"),
        (r"Value error, (.+)", r"\1"),
    )
)


def plainly(text: str) -> str:
    """A text of pydantic in our words.

    >>> plainly("Input should be a valid integer, unable to parse string as an integer")
    'must be a whole number'
    >>> plainly("Tuple should have at least 1 item after validation, not 0")
    'needs at least 1, has 0'
    """
    for pattern, plain in _PLAIN:
        if (found := pattern.fullmatch(text)) is not None:
            return found.expand(plain)
    return text


def _keys_at(model: type[BaseModel], location: tuple[Any, ...], tags: Collection[Any]) -> list[str]:
    """The keys of the model at a place; of several models there, those of the one that pydantic's tag names."""
    current: Any = model
    for part in location:
        field = current.model_fields.get(part) if isinstance(part, str) and hasattr(current, "model_fields") else None
        if field is not None:
            models = _models(field.annotation)
            current = next((one for tag, one in models if tag in tags), models[0][1] if models else current)
    return list(getattr(current, "model_fields", {}))


def _models(annotation: Any, tag: Any = None) -> list[tuple[Any, type[BaseModel]]]:
    """The models within an annotation, each with its tag."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(tag, annotation)]
    tags = [one.tag for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Tag)]
    return [found for part in get_args(annotation) for found in _models(part, tags[0] if tags else tag)]
