"""Decisions that follow from probabilities or scores are those of `predict`; of other models they are asked for."""

import numpy as np
import pytest
from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomia import Dataset, Model
from isonomia.models.own_decisions import Decisions, decisions_of

FOLLOWING = [
    tree.DecisionTreeClassifier(max_depth=2, random_state=0),
    tree.ExtraTreeClassifier(max_depth=2, random_state=0),
    ensemble.RandomForestClassifier(4, max_depth=2, random_state=0),
    ensemble.ExtraTreesClassifier(4, max_depth=2, random_state=0),
    ensemble.BaggingClassifier(n_estimators=4, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=2, max_depth=1, random_state=0),
    ensemble.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, random_state=0),
    ensemble.AdaBoostClassifier(n_estimators=4, random_state=0),
    ensemble.VotingClassifier([("a", naive_bayes.GaussianNB()), ("b", tree.DecisionTreeClassifier())], voting="soft"),
    linear_model.LogisticRegression(max_iter=1000),
    linear_model.LogisticRegressionCV(Cs=2, max_iter=1000, l1_ratios=(0,), use_legacy_attributes=False),
    neural_network.MLPClassifier((4,), max_iter=20, random_state=0),
    naive_bayes.GaussianNB(),
    naive_bayes.BernoulliNB(),
    naive_bayes.MultinomialNB(),
    neighbors.KNeighborsClassifier(4),
    neighbors.KNeighborsClassifier(4, weights="distance"),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    CalibratedClassifierCV(naive_bayes.GaussianNB(), cv=2),
    make_pipeline(StandardScaler(), linear_model.LogisticRegression()),
    GridSearchCV(tree.DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2),
    svm.LinearSVC(),
    linear_model.RidgeClassifier(),
    linear_model.Perceptron(),
]
OTHERS = [
    svm.SVC(probability=True, random_state=0),
    FixedThresholdClassifier(linear_model.LogisticRegression(), threshold=0.3),
    OneVsRestClassifier(svm.SVC(probability=True, random_state=0)),
    DummyClassifier(strategy="stratified", random_state=0),
]


def tied(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Few whole values, as many people of each class for each: many probabilities are equal."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, (60, 2)).astype(float)
    rows = np.repeat(rows, classes, axis=0)
    label = np.tile(np.arange(classes), 60)
    label[:40] = rng.integers(0, classes, 40)
    return rows, label


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", FOLLOWING, ids=lambda one: type(one).__name__)
def test_decisions_follow(estimator: object, classes: int) -> None:
    rows, label = tied(classes)
    estimator.fit(rows, label)  # type: ignore[attr-defined]
    frame = {"a": rows[:, 0], "b": rows[:, 1], "y": label}
    names = np.array(["no", "yes", "perhaps"])
    for positive in (0, 1) if classes == 2 else (None,):
        data = Dataset(frame, target="y", positive=positive, task="binary" if classes == 2 else "multiclass")
        model = Model.of(estimator, features=["a", "b"])
        surface = model.surface(data)
        said = names[np.array(surface.classes)[surface.label]]
        assert said.tolist() == names[estimator.predict(rows)].tolist()  # type: ignore[attr-defined]
        if classes == 2 or hasattr(estimator, "predict_proba"):
            assert model.n_rows < 2 * len(rows), "ties aside it is asked once"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", OTHERS, ids=lambda one: type(one).__name__)
def test_others_are_asked(estimator: object) -> None:
    rows, label = tied(2)
    estimator.fit(rows, label)  # type: ignore[attr-defined]
    assert decisions_of(estimator, "predict_proba") is Decisions.ASKED


def test_a_class_with_a_predict_of_its_own_is_asked() -> None:
    class Mine(linear_model.LogisticRegression):
        def predict(self, rows: np.ndarray) -> np.ndarray:
            return (self.predict_proba(rows)[:, 1] > 0.3).astype(int)

    class Same(linear_model.LogisticRegression):
        """Adds nothing."""

    rows, label = tied(2)
    frame = Dataset({"a": rows[:, 0], "b": rows[:, 1], "y": label}, target="y", positive=1)
    mine = Mine().fit(rows, label)
    model = Model.of(mine, features=["a", "b"])
    assert model.surface(frame).label.tolist() == mine.predict(rows).tolist()  # type: ignore[union-attr]
    assert (model.n_rows, model.n_calls) == (2 * len(rows), 2)
    assert decisions_of(Same().fit(rows, label), "predict_proba") is Decisions.BUT_TIES
