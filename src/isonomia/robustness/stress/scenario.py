"""What a scenario is, the registry of all of them, and how a caller names the ones to play."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from isonomia.data import Task
from isonomia.errors import SpecError
from isonomia.languages import Message, msg
from isonomia.metrics.applicable import not_for
from isonomia.parameters import (
    Anything,
    Kind,
    Number,
    Parameter,
    Schema,
    Unfit,
    options_schema,
    parameters_of,
    read_options,
)
from isonomia.registry import Registry
from isonomia.robustness.stress.situation import Situation

Need = Literal["model", "time", "attributes", "ranking", "decisions", "features"]
ALL_TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")
#: ``change(now, rng, level, **options)``: the situation of one trial.
Change = Callable[..., Situation]


@dataclass(frozen=True)
class Scenario:
    """One way in which the world may differ from the data.

    Attributes
    ----------
    id, purpose, title
        The name in code and specs, one line on what it does, the heading in a report.
    change : callable
        ``change(now, rng, level, **options) -> Situation``: one trial. Level 0 changes nothing. Raises `NotApplicable`
        where it has no answer.
    level : float
        How strong it is unless the caller says otherwise; what that means stands in `unit`.
    most : float
        The strongest level there is.
    unit : Message, optional
        What the level is a number of.
    tasks : tuple of "binary", "multiclass", "regression"
    needs : tuple of "model", "time", "attributes", "ranking", "decisions", "features"
        What the data must have for it.
    parameters : tuple of Parameter
        Further keyword options of `change`.
    other_names : tuple of str
        Other names of the level in a spec ("noise_rate").
    """

    id: str
    purpose: str
    title: Message
    change: Change
    level: float = 0.1
    max_level: float = 1.0
    unit: Message | None = None
    tasks: tuple[Task, ...] = ALL_TASKS
    needs: tuple[Need, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    other_names: tuple[str, ...] = ()

    @property
    def strength(self) -> Parameter:
        """The level as a parameter."""
        kind = Number(at_least=0, at_most=self.max_level if np.isfinite(self.max_level) else None)
        return Parameter("level", kind, self.level, "how strong it is" if self.unit is None else self.unit.text())

    def schema(self) -> Schema:
        """The JSON schema of the scenario as a spec writes it: its name, or a mapping with its options."""
        levels = [replace(self.strength, name=name) for name in ("level", *self.other_names)]
        whole = options_schema([*levels, *self.parameters])
        return {**whole, "properties": {"type": {"const": self.id}, **whole["properties"]}, "required": ["type"]}

    @property
    def own(self) -> bool:
        """Whether it comes with this package: a fault in it is not the caller's."""
        return str(getattr(self.change, "__module__", "")).startswith("isonomia.")

    def reason(self, now: Situation) -> Message | None:
        """Why it cannot be run here, completing "not applicable because ..."; None where it can."""
        if now.task not in self.tasks:
            return not_for(now.task, self.tasks)
        return next((_LACKING[need] for need in self.needs if not _HAS[need](now)), None)


_HAS: Mapping[Need, Callable[[Situation], bool]] = {
    "model": lambda now: now.model is not None,
    "time": lambda now: now.data.roles.time is not None,
    "attributes": lambda now: bool(now.attributes),
    "ranking": lambda now: now.surface.probability is not None or now.surface.score is not None,
    "decisions": lambda now: now.surface.label is not None,
    "features": lambda now: bool(now.data.features),
}
_LACKING: Mapping[Need, Message] = {
    "model": msg("it changes features, so it needs the model, not only its predictions"),
    "time": msg("the data have no time column (time=...)"),
    "attributes": msg("the data have no protected attribute (protected=...)"),
    "ranking": msg("the predictions have neither probabilities nor scores"),
    "decisions": msg("there are scores but no decisions"),
    "features": msg("there is no feature"),
}

#: Every scenario by its id; another package adds its own through the entry point group ``isonomia.scenarios``.
SCENARIOS: Registry[Scenario] = Registry("scenario", package="isonomia.robustness.stress")


def scenario(
    id: str,  # noqa: A002  the field's name
    *,
    purpose: str,
    title: Message | None = None,
    **more: Any,
) -> Callable[[Change], Change]:
    """Put a function ``change(now, rng, level, **options) -> Situation`` into the registry.

    Examples
    --------
    >>> @scenario("all_positive", purpose="everyone is decided positive with this chance", tasks=("binary",))
    ... def all_positive(now, rng, level):
    ...     from dataclasses import replace
    ...     label = np.where(rng.random(len(now)) < level, 1, now.surface.label)
    ...     return now.with_surface(replace(now.surface, label=label))
    >>> "all_positive" in SCENARIOS
    True
    >>> _ = SCENARIOS._entries.pop("all_positive")  # so that the other examples do not see it
    """

    def register(change: Change) -> Change:
        heading = msg("{name}", name=id) if title is None else title
        SCENARIOS.add(Scenario(id, purpose, heading, change, parameters=_options(change), **more))
        return change

    return register


def _options(change: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What follows (now, rng, level): declared (`validated`), or of any kind."""
    declared = {one.name: one for one in parameters_of(change)}
    rest = list(inspect.signature(change).parameters.values())[3:]
    return tuple(declared.get(one.name, Parameter(one.name, Anything(), one.default)) for one in rest)


@dataclass(frozen=True)
class Planned:
    """A scenario to be run at a level, with its options, under a name of its own."""

    scenario: Scenario
    level: float
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def at(self, level: float) -> Planned:
        """The same at another level."""
        return Planned(self.scenario, check_strength(self.scenario, level), self.options, self.name)

    def change(self, now: Situation, rng: np.random.Generator) -> Situation:
        """One trial."""
        return self.scenario.change(now, rng, self.level, **self.options)


def plan(wanted: Any) -> tuple[Planned, ...]:
    """Scenarios as callers name them: ids, mappings with options, functions; None takes all there are.

    >>> [(one.name, one.level) for one in plan(["label_noise", {"type": "score_noise", "noise_level": 0.02}])]
    [('label_noise', 0.1), ('score_noise', 0.02)]
    """
    if wanted is None:
        given: Sequence[Any] = SCENARIOS.ids()
    elif isinstance(wanted, str | Mapping) or not isinstance(wanted, Iterable):
        given = [wanted]
    else:
        given = list(wanted)
    if not given:
        raise SpecError(f"`scenarios` must name at least one. Available: {', '.join(SCENARIOS.ids())}.")
    found = [_planned(one) for one in given]
    names: dict[str, int] = {}
    for one in found:
        names[one.scenario.id] = names.get(one.scenario.id, 0) + 1
    out: dict[str, Planned] = {}
    for one in found:
        name = one.scenario.id if names[one.scenario.id] == 1 else f"{one.scenario.id} {one.level:g}"
        while name in out:
            name += "'"
        out[name] = Planned(one.scenario, one.level, one.options, name)
    return tuple(out.values())


def _planned(given: Any) -> Planned:
    if isinstance(given, Planned):
        return given
    if isinstance(given, str):
        return Planned(SCENARIOS[given], SCENARIOS[given].level)
    if isinstance(given, Scenario):
        return Planned(given, given.level)
    if isinstance(given, Mapping):
        return _from_mapping(given)
    if callable(given):
        return _from_function(given)
    raise SpecError(
        "`scenarios` must be ids, mappings such as {'type': 'label_noise', 'level': 0.1}, or functions; got "
        f"{type(given).__name__}."
    )


def _from_mapping(given: Mapping[str, Any]) -> Planned:
    rest = {str(key): value for key, value in given.items()}
    kinds = [rest.pop(key) for key in ("type", "id", "name", "scenario") if key in rest]
    if len(kinds) != 1:
        raise SpecError(f"A scenario must be named once, as in {{'type': 'label_noise'}}; got {dict(given)!r}.")
    if callable(kinds[0]):
        entry = _from_function(kinds[0]).scenario
    elif isinstance(kinds[0], str):
        entry = SCENARIOS[kinds[0]]
    else:
        raise SpecError(f"A scenario's type must be a text; got {kinds[0]!r}.")
    levels = [rest.pop(key) for key in ("level", *entry.other_names) if key in rest]
    if len(levels) > 1:
        raise SpecError(f"The level of the scenario '{entry.id}' must be given once; got {dict(given)!r}.")
    names = ("level", *entry.other_names)
    options = read_options(entry.parameters, rest, owner=f"The scenario '{entry.id}'", also=names)
    level = check_strength(entry, levels[0]) if levels else entry.level
    return Planned(entry, level, options)


def _from_function(change: Callable[..., Any]) -> Planned:
    for entry in SCENARIOS:
        if entry.change is change:
            return Planned(entry, entry.level)
    name = getattr(change, "__name__", type(change).__name__)
    try:
        parameters = inspect.signature(change).parameters
    except (TypeError, ValueError):
        raise SpecError(f"The scenario '{name}' must be a function of (now, rng, level).") from None
    if not len(parameters) >= 2 or (len(parameters) == 2 and "level" in parameters):
        raise SpecError(f"The scenario '{name}' must be a function of (now, rng, level); it takes {tuple(parameters)}.")

    def levelled(now: Situation, rng: np.random.Generator, level: float, **options: Any) -> Situation:
        if level == 0:
            return now
        return change(now, rng) if len(parameters) == 2 else change(now, rng, level, **options)  # type: ignore[no-any-return]

    levelled.__module__ = getattr(change, "__module__", "")
    entry = Scenario(
        name,
        "a function of the caller",
        msg("{name}", name=name),
        levelled,
        level=0.1,
        max_level=np.inf,
        parameters=_options(change),
    )
    return Planned(entry, entry.level)


def check_strength(entry: Scenario, level: Any) -> float:
    """A level within the scenario's bounds."""
    maximum = entry.max_level if np.isfinite(entry.max_level) else None
    return Number(at_least=0, at_most=maximum, hint=f" in the scenario '{entry.id}'").check("level", level)


class _Plan(Kind[Any]):
    """Scenarios as callers name them; the value stays as it is given."""

    @property
    def expected(self) -> str:
        return "names of scenarios, mappings such as {'type': 'label_noise', 'level': 0.1}, or functions"

    def read(self, value: Any) -> Any:
        try:
            plan(value)
        except SpecError as error:
            raise Unfit(sentence=str(error)) from None
        return value

    def schema(self) -> Schema:
        one = {"anyOf": [{"enum": list(SCENARIOS.ids())}, *(entry.schema() for entry in SCENARIOS)]}
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


#: An option that names the scenarios to play.
PLAN = _Plan()
