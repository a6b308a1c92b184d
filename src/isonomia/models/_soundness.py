"""Checks of loaded estimators whose compiled code follows indices without looking.

scikit-learn's trees, histogram predictors and support vector machines index memory with numbers that come out of the
file. A crafted file would crash the process, or read beyond an array, at the first `predict`; see
https://github.com/scikit-learn/scikit-learn/pull/34558. The checks make that an error. No format is a sandbox all the
same: load files of strangers in a separate process with limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError
from isonomia.models._booster_soundness import check_booster

#: Packages whose wrappers and boosters are looked at as well.
BOOSTING = ("lightgbm.", "xgboost.")


def check_soundness(estimator: Any, *, name: str) -> None:
    """Raise `ModelError` when a tree, a predictor or a support vector machine inside is not in order."""
    try:
        _check_parts(estimator, name=name)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"'{name}' is damaged: {type(error).__name__}: {error}. It is not loaded.") from error


def _check_parts(estimator: Any, *, name: str) -> None:
    for part in reversed(list(_parts(estimator))):  # what is inside comes first
        kind = type(part).__name__
        if type(part).__module__.startswith(BOOSTING):
            check_booster(part, name=name)
        elif hasattr(part, "tree_"):
            _check_tree(part, name=name)
        elif hasattr(part, "_predictors"):
            _check_histogram_boosting(part, name=name)
        elif kind.startswith(("RandomForest", "ExtraTrees")) and hasattr(part, "estimators_"):
            _check_members(part, name=name)
        elif kind.startswith("GradientBoosting") and hasattr(part, "estimators_"):
            _check_gradient_boosting(part, name=name)
        elif kind in ("SVC", "NuSVC", "SVR", "NuSVR") and hasattr(part, "support_vectors_"):
            _check_support_vectors(part, name=name)


def _parts(root: Any) -> Iterator[Any]:
    """Every estimator inside an estimator, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, list | tuple | set):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, np.ndarray):
            stack.extend(item.ravel().tolist() if item.dtype == object else ())
        elif type(item).__module__.startswith(("sklearn.", "isonomia.", *BOOSTING)) and hasattr(item, "__dict__"):
            yield item
            stack.extend(vars(item).values())


def _require(condition: object, name: str, what: str) -> None:
    if not condition:
        raise ModelError(f"Refused to load '{name}': {what} (corrupt or malicious file).")


def _check_links(left: NDArray[Any], right: NDArray[Any], inner: NDArray[Any], name: str) -> None:
    """Children come after their parent: then no index is out of bounds and every walk ends."""
    own = np.flatnonzero(inner)
    for child in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        _require(((child > own) & (child < inner.size)).all(), name, "a tree points outside itself")


def _check_tree(part: Any, *, name: str) -> None:
    tree = part.tree_
    _require(
        type(tree).__name__ == "Tree" and type(tree).__module__ == "sklearn.tree._tree",
        name,
        "an object in it is not a scikit-learn tree",
    )
    n_features = getattr(part, "n_features_in_", None)
    _require(
        isinstance(n_features, int | np.integer) and tree.n_features == n_features, name, "a tree reads other columns"
    )
    _require(tree.node_count > 0 and tree.capacity == tree.node_count, name, "a tree has no nodes")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != -1
    _check_links(left, right, inner, name)
    _require(
        ((feature[inner] >= 0) & (feature[inner] < n_features)).all(), name, "a tree reads columns that are not there"
    )


def _check_members(part: Any, *, name: str) -> NDArray[Any]:
    members = np.asarray(part.estimators_, dtype=object)
    whole = members.size > 0 and all(hasattr(member, "tree_") for member in members.flat)
    _require(whole, name, "its trees are missing")
    same = all(getattr(member, "n_features_in_", None) == part.n_features_in_ for member in members.flat)
    _require(same, name, "its trees read different numbers of columns")
    return members


def _check_gradient_boosting(part: Any, *, name: str) -> None:
    members = _check_members(part, name=name)
    width = members.shape[1] if members.ndim == 2 else -1
    _require(width == _n_outputs(part), name, "its number of trees differs from its number of classes")
    _require(width == part.n_trees_per_iteration_, name, "its number of trees differs from the one it states")
    # each stage adds to an array that the first guess makes: ask for it about one row, and look at its shape
    _require(
        isinstance(part.init_, str) or "Dummy" in type(part.init_).__name__,
        name,
        "its initial prediction is not a constant",
    )
    try:
        first = part._raw_predict_init(np.zeros((1, part.n_features_in_), dtype=np.float32))
    except Exception as error:
        raise ModelError(
            f"'{name}' is damaged: a test prediction failed with {type(error).__name__}: {error}"
        ) from error
    _require(np.shape(first) == (1, width), name, "its initial prediction and its trees differ in shape")


def _n_outputs(part: Any) -> int:
    classes = getattr(part, "classes_", None)
    return 1 if classes is None or len(classes) == 2 else len(classes)


def _check_histogram_boosting(part: Any, *, name: str) -> None:
    width = part.n_trees_per_iteration_
    _require(width == _n_outputs(part), name, "its number of trees differs from its number of classes")
    _require(not getattr(part, "_in_fit", False), name, "it says that it is still being fitted")
    bins = part._bin_mapper
    categorical = np.asarray(bins.is_categorical_, dtype=bool)
    _require(categorical.size == part.n_features_in_, name, "its bins belong to other columns")
    for column in np.flatnonzero(categorical):
        known = np.asarray(bins.bin_thresholds_[column], dtype=float)
        _require(((known >= 0) & (known < 256)).all(), name, "its categories are not codes")
    if part._preprocessor is not None:
        _check_preprocessor(part._preprocessor, part.n_features_in_, name=name)
    for stage in part._predictors:
        _require(len(stage) == width, name, "its number of trees differs from the one it states")
        for predictor in stage:
            _check_predictor(predictor, categorical, name=name)


def _check_preprocessor(preprocessor: Any, n_features: int, *, name: str) -> None:
    """Histogram boosting recodes its categories first; the trees then read as many columns as went in."""
    total = 0
    for _, transformer, chosen in preprocessor.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        known = type(transformer).__name__ in ("OrdinalEncoder", "FunctionTransformer")
        _require(known, name, "its columns are recoded in an unknown way")
        total += int(np.asarray(chosen, dtype=bool).sum())
    _require(total == n_features, name, "its columns are not all recoded")


def _check_predictor(predictor: Any, categorical: NDArray[np.bool_], *, name: str) -> None:
    _require(type(predictor).__name__ == "TreePredictor", name, "an object in it is not a scikit-learn tree")
    nodes = predictor.nodes
    _require(nodes.ndim == 1 and nodes.size > 0, name, "a tree has no nodes")
    inner = nodes["is_leaf"] == 0
    _check_links(nodes["left"], nodes["right"], inner, name)
    feature = nodes["feature_idx"][inner]
    _require(((feature >= 0) & (feature < categorical.size)).all(), name, "a tree reads columns that are not there")
    by_set = nodes["is_categorical"][inner] != 0
    _require(categorical[feature[by_set]].all(), name, "a tree reads a number as a category")
    for bitsets in (predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets):
        fits = bitsets.dtype == np.uint32 and bitsets.ndim == 2 and bitsets.shape[1] == 8
        _require(fits, name, "a tree's sets of categories are malformed")
        _require(
            (nodes["bitset_idx"][inner][by_set] < len(bitsets)).all(), name, "a tree points outside its categories"
        )


def _check_support_vectors(part: Any, *, name: str) -> None:
    n_vectors = part.support_vectors_.shape[0]
    if part.kernel == "precomputed":
        n_vectors = len(part.support_)
    counts = np.asarray(part._n_support, dtype=np.int64)
    _require(len(part.support_) == n_vectors, name, "its support vectors are incomplete")
    if type(part).__name__.endswith("SVC"):
        n_classes = len(part.classes_)
        _require(
            counts.size == n_classes and (counts >= 0).all() and counts.sum() == n_vectors,
            name,
            "its support vectors do not add up",
        )
        rows, pairs = n_classes - 1, n_classes * (n_classes - 1) // 2
    else:
        rows, pairs = 1, 1
    _require(part._dual_coef_.shape == (rows, n_vectors), name, "its coefficients do not fit its support vectors")
    _require(len(part._intercept_) == pairs, name, "its intercepts do not fit its classes")
    _require(len(part._probA) in (0, pairs) and len(part._probB) in (0, pairs), name, "its probabilities do not fit")
    _require(
        part.kernel == "precomputed" or part.support_vectors_.shape[1] == part.n_features_in_,
        name,
        "its support vectors have other columns",
    )
