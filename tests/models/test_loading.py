"""Every format really saved and really loaded, predicting what the original predicts."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import joblib
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import isonomia as iso
from isonomia import Dataset, Model, ModelError, UntrustedError, load_model
from isonomia.models import TrustWarning, save_model

NUMBERS = ["age", "income"]
FEATURES = ["sex", "age", "income", "job"]


def loans(frame: Any) -> Dataset:
    return Dataset(frame, target="loan", positive="granted", protected=["sex"])


def columns(*, selector: bool = False) -> ColumnTransformer:
    numbers: Any = make_column_selector(dtype_include=np.number) if selector else NUMBERS
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("sex", OneHotEncoder(handle_unknown="ignore"), ["sex"]),
            ("job", make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), ["job"]),
        ]
    )


CLASSIFIERS = [
    LogisticRegression(),
    SGDClassifier(loss="log_loss", random_state=0),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(4, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    GradientBoostingClassifier(n_estimators=4, random_state=0),
    HistGradientBoostingClassifier(max_iter=4),
    AdaBoostClassifier(n_estimators=3, random_state=0),
    BaggingClassifier(n_estimators=3, max_features=0.5, random_state=0),
    VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft"),
    StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], cv=2),
    CalibratedClassifierCV(LogisticRegression(), cv=2, method="sigmoid"),
    CalibratedClassifierCV(DecisionTreeClassifier(random_state=0), cv=2, method="isotonic"),
    MLPClassifier((4,), solver="lbfgs", max_iter=2000, tol=1e-2, random_state=0),
    SVC(),
]


@pytest.mark.parametrize("last", CLASSIFIERS, ids=lambda last: type(last).__name__)
@pytest.mark.parametrize("target", ["loan", "band"])
def test_skops_classifiers(people, tmp_path, last, target):
    estimator = make_pipeline(columns(), last).fit(people[FEATURES], people[target])
    path = save_model(estimator, tmp_path / "model.skops")
    model = load_model(path)
    assert (model.format, model.source, model.trusted) == ("skops", "model.skops", False)
    assert model.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.features == tuple(FEATURES)
    data = Dataset(people, target=target, positive="granted" if target == "loan" else None)
    loaded, original = model.surface(data), Model.of(estimator).surface(data)
    assert loaded.kinds == original.kinds
    for kind in loaded.kinds:
        np.testing.assert_array_equal(getattr(loaded, kind), getattr(original, kind))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer:UserWarning")
def test_skops_optimiser_of_a_network(people, tmp_path):
    estimator = MLPClassifier((4,), max_iter=5, random_state=0).fit(people[NUMBERS], people["loan"])
    model = load_model(save_model(estimator, tmp_path / "net.skops"))
    np.testing.assert_array_equal(model.predict_frame(people), estimator.predict_proba(people[NUMBERS]))


@pytest.mark.parametrize(
    "last",
    [
        LinearRegression(),
        Ridge(),
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(4, random_state=0),
        GradientBoostingRegressor(n_estimators=4, random_state=0),
        HistGradientBoostingRegressor(max_iter=4),
        SVR(),
        TransformedTargetRegressor(LinearRegression()),
    ],
    ids=lambda last: type(last).__name__,
)
def test_skops_regressors(people, tmp_path, last):
    estimator = make_pipeline(columns(selector=True), last).fit(people[FEATURES], people["limit"])
    model = load_model(save_model(estimator, tmp_path / "model.skops"))
    surface = model.surface(Dataset(people, target="limit"))
    np.testing.assert_array_equal(surface.continuous, estimator.predict(people[FEATURES]))


@pytest.mark.parametrize(
    "first",
    [
        make_pipeline(FunctionTransformer(np.log1p, feature_names_out="one-to-one"), StandardScaler()),
        KBinsDiscretizer(n_bins=3, quantile_method="averaged_inverted_cdf"),
        TargetEncoder(cv=2),
    ],
    ids=["function", "bins", "target"],
)
def test_skops_transformers(people, tmp_path, first):
    estimator = make_pipeline(first, LogisticRegression()).fit(people[["age"]], people["loan"])
    model = load_model(save_model(estimator, tmp_path / "model.skops"))
    np.testing.assert_array_equal(model.predict_frame(people), estimator.predict_proba(people[["age"]]))


def test_categories_of_histogram_boosting(people, tmp_path):
    frame = people.assign(job=people["job"].astype("category"), sex=people["sex"].astype("category"))
    estimator = HistGradientBoostingClassifier(max_iter=5).fit(frame[FEATURES], frame["loan"])
    model = load_model(save_model(estimator, tmp_path / "model.skops"))
    np.testing.assert_array_equal(model.predict_frame(frame), estimator.predict_proba(frame[FEATURES]))


def test_loaded_models_take_every_frame(people, tmp_path, as_frame):
    estimator = make_pipeline(columns(), LogisticRegression()).fit(people[FEATURES], people["loan"])
    model = load_model(save_model(estimator, tmp_path / "model.skops"))
    surface = model.surface(loans(as_frame(people)))
    np.testing.assert_allclose(surface.probability, estimator.predict_proba(people[FEATURES])[:, 0], rtol=1e-12)


def test_a_search_is_refused_when_saved(people, tmp_path):
    search = GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=2).fit(people[NUMBERS], people["loan"])
    with pytest.raises(UntrustedError, match=r"GridSearchCV.*best_estimator_"):
        save_model(search, tmp_path / "model.skops")
    assert load_model(save_model(search.best_estimator_, tmp_path / "model.skops")).task == "binary"
    with pytest.raises(ModelError, match=r"saved as skops \(\.skops\)"):
        save_model(search.best_estimator_, tmp_path / "model.pkl")


# boosters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "named"), [("ubj", True), ("json", False)], ids=["ubj-names", "json-matrix"])
def test_xgboost(people, tmp_path, as_frame, suffix, named):
    codes = (people["loan"] == "granted").astype(int)
    rows = people[NUMBERS] if named else people[NUMBERS].to_numpy()
    original = xgb.XGBClassifier(n_jobs=1, n_estimators=4).fit(rows, codes)
    path = tmp_path / f"model.{suffix}"
    original.save_model(path)
    model = load_model(path, classes=["refused", "granted"])
    assert (model.format, model.task) == ("xgboost", "binary")
    data = Dataset(as_frame(people), target="loan", positive="granted", features=["age", "income"])
    surface = model.surface(data)
    np.testing.assert_allclose(surface.probability, original.predict_proba(rows)[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(surface.label, original.predict(rows))
    turned = model.surface(data.with_roles(positive="refused"))
    np.testing.assert_array_equal(turned.label, 1 - surface.label)
    with pytest.raises(ModelError, match="trained on codes"):
        load_model(path).surface(data)


def test_xgboost_classes_and_numbers(people, tmp_path):
    codes = pd.Categorical(people["band"]).codes
    several = xgb.XGBClassifier(n_jobs=1, n_estimators=3).fit(people[NUMBERS], codes)
    several.save_model(tmp_path / "several.ubj")
    surface = load_model(tmp_path / "several.ubj", classes=["low", "mid", "top"]).surface(
        Dataset(people, target="band")
    )
    np.testing.assert_allclose(surface.probability, several.predict_proba(people[NUMBERS]), rtol=1e-6)
    numbers = xgb.XGBRegressor(n_jobs=1, n_estimators=3).fit(people[NUMBERS], people["limit"])
    numbers.save_model(tmp_path / "numbers.json")
    model = load_model(tmp_path / "numbers.json")
    assert model.task == "regression"
    found = model.surface(Dataset(people, target="limit")).continuous
    np.testing.assert_allclose(found, numbers.predict(people[NUMBERS]), rtol=1e-6)


def test_xgboost_that_stopped_early(people, tmp_path):
    codes = (people["loan"] == "granted").astype(int)
    original = xgb.XGBClassifier(n_jobs=1, n_estimators=60, learning_rate=1.0, early_stopping_rounds=5)
    train, test = people[NUMBERS].iloc[:120], people[NUMBERS].iloc[120:]
    original.fit(train, codes.iloc[:120], eval_set=[(test, codes.iloc[120:])], verbose=False)
    assert original.best_iteration + 1 < original.get_booster().num_boosted_rounds()
    original.save_model(tmp_path / "model.ubj")
    found = load_model(tmp_path / "model.ubj").predict_frame(people)
    np.testing.assert_allclose(found, original.predict_proba(people[NUMBERS])[:, 1], rtol=1e-6)


def test_xgboost_categories(people, tmp_path):
    frame = people.assign(job=people["job"].astype("category"))
    codes = (people["loan"] == "granted").astype(int)
    original = xgb.XGBClassifier(n_jobs=1, n_estimators=3, enable_categorical=True).fit(frame[["age", "job"]], codes)
    original.save_model(tmp_path / "model.ubj")
    model = load_model(tmp_path / "model.ubj")
    few = people[people["job"] != "clerk"]  # other categories than in training: the codes must not move
    expected = original.predict_proba(frame.loc[few.index, ["age", "job"]])[:, 1]
    np.testing.assert_allclose(model.predict_frame(few), expected, rtol=1e-6)


def test_texts_for_a_booster(people, tmp_path):
    codes = (people["loan"] == "granted").astype(int)
    original = xgb.XGBClassifier(n_jobs=1, n_estimators=2).fit(people[NUMBERS], codes)
    original.save_model(tmp_path / "model.ubj")
    with pytest.raises(ModelError, match="takes numbers, but 'income' contains texts"):
        load_model(tmp_path / "model.ubj").predict_frame(people.assign(income="much"))


def test_lightgbm(people, tmp_path, as_frame):
    frame = people.rename(columns={"income": "net income"})
    codes = (frame["loan"] == "granted").astype(int)
    original = lgb.LGBMClassifier(n_jobs=1, n_estimators=4, verbose=-1).fit(frame[["age", "net income"]], codes)
    path = tmp_path / "model.txt"
    original.booster_.save_model(path)
    model = load_model(path, classes=["refused", "granted"])
    assert (model.format, model.task) == ("lightgbm", "binary")
    surface = model.surface(loans(as_frame(frame)))
    np.testing.assert_allclose(surface.probability, original.predict_proba(frame[["age", "net income"]])[:, 1])
    np.testing.assert_array_equal(surface.label, original.predict(frame[["age", "net income"]]))
    wrapped = Model.of(original, classes=["refused", "granted"]).surface(loans(as_frame(frame)))
    np.testing.assert_allclose(wrapped.probability, surface.probability)


def test_lightgbm_classes_numbers_and_categories(people, tmp_path):
    several = lgb.LGBMClassifier(n_jobs=1, n_estimators=3, verbose=-1).fit(people[NUMBERS], people["band"])
    several.booster_.save_model(tmp_path / "several.txt")
    surface = load_model(tmp_path / "several.txt", classes=several.classes_).surface(Dataset(people, target="band"))
    np.testing.assert_allclose(surface.probability, several.predict_proba(people[NUMBERS]))
    numbers = lgb.LGBMRegressor(n_jobs=1, n_estimators=3, verbose=-1).fit(people[NUMBERS].to_numpy(), people["limit"])
    numbers.booster_.save_model(tmp_path / "numbers.lgb")
    data = Dataset(people, target="limit", features=NUMBERS)
    found = load_model(tmp_path / "numbers.lgb").surface(data).continuous
    np.testing.assert_allclose(found, numbers.predict(people[NUMBERS].to_numpy()))
    frame = people.assign(job=people["job"].astype("category"))
    kinds = lgb.LGBMRegressor(n_jobs=1, n_estimators=3, verbose=-1).fit(frame[["age", "job"]], frame["limit"])
    kinds.booster_.save_model(tmp_path / "kinds.txt")
    few = people[people["job"] != "clerk"]
    expected = kinds.predict(frame.loc[few.index, ["age", "job"]])
    np.testing.assert_allclose(load_model(tmp_path / "kinds.txt").predict_frame(few), expected)


# ONNX --------------------------------------------------------------------------------------------------------------


def to_onnx(estimator: Any, inputs: Any, **options: Any) -> bytes:
    from skl2onnx import convert_sklearn

    content: bytes = convert_sklearn(estimator, initial_types=inputs, target_opset=18, **options).SerializeToString()
    return content


@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.parametrize("target", ["loan", "band"])
def test_onnx_matrix(people, tmp_path, zipmap, target):
    from skl2onnx.common.data_types import FloatTensorType

    rows = people[NUMBERS].to_numpy(dtype=np.float32)
    original = LogisticRegression(max_iter=1000).fit(rows, people[target])
    options = {} if zipmap else {"options": {id(original): {"zipmap": False}}}
    (tmp_path / "model.onnx").write_bytes(to_onnx(original, [("rows", FloatTensorType([None, 2]))], **options))
    model = load_model(tmp_path / "model.onnx")
    assert model.format == "onnx"
    data = Dataset(people, target=target, positive="refused" if target == "loan" else None, features=NUMBERS)
    surface = model.surface(data)
    expected = original.predict_proba(rows)
    expected = expected[:, 1] if target == "loan" else expected
    np.testing.assert_allclose(surface.probability, expected, atol=1e-5)
    assert [surface.classes[code] for code in surface.label] == original.predict(rows).tolist()
    assert model.n_calls == 1


def test_onnx_columns(people, tmp_path, as_frame):
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    frame = people[["sex", "age", "income"]]
    original = make_pipeline(
        ColumnTransformer([("sex", OneHotEncoder(), ["sex"]), ("numbers", StandardScaler(), NUMBERS)]),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
    ).fit(frame, people["loan"])
    kinds = {
        "sex": StringTensorType([None, 1]),
        "age": Int64TensorType([None, 1]),
        "income": FloatTensorType([None, 1]),
    }
    (tmp_path / "model.onnx").write_bytes(to_onnx(original, list(kinds.items())))
    model = load_model(tmp_path / "model.onnx")
    assert model.features == ("sex", "age", "income")
    surface = model.surface(loans(as_frame(people)))
    np.testing.assert_allclose(surface.probability, original.predict_proba(frame)[:, 0], atol=1e-4)
    with pytest.raises(ModelError, match="Missing: 'income'"):
        model.predict_frame(people.drop(columns="income"))
    with pytest.raises(ModelError, match=r"takes texts in 'sex', but some are missing"):
        model.predict_frame(people.assign(sex=None))


def test_onnx_numbers(people, tmp_path):
    from skl2onnx.common.data_types import DoubleTensorType

    rows = people[NUMBERS].to_numpy(dtype=float)
    original = LinearRegression().fit(rows, people["limit"])
    (tmp_path / "model.onnx").write_bytes(to_onnx(original, [("rows", DoubleTensorType([None, 2]))]))
    surface = load_model(tmp_path / "model.onnx").surface(Dataset(people, target="limit", features=NUMBERS))
    np.testing.assert_allclose(surface.continuous, original.predict(rows), rtol=1e-9)


def test_onnx_with_data_outside_is_refused(people, tmp_path):
    import onnx
    from skl2onnx.common.data_types import FloatTensorType

    original = MLPClassifier((40,), solver="lbfgs", max_iter=2000, tol=1e-2, random_state=0).fit(
        people[NUMBERS].to_numpy(dtype=np.float32), people["loan"]
    )
    proto = onnx.load_from_string(to_onnx(original, [("rows", FloatTensorType([None, 2]))]))
    for tensor in proto.graph.initializer:  # only raw bytes can be kept outside
        if tensor.data_type != onnx.TensorProto.STRING:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name))
    inside = tmp_path / "inside.onnx"
    onnx.save_model(proto, str(inside))
    assert load_model(inside, features=NUMBERS).surface(loans(people)).probability is not None
    outside = tmp_path / "outside.onnx"
    onnx.save_model(proto, str(outside), save_as_external_data=True, size_threshold=0, location="weights.bin")
    with pytest.raises(UntrustedError, match="refers to data in other files"):
        load_model(outside)


def test_external_data_hidden_in_a_branch_is_refused(tmp_path):
    import onnx
    from onnx import TensorProto, helper

    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/hostname")
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, [1])
    branch = helper.make_graph([helper.make_node("Constant", [], ["r"], value=tensor)], "branch", [], [result])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    assert onnx.__version__
    with pytest.raises(UntrustedError, match="refers to data in other files"):
        load_model(tmp_path / "model.onnx")


# names and pickles -------------------------------------------------------------------------------------------------


def test_module_and_callable(people, tmp_path, monkeypatch):
    (tmp_path / "my_bank.py").write_text("def decide(rows):\n    return (rows['income'] > 3).to_numpy()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    model = load_model("my_bank:decide", classes=["refused", "granted"])
    data = Dataset(people.assign(loan=people["loan"] == "granted"), target="loan")
    np.testing.assert_array_equal(load_model("my_bank:decide").surface(data).label, people["income"] > 3)
    assert model.source == "my_bank:decide"
    with pytest.raises(ModelError, match=r"no 'decid' in it. Did you mean 'decide'"):
        load_model("my_bank:decid")
    with pytest.raises(ModelError, match="could not be imported"):
        load_model("no_such_module_here:decide")
    sys.modules.pop("my_bank", None)


@pytest.mark.parametrize("suffix", ["pkl", "joblib", "joblib.gz"])
def test_a_trusted_pickle(people, tmp_path, suffix):
    estimator = LogisticRegression().fit(people[NUMBERS], people["loan"])
    path = tmp_path / f"model.{suffix}"
    joblib.dump(estimator, path)
    with pytest.raises(UntrustedError, match=r"runs whatever code its author put in.*trust=True"):
        load_model(path)
    with pytest.warns(TrustWarning, match="runs whatever code"):
        model = load_model(path, trust=True)
    assert model.trusted
    assert Model.of(model, threshold=0.3).trusted
    np.testing.assert_array_equal(model.predict_frame(people), estimator.predict_proba(people[NUMBERS]))


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


NOT_PICKLES = ["m.skops", "m.onnx", "m.ubj", "m.json", "m.txt", "m.bin"]


@pytest.mark.parametrize(
    ("name", "trust"),
    [("m.pkl", False), ("m.joblib", False), *((name, trust) for name in NOT_PICKLES for trust in (False, True))],
)
@pytest.mark.parametrize("protocol", [0, 5])
def test_a_malicious_pickle_is_never_run(tmp_path, name, protocol, trust):
    mark = tmp_path / "mark"
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(mark), protocol=protocol))
    with pytest.raises(ModelError):
        load_model(tmp_path / name, trust=trust)
    assert not mark.exists()


# files that are not what they should be -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.skops", b"PK\x03\x04 and nothing more", "not a readable skops file"),
        ("m.onnx", b"\x08\x07garbage", "not a readable ONNX model"),
        ("m.onnx", b"\x08\x07", "contains no graph"),
        ("m.ubj", b"{L nonsense", "not a readable XGBoost model"),
        ("m.json", b'{"learner": 3}', "not a readable XGBoost model"),
        ("m.txt", b"tree\nnonsense\n", "not a readable LightGBM model"),
        ("m.txt", b"hello", "does not begin like one"),
        ("m.skops", b'{"learner": 3}', "begins like XGBoost"),
        ("m.h5", b"\x89HDF", r"Cannot infer the format of 'm\.h5' from '\.h5'\. Supported: CatBoost .*Pass format="),
        ("m.skops", b"", "is empty"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / name)


def test_files_that_are_not_there_or_too_large(tmp_path):
    (tmp_path / "model.skops").write_bytes(b"PK\x03\x04" + bytes(2000))
    with pytest.raises(ModelError, match=r"There is no model file .*Did you mean 'model.skops'"):
        load_model(tmp_path / "modell.skops")
    with pytest.raises(ModelError, match="is not a file"):
        load_model(tmp_path)
    with pytest.raises(ModelError, match="2,004 bytes, more than the 1,000 allowed"):
        load_model(tmp_path / "model.skops", max_bytes=1000)
    with pytest.raises(ModelError, match="not fetched"):
        load_model("https://example.org/model.skops")
    with pytest.raises(iso.SpecError, match="`format` must be one of"):
        load_model(tmp_path / "model.skops", format="zip")
