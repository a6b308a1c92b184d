"""LightGBM boosters: models that know codes and numbers, not class names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.errors import ModelError, require
from isonomia.models._known import Known
from isonomia.models._lightgbm_soundness import check_lightgbm
from isonomia.models._predictors import Answer
from isonomia.models.columns import number_matrix
from isonomia.models.formats._boosters import first_line, task_of, with_categories
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat
from isonomia.models.surface import SurfaceKind

#: LightGBM objectives that are about classes; its one-vs-all probabilities do not sum to 1.
_LIGHTGBM: dict[str, SurfaceKind] = {
    "binary": "probability",
    "multiclass": "probability",
    "multiclassova": "label",
}
_NUMBERS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")


def is_lightgbm_booster(obj: object) -> bool:
    """Whether this is a bare lightgbm.Booster."""
    return type(obj).__name__ == "Booster" and type(obj).__module__.split(".")[0] == "lightgbm"


@dataclass
class LightGBMPredictor(Known):
    """A LightGBM booster."""

    booster: Any

    def __post_init__(self) -> None:
        self.objective = _lightgbm_objective(self.booster)
        self.n_classes = max(int(self.booster.num_model_per_iteration()), 2)
        self.make = f"LightGBM booster, {self.objective or 'objective unknown'}"
        names = tuple(self.booster.feature_name())
        unnamed = names == tuple(f"Column_{index}" for index in range(len(names)))
        self.names = None if unnamed else names
        self.n_features = int(self.booster.num_feature())
        self.alias = _underscored
        self.task = task_of(_LIGHTGBM.get(self.objective), self.objective in _NUMBERS, self.n_classes)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Predict all rows at once."""
        rows = with_categories(table) if self.booster.pandas_categorical else number_matrix(table, make=self.make)
        values = self.booster.predict(rows)
        own = _LIGHTGBM.get(self.objective)
        if own is None:
            return Answer(values, kind)
        if self.objective == "multiclassova":
            values = values.argmax(axis=1)
        return Answer(values, own, tuple(range(self.n_classes)))


def _lightgbm_objective(booster: Any) -> str:
    """The objective, from the head of the model's text (the whole of it may be large)."""
    text = booster.model_to_string(num_iteration=1)
    for line in text.split("\n", 40)[:40]:
        if line.startswith("objective="):
            return str(line.removeprefix("objective=").split(" ")[0])
    return ""


def _underscored(name: str) -> str:
    return name.replace(" ", "_")


def load_lightgbm(content: bytes, *, name: str) -> Any:
    """A booster from the text of a LightGBM model file."""
    lightgbm = require("lightgbm", extra="boosting", purpose="reading LightGBM models")
    try:
        text = content.decode("utf-8")
        check_lightgbm(text, name=name)
        return lightgbm.Booster(model_str=text)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"'{name}' is not a readable LightGBM model: {first_line(error)}") from error


MODEL_FORMATS.add(
    ModelFormat(
        id="lightgbm",
        title="LightGBM",
        purpose="boosters of LightGBM, as text",
        suffixes=(".txt", ".lgb"),
        load=load_lightgbm,
        starts=lambda content: content.startswith((b"tree\n", b"tree\r\n")),
        extra="boosting",
        owns=is_lightgbm_booster,
        predictor=LightGBMPredictor,
    )
)
