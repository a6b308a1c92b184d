"""CatBoost models: they know their classes, their columns and which of these hold categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.errors import ModelError, require
from isonomia.models._catboost_probe import crashes
from isonomia.models._known import Known
from isonomia.models._predictors import Answer
from isonomia.models.columns import number_matrix
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat
from isonomia.models.surface import SurfaceKind

#: Losses whose raw value is a logarithm; CatBoost's own regressor returns its exponential too.
_LOGARITHMS = ("Poisson", "Tweedie")
#: Losses that answer with several numbers per row, none of which alone is the prediction.
_SEVERAL = ("MultiRMSE", "MultiRMSEWithMissingValues", "MultiQuantile", "MultiLogloss", "MultiCrossEntropy")
#: Losses that put rows in an order: their values are scores, and no prediction of a number.
_RANKINGS = ("YetiRank", "PairLogit", "Query", "LambdaMart", "StochasticRank", "StochasticFilter", "GroupQuantile")


def is_catboost(obj: object) -> bool:
    """Whether this is a CatBoost model: the classifier, the regressor, the ranker or the plain one."""
    return any(
        base.__name__ == "CatBoost" and base.__module__.split(".")[0] == "catboost" for base in type(obj).__mro__
    )


def load_catboost(content: bytes, *, name: str) -> Any:
    """A model from the bytes of a .cbm file."""
    catboost = require("catboost", extra="catboost", purpose="reading CatBoost models")
    model = catboost.CatBoost()
    rest = _after_core(content, name)
    if problem := crashes(content):
        raise ModelError(f"'{name}' is not a readable CatBoost model: {problem}.")
    try:
        model.load_model(blob=content)
        model.get_all_params()
    except Exception as error:  # catboost has an exception class of its own
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise ModelError(f"'{name}' is not a readable CatBoost model: {type(error).__name__}: {reason}") from error
    if rest and not (model.get_text_feature_indices() or model.get_embedding_feature_indices()):
        _check_tables(rest, name)
    return model


def _after_core(content: bytes, name: str) -> bytes:
    """What follows the core of the file; its length stands at the beginning, and CatBoost reads that far unasked."""
    size = int.from_bytes(content[4:8], "little")
    if len(content) < 8 or size > len(content) - 8:
        raise ModelError(f"'{name}' is not a readable CatBoost model: it ends before its core does.")
    return content[8 + size :]


def _check_tables(rest: bytes, name: str) -> None:
    """The tables of categories come last, each after its length; with some cut off CatBoost would answer otherwise."""
    offset = 4
    for _ in range(int.from_bytes(rest[:4], "little")):
        offset += 4 + int.from_bytes(rest[offset : offset + 4], "little")
        if offset > len(rest):
            raise ModelError(f"'{name}' is not a readable CatBoost model: its tables of categories are incomplete.")


@dataclass
class CatBoostPredictor(Known):
    """A CatBoost model, live or from a file; both are called through the same interface."""

    model: Any

    def __post_init__(self) -> None:
        self._library = require("catboost", extra="catboost", purpose="predicting with a CatBoost model")
        if not self.model.is_fitted():
            raise ModelError(f"The CatBoost model ({type(self.model).__name__}) is not fitted. Call its fit() first.")
        self.loss = str(self.model.get_all_params().get("loss_function", "")).split(":")[0]
        self.make = f"CatBoost, {self.loss or 'loss unknown'}"
        if self.loss in _SEVERAL:
            raise ModelError(
                f"The CatBoost model answers with several numbers per row ({self.loss}); one per row is examined. "
                "Wrap it in a function that returns the one that decides: Model.of(function)."
            )
        self._columns = [str(name) for name in self.model.feature_names_]
        unnamed = self._columns == [str(index) for index in range(len(self._columns))]  # fitted on a matrix
        self.names = None if unnamed else tuple(self._columns)
        self.n_features = len(self._columns)
        self._categories = frozenset(self.model.get_cat_feature_indices())
        self._texts = frozenset(self.model.get_text_feature_indices())
        self.classes = tuple(np.asarray(self.model.classes_).tolist())
        if self.classes:
            self.task = "binary" if len(self.classes) == 2 else "multiclass"
        else:
            self.task = None if self.loss.startswith(_RANKINGS) else "regression"

    @property
    def times_asked(self) -> tuple[int, int]:
        """How often every row is sent so that it has a decision: as a rule, and at most."""
        own = len(self.classes) == 2 and self.loss != "MultiClassOneVsAll" and self._threshold() != 0.5
        return 1 + own, 1 + own

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Predict all rows at once."""
        rows = self._rows(table)
        if not self.classes:
            return self._numbers(rows, kind)
        if kind == "label" or self.loss == "MultiClassOneVsAll":  # whose probabilities do not sum to 1
            return Answer(self._decisions(rows), "label", self.classes)
        if kind == "score" and len(self.classes) == 2:
            return Answer(self._predict(rows, "RawFormulaVal"), "score", self.classes)
        values = self._predict(rows, "Probability")
        own = decide and len(self.classes) == 2 and self._threshold() != 0.5
        labels = self._decisions(rows) if own else None
        return Answer(values, "probability", self.classes, labels, calls=1 + own, rows=(1 + own) * len(table))

    def _predict(self, rows: Any, kind: str) -> Any:
        """As the plain model predicts: its descendants choose the kind of answer themselves."""
        return self._library.CatBoost.predict(self.model, rows, prediction_type=kind)

    def _threshold(self) -> float:
        """A threshold can be set in a classifier, and is saved with it; read back, the model is a plain one."""
        return float(self._library.CatBoostClassifier.get_probability_threshold(self.model))

    def _decisions(self, rows: Any) -> Any:
        return np.ravel(self._predict(rows, "Class"))

    def _numbers(self, rows: Any, kind: SurfaceKind | None) -> Answer:
        if self.task is None:
            return Answer(self._predict(rows, "RawFormulaVal"), kind or "score")
        if self.loss in _LOGARITHMS:
            return Answer(self._predict(rows, "Exponent"), kind or "continuous")
        values = np.asarray(self._predict(rows, "RawFormulaVal"))
        # with its uncertainty CatBoost returns (mean, spread); the mean is the prediction
        return Answer(values[:, 0] if self.loss == "RMSEWithUncertainty" else values, kind or "continuous")

    def _rows(self, table: nw.DataFrame[Any]) -> Any:
        """A pandas frame (CatBoost brings pandas along) under the model's own names."""
        pandas = require("pandas", extra="pandas", purpose="handing rows to a CatBoost model")
        columns: dict[str, Any] = {}
        for index, (own, name) in enumerate(zip(self._columns, table.columns, strict=True)):
            if index in self._categories or index in self._texts:
                columns[own] = _category(table[name], self.make)
            else:
                columns[own] = number_matrix(table.select(name), make=self.make)[:, 0]
        return pandas.DataFrame(columns)


def _category(column: nw.Series[Any], make: str) -> Any:
    """Texts or whole numbers, as CatBoost takes categories; it has no code for missing ones."""
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    n_missing = int(missing.sum())
    if n_missing:
        raise ModelError(
            f"The model ({make}) takes '{column.name}' as a category, but {n_missing:,} of its values are missing, "
            "which CatBoost cannot treat as a category. Fill them as in training."
        )
    if column.dtype.is_float():
        values = column.to_numpy()
        if not (values == np.rint(values)).all():
            raise ModelError(
                f"The model ({make}) takes '{column.name}' as a category, but it contains numbers with decimals. Write "
                "them as texts, as in training."
            )
        return values.astype(np.int64)
    return np.array(column.to_list(), dtype=object)


MODEL_FORMATS.add(
    ModelFormat(
        id="catboost",
        title="CatBoost",
        purpose="models of CatBoost, with their classes and categories",
        suffixes=(".cbm",),
        load=load_catboost,
        starts=lambda content: content.startswith(b"CBM1"),
        extra="catboost",
        owns=is_catboost,
        predictor=CatBoostPredictor,
    )
)
