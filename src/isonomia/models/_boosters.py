"""XGBoost and LightGBM boosters: models that know codes and numbers, no class names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data import Task
from isonomia.errors import ModelError, require
from isonomia.models._known import Known
from isonomia.models._predictors import Answer
from isonomia.models.columns import number_matrix, to_kind
from isonomia.models.surface import SurfaceKind

#: What each XGBoost objective returns; what starts with reg:, count: or survival: is a number.
_XGBOOST: dict[str, SurfaceKind] = {
    "binary:logistic": "probability",
    "reg:logistic": "probability",
    "multi:softprob": "probability",
    "binary:logitraw": "score",
    "binary:hinge": "label",
    "multi:softmax": "label",
}
#: LightGBM objectives that are about classes; its one-vs-all probabilities do not sum to 1.
_LIGHTGBM: dict[str, SurfaceKind] = {
    "binary": "probability",
    "multiclass": "probability",
    "multiclassova": "label",
}
_NUMBERS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")


def is_xgboost_booster(thing: object) -> bool:
    """Whether this is a bare xgboost.Booster."""
    return type(thing).__name__ == "Booster" and type(thing).__module__.split(".")[0] == "xgboost"


def is_lightgbm_booster(thing: object) -> bool:
    """Whether this is a bare lightgbm.Booster."""
    return type(thing).__name__ == "Booster" and type(thing).__module__.split(".")[0] == "lightgbm"


@dataclass
class XGBoostPredictor(Known):
    """An XGBoost booster."""

    booster: Any

    def __post_init__(self) -> None:
        learner = json.loads(self.booster.save_config())["learner"]
        self.objective = str(learner["objective"]["name"])
        self.n_classes = max(int(learner["learner_model_param"]["num_class"]), 2)
        self.make = f"XGBoost booster, {self.objective}"
        # training that stopped early says how many rounds count; XGBoost's own estimators predict with these alone
        best = self.booster.attributes().get("best_iteration")
        self.rounds = (0, 0) if best is None else (0, int(best) + 1)
        names = self.booster.feature_names
        self.names = None if names is None else tuple(names)
        self.n_features = int(self.booster.num_features())
        is_number = self.objective.startswith(("reg:", "count:", "survival:"))
        self.task = _task_of(_XGBOOST.get(self.objective), is_number, self.n_classes)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Predict all rows at once."""
        xgboost = require("xgboost", extra="boosting", purpose="predicting with an XGBoost model")
        types = self.booster.feature_types or []
        if "c" in types:
            rows = _with_categories(table)
            matrix = xgboost.DMatrix(rows, enable_categorical=True)
        else:
            rows = number_matrix(table, make=self.make)
            matrix = xgboost.DMatrix(rows, feature_names=self.booster.feature_names, feature_types=types or None)
        values = self.booster.predict(matrix, iteration_range=self.rounds)
        own = _XGBOOST.get(self.objective)
        classes = tuple(range(self.n_classes)) if own is not None else None
        return Answer(values, kind if classes is None else own, classes)


@dataclass
class LightGBMPredictor(Known):
    """A LightGBM booster."""

    booster: Any

    def __post_init__(self) -> None:
        self.objective = _lightgbm_objective(self.booster)
        self.n_classes = max(int(self.booster.num_model_per_iteration()), 2)
        self.make = f"LightGBM booster, {self.objective or 'objective unknown'}"
        names = tuple(self.booster.feature_name())
        unnamed = names == tuple(f"Column_{place}" for place in range(len(names)))
        self.names = None if unnamed else names
        self.n_features = int(self.booster.num_feature())
        self.alias = _underscored
        self.task = _task_of(_LIGHTGBM.get(self.objective), self.objective in _NUMBERS, self.n_classes)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Predict all rows at once."""
        rows = _with_categories(table) if self.booster.pandas_categorical else number_matrix(table, make=self.make)
        values = self.booster.predict(rows)
        own = _LIGHTGBM.get(self.objective)
        if own is None:
            return Answer(values, kind)
        if self.objective == "multiclassova":
            values = values.argmax(axis=1)
        return Answer(values, own, tuple(range(self.n_classes)))


def _task_of(kind: SurfaceKind | None, is_number: bool, n_classes: int) -> Task | None:
    if kind is None:
        return "regression" if is_number else None
    return "binary" if n_classes == 2 else "multiclass"


def _with_categories(table: nw.DataFrame[Any]) -> Any:
    """A pandas frame whose texts are categories: the library maps them to the ones it was trained on."""
    require("pandas", extra="pandas", purpose="handing categories to a boosting model")
    rows = to_kind(table, "pandas")
    texts = [name for name in table.columns if not (table[name].dtype.is_numeric() or table[name].dtype == nw.Boolean)]
    return rows.astype(dict.fromkeys(texts, "category")) if texts else rows


def _lightgbm_objective(booster: Any) -> str:
    """The objective, from the head of the model's text (the whole of it may be large)."""
    text = booster.model_to_string(num_iteration=1)
    for line in text.split("\n", 40)[:40]:
        if line.startswith("objective="):
            return str(line.removeprefix("objective=").split(" ")[0])
    return ""


def _underscored(name: str) -> str:
    return name.replace(" ", "_")


def load_xgboost(content: bytes, *, name: str) -> Any:
    """A booster from the bytes of a .ubj or .json file."""
    xgboost = require("xgboost", extra="boosting", purpose="reading XGBoost models")
    booster = xgboost.Booster()
    try:
        booster.load_model(bytearray(content))
        booster.save_config()
    except Exception as error:
        raise ModelError(f"'{name}' is no readable XGBoost model: {_first_line(error)}") from error
    return booster


def load_lightgbm(content: bytes, *, name: str) -> Any:
    """A booster from the text of a LightGBM model file."""
    lightgbm = require("lightgbm", extra="boosting", purpose="reading LightGBM models")
    try:
        return lightgbm.Booster(model_str=content.decode("utf-8"))
    except Exception as error:
        raise ModelError(f"'{name}' is no readable LightGBM model: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"
