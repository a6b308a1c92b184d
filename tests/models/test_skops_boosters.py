"""Skops files of pipelines with LightGBM and XGBoost parts, and types that a user trusts by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import skops.io
import xgboost
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.models.test_hostile_skops import rewrite

import isonomia as iso
from isonomia.models import load_model, save_model

NUMBERS = ["age", "income"]
BOOSTERS = [
    lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1),
    lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1),
    xgboost.XGBClassifier(n_estimators=3, n_jobs=1),
    xgboost.XGBRegressor(n_estimators=3, n_jobs=1),
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda one: type(one).__name__)
def test_pipelines_with_boosters_load_without_trust(people: Any, tmp_path: Path, booster: Any) -> None:
    target = (people["loan"] == "granted").astype(int)
    pipeline = make_pipeline(StandardScaler(), booster).fit(people[NUMBERS], target)
    loaded = load_model(save_model(pipeline, tmp_path / "model.skops"))
    assert not loaded.trusted
    ask = "predict_proba" if hasattr(booster, "predict_proba") else "predict"
    np.testing.assert_array_equal(loaded.predict_frame(people), getattr(pipeline, ask)(people[NUMBERS]))


@pytest.fixture
def boosted(people: Any) -> Any:
    return lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(
        people[NUMBERS], (people["loan"] == "granted").astype(int)
    )


def changed(content: bytes, old: str, new: str) -> bytes:
    def change(schema: dict[str, Any]) -> None:
        text = json.dumps(schema)
        assert old in text
        schema.update(json.loads(text.replace(old, new)))

    return rewrite(content, change)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("split_feature=", "split_feature=9", "`split_feature` points at what is not there"),
        ("left_child=", "left_child=7", "points outside itself"),
        ('"verbose"', '"predict_disable_shape_check"', "called with the parameter 'predict_disable_shape_check'"),
    ],
)
def test_crafted_boosters_are_refused(boosted: Any, tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "model.skops").write_bytes(changed(skops.io.dumps(boosted), old, new))
    with pytest.raises(iso.ModelError, match=message):
        load_model(tmp_path / "model.skops")


def test_a_crafted_native_file_is_refused(boosted: Any, tmp_path: Path) -> None:
    text = boosted.booster_.model_to_string()
    (tmp_path / "good.txt").write_text(text)
    assert load_model(tmp_path / "good.txt").format == "lightgbm"
    (tmp_path / "bad.txt").write_text(text.replace("split_feature=", "split_feature=9"))
    with pytest.raises(iso.ModelError, match="`split_feature` points at what is not there"):
        load_model(tmp_path / "bad.txt")


def test_other_types_are_trusted_by_name_only(people: Any, tmp_path: Path) -> None:
    path = tmp_path / "neighbours.skops"
    estimator = KNeighborsClassifier(algorithm="kd_tree").fit(people[NUMBERS], people["loan"])
    path.write_bytes(skops.io.dumps(estimator))
    with pytest.raises(iso.UntrustedError, match=r"kinds of object.*name them: trust=\[") as refused:
        load_model(path, trust=True)
    types = json.loads(str(refused.value).split("trust=")[1].split("]")[0].replace("'", '"') + "]")
    assert "sklearn.neighbors._classification.KNeighborsClassifier" in types
    model = load_model(path, trust=types)
    assert model.trusted
    np.testing.assert_array_equal(model.predict_frame(people), estimator.predict_proba(people[NUMBERS]))
    with pytest.raises(iso.UntrustedError, match=types[0].replace(".", r"\.")):
        load_model(path, trust=types[1:])
    with pytest.raises(iso.SpecError, match=r"`trust` names 'os.system', which 'neighbours.skops' does not contain"):
        load_model(path, trust=[*types, "os.system"])
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04N.")
    with pytest.raises(iso.UntrustedError, match="pass trust=True"):
        load_model(tmp_path / "model.pkl", trust=types)
