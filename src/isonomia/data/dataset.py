"""The table under examination, and what each of its columns is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.bands import Bands
from isonomia.data.columns import is_nested
from isonomia.data.display_names import read_labels
from isonomia.data.engines.engine import Key
from isonomia.data.engines.opening import as_engine
from isonomia.data.engines.role_counts import (
    RoleCounts,
    bands_by_counting,
    count_beside,
    count_frequent,
    count_repeated,
    count_roles,
)
from isonomia.data.engines.rows import row_bytes
from isonomia.data.frames import backend_of, default_backend
from isonomia.data.other_answers import OTHER_ANSWERS, OtherAnswers
from isonomia.data.outcomes import given_favourable, given_task
from isonomia.data.packed import Packed
from isonomia.data.role_table import RoleTable
from isonomia.data.roles import (
    RoleOptions,
    check_contents,
    check_names,
    given_features,
    given_protected,
    given_roles,
    privileged_values,
    proposed_bands,
)
from isonomia.data.schema import KINDS, TASKS, Kind, Task, kind_of_type
from isonomia.errors import DataError
from isonomia.parameters import Anything, Choice, Either, Keyed, Made, Several, Text, validated

Missing = Literal["group", "exclude", "error"]
COLUMN = Text("the name of a column")
_BY_CLASS = Made(lambda given: isinstance(given, Mapping), "columns by class")


class Dataset(RoleTable):
    """A table with roles.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow table, a mapping of columns, or a lazy frame
        The rows. A table is kept as it is; nothing is copied. (Columns of objects that contain numbers only are read
        as numbers.) A DuckDB relation, a Polars LazyFrame, a Spark DataFrame and other lazy frames stay where they
        are: columns that have a role are counted there, and rows are read only where a check needs them.
    target : str, optional
        The column of true outcomes.
    positive : optional
        The favourable value of a two-valued target ("hired", 1, True). Selection rate, true positive rate and so on
        are about it. Needed when the target is not 0/1 or False/True. Of several classes the favourable one, or a list
        of them: ``["approved", "approved in part"]``. Findings then say who gets these less often and the other
        classes more often; without it every gap between groups is reported, in either direction.
    protected : sequence of str, or mapping, optional
        Protected attributes. A mapping gives numeric ones bands: ``{"sex": None, "age": [25, 60]}``. Numbers with more
        than 12 different values get bands near their quartiles where none are given, which `notes` states. At most
        1,000 different values each; a missing value is a group of its own.
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
        count as features too, since most models are trained with them. Columns that look like identifiers are features
        too, but searches leave them out unless they are named here.
    ignore : sequence of str, optional
        Columns that are not features.
    kinds : mapping, optional
        Overrides of inferred kinds: ``{"zip": "category"}``.
    task : "binary", "multiclass" or "regression", optional
        The kind of task; by default read off the target.
    name : str, optional
        What to call the data in a report.
    labels : mapping, optional
        What to call columns and values in a report: ``{"dti": "debt to income", "sex": {"F": "women", "M": "men"}}``.
        Among the values of a column the key ``""`` is its own name; ``{"race x sex": {"Black x F": "Black women"}}``
        names people who share several values.
    other_answers : "error", "unfavourable" or "apart", optional
        How predictions are counted that are none of the target's values, such as refusals of a language model. An empty
        one is such an answer too. They are refused ("error"), count as the unfavourable outcome, or are an outcome of
        their own; the balance sheet counts them, and where groups get them at different rates an audit says so.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M", "F", "M"], "income": [1, 2, 3, 4], "hired": ["no", "yes", "no", "no"]},
    ...                target="hired", positive="yes", protected=["sex"], privileged={"sex": "M"})
    >>> data
    Dataset(4 rows, binary target 'hired' (positive: 'yes'), protected: sex)
    >>> data.features
    ('sex', 'income')
    >>> Dataset({"decision": ["denied", "review", "approved"]}, target="decision", positive=["approved"]).favourable
    ('approved',)
    """

    @validated(
        target=COLUMN.or_none(),
        positive=Anything("a value of the target, or a list of its classes"),
        protected=Either(Several(COLUMN, single=True), Keyed(Anything("bands"))).or_none(),
        privileged=Keyed(Anything("a value or a list of values")).or_none(),
        prediction=COLUMN.or_none(),
        score=Either(Several(COLUMN, single=True), _BY_CLASS).or_none(),
        weight=COLUMN.or_none(),
        time=COLUMN.or_none(),
        features=Several(COLUMN).or_none(),
        ignore=Several(COLUMN, single=True).or_none(),
        kinds=Keyed(Choice(KINDS)).or_none(),
        task=Choice(TASKS).or_none(),
        name=Text().or_none(),
        labels=Keyed(Anything("a name, or names of values")).or_none(),
        other_answers=OTHER_ANSWERS.or_none(),
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
        ignore: str | Sequence[str] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        task: Task | None = None,
        name: str | None = None,
        labels: Mapping[str, Any] | None = None,
        other_answers: OtherAnswers | None = None,
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
            "ignore": ignore,
            "kinds": kinds,
            "task": task,
            "name": name,
            "labels": labels,
            "other_answers": other_answers,
        }
        self._build(frame, options, known=False)

    def _build(self, frame: Any, options: RoleOptions, *, known: bool, moments: bool = False) -> None:
        """Read what was given; `known` says that values come from a dataset that had all of its rows.

        `moments` says that an engine counts rows by their time, too.
        """
        self.engine = as_engine(frame)
        self.name = options.get("name")
        roles = given_roles(options)
        self.given_kinds = options.get("kinds") or {}
        self.counts, self.score_bins = None, 0
        counted: dict[str, Bands] = {}
        if self.engine is None:
            packed = Packed.of(frame)
            columns: Sequence[str] = packed.table.columns
            check_names(columns, roles, self.given_kinds)
            self._packed = packed.unpack(roles.named)
            table = self._packed.table
        else:
            columns = tuple(self.engine.schema)
            check_names(columns, roles, self.given_kinds)
            counted = {} if known else bands_by_counting(self.engine, roles, self.given_kinds)
            roles = replace(roles, bands={**roles.bands, **counted})
            found = count_roles(self.engine, roles, moments=moments)
            table, self.counts, self.score_bins = found.table, found.counts, found.bins
            self._packed = Packed(table)
        if len(table) == 0:
            raise DataError("The table has no rows; there is nothing to examine.")
        self.backend = backend_of(table) or default_backend()
        types = {**(self.engine.schema if self.engine is not None else {}), **table.schema}
        self.kinds = {column: self.given_kinds.get(column) or kind_of_type(types[column]) for column in columns}
        check_contents(table, roles, self.kinds)
        self._features_given = options.get("features") is not None
        nested = {name: types[name] for name in columns if self._is_nested(name, types[name])}
        features = given_features(columns, options, roles, nested)
        ignore = options.get("ignore") or ()
        self.ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        self.reading_notes = ()
        proposed = {} if known else proposed_bands(table, roles, self.kinds, self.counts)
        roles, proposed = replace(roles, bands={**roles.bands, **proposed}), {**counted, **proposed}
        self.proposed = frozenset(proposed)
        self.left_out = () if self._features_given else tuple(nested)
        score = options.get("score")
        self._score_classes = tuple(score) if isinstance(score, Mapping) else ()
        privileged = roles.privileged if known else privileged_values(table, roles)
        self.roles = replace(roles, features=features, privileged=privileged)
        outcome = roles.target or roles.prediction
        self.task = given_task(table, outcome, options.get("task"), self.kinds, known=known, predicted=roles.prediction)
        self.favourable = given_favourable(table, roles, options.get("positive"), self.task, known=known)
        self.other_answers = options.get("other_answers") or "error"
        self.labels = dict(options.get("labels") or {})
        self.words = read_labels(self.labels, table, roles, known=known, columns_given=columns)

    def _is_nested(self, name: str, dtype: nw.dtypes.DType) -> bool:
        """Whether cells contain lists or the like, or what cannot be read here."""
        return is_nested(self._packed.table[name]) if self.engine is None else dtype.is_nested() or dtype == nw.Unknown

    def rows(self, maximum: int | None = None, *, seed: int = 0) -> Dataset:
        """The rows themselves, in memory: all of them, or a sample of at most `maximum`.

        By default as many as take at most a sixth of the engine's memory, since checks make as much again of them. The
        sample has the same rows on every engine that has them in the same order.
        """
        if self.engine is None:
            return self
        most = self._most_rows if maximum is None else min(maximum, self._most_rows)
        names = [name for name in self.columns if name not in self.left_out]
        if len(self) <= most:
            (frame,) = self.engine.batches(names)
        else:
            frame = self.engine.sample(names, most, seed)
        other = Dataset.__new__(Dataset)
        other._build(frame, {**self.options(), "kinds": self.given_kinds}, known=True)
        return other

    @property
    def rows_fit(self) -> bool:
        """Whether all rows are in memory, or would take at most a sixth of the memory given."""
        return self.engine is None or len(self) <= self._most_rows

    @property
    def _most_rows(self) -> int:
        """How many rows of an engine are read into memory, at most: checks make as much again of them."""
        assert self.engine is not None
        return max(1, self.engine.memory // 6 // row_bytes(self.engine.schema))

    def beside(
        self,
        sets: Sequence[Sequence[Key]],
        *,
        outcomes: bool = True,
        scores: bool = False,
        protected: bool = False,
        also: Sequence[Key] = (),
        means: Sequence[str] = (),
        weighted: bool = True,
    ) -> list[Dataset | None]:
        """For each set of keys the rows that an engine counts by them, beside columns that have a role.

        All sets are counted in one statement, by the keys `also` too; `outcomes`, `scores` and `protected` say whether
        by target and prediction, by scores, and by the protected attributes. A dataset has a row per combination, with
        `counts`; None stands for more combinations than memory allows. The means of the numbers in the columns `means`
        and of their squares are columns, too (`role_counts.mean_names`). Weights are left out unless `weighted`.
        """
        assert self.engine is not None
        found = count_beside(
            self.engine,
            self.roles if weighted else replace(self.roles, weight=None),
            sets,
            outcomes=outcomes,
            bins=self.score_bins if scores else None,
            protected=protected,
            also=also,
            means=means,
        )
        return [None if part is None else self._counted(part) for part in found]

    def frequent(self, sets: Sequence[Sequence[Key]], least: int, *, also: Sequence[Key] = ()) -> list[Dataset | None]:
        """As `beside`, without combinations of a set's keys that fewer than `least` rows have; None where none is left.

        `NotApplicable` is raised where there are more combinations than memory allows.
        """
        assert self.engine is not None
        found = count_frequent(self.engine, self.roles, sets, least, also)
        return [self._counted(part) if len(part.table) else None for part in found]

    def repeated(self, names: Sequence[str]) -> Dataset | None:
        """The rows that share the values of these columns with another row, as an engine counts them.

        By these columns, the target and the protected attributes; None where memory does not allow it.
        """
        assert self.engine is not None
        found = count_repeated(self.engine, self.roles, names)
        return None if found is None else self._counted(found)

    def _counted(self, part: RoleCounts) -> Dataset:
        """Combinations that an engine counted: a dataset of roles, without features."""
        options, here = self.options(), part.table.columns
        options["features"] = []
        options["kinds"] = {
            name: kind for name, kind in self.kinds.items() if name in here and part.table[name].dtype != nw.Boolean
        }
        for role in ("target", "prediction", "weight", "time"):
            options[role] = options[role] if options[role] in here else None
        if not set(self.roles.score) <= set(here):
            options["score"] = None
        if not set(self.protected) <= set(here):
            options["protected"], options["privileged"] = (), None
        if options["target"] is None and options["prediction"] is None:
            options["positive"] = options["task"] = None
        options["labels"] = None
        other = Dataset.__new__(Dataset)
        other._build(part.table.to_native(), options, known=True)
        other.counts, other.words, other.proposed = part.counts, self.words, self.proposed
        other.weight_unit = self.weight_unit
        return other

    def by_time(self) -> Dataset:
        """The same dataset counted by time, too, where an engine counts it; its scores are left out."""
        if self.engine is None or self.counts is None or self.roles.time is None:
            return self
        options = self.options()
        if self.roles.prediction is not None:
            options["score"] = None
        other = Dataset.__new__(Dataset)
        other._build(self.engine, options, known=True, moments=True)
        return other

    def replace(self, frame: Any) -> Dataset:
        """The same roles over another table, which need not contain every class and every group."""
        other = Dataset.__new__(Dataset)
        other._build(frame, {**self.options(), "features": self.features, "ignore": None}, known=True)
        other.ignored, other._classes_before = self.ignored, self.classes
        other._features_given, other.identifiers = self._features_given, self.identifiers
        other.reading_notes, other.proposed = self.reading_notes, self.proposed
        other.given_kinds = self.given_kinds
        return other

    def take(self, rows: Any) -> Dataset:
        """The rows at these positions, or where this mask is True."""
        index = np.asarray(rows)
        if index.dtype == bool:
            if index.shape != (self.height,):
                raise DataError(f"A mask must have one value per row: expected {self.height}, got shape {index.shape}.")
            index = np.flatnonzero(index)
        elif index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
            raise DataError(f"Rows must be given as whole numbers or a mask; got {index.dtype} of shape {index.shape}.")
        if index.size and not (index.min() >= 0 and index.max() < self.height):
            raise DataError(f"Rows must lie between 0 and {self.height - 1}; got {index.min()} to {index.max()}.")
        chosen = self._packed.table[index.astype(np.int64)]
        if self.engine is None:
            return self.replace(Packed(chosen, self._packed.texts))
        return self._of_cells(chosen.to_native(), index)

    def _of_cells(self, frame: Any, index: NDArray[np.int64]) -> Dataset:
        """Some of the combinations that an engine counted: a dataset of roles, without features."""
        options = self.options()
        options["features"] = []
        options["kinds"] = {name: kind for name, kind in self.kinds.items() if name in self._packed.table.columns}
        if self.roles.time not in self._packed.table.columns:
            options["time"] = None
        other = Dataset.__new__(Dataset)
        other._build(frame, options, known=True)
        other.counts = None if self.counts is None else self.counts[index]
        other._classes_before = self.classes
        return other

    def with_roles(self, **changes: Unpack[RoleOptions]) -> Dataset:
        """The same table with some roles changed; the arguments are those of `Dataset`.

        What was read off a role that changes is read anew: task and positive value with the target, default features
        with any role, privileged values with the protected attributes.
        """
        options = self.options()
        options["kinds"] = self.given_kinds
        if "target" in changes or ("prediction" in changes and self.target is None):
            options["task"] = options["positive"] = None
        if "protected" in changes:
            kept = given_protected(changes["protected"])
            options["privileged"] = {
                name: values
                for name, values in self.roles.privileged.items()
                if name in kept and (kept[name] is None) == (name not in self.roles.bands)
            }
        options.update(changes)
        other = Dataset(self.frame, **options)
        other.reading_notes = self.reading_notes
        if "protected" not in changes:
            other.proposed = self.proposed
        return other
