"""The figures that AIF360's demos print about Adult: reweighing, the reject option, reduction, on their splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from isonomia.mitigation import Reduce, weights
from isonomia.mitigation.after.rejecting import reject_grid


@dataclass(frozen=True)
class Demo:
    """Adult as the demos encode and split it: race, sex, decade of age and years of education."""

    X: Any
    y: Any
    sex: Any
    train: Any
    valid: Any
    test: Any

    def scores(self, sample_weight: Any = None) -> Any:
        """Probabilities by a logistic regression on standardised features."""
        Z = StandardScaler().fit(self.X[self.train]).transform(self.X)
        model = LogisticRegression().fit(Z[self.train], self.y[self.train], sample_weight=sample_weight)
        return model.predict_proba(Z)[:, 1]

    def figures(self, said: Any, rows: Any) -> list[float]:
        """Balanced accuracy, and the rate of women less that of men."""
        y, sex, decided = self.y[rows], self.sex[rows], said[rows]
        right = (decided[y == 1].mean() + 1 - decided[y == 0].mean()) / 2
        return [float(right), float(decided[sex == 0].mean() - decided[sex == 1].mean())]


@pytest.fixture(scope="module")
def demo(shared_data: Path) -> Demo:
    frame = pd.read_csv(shared_data / "adult.csv.gz", keep_default_na=False)
    years = frame["education-num"].map(lambda x: "<6" if x <= 5 else ">12" if x >= 13 else str(x))
    decade = (frame["age"] // 10 * 10).clip(upper=70).astype(str)
    sex, y = (frame["sex"] == "Male").to_numpy(int), (frame["income"] == ">50K").to_numpy(int)
    X = np.column_stack([frame["race"] == "White", sex, pd.get_dummies(decade), pd.get_dummies(years)]).astype(float)
    generator = np.random.RandomState(1)
    order, part = list(range(len(y))), int(0.7 * len(y))
    generator.shuffle(order)
    train, rest = np.array(order)[:part], np.array(order)[part:]
    second = list(range(len(rest)))
    generator.shuffle(second)
    half = int(0.5 * len(rest))
    return Demo(X, y, sex, train, rest[np.array(second)[:half]], rest[np.array(second)[half:]])


def test_reweighing(demo: Demo) -> None:
    """Balanced accuracy .7417 -> .7128, difference -.3576 -> -.0906, at the threshold that was best before."""
    before, after = demo.scores(), demo.scores(weights(demo.y[demo.train], demo.sex[demo.train]))
    cuts = np.linspace(0.01, 0.99, 100)
    best = cuts[int(np.argmax([demo.figures(before > cut, demo.valid)[0] for cut in cuts]))]
    assert best == pytest.approx(0.2674, abs=5e-5)
    assert demo.figures(before > best, demo.test) == pytest.approx([0.7417, -0.3576], abs=5e-5)
    assert demo.figures(after > best, demo.test) == pytest.approx([0.7128, -0.0906], abs=5e-5)


def test_the_reject_option(demo: Demo) -> None:
    """The pair that the demo prints has the figures that it prints, and is not the best of its own grid."""
    score, sex = demo.scores(), demo.sex
    grid = reject_grid(score[demo.valid], demo.y[demo.valid], sex[demo.valid], np.array([False, True]))
    t, m = grid.threshold[50, 18], grid.margin[50, 18]
    assert (t, m) == pytest.approx((0.5049, 0.1819), abs=5e-5)
    assert (grid.balanced_accuracy[50, 18], grid.gap[50, 18]) == pytest.approx((0.6051, -0.0436), abs=5e-5)
    said = score > np.where(sex == 0, t - m, t + m)
    assert demo.figures(said, demo.test) == pytest.approx([0.5968, -0.0340], abs=5e-5)
    assert grid.balanced_accuracy[grid.best] > 0.70
    assert abs(grid.gap[grid.best]) <= 0.05


def test_the_exponentiated_gradient(demo: Demo) -> None:
    """Accuracy .8042 -> .7865, average odds -.2727 -> .0110: the first exact, the second within three standard errors.

    Sex and race make the groups, each within 0.01 of everyone. The demo draws once; its draw is compared with what is
    expected over all draws, by the spread of the tosses.
    """
    pytest.importorskip("fairlearn.reductions")
    rows = np.roll(np.arange(len(demo.y)), len(demo.y) - 32_561)  # this demo reads the test file first
    order = rows[np.random.RandomState(0).permutation(len(rows))]
    train, test = order[: int(0.7 * len(rows))], order[int(0.7 * len(rows)) :]
    y, sex = demo.y[test], demo.sex[test]

    def figures(accepted: Any) -> list[float]:
        right = float(np.mean(np.where(y == 1, accepted, 1 - accepted)))
        gaps = [accepted[(sex == 0) & (y == c)].mean() - accepted[(sex == 1) & (y == c)].mean() for c in (0, 1)]
        return [right, float(np.mean(gaps))]

    plain = LogisticRegression().fit(demo.X[train], demo.y[train])
    assert figures(plain.predict(demo.X[test])) == pytest.approx([0.8042039, -0.2727361], abs=1e-6)
    fair = Reduce(
        LogisticRegression(),
        goal="equalized_odds",
        eps=0.02,
        solver="exponentiated_gradient",
        deterministic=False,
    )
    race = demo.X[:, 0].astype(int)
    fair.fit(demo.X[train], demo.y[train], sensitive_features={"sex": demo.sex[train], "race": race[train]})
    p = fair.predict_proba(demo.X[test])[:, 1]
    toss = p * (1 - p)
    cells = [(sex == g) & (y == c) for g in (0, 1) for c in (0, 1)]
    spread = [toss.sum() / toss.size**2, sum(toss[cell].sum() / cell.sum() ** 2 for cell in cells) / 4]
    for found, published, variance in zip(figures(p), (0.7865284, 0.0110130), spread, strict=True):
        assert abs(found - published) < 3 * np.sqrt(variance)
