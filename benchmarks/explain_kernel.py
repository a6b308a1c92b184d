"""Shapley values of black boxes and linear models against shap and lightshap, at equal error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster
from benchmarks.peer import Answer, PeerError, ask
from benchmarks.peers.network import draw, probability

COLUMNS, HIDDEN, BACKGROUND, EXPLAINED = 13, 8, 100, 20
#: People whose disparity is measured, and the width of its interval that sampling may take.
PEOPLE, ERROR, FINE = 1000, 0.001, 0.0002
#: Numbers of coalitions tried until the error, over several seeds, is at most the peer's.
SEEDS = 5
SIZES = (128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192)


class Network:
    """The network as an estimator."""

    classes_ = np.array([0, 1])

    def __init__(self, weights: Any) -> None:
        self.call = probability(weights)

    def predict(self, rows: Any) -> Any:
        return (self.call(rows) >= 0.5).astype(int)

    def predict_proba(self, rows: Any) -> Any:
        p = self.call(rows)
        return np.stack([1 - p, p], axis=1)


class Timed:
    """An estimator that counts the seconds inside it."""

    def __init__(self, estimator: Any) -> None:
        self.estimator, self.classes_, self.seconds = estimator, estimator.classes_, 0.0
        self.n_features_in_ = estimator.n_features_in_

    def predict(self, rows: Any) -> Any:
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Any:
        began = time.perf_counter()
        try:
            return self.estimator.predict_proba(rows)
        finally:
            self.seconds += time.perf_counter() - began


@benchmark("explain_kernel")
def explain_kernel(scale: Scale) -> Iterator[Row]:
    """Kernel values, disparity of a black box, linear models with correlated columns."""
    import pandas as pd

    rng = np.random.default_rng(0)
    mix = rng.normal(size=(COLUMNS, COLUMNS)) / 3 + np.eye(COLUMNS)
    frame = pd.DataFrame(rng.normal(size=(PEOPLE, COLUMNS)) @ mix, columns=[f"x{at}" for at in range(COLUMNS)])
    frame["x0"] = (frame["x0"] > 0).astype(float)
    weights = draw(COLUMNS, HIDDEN, 0)
    yield from _kernel(frame, weights, scale)
    yield from _disparity(frame, weights, scale)
    yield _correlated(frame[[f"x{at}" for at in range(12)]], scale)


def _kernel(frame: Any, weights: Any, scale: Scale) -> Iterator[Row]:
    import isonomia as iso

    names = list(frame)
    people = iso.Dataset(frame.iloc[:EXPLAINED].assign(y=[0, 1] * (EXPLAINED // 2)), target="y", features=names)
    model, back = iso.Model.of(Network(weights), features=names), frame.iloc[-BACKGROUND:]

    def explain(method: str, seed: int = 0, **options: Any) -> Any:
        return iso.explain.shapley(
            people, model, method=method, background=back, max_model_rows=10**9, options=options or None, seed=seed
        ).values

    def error_of(coalitions: int) -> float:
        found = [explain("kernel", seed, coalitions=coalitions) for seed in range(SEEDS)]
        return _error(np.stack(found), exact)

    exact = explain("enumeration")
    for library, target in (("shap", 10.0), ("lightshap", 1.5)):
        case = f"kernel values at the error of {library}"
        try:
            answer = ask(
                f"{library}_kernel",
                frame,
                repeats=scale.repeats(3),
                environment="shap",
                network=weights,
                explained=EXPLAINED,
                background=BACKGROUND,
            )
        except PeerError as error:
            yield Row(case, EXPLAINED, None, library, note=str(error))
            continue
        theirs = _error(_matrix(answer), exact)
        coalitions, ours = next((n, own) for n in SIZES if (own := error_of(n)) <= theirs)
        seconds, _ = best_of(lambda: explain("kernel", coalitions=coalitions), scale.repeats(5))  # noqa: B023
        yield faster(
            case,
            EXPLAINED,
            seconds,
            f"{library} {answer.version}",
            answer.seconds,
            target=target,
            difference=max(0.0, ours - theirs),
            compared=exact.size,
            note=f"root mean squared error {ours:.1e} (ours, {coalitions} coalitions, {SEEDS} seeds) and {theirs:.1e} "
            "against every coalition",
        )


def _disparity(frame: Any, weights: Any, scale: Scale) -> Iterator[Row]:
    from sklearn.ensemble import RandomForestClassifier

    import isonomia as iso

    names = list(frame)
    truth = (probability(weights)(frame.to_numpy()) > np.random.default_rng(1).random(len(frame))).astype(int)
    data = iso.Dataset(frame.assign(y=truth), target="y", protected=["x0"], features=names)
    case = "disparity of a black box to ±0.001"
    seconds, found = best_of(
        lambda: iso.explain.sensitive(
            data, iso.Model.of(Network(weights), features=names), method="direct", error=ERROR, importance=False
        ),
        scale.repeats(3),
    )
    try:
        answer = ask(
            "shap_kernel", frame, repeats=1, environment="shap", network=weights, explained=4, background=BACKGROUND
        )
    except PeerError as error:
        yield Row(case, PEOPLE, seconds, "shap", measure="times fewer model rows", note=str(error))
    else:
        asked = PEOPLE / 4 * (answer.values["model_rows"] or np.nan)
        yield Row(
            case,
            PEOPLE,
            seconds,
            f"shap {answer.version}",
            measure="times fewer model rows",
            value=asked / found.model_rows,
            target=Target("at least", 1000),
            note=f"{found.model_rows:,} model rows, ±{found.sampling_error:.4f}; KernelExplainer asks about "
            f"{asked:,.0f} for {PEOPLE:,} people and {BACKGROUND} background rows (counted on 4 people)",
        )
    forest = Timed(RandomForestClassifier(100, max_depth=8, random_state=0).fit(frame.to_numpy(), truth))
    box = iso.Model.of(forest, features=names)

    def share() -> tuple[float, float, Any]:
        began, inside = time.perf_counter(), forest.seconds
        result = iso.explain.sensitive(data, box, method="direct", error=FINE, importance=False)
        seconds = time.perf_counter() - began
        return (forest.seconds - inside) / seconds, seconds, result

    inside, seconds, found = max((share() for _ in range(1 + scale.repeats(5))), key=lambda one: one[0])
    yield Row(
        "disparity of a forest to ±0.0002: time inside the model",
        PEOPLE,
        seconds,
        measure="share of the seconds",
        value=inside,
        target=Target("at least", 0.9),
        note=f"{found.model_rows:,} model rows",
    )


def _correlated(frame: Any, scale: Scale) -> Row:
    from sklearn.linear_model import LinearRegression

    import isonomia as iso

    coefficients = np.random.default_rng(2).normal(size=12)
    y = frame.to_numpy() @ coefficients
    data = iso.Dataset(frame.assign(y=y), target="y")
    model = LinearRegression().fit(frame, y)
    seconds, found = best_of(lambda: iso.explain.shapley(data, model, method="linear_correlated"), scale.repeats(5))
    case = "linear model, 12 correlated columns"
    try:
        answer = ask(
            "shap_linear_correlated",
            frame,
            repeats=scale.repeats(3),
            environment="shap",
            coefficients=coefficients.tolist(),
        )
    except PeerError as error:
        return Row(case, len(frame), seconds, "shap", note=str(error))
    off = float(np.abs(_matrix(answer) - found.values[:20]).max())
    return faster(
        case,
        len(frame),
        seconds,
        f"shap {answer.version}",
        answer.seconds,
        target=5,
        difference=0.0 if off < 0.1 * float(np.abs(found.values).max()) else off,
        compared=240,
        note=f"ours is exact, shap's 1,000 orders are off by up to {off:.2g} of {np.abs(found.values).max():.2g}",
    )


def _matrix(answer: Answer) -> Any:
    """The values by row and column."""
    cells = {tuple(map(int, name.split(":"))): value for name, value in answer.values.items() if ":" in name}
    rows, columns = (1 + max(index) for index in zip(*cells, strict=True))
    return np.array([[cells[at, column] for column in range(columns)] for at in range(rows)])


def _error(found: Any, exact: Any) -> float:
    return float(np.sqrt(np.mean((found - exact) ** 2)))
