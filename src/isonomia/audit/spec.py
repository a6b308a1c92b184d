"""Specs: a whole audit as a mapping, a JSON or a YAML file; every mistake is named with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from isonomia.errors import SpecError, close_to

#: A spec file larger than this is refused.
MAX_SPEC_BYTES = 1 << 20

M = TypeVar("M", bound=BaseModel)


class DataSpec(BaseModel):
    """The data of an audit: where it is, and what its columns are for (the options of `Dataset` and `read`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str | None = None
    catalog: str | None = None
    target: str | None = None
    positive: Any = None
    protected: list[str] | dict[str, Any] = Field(default_factory=list)
    privileged: dict[str, Any] = Field(default_factory=dict)
    prediction: str | None = None
    score: str | list[str] | dict[str, str] | None = None
    weight: str | None = None
    time: str | None = None
    features: list[str] | None = None
    kinds: dict[str, str] | None = None
    task: Literal["binary", "multiclass", "regression"] | None = None
    name: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    na_values: list[str] | None = None


class ModelSpec(BaseModel):
    """The model of an audit: a file or ``module:callable``, and whether it is trusted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    trust: bool = False


class Spec(BaseModel):
    """A whole audit.

    `dataset` and `model` may be given as plain paths; those in a file are relative to it. `out`, a folder to write the
    report to, is relative to where the audit is run. `options` holds options of single checks, by their code.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str | None = None
    dataset: DataSpec
    model: ModelSpec | None = None
    checks: str | list[str] = "standard"
    policy: str | dict[str, Any] | None = None
    seed: int = 0
    n_boot: int = Field(default=1000, ge=0, le=100_000)
    level: float = Field(default=0.95, gt=0, lt=1)
    min_per_group: int = Field(default=30, ge=1)
    missing: Literal["group", "exclude", "error"] = "group"
    reference: str | dict[str, Any] | None = None
    language: str = "en"
    out: str | None = None
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)


#: Options of the data that may stand at the top of a spec, beside `dataset`.
_LIFTED = ("target", "positive", "protected", "privileged", "prediction", "score", "weight", "time", "task", "features")


def read_spec(spec: str | Path | Mapping[str, Any] | Spec) -> Spec:
    """A spec from a mapping, or from a JSON or YAML file; paths in a file are relative to it.

    Raises
    ------
    SpecError
        With every problem, each named with its path.
    """
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, Mapping):
        return validated(Spec, _lifted(spec), "the spec")
    path = Path(spec).expanduser()
    if not path.is_file():
        near = [str(item.name) for item in path.parent.glob("*") if item.suffix in (".yaml", ".yml", ".json")]
        raise SpecError(f"There is no spec file {str(spec)!r}.{close_to(path.name, near) if near else ''}")
    content = validated(Spec, _lifted(read_mapping(path)), str(path))
    return _relative_to(content, path.parent)


def read_mapping(path: Path) -> dict[str, Any]:
    """A mapping from a JSON or YAML file, of bounded size; YAML is read without building any object."""
    if path.stat().st_size > MAX_SPEC_BYTES:
        raise SpecError(f"{str(path)!r} is larger than {MAX_SPEC_BYTES:,} bytes; a spec is a short text.")
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=_NoAliases)
    except (UnicodeDecodeError, json.JSONDecodeError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise SpecError(
            f"{str(path)!r} cannot be read as {'JSON' if path.suffix == '.json' else 'YAML'}: {told}"
        ) from None
    if not isinstance(content, dict):
        raise SpecError(f"{str(path)!r} must hold a mapping of keys to values; it holds {type(content).__name__}.")
    return {str(key): value for key, value in content.items()}


def validated(model: type[M], content: Mapping[str, Any], where: str) -> M:
    """A pydantic model of the content, or one error with all problems, each with its path."""
    try:
        return model.model_validate(dict(content))
    except ValidationError as error:
        problems = [_problem(item, model) for item in error.errors()]
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise SpecError(f"{where[0].upper()}{where[1:]} has {len(problems)} problem(s):\n{listed}", problems) from None


class _NoAliases(yaml.SafeLoader):
    """YAML without aliases: a few of them can unfold to more than memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"aliases (*{event.anchor}) are not allowed; write the value out")
        return super().compose_node(parent, index)


def _lifted(content: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(content)
    data = out.get("dataset")
    if isinstance(data, str):
        data = {"path": data}
    if isinstance(data, Mapping):
        up = {key: out.pop(key) for key in _LIFTED if key in out}
        out["dataset"] = {**data, **up}
    if isinstance(out.get("model"), str):
        out["model"] = {"path": out["model"]}
    return out


def _relative_to(spec: Spec, folder: Path) -> Spec:
    def there(name: str) -> str:
        path = Path(name).expanduser()
        return str(path if path.is_absolute() else folder / path)

    changes: dict[str, Any] = {}
    if spec.dataset.path is not None:
        changes["dataset"] = spec.dataset.model_copy(update={"path": there(spec.dataset.path)})
    if spec.model is not None and (folder / spec.model.path).is_file():
        changes["model"] = spec.model.model_copy(update={"path": there(spec.model.path)})
    if isinstance(spec.policy, str) and (folder / spec.policy).is_file():
        changes["policy"] = there(spec.policy)
    return spec.model_copy(update=changes)


def _problem(item: Mapping[str, Any], model: type[BaseModel]) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = _keys_at(model, item["loc"][:-1])
        return f"`{place}` is no key of a spec.{close_to(item['loc'][-1], known)}"
    if item["type"] == "missing":
        return f"`{place}` is missing."
    got = item.get("input")
    shown = f"; got {got!r}" if isinstance(got, str | int | float | bool | None) else ""
    return f"`{place}`: {item['msg']}{shown}."


def _keys_at(model: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    current: Any = model
    for part in place:
        field = current.model_fields.get(part) if isinstance(part, str) and hasattr(current, "model_fields") else None
        options = getattr(field.annotation, "__args__", (field.annotation,)) if field is not None else ()
        current = next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), current)
    return list(getattr(current, "model_fields", {}))
