"""What a skops file may hold: our own short, reviewed list, and the reason for each entry.

A type is listed only when (1) building it and setting its state runs no code chosen by the file, and (2) its
`predict` runs on plain arrays. Types whose compiled code follows indices without checking them (trees, histogram
predictors, support vectors) are listed because `_soundness` checks those indices after loading. Nothing is ever
trusted because a file asks for it; a user may name further types (`load_model(..., trust=[...])`). To add an entry:
read its `__setstate__`, `__new__` and `predict`, write the reason.

Left out on purpose: `KDTree` and `BallTree` (compiled state that is not checked), bound methods, operators and user
functions (they run what the file names), scorers and searches over parameters (not needed to predict: save
`search.best_estimator_` instead).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Allowed(NamedTuple):
    """One type that a file may hold, the skops loader it may come through, and why it is harmless."""

    loader: str
    type: str
    reason: str


def _group(loader: str, reason: str, module: str, names: str) -> Iterator[Allowed]:
    return (Allowed(loader, f"{module}.{name}", reason) for name in names.split())


def _plain() -> Iterator[Allowed]:
    values = "plain values, built from their own content"
    yield from _group("JsonNode", "text, numbers, true, false and null", "builtins", "str")
    for loader, name in (("DictNode", "dict"), ("ListNode", "list"), ("TupleNode", "tuple"), ("SetNode", "set")):
        yield Allowed(loader, f"builtins.{name}", values)
    yield Allowed("DictNode", "collections.OrderedDict", values)
    yield Allowed("DictNode", "sklearn.utils._bunch.Bunch", "a dict whose keys are also attributes (voting, stacking)")
    yield Allowed("SliceNode", "builtins.slice", "columns of a ColumnTransformer's output")
    yield from _group("TypeNode", "the type of a dict's keys or of a column", "builtins", "str int float bool")
    yield from _group(
        "TypeNode",
        "a dtype named in a parameter",
        "numpy",
        "str_ object_ bool number integer floating float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    )
    yield from _group(
        "NdArrayNode",
        "arrays, read by NumPy with pickle switched off",
        "numpy",
        "ndarray float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool str_",
    )
    yield Allowed("MaskedArrayNode", "numpy.ma.MaskedArray", "two arrays (results kept by fitted estimators)")
    yield Allowed("DTypeNode", "numpy.dtype", "read off an empty array")
    yield Allowed("RandomStateNode", "numpy.random.mtrand.RandomState", "the state of a random generator")
    yield Allowed("RandomGeneratorNode", "numpy.random._generator.Generator", "the state of a random generator")
    yield from _group(
        "FunctionNode",
        "elementwise NumPy functions of a FunctionTransformer",
        "numpy",
        "log log1p log2 log10 exp expm1",
    )
    yield from _group("FunctionNode", "elementwise NumPy functions of a FunctionTransformer", "numpy", "sqrt square")
    yield Allowed(
        "FunctionNode",
        "sklearn.utils.validation.check_array",
        "checks and converts an array (the columns of histogram boosting that are not categories)",
    )
    yield Allowed(
        "PartialNode", "functools.partial", "calls one function with fixed arguments; the function must be listed here"
    )
    yield from _group(
        "FunctionNode",
        "the score of a fitted feature selection, not called to predict",
        "sklearn.feature_selection._univariate_selection",
        "f_classif f_regression chi2",
    )


def _estimators() -> Iterator[Allowed]:
    linear = "coefficients in arrays; predicting is a matrix product"
    base = "sklearn.linear_model"
    yield from _group("ObjectNode", linear, f"{base}._logistic", "LogisticRegression LogisticRegressionCV")
    yield from _group("ObjectNode", linear, f"{base}._base", "LinearRegression")
    yield from _group("ObjectNode", linear, f"{base}._ridge", "Ridge RidgeCV RidgeClassifier RidgeClassifierCV")
    yield from _group("ObjectNode", linear, f"{base}._coordinate_descent", "Lasso LassoCV ElasticNet ElasticNetCV")
    yield from _group("ObjectNode", linear, f"{base}._glm.glm", "PoissonRegressor GammaRegressor TweedieRegressor")
    yield from _group("ObjectNode", linear, f"{base}._huber", "HuberRegressor")
    yield from _group("ObjectNode", linear, f"{base}._quantile", "QuantileRegressor")
    yield from _group("ObjectNode", linear, f"{base}._perceptron", "Perceptron")
    yield from _group("ObjectNode", linear, f"{base}._stochastic_gradient", "SGDClassifier SGDRegressor")
    yield from _group("ObjectNode", linear, "sklearn.svm._classes", "LinearSVC LinearSVR")
    yield from _group(
        "ObjectNode",
        linear,
        "sklearn.discriminant_analysis",
        "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    )
    bayes = "counts and moments in arrays"
    yield from _group("ObjectNode", bayes, "sklearn.naive_bayes", "GaussianNB BernoulliNB CategoricalNB MultinomialNB")
    yield from _group("ObjectNode", "a constant", "sklearn.dummy", "DummyClassifier DummyRegressor")
    svm = "support vectors in arrays; their shapes are checked after loading"
    yield from _group("ObjectNode", svm, "sklearn.svm._classes", "SVC NuSVC SVR NuSVR")
    layers = "weights in arrays; the optimiser is state of the training and not used to predict"
    yield from _group(
        "ObjectNode", layers, "sklearn.neural_network._multilayer_perceptron", "MLPClassifier MLPRegressor"
    )
    yield from _group(
        "ObjectNode", layers, "sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer"
    )
    trees = "holds a Tree, whose nodes are checked after loading"
    yield from _group(
        "ObjectNode",
        trees,
        "sklearn.tree._classes",
        "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    )
    yield Allowed("TreeNode", "sklearn.tree._tree.Tree", "raw nodes; every index is checked after loading")
    yield from _group(
        "ObjectNode",
        trees,
        "sklearn.ensemble._forest",
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor",
    )
    yield from _group(
        "ObjectNode", trees, "sklearn.ensemble._gb", "GradientBoostingClassifier GradientBoostingRegressor"
    )


def _ensembles() -> Iterator[Allowed]:
    boosting = "sklearn.ensemble._hist_gradient_boosting"
    yield from _group(
        "ObjectNode",
        "holds TreePredictors, whose nodes are checked after loading",
        f"{boosting}.gradient_boosting",
        "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    )
    yield from _group(
        "ObjectNode", "raw nodes; every index is checked after loading", f"{boosting}.predictor", "TreePredictor"
    )
    yield from _group("ObjectNode", "thresholds of bins in arrays", f"{boosting}.binning", "_BinMapper")
    loss = "a loss function and its link: a fixed formula with at most a few numbers"
    yield from _group(
        "ObjectNode",
        loss,
        "sklearn._loss.link",
        "HalfLogitLink IdentityLink Interval LogitLink LogLink MultinomialLogit",
    )
    yield from _group(
        "ObjectNode",
        loss,
        "sklearn._loss.loss",
        "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss HalfPoissonLoss "
        "HalfSquaredError HuberLoss PinballLoss HalfTweedieLoss HalfTweedieLossIdentity",
    )
    yield from _group(
        "LossNode",
        loss,
        "sklearn._loss._loss",
        "CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss CyHalfMultinomialLoss CyHalfPoissonLoss "
        "CyHalfSquaredError CyHuberLoss CyPinballLoss CyHalfTweedieLoss CyHalfTweedieLossIdentity",
    )
    yield from _group(
        "LossNode",
        loss,
        "sklearn.linear_model._sgd_fast",
        "Hinge ModifiedHuber SquaredHinge EpsilonInsensitive SquaredEpsilonInsensitive",
    )
    around = "calls the estimators it holds, which must be listed here themselves"
    yield from _group("ObjectNode", around, "sklearn.ensemble._weight_boosting", "AdaBoostClassifier AdaBoostRegressor")
    yield from _group("ObjectNode", around, "sklearn.ensemble._bagging", "BaggingClassifier BaggingRegressor")
    yield from _group("ObjectNode", around, "sklearn.ensemble._voting", "VotingClassifier VotingRegressor")
    yield from _group("ObjectNode", around, "sklearn.ensemble._stacking", "StackingClassifier StackingRegressor")
    yield from _group(
        "ObjectNode",
        around,
        "sklearn.calibration",
        "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    )
    yield from _group("ObjectNode", "interpolation between points in arrays", "sklearn.isotonic", "IsotonicRegression")
    yield from _group("ObjectNode", around, "sklearn.frozen._frozen", "FrozenEstimator")
    yield from _group("ObjectNode", around, "sklearn.multiclass", "OneVsRestClassifier OneVsOneClassifier")
    yield from _group(
        "ObjectNode", around, "sklearn.model_selection._classification_threshold", "FixedThresholdClassifier"
    )
    yield from _group("ObjectNode", around, "sklearn.pipeline", "Pipeline FeatureUnion")
    yield from _group("ObjectNode", around, "sklearn.compose._column_transformer", "ColumnTransformer")
    yield from _group(
        "ObjectNode", "names of dtypes, used to fit", "sklearn.compose._column_transformer", "make_column_selector"
    )
    yield from _group("ObjectNode", around, "sklearn.compose._target", "TransformedTargetRegressor")


def _transformers() -> Iterator[Allowed]:
    arrays = "numbers learnt from the training data, in arrays"
    base = "sklearn.preprocessing"
    yield from _group(
        "ObjectNode",
        arrays,
        f"{base}._data",
        "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer Binarizer PowerTransformer "
        "QuantileTransformer",
    )
    yield from _group("ObjectNode", "categories in arrays", f"{base}._encoders", "OneHotEncoder OrdinalEncoder")
    yield from _group("ObjectNode", "categories and means in arrays", f"{base}._target_encoder", "TargetEncoder")
    yield from _group("ObjectNode", "classes in arrays", f"{base}._label", "LabelEncoder LabelBinarizer")
    yield from _group("ObjectNode", arrays, f"{base}._discretization", "KBinsDiscretizer")
    yield from _group("ObjectNode", arrays, f"{base}._polynomial", "PolynomialFeatures")
    yield from _group(
        "ObjectNode",
        "calls one function, which must be listed here itself",
        f"{base}._function_transformer",
        "FunctionTransformer",
    )
    yield from _group("ObjectNode", arrays, "sklearn.impute._base", "SimpleImputer MissingIndicator")
    yield from _group("ObjectNode", arrays, "sklearn.decomposition._pca", "PCA")
    yield from _group("ObjectNode", arrays, "sklearn.decomposition._truncated_svd", "TruncatedSVD")
    yield from _group(
        "ObjectNode", arrays, "sklearn.feature_selection._univariate_selection", "SelectKBest SelectPercentile"
    )
    yield from _group("ObjectNode", arrays, "sklearn.feature_selection._variance_threshold", "VarianceThreshold")


def _boosters() -> Iterator[Allowed]:
    wrapper = "parameters and a Booster, which is checked after loading; predicting calls compiled code with it"
    for package in ("lightgbm.sklearn.LGBM", "xgboost.sklearn.XGB", "xgboost.sklearn.XGBRF"):
        module, _, prefix = package.rpartition(".")
        yield from _group("ObjectNode", wrapper, module, f"{prefix}Classifier {prefix}Regressor")
    booster = "the library's own model text or bytes, as in its native files; its indices are checked after loading"
    yield Allowed("ObjectNode", "lightgbm.basic.Booster", booster)
    yield Allowed("ObjectNode", "xgboost.core.Booster", booster)
    yield Allowed("BytearrayNode", "builtins.bytearray", "bytes (of an XGBoost model)")
    yield Allowed("DefaultDictNode", "collections.defaultdict", "a dict whose factory must be listed here itself")
    yield Allowed(
        "TypeNode", "collections.OrderedDict", "the factory of a defaultdict (LightGBM's results of training)"
    )


def _mitigations() -> Iterator[Allowed]:
    around = "our own: calls the estimator it holds, which must be listed here itself; no state but numbers and texts"
    training = (
        "training.ensemble.Ensemble before.massaging.Massage training.minimax.Minimax training.reduction.Reduce "
        "training.adversarial.Adversarial training.network.NetworkClassifier training.network.NetworkRegressor "
        "before.reweighing.Reweigh before.sampling.Resample"
    )
    yield from _group("ObjectNode", around, "isonomia.mitigation", training)
    arrays = "our own: numbers learnt from the training data, in arrays"
    changing = "before.decorrelate.Decorrelate before.repair.Repair before.representation.Represent"
    yield from _group("ObjectNode", arrays, "isonomia.mitigation", changing)


def _fixes() -> Iterator[Allowed]:
    around = "our own: calls the estimator it holds, which must be listed here itself, and changes what it predicted"
    for module, name in (
        ("after.thresholds", "Thresholds"),
        ("after.level_up", "LevelUp"),
        ("after.reject_option", "RejectOption"),
        ("after.calibrated_odds", "CalibratedOdds"),
        ("after.match", "Match"),
        ("after.calibrate", "CalibrateByGroup"),
        ("own_fixes", "OwnFix"),
        ("judging.transformed", "BehindSteps"),
        ("judging.transformed", "Transformed"),
    ):
        yield Allowed("ObjectNode", f"isonomia.mitigation.{module}.{name}", around)
    numbers = "our own: numbers and texts that are compared with scores"
    yield Allowed("ObjectNode", "isonomia.mitigation.after.multicalibration.PatchFix", numbers)
    yield from _group(
        "ObjectNode", numbers, "isonomia.mitigation.after.fixes", "ThresholdFix OffsetFix MapFix LogisticFix MixFix"
    )


#: Every type that a skops file may hold.
ALLOWED: tuple[Allowed, ...] = (
    *_plain(),
    *_estimators(),
    *_ensembles(),
    *_transformers(),
    *_boosters(),
    *_mitigations(),
    *_fixes(),
)

#: The same as pairs of loader and type, for looking up.
PAIRS: frozenset[tuple[str, str]] = frozenset((entry.loader, entry.type) for entry in ALLOWED)
