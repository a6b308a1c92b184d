"""Nine scenarios of many trials: how long, and against a plain loop of scikit-learn's metrics; the sweep likewise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference
from benchmarks.robustness import ADULT, people

#: Seconds for 100 trials of nine scenarios with all metrics.
SECONDS, TRIALS = 60.0, 100
#: Times a loop of scikit-learn's metrics over the same trials; times a loop over thresholds.
LOOP, SWEEP = 5.0, 20.0
LOOPED = ("label_noise", "score_noise", "class_imbalance")


@benchmark("scenarios")
def scenarios(scale: Scale) -> Iterator[Row]:
    """100 trials of nine scenarios with every metric and gap, and the same trials by scikit-learn one by one."""
    import isonomia as iso

    rows = scale.rows(ADULT)
    trials = 3 if scale.quick else TRIALS
    data, models = _subject(rows)
    for name, model in models.items():

        def work(model: Any = model) -> Any:
            return iso.robustness.scenarios(data, model, n_trials=trials)

        seconds, result = _once(work)
        played = f"{len(result.runs)} scenarios, {trials} trials, {len(result.metrics)} metrics"
        note = "gaps of 2 attributes too; 3 of the 9 ask the model anew"
        yield Row(
            f"{played}, {name}",
            rows,
            seconds,
            measure="seconds",
            value=seconds,
            target=Target("at most", SECONDS),
            note=note,
        )
    few = 3 if scale.quick else 10
    model = models["logistic regression"]

    def ours() -> Any:
        return iso.robustness.scenarios(data, model, list(LOOPED), n_trials=few, metrics=list(_theirs()))

    seconds, result = best_of(ours, scale.repeats(3))
    peer, values = _once(lambda: _loop(data, model, few))
    told = {
        f"{name} {metric} {trial}": float(result.of(name, metric)[trial])
        for name in LOOPED
        for metric in _theirs()
        for trial in range(few)
    }
    difference, compared = largest_difference(told, values)
    yield faster(
        f"{len(LOOPED)} scenarios, {few} trials, {len(_theirs())} metrics",
        rows,
        seconds,
        "scikit-learn",
        peer,
        target=LOOP,
        difference=difference,
        compared=compared,
        note="ours predicts, puts intervals on the baseline and measures gaps as well",
    )


@benchmark("threshold_sweep")
def threshold_sweep(scale: Scale) -> Iterator[Row]:
    """Three metrics at 101 thresholds, against scikit-learn threshold by threshold."""
    from sklearn import metrics as sk

    import isonomia as iso

    rows = scale.rows(ADULT)
    data, models = _subject(rows)
    model = models["logistic regression"]
    p = model.predict_proba(data.feature_frame())[:, 1]
    y = data.column("y").to_numpy()
    scored = iso.Dataset({"y": y, "p": p, "x": p}, target="y", score="p", features=["x"])
    names = {"accuracy": sk.accuracy_score, "recall": sk.recall_score, "f1": sk.f1_score}

    def ours() -> Any:
        return iso.robustness.threshold_sweep(scored, metrics=list(names), n_boot=0)

    def theirs() -> dict[str, float]:
        return {f"{name} {t}": float(f(y, p >= t)) for name, f in names.items() for t in np.arange(101) / 100}

    seconds, result = best_of(ours, scale.repeats(5))
    peer, values = _once(theirs)
    told = {f"{row['metric']} {row['threshold']}": row["value"] for row in result.tables["metrics"].rows()}
    difference, compared = largest_difference(told, values)
    yield faster(
        "3 metrics at 101 thresholds",
        rows,
        seconds,
        "scikit-learn",
        peer,
        target=SWEEP,
        difference=difference,
        compared=compared,
    )


def _once(work: Any) -> tuple[float, Any]:
    """Seconds of one run: these take long."""
    import time

    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _subject(rows: int) -> tuple[Any, dict[str, Any]]:
    """People like those of the census extract with a target, moments and two protected attributes; two models."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    import isonomia as iso

    frame = people(rows, 0)
    rng = np.random.default_rng(1)
    score = (frame["age"] - 50) / 20 + (frame["hours"] - 40) / 12 + 0.5 * frame["c6"].cat.codes + frame["education"] / 8
    names = list(frame.columns)
    frame["y"] = (score + rng.logistic(size=rows) > 2).astype(int)
    frame["month"] = rng.integers(0, 24, rows)
    numbers = [name for name in names if not name.startswith("c")]
    encoder = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), [n for n in names if n.startswith("c")])
    )
    models = {
        "logistic regression": make_pipeline(encoder, LogisticRegression(max_iter=200)),
        "50 boosted trees": HistGradientBoostingClassifier(max_iter=50, categorical_features="from_dtype"),
    }
    for model in models.values():
        model.fit(frame[names], frame["y"])
    return iso.Dataset(frame, target="y", protected=["c5", "c6"], time="month", features=names), models


def _theirs() -> dict[str, Any]:
    """Metrics of scikit-learn: of decisions, then of probabilities."""
    from sklearn import metrics as sk

    return {
        "accuracy": sk.accuracy_score,
        "balanced_accuracy": sk.balanced_accuracy_score,
        "f1": sk.f1_score,
        "precision": sk.precision_score,
        "recall": sk.recall_score,
        "matthews_corrcoef": sk.matthews_corrcoef,
        "cohens_kappa": sk.cohen_kappa_score,
        "auc": sk.roc_auc_score,
        "pr_auc": sk.average_precision_score,
        "logloss": sk.log_loss,
        "brier_score": sk.brier_score_loss,
    }


def _loop(data: Any, model: Any, trials: int) -> dict[str, float]:
    """Every metric of every trial by scikit-learn, on the same changed labels, predictions and rows."""
    from isonomia.robustness.stress import plan
    from isonomia.robustness.stress.scenarios import situation
    from isonomia.robustness.stress.trials import generator
    from isonomia.subject import Subject

    base = situation(Subject.of(data, model))
    out = {}
    for planned in plan(list(LOOPED)):
        for trial in range(trials):
            now = planned.change(base, generator(0, planned.name, trial))
            for place, (name, metric) in enumerate(_theirs().items()):
                said = now.surface.label if place < 7 else now.surface.probability
                out[f"{planned.name} {name} {trial}"] = float(metric(now.truth, said, sample_weight=now.weights))
    return out
