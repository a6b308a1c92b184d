"""Damaged model files end in an error of ours or in a model that predicts; none ends the process.

Each format is opened in a process of its own, some forty times, with seeded damage. Models that were seen to end the
process stand below by what is wrong in them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia import ModelError, load_model
from isonomia.models._ubjson import read_ubjson

PROGRAM = Path(__file__).with_name("damage.py")
SOURCE = Path(iso.__file__).parents[1]
COUNT = 40


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    return x, (x[:, 0] + x[:, 1] > 0).astype(int)


def _skops(kind: str, x: Any, y: Any, path: Path) -> None:
    import sklearn.ensemble
    import sklearn.svm

    if kind == "svc":
        made = sklearn.svm.SVC().fit(x[:60], y[:60])
    else:
        made = sklearn.ensemble.RandomForestClassifier(3, max_depth=3, random_state=0).fit(x, y)
    iso.models.save_model(made, path)


def _xgboost(x: Any, y: Any, path: Path, **options: Any) -> None:
    xgboost = pytest.importorskip("xgboost")
    settings = {"objective": "multi:softprob", "num_class": 3, "max_depth": 3, "verbosity": 0, "nthread": 1, **options}
    xgboost.train(settings, xgboost.DMatrix(x, y + (x[:, 2] > 0)), 3).save_model(path)


def _lightgbm(x: Any, y: Any, path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "verbose": -1, "num_leaves": 7, "num_threads": 1}
    lightgbm.train(settings, lightgbm.Dataset(x, y), 3).save_model(path)


def _onnx(x: Any, y: Any, path: Path) -> None:
    pytest.importorskip("onnxruntime")
    convert = pytest.importorskip("skl2onnx").convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.ensemble import RandomForestClassifier

    made = RandomForestClassifier(3, max_depth=3, random_state=0).fit(x.astype(np.float32), y)
    proto = convert(
        made,
        initial_types=[("rows", FloatTensorType([None, 4]))],
        options={id(made): {"zipmap": False}},
        target_opset=17,
    )
    path.write_bytes(proto.SerializeToString())


def _catboost(x: Any, y: Any, path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 4, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    catboost.CatBoostClassifier(**settings).fit(x, y).save_model(str(path))


MADE: dict[str, Callable[[Any, Any, Path], None]] = {
    "forest.skops": lambda x, y, path: _skops("forest", x, y, path),
    "svc.skops": lambda x, y, path: _skops("svc", x, y, path),
    "trees.ubj": _xgboost,
    "trees.json": _xgboost,
    "linear.ubj": lambda x, y, path: _xgboost(x, y, path, booster="gblinear"),
    "trees.txt": _lightgbm,
    "forest.onnx": _onnx,
    "trees.cbm": _catboost,
}


@pytest.mark.parametrize("name", MADE)
def test_damaged_files_end_no_process(name: str, rows: tuple[Any, Any], tmp_path: Path) -> None:
    MADE[name](*rows, tmp_path / name)
    count = 6 if name.endswith(".cbm") else COUNT  # each is opened in a process of its own, which takes two seconds
    home = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), *filter(None, sys.path)]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path / name), str(count)],
        env=home,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.partition(" ")[0].lstrip("-").isdigit()]
    assert done.returncode == 0, f"ended with {done.returncode} at {lines[-1:]}: {done.stderr[-300:]}"
    outcomes = dict(line.split(" ", 1) for line in lines)
    assert outcomes.pop("-1") == "ok", "the file as it was written"
    assert len(outcomes) == count
    assert set(outcomes.values()) <= {"ok", "refused"}, outcomes
    assert "refused" in outcomes.values()


# models that ended the process, by what is wrong in them --------------------------------------------------------------


def changed(model: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    """The model with the value at a dotted path replaced."""
    *way, last = where.split(".")
    inside: Any = model
    for part in way:
        inside = inside[int(part) if part.isdigit() else part]
    inside[int(last) if last.isdigit() else last] = value
    return model


TREE = "learner.gradient_booster.model.trees.0."


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (TREE + "left_children.0", 1_000_000, "points outside itself"),
        (TREE + "right_children.0", 0, "points outside itself"),
        (TREE + "left_children.1", 0, "points outside itself"),
        (TREE + "split_indices.0", 99, "`split_indices` points at"),
        (TREE + "tree_param.num_nodes", "1000000", "has another length"),
        (TREE + "split_type.0", 1, "incomplete"),
        (TREE + "categories_nodes", [0], "incomplete"),
        ("learner.gradient_booster.model.tree_info.0", 7, "`tree_info` points at"),
        ("learner.gradient_booster.model.iteration_indptr.1", 1000, "rounds"),
        ("learner.learner_model_param.num_class", "0", "base scores"),
        ("learner.learner_model_param.num_feature", "2147483647", "`num_feature` is out of range"),
        ("learner.objective.softmax_multiclass_param.num_class", "0", "classes do not fit"),
        ("learner.learner_model_param.base_score", "[1E0,1E0]", "base scores"),
        ("learner.gradient_booster", {}, "`name` is missing"),
    ],
)
def test_xgboost_models_that_lead_astray(
    rows: tuple[Any, Any], tmp_path: Path, where: str, value: Any, message: str
) -> None:
    _xgboost(*rows, tmp_path / "model.json")
    model = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "bad.json").write_text(json.dumps(changed(model, where, value)))
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / "bad.json")


def test_binary_json_is_read_within_bounds(rows: tuple[Any, Any], tmp_path: Path) -> None:
    """The two kinds of files say the same; lengths that reach beyond the end are found before anything follows them."""
    _xgboost(*rows, tmp_path / "model.json")
    _xgboost(*rows, tmp_path / "model.ubj")
    content = (tmp_path / "model.ubj").read_bytes()

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | np.ndarray) else value

    text = json.loads((tmp_path / "model.json").read_text())
    mine, theirs = plain(read_ubjson(content)), plain(text)
    for given in (mine, theirs):  # numbers in single precision are written with fewer digits
        for tree in given["learner"]["gradient_booster"]["model"]["trees"]:
            for key in ("base_weights", "loss_changes", "split_conditions", "sum_hessian"):
                tree[key] = [round(float(value), 3) for value in tree[key]]
    assert mine == theirs
    for bad in (content[:-1], content + b"x", content.replace(b"L" + bytes(7), b"L" + b"\x7f" * 7, 1), b"[" * 99):
        with pytest.raises(ValueError, match=r"\w"):
            read_ubjson(bad)


def test_boosters_inside_skops_files_are_checked(rows: tuple[Any, Any], tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    x, y = rows
    made = xgboost.XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1).fit(x, y + (x[:, 2] > 0))
    iso.models.save_model(made, tmp_path / "good.skops")
    assert load_model(tmp_path / "good.skops").predict_frame(x).shape == (200, 3)
    with zipfile.ZipFile(tmp_path / "good.skops") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    [booster] = [name for name in parts if name.endswith(".bin")]
    first = parts[booster].index(b"left_children[$l#L") + len(b"left_children[$l#L") + 8
    astray = parts[booster][:first] + (10**6).to_bytes(4, "big") + parts[booster][first + 4 :]
    for bad, message in (
        (astray, "points outside itself"),
        (b"multi:softmaxx".join(parts[booster].rsplit(b"multi:softprob", 1)), "differ in `objective`"),
        (parts[booster][:-9], "ends too early"),
    ):
        with zipfile.ZipFile(tmp_path / "bad.skops", "w") as archive:
            for name, content in {**parts, booster: bad}.items():
                archive.writestr(name, content)
        with pytest.raises(ModelError, match=message):
            load_model(tmp_path / "bad.skops")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0", "classes and its trees"),
        ("num_leaves=7", "num_leaves=1000000", "no nodes|another length"),
        ("num_leaves=7", "num_leaves=0", "no nodes"),
        ("left_child=", "left_child=-99 ", "another length|outside itself"),
        ("threshold=", "threshold=x", "another type"),
        ("decision_type=2", "decision_type=1", "incomplete"),
        ("max_feature_idx=3", "max_feature_idx=99999", "another length"),
        ("tree_sizes=", "tree_sizes=9", "other sizes"),
        ("shrinkage=1", "shrinkage=", "`shrinkage`"),
        ("end of trees", "end of", "has no end"),
        ("is_linear=0", "is_linear=1", "leaf_const"),
        ("\n[boosting: gbdt]", "\n[boosting: gbdt", "parameter in it is malformed"),
        ("leaf_value=", "leaf_valve=", "unknown"),
    ],
)
def test_lightgbm_models_that_lead_astray(
    rows: tuple[Any, Any], tmp_path: Path, old: str, new: str, message: str
) -> None:
    _lightgbm(*rows, tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert old in text
    (tmp_path / "bad.txt").write_text(text.replace(old, new, 1))
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / "bad.txt")
