"""XGBoost boosters: models that know codes and numbers, not class names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.errors import ModelError, require
from isonomia.models._known import Known
from isonomia.models._predictors import Answer
from isonomia.models._xgboost_soundness import check_xgboost
from isonomia.models.columns import number_matrix
from isonomia.models.formats._boosters import first_line, task_of, with_categories
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat
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


def is_xgboost_booster(obj: object) -> bool:
    """Whether this is a bare xgboost.Booster."""
    return type(obj).__name__ == "Booster" and type(obj).__module__.split(".")[0] == "xgboost"


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
        self.task = task_of(_XGBOOST.get(self.objective), is_number, self.n_classes)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Predict all rows at once."""
        xgboost = require("xgboost", extra="boosting", purpose="predicting with an XGBoost model")
        types = self.booster.feature_types or []
        if "c" in types:
            rows = with_categories(table)
            matrix = xgboost.DMatrix(rows, enable_categorical=True)
        else:
            rows = number_matrix(table, make=self.make)
            matrix = xgboost.DMatrix(rows, feature_names=self.booster.feature_names, feature_types=types or None)
        values = self.booster.predict(matrix, iteration_range=self.rounds)
        own = _XGBOOST.get(self.objective)
        classes = tuple(range(self.n_classes)) if own is not None else None
        return Answer(values, kind if classes is None else own, classes)


def load_xgboost(content: bytes, *, name: str) -> Any:
    """A booster from the bytes of a .ubj or .json file."""
    xgboost = require("xgboost", extra="boosting", purpose="reading XGBoost models")
    booster = xgboost.Booster()
    check_xgboost(content, name=name)
    try:
        booster.load_model(bytearray(content))
        booster.save_config()
    except Exception as error:
        raise ModelError(f"'{name}' is not a readable XGBoost model: {first_line(error)}") from error
    return booster


MODEL_FORMATS.add(
    ModelFormat(
        id="xgboost",
        title="XGBoost",
        purpose="boosters of XGBoost, as binary or text JSON",
        suffixes=(".ubj", ".json"),
        load=load_xgboost,
        starts=lambda content: content[:512].lstrip()[:1] == b"{",
        extra="boosting",
        owns=is_xgboost_booster,
        predictor=XGBoostPredictor,
    )
)
