"""The table under examination, and what each of its columns is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data._fingerprint import fingerprint
from isonomia.data._notes import notes_on
from isonomia.data.columns import is_nested, is_searchable, numbers
from isonomia.data.frames import Backend, backend_of, wrap
from isonomia.data.outcomes import given_positive, given_task
from isonomia.data.roles import (
    RoleOptions,
    check_column,
    check_contents,
    check_names,
    given_features,
    given_protected,
    given_roles,
    privileged_values,
)
from isonomia.data.schema import KINDS, TASKS, Kind, Task, kind_of
from isonomia.errors import DataError
from isonomia.languages import Message
from isonomia.parameters import Anything, Choice, Either, Keyed, Made, Several, Text, validated

Missing = Literal["group", "exclude", "error"]
COLUMN = Text("the name of a column")
_BY_CLASS = Made(lambda given: isinstance(given, Mapping), "columns by class")


class Dataset:
    """A table with roles.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow table, or a mapping of columns
        The rows. It is kept as it is; nothing is copied. (Columns of objects that contain numbers only are read as
        numbers.)
    target : str, optional
        The column of true outcomes.
    positive : optional
        The favourable value of a two-valued target ("hired", 1, True). Selection rate, true positive rate and so on
        are about it. Needed when the target is not 0/1 or False/True.
    protected : sequence of str, or mapping, optional
        Protected attributes. A mapping gives numeric ones bands: ``{"sex": None, "age": [25, 60]}``. At most 1,000
        different values each; a missing value is a group of its own.
    privileged : mapping, optional
        The privileged value (or values, or bands) of protected attributes: ``{"sex": "Male"}``. A number may be
        written as a text. Differences are unprivileged - privileged.
    prediction, score : str, optional
        Columns with a model's decisions, and with its probabilities (or scores). For several classes `score` is a
        sequence of columns in the order of the sorted classes, or a mapping from class to column.
    weight, time : str, optional
        Columns with the weight and with the time of each row.
    features : sequence of str, optional
        What a model sees. By default every column that has no other role and no nested values; protected attributes
        count as features too, since most models are trained with them.
    kinds : mapping, optional
        Overrides of inferred kinds: ``{"zip": "category"}``.
    task : "binary", "multiclass" or "regression", optional
        The kind of task; by default read off the target.
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

    @validated(
        target=COLUMN.or_none(),
        positive=Anything("a value of the target"),
        protected=Either(Several(COLUMN, single=True), Keyed(Anything("bands"))).or_none(),
        privileged=Keyed(Anything("a value or a list of values")).or_none(),
        prediction=COLUMN.or_none(),
        score=Either(Several(COLUMN, single=True), _BY_CLASS).or_none(),
        weight=COLUMN.or_none(),
        time=COLUMN.or_none(),
        features=Several(COLUMN).or_none(),
        kinds=Keyed(Choice(KINDS)).or_none(),
        task=Choice(TASKS).or_none(),
        name=Text().or_none(),
    )
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
        options: RoleOptions = {
            "target": target,
            "positive": positive,
            "protected": protected,
            "privileged": privileged,
            "prediction": prediction,
            "score": score,
            "weight": weight,
            "time": time,
            "features": features,
            "kinds": kinds,
            "task": task,
            "name": name,
        }
        self._build(frame, options, known=False)

    def _build(self, frame: Any, options: RoleOptions, *, known: bool) -> None:
        """Read what was given; `known` says that values come from a dataset that had all of its rows."""
        self._table = table = wrap(frame)
        if len(table) == 0:
            raise DataError("The table has no rows; there is nothing to examine.")
        self.backend: Backend = backend_of(table)
        self.name = options.get("name")
        kinds = options.get("kinds") or {}
        roles = given_roles(options)
        check_names(table, roles, kinds)
        self.kinds: dict[str, Kind] = {column: kinds.get(column) or kind_of(table[column]) for column in table.columns}
        check_contents(table, roles, self.kinds)
        self._features_given = options.get("features") is not None
        nested = tuple(column for column in table.columns if is_nested(table[column]))
        features = given_features(table, options.get("features"), roles, nested)
        #: Columns that no role names and that cannot be features, since their cells contain lists or the like.
        self.left_out: tuple[str, ...] = () if self._features_given else nested
        score = options.get("score")
        self._score_classes = tuple(score) if isinstance(score, Mapping) else ()
        privileged = roles.privileged if known else privileged_values(table, roles)
        self.roles = replace(roles, features=features, privileged=privileged)
        outcome = roles.target or roles.prediction
        self.task: Task | None = given_task(table, outcome, options.get("task"), self.kinds, known=known)
        self.positive = given_positive(table, outcome, options.get("positive"), self.task, known=known)

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
        return self.roles.features

    @cached_property
    def searchable(self) -> tuple[str, ...]:
        """The features that searches and comparisons of people use: those with finite numbers, or with any value."""
        return tuple(name for name in self.features if is_searchable(self._table[name]))

    def column(self, name: str) -> nw.Series[Any]:
        """One column, wrapped by narwhals."""
        check_column(self._table, name, "column")
        return self._table[name]

    def group_column(self, name: str) -> Any:
        """A protected attribute as groups: its bands where it has any, its native column otherwise."""
        column = self.column(name)
        bands = self.roles.bands.get(name)
        return column.to_native() if bands is None else bands.cut(numbers(column))

    def feature_frame(self) -> Any:
        """The features alone, in the kind of frame the user gave: what a model is handed."""
        return self._table.select(self.roles.features).to_native()

    @cached_property
    def weights(self) -> np.ndarray[Any, Any] | None:
        """One weight per row, or None."""
        if self.roles.weight is None:
            return None
        return numbers(self.column(self.roles.weight))

    @property
    def score_classes(self) -> tuple[Any, ...]:
        """The class of each score column, where `score` was given as a mapping."""
        return self._score_classes

    # derived datasets -------------------------------------------------------------------------------------------

    def replace(self, frame: Any) -> Dataset:
        """The same roles over another table, which need not contain every class and every group."""
        other = Dataset.__new__(Dataset)
        other._build(frame, self.options(), known=True)
        return other

    def take(self, rows: Any) -> Dataset:
        """The rows at these positions, or where this mask contains."""
        index = np.asarray(rows)
        if index.dtype == bool:
            if index.shape != (len(self),):
                raise DataError(f"A mask must have one value per row: expected {len(self)}, got shape {index.shape}.")
            index = np.flatnonzero(index)
        elif index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
            raise DataError(f"Rows must be given as whole numbers or a mask; got {index.dtype} of shape {index.shape}.")
        if index.size and not (index.min() >= 0 and index.max() < len(self)):
            raise DataError(f"Rows must lie between 0 and {len(self) - 1}; got {index.min()} to {index.max()}.")
        return self.replace(self._table[index.astype(np.int64)].to_native())

    def with_roles(self, **changes: Unpack[RoleOptions]) -> Dataset:
        """The same table with some roles changed; the arguments are those of `Dataset`.

        What was read off a role that changes is read anew: task and positive value with the target, default features
        with any role, privileged values with the protected attributes.
        """
        options = self.options()
        if "target" in changes or ("prediction" in changes and self.target is None):
            options["task"] = options["positive"] = None
        if not self._features_given:
            options["features"] = None
        if "protected" in changes:
            kept = given_protected(changes["protected"])
            options["privileged"] = {
                name: values
                for name, values in self.roles.privileged.items()
                if name in kept and (kept[name] is None) == (name not in self.roles.bands)
            }
        options.update(changes)
        return Dataset(self.frame, **options)

    def options(self) -> RoleOptions:
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
            "features": self.roles.features,
            "kinds": dict(self.kinds),
            "task": self.task,
            "name": self.name,
        }

    @cached_property
    def fingerprint(self) -> str:
        """A sha256 over column names and values: the same content gives the same text.

        It does not depend on the kind of frame the values are held in, nor on the order of the columns.
        """
        return fingerprint(self._table)

    @cached_property
    def notes(self) -> tuple[Message, ...]:
        """What a reader of the results should know: missing values of roles, one class, one group, infinities."""
        return tuple(notes_on(self))
