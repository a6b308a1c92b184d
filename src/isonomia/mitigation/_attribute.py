"""The base of every estimator here: options checked at fit, groups from columns of X or from `sensitive_features`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from isonomia.counting import Codes, composite
from isonomia.data import to_numpy, wrap
from isonomia.data.frames import usual_kind
from isonomia.errors import DataError, SpecError, close_to
from isonomia.models.columns import hand_over
from isonomia.parameters import NAMES, Kind, parameters_of, read_options
from isonomia.parameters.other_words import OPTIONS
from isonomia.subject import read_attributes
from isonomia.typing import Indices

#: Where the protected attribute is: columns of X; none of them for everyone as one group; None where it comes as data.
SENSITIVE = NAMES.or_none("where it comes as sensitive_features")


@dataclass(eq=False, repr=False, kw_only=True)
class Mitigator(BaseEstimator):  # type: ignore[misc]
    """An estimator that knows the groups of its rows.

    The options of a subclass are its fields, which `__init__` sets unchanged; `__kinds__` declares their kinds.
    """

    __kinds__: ClassVar[Mapping[str, Kind[Any]]] = {"sensitive": SENSITIVE}
    sensitive: str | Sequence[str] | None = None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse what is no option, with the word for it here."""
        known = [one.name for one in fields(cls) if one.init]
        for name in options:
            if name not in known:
                own = next(iter(OPTIONS.get(name, ())), name)
                raise SpecError(f"`{cls.__name__}` has no option {name!r}.{close_to(own, known)}")
        made: Self = super().__new__(cls)
        return made

    def _options(self) -> dict[str, Any]:
        """The options as plain values, or one error with everything that is wrong with them."""
        declared = parameters_of(type(self))
        return read_options(
            declared, {one.name: getattr(self, one.name) for one in declared}, owner=type(self).__name__
        )

    def _features(self, X: Any, *, reset: bool, drop: bool = False) -> Any:
        """X as estimators take it, with the names and number of its columns checked (learnt where `reset`).

        `drop` leaves out the columns of the protected attribute.
        """
        rows = named_table(X)
        given = rows.to_native() if rows is not None else X if hasattr(X, "shape") else np.asarray(X)
        if len(given.shape) == 1:
            raise DataError("X must have two dimensions; got a 1D array. Reshape your data: X.reshape(-1, 1).")
        validate_data(self, given, reset=reset, skip_check_array=True)
        if rows is None:
            return given
        hidden = self._names() if drop else ()
        return hand_over(rows.drop(*hidden) if hidden else rows, "native")

    def _names(self) -> tuple[str, ...]:
        """The columns of X that hold the protected attribute."""
        given = self.sensitive
        return () if given is None else (given,) if isinstance(given, str) else tuple(given)

    def _attributes(self, X: Any, sensitive_features: Any) -> tuple[Codes, ...]:
        """The protected attributes; none where everyone is one group."""
        owner, names = type(self).__name__, self._names()
        if sensitive_features is not None and names:
            raise SpecError(
                f"{owner} has the protected attribute twice: as `sensitive` (columns of X) and as "
                "`sensitive_features`. Give one of them."
            )
        if sensitive_features is not None:
            return read_attributes(sensitive_features, length=_length(X))
        if self.sensitive is None:
            raise DataError(
                f"{owner} has no protected attribute. Name its columns (sensitive='sex'), or pass "
                "sensitive_features=... along with X; inside a pipeline or a search that needs metadata routing, or "
                "the name of the step in front (step__sensitive_features=...). sensitive=[] makes everyone one group."
            )
        return read_attributes(_columns(X, names, owner)) if names else ()

    def _read_groups(self, X: Any, sensitive_features: Any) -> Codes:
        """The group of every row; a group is the tuple of the attributes' values."""
        columns = self._attributes(X, sensitive_features)
        return composite(columns) if columns else Codes("everyone", np.zeros(_length(X), dtype=np.uint8), ((),))

    def _learn_groups(self, X: Any, sensitive_features: Any) -> Codes:
        """The group of every row at fit; `attributes_` and `groups_` keep the names and the values."""
        groups = self._read_groups(X, sensitive_features)
        self.attributes_ = [column.name for column in self._attributes(X, sensitive_features)]
        self.groups_ = list(groups.labels)
        return groups

    def _known_groups(self, X: Any, sensitive_features: Any) -> Indices:
        """The group of every row after fit, as an index into `groups_`."""
        groups = self._read_groups(X, sensitive_features)
        index_of = {label: index for index, label in enumerate(self.groups_)}
        unseen = [label for label in groups.observed().labels if label not in index_of]
        if unseen:
            raise DataError(
                f"{type(self).__name__} met a group that it was not fitted on: {group_name(unseen[0])}. "
                f"Known: {', '.join(map(group_name, self.groups_[:12]))}. "
                "Fit it on data with every group, or merge rare values."
            )
        table = np.array([index_of.get(label, 0) for label in groups.labels], dtype=np.intp)
        return table[groups.codes]

    def _target(self, y: Any) -> NDArray[Any]:
        """One known outcome per row."""
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        values = column_or_1d(y if hasattr(y, "dtype") else to_numpy(y), warn=True)
        assert_all_finite(values, input_name="y")
        if values.dtype == object and any(value is None for value in values.tolist()):
            raise DataError("y has missing values; leave out the rows without an outcome.")
        if is_classifier(self):
            check_classification_targets(values)
        return np.asarray(values)


def named_table(X: Any) -> nw.DataFrame[Any] | None:
    """X as a table whose columns have names; None for arrays and for numbered columns."""
    if issparse(X) or isinstance(X, np.ndarray):
        return None
    if isinstance(X, Mapping):
        return wrap(X)
    if usual_kind(X) == "DataFrame":
        return wrap(X) if all(isinstance(name, str) for name in X.columns) else None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return wrap(X) if isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns) else None


def _length(X: Any) -> int:
    if hasattr(X, "shape"):
        return int(X.shape[0])
    rows = named_table(X)
    return len(rows) if rows is not None else len(np.asarray(X))


def _columns(X: Any, names: Sequence[str], owner: str) -> dict[str, nw.Series[Any]]:
    table = named_table(X)
    if table is None:
        raise DataError(
            f"{owner} reads the protected attribute from columns of X ({', '.join(map(repr, names))}), but X is "
            f"{type(X).__name__} without column names. Give a frame, or sensitive_features=..."
        )
    for name in names:
        if name not in table.columns:
            raise DataError(f"`sensitive` must name columns of X; got {name!r}.{close_to(name, table.columns)}")
    return {name: table[name] for name in names}


def group_name(group: tuple[Any, ...]) -> str:
    """A group as a person reads it: its values."""
    return " x ".join("missing" if value is None else str(value) for value in group)
