"""What a model is asked is counted as it is sent, and no search sends more than it may."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from isonomia import Dataset, Model
from isonomia.discovery import find_pairs, find_subgroups
from isonomia.discovery.method import PAIR_METHODS
from isonomia.errors import NotApplicable

BUDGET = 3000
COLUMNS = ["sex", "age", "skill", "area"]


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "sex": rng.integers(0, 2, n),
            "age": rng.integers(18, 60, n),
            "skill": rng.integers(0, 20, n),
            "area": rng.integers(0, 5, n),
        }
    )
    score = 0.3 * (frame["skill"] - 10) + 0.02 * (frame["age"] - 40) + 0.9 * frame["sex"] - 0.4
    frame["hired"] = (score + rng.logistic(size=n) > 0).astype(int)
    return frame


FRAME = people()
DATA = Dataset(FRAME, target="hired", positive=1, protected=["sex"])


#: What exact answers and matching cannot be given about.
UNREAD = {("exact", name) for name in ("network", "threshold", "svc", "low")}


class Low:
    """Decides at 0.3, where the larger probability would decide at 0.5."""

    def __init__(self) -> None:
        self.inner = RandomForestClassifier(10, random_state=0).fit(FRAME[COLUMNS], FRAME["hired"])
        self.classes_ = self.inner.classes_
        self.feature_names_in_ = np.array(COLUMNS)

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        return self.inner.predict_proba(rows)

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return (self.inner.predict_proba(rows)[:, 1] > 0.3).astype(int)


def fitted(name: str) -> object:
    makers = {
        "forest": lambda: RandomForestClassifier(10, random_state=0),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=5, random_state=0),
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=300, random_state=0)),
        "threshold": lambda: FixedThresholdClassifier(RandomForestClassifier(10, random_state=0), threshold=0.3),
        "svc": lambda: SVC(probability=True, random_state=0),
        "margin": lambda: LinearSVC(),
        "numbers": lambda: LinearRegression(),
    }
    if name == "low":
        return Low()
    with np.errstate(all="ignore"):
        return makers[name]().fit(FRAME[COLUMNS], FRAME["hired"])  # type: ignore[attr-defined]


def listening(model: object) -> list[int]:
    """The rows of every question from outside, in order; what a model asks of itself is no question."""
    asked: list[int] = []
    inside = [False]

    def heard(call):  # type: ignore[no-untyped-def]
        def answer(rows):  # type: ignore[no-untyped-def]
            if inside[0]:
                return call(rows)
            asked.append(len(rows))
            inside[0] = True
            try:
                return call(rows)
            finally:
                inside[0] = False

        return answer

    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            setattr(model, name, heard(getattr(model, name)))
    return asked


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["forest", "boosting", "logistic", "network", "threshold", "svc", "margin", "low", "numbers"]
)
@pytest.mark.parametrize("method", [one.id for one in PAIR_METHODS])
def test_rows_are_counted_as_sent_and_stay_within_the_limit(method: str, name: str) -> None:
    model = fitted(name)
    asked = listening(model)
    data = DATA if name != "numbers" else Dataset(FRAME, target="hired", task="regression", protected=["sex"])
    if (method, name) in UNREAD:
        with pytest.raises(NotApplicable):
            find_pairs(data, model, method=method, max_model_rows=BUDGET)
        assert sum(asked) <= BUDGET
        return
    found = find_pairs(data, model, method=method, max_model_rows=BUDGET, max_tests=None, max_seconds=30)
    assert (found.metrics["n_model_rows"], found.metrics["n_model_calls"]) == (sum(asked), len(asked))
    assert sum(asked) <= BUDGET


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name", ["forest", "boosting", "logistic", "threshold", "svc", "margin", "low"])
def test_pairs_are_decided_as_the_model_itself_decides(name: str, *, wrapped: bool) -> None:
    model = fitted(name)
    given = Model.of(model) if wrapped else model
    found = find_pairs(DATA, given, method="observed")
    rows = FRAME[COLUMNS]
    differ = model.predict(rows.assign(sex=0)) != model.predict(rows.assign(sex=1))  # type: ignore[attr-defined]
    apart = rows[differ].drop(columns="sex").drop_duplicates()
    assert found.metrics["DSN"] == len(apart)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["forest", "logistic", "threshold", "svc", "low"])
def test_a_search_for_subgroups_counts_alike(name: str) -> None:
    model = fitted(name)
    asked = listening(model)
    found = find_subgroups(DATA, model, method="divexplorer", k=2)
    assert (found.metrics["n_model_rows"], found.metrics["n_model_calls"]) == (sum(asked), len(asked))
    kept = Model.of(model)
    kept.surface(DATA)
    asked.clear()
    again = find_subgroups(DATA, kept, method="divexplorer", k=2)
    assert (again.metrics["n_model_rows"], again.metrics["n_model_calls"]) == (sum(asked), len(asked))


@pytest.mark.parametrize(("name", "calls"), [("forest", 1), ("logistic", 1), ("margin", 1), ("low", 2)])
def test_a_model_whose_decisions_follow_from_its_scores_is_asked_once(name: str, calls: int) -> None:
    model = fitted(name)
    asked = listening(model)
    found = find_pairs(DATA, model, method="observed")
    distinct = len(FRAME[COLUMNS].drop(columns="sex").drop_duplicates())
    assert found.metrics["n_model_rows"] == sum(asked) == calls * 2 * distinct
