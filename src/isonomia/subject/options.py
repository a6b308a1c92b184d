"""What a `Subject` is made with: how data are read, and the settings that all comparisons share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from isonomia.data import Missing, OtherAnswers, Task
from isonomia.data.schema import TASK_NAMES, TASKS
from isonomia.errors import SpecError, close_to
from isonomia.parameters import LEVEL, MIN_PER_GROUP, MISSING, N_BOOT, SEED, Choice, Kind, renamed

_KINDS: Mapping[str, Kind[Any]] = {
    "n_boot": N_BOOT,
    "level": LEVEL,
    "seed": SEED,
    "min_per_group": MIN_PER_GROUP,
    "missing": MISSING,
}


@dataclass(frozen=True)
class Settings:
    """Settings of a whole audit, or of one comparison.

    Attributes
    ----------
    n_boot : int
        Bootstrap replicates behind intervals of differences and ratios; 0 for none.
    level : float
        Level of the intervals.
    seed : int
        Of everything random.
    min_per_group : int
        Smaller groups are shown and flagged, and left out of the gap between groups.
    missing : "group", "exclude" or "error"
        What happens to rows with a missing protected value.
    reference : "largest", "best", "overall", a value, or a mapping from attribute to value(s), optional
        Whom groups are compared with. By default the privileged groups of the data, else "best": the group with the
        most favourable decisions among those with enough rows (see `BestOff`), the same for every metric. Name the
        privileged group and differences read unprivileged - privileged.
    """

    n_boot: int = 1000
    level: float = 0.95
    seed: int = 0
    min_per_group: int = 30
    missing: Missing = "group"
    reference: Any = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            kind.check(name, getattr(self, name))

    def __or__(self, changes: Mapping[str, Any]) -> Settings:
        """The settings with some of them changed."""
        return replace(self, **changes) if changes else self


class Reading(TypedDict, total=False):
    """How data are read: columns as arrays, or the roles of the columns of a plain frame.

    `y_true`, `y_pred`, `y_score`, `sensitive_features` and `weights` are columns, as in scikit-learn and Fairlearn;
    the others name columns of the frame, as in `Dataset`. A `Dataset` brings its roles along; given again, they win.
    `classes` names the class of each column of a table of probabilities; those of the sorted labels by default.
    """

    y_true: Any
    y_pred: Any
    y_score: Any
    classes: Sequence[Any] | None
    sensitive_features: Any
    weights: Any
    target: str | None
    positive: Any
    task: Task | None
    protected: str | Sequence[str] | Mapping[str, Any] | None
    privileged: Any
    prediction: str | None
    score: str | Sequence[str] | Mapping[Any, str] | None
    weight: str | None
    ignore: str | Sequence[str] | None
    labels: Mapping[str, Any] | None
    other_answers: OtherAnswers | None


class AllRoles(Reading, total=False):
    """How data are read, with the roles that single functions have options for."""

    time: str | None
    features: Sequence[str] | None


class SettingOptions(TypedDict, total=False):
    """The settings of comparisons as keywords (see `Settings`)."""

    n_boot: int
    level: float
    seed: int
    min_per_group: int
    missing: Missing
    reference: Any


class SubjectOptions(Reading, SettingOptions, total=False):
    """How data are read, and the settings of comparisons."""


class AllOptions(AllRoles, SettingOptions, total=False):
    """What `Subject.of` takes: how data are read, every role of a frame, and the settings of comparisons."""


class CountOptions(SettingOptions, total=False):
    """What a table of counts takes beside the names of its columns."""

    task: Task | None
    positive: Any
    privileged: Mapping[str, Any] | None


_TASK = Choice(TASKS)
_SETTINGS = tuple(field.name for field in fields(Settings))
_READING = tuple(AllRoles.__annotations__)


def split_options(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(how to read, settings); what is neither is refused. None stands for "not given"."""
    known = (*_READING, *_SETTINGS)
    given = renamed(given, known)
    for name in given:
        if name not in known:
            raise SpecError(f"Unknown option {name!r}.{close_to(name, known)}")
    present = {name: value for name, value in given.items() if value is not None}
    if "task" in present:
        task = present["task"]
        present["task"] = _TASK.check("task", TASK_NAMES.get(task, task) if isinstance(task, str) else task)
    reading = {name: value for name, value in present.items() if name in _READING}
    return reading, {name: value for name, value in present.items() if name in _SETTINGS}
