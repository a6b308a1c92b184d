"""The table under examination, and what each of its columns is for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypedDict

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.bands import Bands
from isonomia.data.frames import Backend, backend_of, wrap
from isonomia.data.schema import KINDS, TASKS, Kind, Task, kind_of, task_of
from isonomia.errors import DataError, SpecError, close_to

Missing = Literal["group", "exclude", "error"]


@dataclass(frozen=True)
class Roles:
    """What each column of a table is for; every name is checked against the table by `Dataset`."""

    target: str | None = None
    protected: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    prediction: str | None = None
    score: tuple[str, ...] = ()
    weight: str | None = None
    time: str | None = None
    bands: Mapping[str, Bands] = field(default_factory=dict)
    privileged: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class RoleOptions(TypedDict, total=False):
    """The keywords of `Dataset`, which `read` takes too."""

    target: str | None
    positive: Any
    protected: str | Sequence[str] | Mapping[str, Any]
    privileged: Mapping[str, Any] | None
    prediction: str | None
    score: str | Sequence[str] | Mapping[Any, str] | None
    weight: str | None
    time: str | None
    features: Sequence[str] | None
    kinds: Mapping[str, Kind] | None
    task: Task | None
    name: str | None


class Dataset:
    """A table with roles.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow table, or a mapping of columns
        The rows. It is kept as it is; nothing is copied.
    target : str, optional
        The column of true outcomes.
    positive : optional
        The favourable value of a two-valued target ("hired", 1, True): selection rate, true positive rate and so on
        are about it. Needed when the target is not 0/1 or False/True.
    protected : sequence of str, or mapping, optional
        Protected attributes. A mapping gives numeric ones bands: ``{"sex": None, "age": [25, 60]}``.
    privileged : mapping, optional
        The privileged value (or values) of protected attributes: ``{"sex": "Male"}``. Differences are
        unprivileged - privileged.
    prediction, score : str, optional
        Columns with a model's decisions, and with its probabilities (or scores). For several classes `score` is a
        sequence of columns in the order of the sorted classes, or a mapping from class to column.
    weight, time : str, optional
        Columns with a weight a row, and with the moment of a row.
    features : sequence of str, optional
        What a model sees. By default every column that has no other role; protected attributes count as features
        too, since most models are trained with them.
    kinds : mapping, optional
        Overrides of inferred kinds: ``{"zip": "category"}``.
    task : "binary", "multiclass" or "regression", optional
        By default read off the target.
    name : str, optional
        What to call the data in a report.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M", "F", "M"], "income": [1, 2, 3, 4], "hired": ["no", "yes", "no", "no"]},
    ...                target="hired", positive="yes", protected=["sex"], privileged={"sex": "M"})
    >>> data
    Dataset(4 rows, binary target 'hired' (positive: 'yes'), protected: sex)
    >>> data.features
    ('sex', 'income')
    """

    def __init__(
        self,
        frame: Any,
        *,
        target: str | None = None,
        positive: Any = None,
        protected: str | Sequence[str] | Mapping[str, Any] = (),
        privileged: Mapping[str, Any] | None = None,
        prediction: str | None = None,
        score: str | Sequence[str] | Mapping[Any, str] | None = None,
        weight: str | None = None,
        time: str | None = None,
        features: Sequence[str] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        task: Task | None = None,
        name: str | None = None,
    ) -> None:
        self._table = wrap(frame)
        self.backend: Backend = backend_of(self._table)
        self.name = name
        if len(self._table) == 0:
            raise DataError("The table has no rows; there is nothing to examine.")
        given = _given_protected(protected)
        score_columns = _given_score(score)
        self.roles = Roles(
            target=target,
            protected=tuple(given),
            prediction=prediction,
            score=score_columns,
            weight=weight,
            time=time,
            bands={column: Bands.of(bands, column) for column, bands in given.items() if bands is not None},
            privileged=_given_privileged(privileged or {}, tuple(given)),
        )
        self._check_roles(kinds or {}, task)
        self.kinds: dict[str, Kind] = {
            column: (kinds or {}).get(column) or kind_of(self._table[column]) for column in self._table.columns
        }
        taken = {target, prediction, weight, time, *score_columns}
        self._features = self._check_features(features, taken)
        self._score_classes = tuple(score) if isinstance(score, Mapping) else ()
        self._check_weight()
        self._check_bands()
        self.task: Task | None = self._read_task(task)
        self.positive = self._read_positive(positive)

    # what is there --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows"]
        if self.target is not None:
            positive = f" (positive: {self.positive!r})" if self.task == "binary" else ""
            parts.append(f"{self.task} target '{self.target}'{positive}")
        if self.protected:
            parts.append("protected: " + ", ".join(self.protected))
        return f"Dataset({', '.join(parts)})"

    @property
    def frame(self) -> Any:
        """The table in the kind the user gave."""
        return self._table.to_native()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self._table.columns)

    @property
    def target(self) -> str | None:
        """The column of true outcomes."""
        return self.roles.target

    @property
    def protected(self) -> tuple[str, ...]:
        """The protected attributes."""
        return self.roles.protected

    @property
    def privileged(self) -> Mapping[str, tuple[Any, ...]]:
        """The privileged values of protected attributes, where the user named them."""
        return self.roles.privileged

    @property
    def features(self) -> tuple[str, ...]:
        """What a model sees."""
        return self._features

    def column(self, name: str) -> nw.Series[Any]:
        """One column, wrapped by narwhals."""
        self._check_column(name, "column")
        return self._table[name]

    def group_column(self, name: str) -> Any:
        """A protected attribute as groups: its bands where it has any, its native column otherwise."""
        column = self.column(name)
        bands = self.roles.bands.get(name)
        return column.to_native() if bands is None else bands.cut(column.to_numpy())

    def feature_frame(self) -> Any:
        """The features alone, in the kind of frame the user gave: what a model is handed."""
        return self._table.select(self._features).to_native()

    @cached_property
    def weights(self) -> np.ndarray[Any, Any] | None:
        """One weight a row, or None."""
        if self.roles.weight is None:
            return None
        return self.column(self.roles.weight).to_numpy().astype(float)

    @property
    def score_classes(self) -> tuple[Any, ...]:
        """The class of each score column, where `score` was given as a mapping."""
        return self._score_classes

    # derived datasets -------------------------------------------------------------------------------------------

    def replace(self, frame: Any) -> Dataset:
        """The same roles over another table."""
        return Dataset(frame, **self.options())

    def take(self, rows: np.ndarray[Any, Any]) -> Dataset:
        """The rows at these positions, or where this mask holds."""
        index = np.flatnonzero(rows) if rows.dtype == bool else rows
        return self.replace(self._table[index.tolist()].to_native())

    def with_roles(self, **changes: Any) -> Dataset:
        """The same table with some roles changed; the arguments are those of `Dataset`."""
        return Dataset(self.frame, **{**self.options(), **changes})

    def options(self) -> dict[str, Any]:
        """The keyword arguments that make this dataset from its frame."""
        score: Any = dict(zip(self._score_classes, self.roles.score, strict=True)) if self._score_classes else None
        if score is None and self.roles.score:
            score = self.roles.score if len(self.roles.score) > 1 else self.roles.score[0]
        return {
            "target": self.roles.target,
            "positive": self.positive if self.task == "binary" else None,
            "protected": {column: self.roles.bands.get(column) for column in self.roles.protected},
            "privileged": dict(self.roles.privileged),
            "prediction": self.roles.prediction,
            "score": score,
            "weight": self.roles.weight,
            "time": self.roles.time,
            "features": self._features,
            "kinds": dict(self.kinds),
            "task": self.task,
            "name": self.name,
        }

    @cached_property
    def fingerprint(self) -> str:
        """A sha256 over column names, kinds and values: the same content gives the same text.

        It does not depend on the kind of frame the values are held in.
        """
        digest = hashlib.sha256()
        for name in sorted(self._table.columns):
            column = self._table[name]
            digest.update(f"{name}\x00{kind_of(column)}\x00{len(column)}\x00".encode())
            digest.update(_content(column))
        return digest.hexdigest()

    # checks of what was given -----------------------------------------------------------------------------------

    def _check_column(self, name: object, role: str) -> None:
        if name not in self._table.columns:
            raise DataError(
                f"`{role}` must name a column of the data; got {name!r}.{close_to(name, self._table.columns)}"
            )

    def _check_roles(self, kinds: Mapping[str, Kind], task: Task | None) -> None:
        roles = self.roles
        single = {"target": roles.target, "prediction": roles.prediction, "weight": roles.weight, "time": roles.time}
        for role, column in single.items():
            if column is not None:
                self._check_column(column, role)
        for role, columns in {"protected": roles.protected, "score": roles.score, "kinds": tuple(kinds)}.items():
            for column in columns:
                self._check_column(column, role)
        if roles.target is not None and roles.target in roles.protected:
            raise DataError(
                f"'{roles.target}' is named both as the target and as protected. A group must not be defined by the "
                "outcome itself: name another protected attribute."
            )
        if roles.target is not None and roles.target in (roles.prediction, *roles.score):
            raise DataError(
                f"'{roles.target}' is named both as the target and as the prediction. Name the column that holds "
                "what the model said."
            )
        wrong = [f"{column}: {kind!r}" for column, kind in kinds.items() if kind not in KINDS]
        if wrong:
            raise SpecError(f"`kinds` must be one of {', '.join(KINDS)}; got {', '.join(wrong)}.")
        if task is not None and task not in TASKS:
            raise SpecError(f"`task` must be one of {', '.join(TASKS)}; got {task!r}.{close_to(task, TASKS)}")

    def _check_features(self, features: Sequence[str] | None, taken: set[str | None]) -> tuple[str, ...]:
        if features is None:
            return tuple(column for column in self._table.columns if column not in taken)
        for column in features:
            self._check_column(column, "features")
        if self.roles.target in features:
            raise DataError(f"The target '{self.roles.target}' is listed among the features: a model must not see it.")
        return tuple(features)

    def _check_weight(self) -> None:
        weights = self.weights if self.roles.weight is None or self._is_numeric(self.roles.weight) else None
        if self.roles.weight is None:
            return
        if weights is None or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise DataError(
                f"The weights in '{self.roles.weight}' must be finite numbers of at least 0, not all of them 0. "
                "Fill or drop the rows where they are not."
            )

    def _check_bands(self) -> None:
        for column in self.roles.bands:
            if not self._is_numeric(column):
                raise DataError(f"Bands cut numbers; '{column}' is of kind '{self.kinds[column]}'. Drop its bands.")

    def _is_numeric(self, column: str) -> bool:
        return bool(self._table[column].dtype.is_numeric())

    def _read_task(self, task: Task | None) -> Task | None:
        name = self.roles.target or self.roles.prediction
        if name is None:
            return task
        values = self._distinct(name)
        if not values:
            raise DataError(f"The column '{name}' holds no value at all; every row is missing.")
        if task is None:
            whole = self.kinds[name] == "numeric" and all(float(value).is_integer() for value in values)
            return task_of(self.kinds[name], len(values), name=name, whole=whole)
        if task == "binary" and len(values) > 2:
            raise DataError(
                f"The task is given as binary, but '{name}' has {len(values)} different values "
                f"({', '.join(map(repr, values[:5]))}{', ...' if len(values) > 5 else ''}). "
                "Give task='multiclass', or recode the column to two values."
            )
        if task == "regression" and not self._is_numeric(name):
            raise DataError(f"The task is given as regression, but '{name}' holds no numbers.")
        return task

    def _read_positive(self, positive: Any) -> Any:
        name = self.roles.target or self.roles.prediction
        if name is None:
            return positive
        values = self._distinct(name)
        if self.task != "binary":
            if positive is not None:
                raise DataError(
                    f"`positive` is for targets of two values; '{name}' is read as {self.task} with {len(values)} "
                    "values. Leave `positive` out, or recode the column to two values."
                )
            return None
        if positive is None:
            if set(values) <= {0, 1}:
                return type(values[-1])(1)
            raise DataError(
                f"`positive` must say which value of '{name}' is the favourable one: {' or '.join(map(repr, values))}."
            )
        for value in values:
            if value == positive or str(value) == str(positive):
                return value
        if len(values) < 2:
            return positive
        raise DataError(f"`positive` must be a value of '{name}'; got {positive!r}.{close_to(positive, values)}")

    def _distinct(self, name: str) -> list[Any]:
        column = self._table[name]
        values = [value for value in column.unique().to_list() if value is not None and value == value]
        return sorted(values, key=lambda value: (isinstance(value, str), value))


def _given_protected(protected: str | Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(protected, str):
        return {protected: None}
    if isinstance(protected, Mapping):
        return dict(protected)
    names = list(protected)
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SpecError(f"`protected` names {', '.join(map(repr, sorted(repeated)))} more than once.")
    return dict.fromkeys(names)


def _given_score(score: str | Sequence[str] | Mapping[Any, str] | None) -> tuple[str, ...]:
    if score is None:
        return ()
    if isinstance(score, str):
        return (score,)
    return tuple(score.values()) if isinstance(score, Mapping) else tuple(score)


def _given_privileged(privileged: Mapping[str, Any], protected: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    for name in privileged:
        if name not in protected:
            raise SpecError(
                f"`privileged` names {name!r}, which is not among the protected attributes.{close_to(name, protected)}"
            )
    return {
        name: tuple(value) if isinstance(value, list | tuple | set) else (value,) for name, value in privileged.items()
    }


def _content(column: nw.Series[Any]) -> bytes:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        numbers = column.to_numpy().astype(float) + 0.0
        return numbers.tobytes()
    texts = ["\x01" if value is None or value != value else str(value) for value in column.to_list()]
    return "\x00".join(texts).encode("utf-8", "surrogatepass")
