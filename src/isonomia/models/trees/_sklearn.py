"""Trees, forests and gradient boosting of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Builder, TreeEnsemble
from isonomia.models.trees.links import Link
from isonomia.typing import Floats

SINGLE = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
BOOSTING = ("GradientBoostingClassifier", "GradientBoostingRegressor")
HISTOGRAM_BOOSTING = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
SKLEARN_TREES = (*SINGLE, *FORESTS, *BOOSTING, *HISTOGRAM_BOOSTING)


def read_sklearn(model: Any) -> TreeEnsemble:
    """The trees of a model whose class is one of `SKLEARN_TREES`."""
    kind = type(model).__name__
    if getattr(model, "n_outputs_", 1) != 1:
        raise NotApplicable(f"the {kind} predicts {model.n_outputs_} outcomes; only trees with one outcome are read")
    if kind in HISTOGRAM_BOOSTING:
        return _histogram_boosting(model)
    return _boosting(model) if kind in BOOSTING else _forest(model)


def _forest(model: Any) -> TreeEnsemble:
    classifier = type(model).__name__.endswith("Classifier")
    members = list(getattr(model, "estimators_", (model,)))
    builder = Builder()
    for member in members:
        value = member.tree_.value[:, 0, :]
        _add(builder, member.tree_, value[:, 1:] if classifier and value.shape[1] == 2 else value)
    return builder.build(link="identity", classifier=classifier, feature_dtype=np.float32, divisor=float(len(members)))


def _add(builder: Builder, tree: Any, value: Floats) -> None:
    leaf = tree.children_left < 0
    builder.add(
        feature=np.where(leaf, -1, tree.feature).astype(np.int64),
        threshold=tree.threshold.astype(float),
        left=tree.children_left,
        right=tree.children_right,
        missing_left=np.asarray(tree.missing_go_to_left).astype(bool),
        value=np.where(leaf[:, None], value, 0.0),
        cover=tree.weighted_n_node_samples.astype(float),
    )


def _boosting(model: Any) -> TreeEnsemble:
    """GradientBoosting*: the raw score starts from a constant (class frequencies, mean or 0)."""
    kind, width = type(model).__name__, model.estimators_.shape[1]
    classifier = kind.endswith("Classifier")
    constant = model.init_ == "zero" or type(model.init_).__name__ in ("DummyClassifier", "DummyRegressor")
    if not constant:
        raise NotApplicable(f"the {kind} starts from another model ({type(model.init_).__name__}), not from a constant")
    try:  # the constant has no public name
        base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    except AttributeError as error:
        raise NotApplicable(f"the trees of this {kind} could not be read ({error})") from error
    builder = Builder()
    for stage in model.estimators_:
        for index, member in enumerate(stage):
            value = np.zeros((member.tree_.node_count, width))
            value[:, index] = model.learning_rate * member.tree_.value[:, 0, 0]
            _add(builder, member.tree_, value)
    link: Link = "identity" if not classifier else "logistic" if width == 1 else "softmax"
    return builder.build(
        base=np.asarray(base, dtype=float),
        link=link,
        # with exponential loss the probability is that of twice the raw score
        link_scale=2.0 if classifier and model.loss == "exponential" else 1.0,
        classifier=classifier,
        feature_dtype=np.float32,
    )


def _histogram_boosting(model: Any) -> TreeEnsemble:
    """HistGradientBoosting*: its trees have no public attributes, so private ones are read."""
    kind = type(model).__name__
    classifier = kind.endswith("Classifier")
    builder = Builder()
    try:
        base, prepare = np.ravel(model._baseline_prediction).astype(float), model._preprocessor
        width = len(model._predictors[0])
        for stage in model._predictors:
            for index, member in enumerate(stage):
                _add_histogram(builder, member, index, width)
    except (AttributeError, IndexError, ValueError) as error:
        raise NotApplicable(f"the trees of this {kind} could not be read ({error})") from error
    link: Link = "exp" if model.loss in ("poisson", "gamma") else "identity"
    if classifier:
        link = "logistic" if width == 1 else "softmax"
    categorical = model.is_categorical_  # the model puts these columns first
    return builder.build(
        base=base,
        link=link,
        classifier=classifier,
        source=None if prepare is None else np.argsort(~categorical, kind="stable"),
        prepare=None if prepare is None else prepare.transform,
    )


def _add_histogram(builder: Builder, member: Any, index: int, width: int) -> None:
    nodes = member.nodes
    leaf = nodes["is_leaf"].astype(bool)
    value = np.zeros((len(nodes), width))
    value[:, index] = np.where(leaf, nodes["value"], 0.0)
    tested = np.full(len(nodes), -1, dtype=np.int64)
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = member.raw_left_cat_bitsets[int(nodes["bitset_idx"][node])]
        bits = np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little")
        tested[node] = builder.add_set(np.flatnonzero(bits))
    builder.add(
        feature=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64),
        threshold=nodes["num_threshold"].astype(float),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        value=value,
        cover=nodes["count"].astype(float),
        category_set=tested,
    )
