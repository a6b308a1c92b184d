"""Events: stages that nest, sections as they finish, and a cancellation from another thread that takes effect soon."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isonomia as iso
from isonomia import Cancelled, Dataset, Event, Progress
from isonomia.audit.check_registry import CHECKS
from isonomia.discovery import METHODS
from isonomia.languages import msg
from isonomia.models import Model
from isonomia.report import Section
from isonomia.robustness.perturbation.paced_model import PacedModel


def people(task: str, n: int = 400) -> tuple[Dataset, Any]:
    rng = np.random.default_rng(3)
    x, skill = rng.integers(0, 5, n), rng.integers(0, 4, n)
    sex = np.where(rng.random(n) < 0.5, "F", "M")
    signal = x + skill + (sex == "M") + rng.normal(size=n)
    y: Any = signal if task == "regression" else np.digitize(signal, [4.5] if task == "binary" else [3.5, 5.5])
    frame = {"x": x, "skill": skill, "sex": sex, "y": y}
    data = Dataset(frame, target="y", protected=["sex"], task=task, positive=1 if task == "binary" else None)
    learner = LinearRegression() if task == "regression" else LogisticRegression(max_iter=200)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner)
    features = data.frame[list(data.features)]
    return data, model.fit(features, y)


DATA, MODEL = people("binary")
OTHER = DATA.take(np.arange(300))


# events ---------------------------------------------------------------------------------------------------------------


def test_an_inner_stage_stands_below_the_outer_one() -> None:
    seen: list[tuple[tuple[str, ...], int, int]] = []
    progress = Progress(lambda event: seen.append((event.path, event.done, event.total)))
    with progress.stage("outer", msg("Reading"), total=2) as outer:
        for _ in outer.over("ab"):
            assert list(progress.stage("inner", msg("Reading"), total=1).over([7])) == [7]
    progress.stage("after", msg("Reading")).at(0)
    inner = [(("outer", "inner"), 0, 1), (("outer", "inner"), 1, 1)]
    around = [(("outer",), done, 2) for done in (0, 1, 2)]
    assert seen == [around[0], around[0], *inner, around[1], *inner, around[2], (("after",), 0, 0)]


def test_an_error_ends_its_stage() -> None:
    events: list[Event] = []
    progress = Progress(events.append)
    with (
        pytest.raises(ZeroDivisionError),
        progress.stage("outer", msg("Reading")),
        progress.stage("in", msg("Reading")),
    ):
        raise ZeroDivisionError
    progress.stage("after", msg("Reading")).at(0)
    assert events[-1].path == ("after",)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_an_audit_reports_every_check_and_hands_over_its_section(task: str) -> None:
    data, model = people(task)
    events: list[Event] = []
    report = iso.audit(data, model, checks="full", n_boot=50, options=QUICK, progress=events.append)
    sections = [event.result for event in events if event.result is not None]
    assert all(isinstance(section, Section) for section in sections)
    inside = [section.code for section in report.document.sections]
    # checks that are given options come first: a wrong one shows early
    first = [code for code in inside if {code, CHECKS[code].like} & {*QUICK}]
    assert [section.code for section in sections] == [*first, *(code for code in inside if code not in first)]
    assert all(event.path == ("audit", event.result.code) for event in events if event.result is not None)
    outer = [event for event in events if event.path == ("audit",)]
    assert [event.done for event in outer] == [0, *range(len(sections) + 1)]
    assert {event.total for event in outer} == {len(sections)}
    # everything in between belongs to the check that is under way, and counts within its own stage
    current = None
    for event in events:
        if len(event.path) == 2:
            current = event.path
        elif len(event.path) > 2:
            assert event.path[:2] == current
        assert 0 <= event.done <= (event.total or event.done)
    nested = {event.path[1] for event in events if len(event.path) > 2}
    assert {"perturb", "scenarios", "local_robustness", "consistency", "weak_spots", "pairs"} <= nested
    assert all(event.message.text("pt-BR") for event in events)


QUICK = {
    "perturb": {"n_trials": 3},
    "scenarios": {"n_trials": 3},
    "sensitivity": {"n_trials": 3},
    "local_robustness": {"n_iterations": 3, "budget": 12},
    "pairs": {"max_tests": 200},
}


# cancelling -----------------------------------------------------------------------------------------------------------


WORK: dict[str, Callable[[Any], Any]] = {
    "audit": lambda progress: iso.audit(DATA, MODEL, checks="full", options=QUICK, n_boot=50, progress=progress),
    "perturb": lambda progress: iso.robustness.perturb(DATA, MODEL, n_trials=5, progress=progress),
    "scenarios": lambda progress: iso.robustness.scenarios(DATA, MODEL, n_trials=5, progress=progress),
    "sensitivity": lambda progress: iso.robustness.sensitivity(DATA, MODEL, n_trials=5, progress=progress),
    "local_robustness": lambda progress: iso.robustness.local_robustness(DATA, MODEL, progress=progress),
    "weak_spots": lambda progress: iso.robustness.weak_spots(DATA, MODEL, pairs=True, progress=progress),
    "consistency": lambda progress: iso.fairness.consistency(DATA, MODEL, progress=progress),
    "awareness": lambda progress: iso.fairness.awareness(DATA, MODEL, progress=progress),
    "counterfactual": lambda progress: iso.fairness.counterfactual(DATA, MODEL, progress=progress),
    "proxies": lambda progress: iso.fairness.proxies(DATA, progress=progress),
    "label_bias": lambda progress: iso.fairness.label_bias(DATA, progress=progress),
    "overfit": lambda progress: iso.robustness.overfit(DATA, OTHER, MODEL, pairs=True, progress=progress),
    "failure_modes": lambda progress: iso.robustness.failure_modes(DATA, MODEL, progress=progress),
    "subgroup_diagnostics": lambda progress: iso.robustness.subgroup_diagnostics(DATA, MODEL, progress=progress),
    "threshold_sweep": lambda progress: iso.robustness.threshold_sweep(DATA, MODEL, progress=progress),
    "metric_disagreement": lambda progress: iso.robustness.metric_disagreement(DATA, MODEL, progress=progress),
    "metric_disagreement of models": lambda progress: iso.robustness.metric_disagreement(
        DATA, models={"one": MODEL, "two": MODEL}, progress=progress
    ),
    "metric_disagreement of scenarios": lambda progress: iso.robustness.metric_disagreement(
        DATA, MODEL, across="scenarios", n_trials=3, progress=progress
    ),
    "conformal": lambda progress: iso.robustness.conformal(DATA, MODEL, progress=progress),
    "drift": lambda progress: iso.robustness.drift(DATA, OTHER, MODEL, progress=progress),
    "over_time": lambda progress: iso.fairness.over_time(
        DATA, MODEL, time=np.arange(400) // 100, n_boot=50, progress=progress
    ),
}
WORK |= {
    f"find_subgroups {name}": lambda progress, name=name: iso.discovery.find_subgroups(  # type: ignore[misc]
        DATA, MODEL, method=name, progress=progress
    )
    for name in METHODS.where(finds="subgroups").ids()
}
WORK |= {
    f"find_pairs {name}": lambda progress, name=name: iso.discovery.find_pairs(  # type: ignore[misc]
        DATA, MODEL, method=name, progress=progress
    )
    for name in METHODS.where(finds="pairs").ids()
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("after", [0, 2])
def test_another_thread_cancels_within_two_seconds(name: str, after: int) -> None:
    """The work goes on after its event only once it was cancelled; its own CPU time counts, not that of others."""
    reached, cancelled = threading.Event(), threading.Event()
    outcome: list[object] = []
    seen: list[Event] = []
    clock = [0.0]

    def sink(event: Event) -> None:
        seen.append(event)
        if len(seen) == after + 1:
            reached.set()
            assert cancelled.wait(60)
            clock[0] = time.thread_time()

    def work() -> None:
        try:
            outcome.append(WORK[name](progress))
        except Exception as error:
            outcome.append(error)
        clock.append(time.thread_time())
        reached.set()

    progress = Progress(sink)
    thread = threading.Thread(target=work)
    thread.start()
    assert reached.wait(120)
    progress.cancel()
    cancelled.set()
    thread.join(120)
    assert isinstance(outcome[0], Cancelled), outcome
    assert len(seen) == after + 1
    assert clock[1] - clock[0] < 2


def test_a_cancelled_audit_can_be_repeated() -> None:
    checks = ["performance", "weak_spots", "consistency"]
    whole = iso.audit(DATA, MODEL, checks=checks)
    progress = Progress(lambda event: progress.cancel() if "weak_spots" in event.path else None)
    with pytest.raises(Cancelled, match="cancelled before it was finished"):
        iso.audit(DATA, MODEL, checks=checks, progress=progress)
    with pytest.raises(Cancelled):
        iso.audit(DATA, MODEL, checks=checks, progress=progress)  # a cancelled one stays so
    again = iso.audit(DATA, MODEL, checks=checks, progress=Progress())
    assert [f.message for f in again.findings] == [f.message for f in whole.findings]


def test_a_sink_may_end_the_work_too() -> None:
    def sink(event: Event) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        iso.robustness.scenarios(DATA, MODEL, n_trials=2, progress=sink)


def test_nothing_is_printed_in_library_use(capfd: pytest.CaptureFixture[str]) -> None:
    iso.audit(DATA, MODEL, checks="quick", progress=Progress())
    assert capfd.readouterr() == ("", "")


def test_predictions_for_all_rows_can_be_cancelled() -> None:
    """A model that takes a millisecond per row is cancelled while it predicts the rows of the data."""
    rows: list[int] = []
    events: list[Event] = []

    def slow(frame: Any) -> Any:
        rows.append(len(frame))
        time.sleep(len(frame) * 2e-4)
        if len(rows) == 2:
            progress.cancel()
        return np.asarray(frame["x"]) > 2

    data = Dataset({"x": np.arange(6000.0), "y": np.arange(6000) % 2}, target="y")
    progress = Progress(events.append)
    with pytest.raises(Cancelled):
        iso.audit(data, slow, checks="quick", progress=progress)
    assert len(rows) == 2
    assert sum(rows) < 6000
    assert [(event.path, event.done, event.total) for event in events][1:] == [
        (("prediction",), 0, 6000),
        (("prediction",), rows[0], 6000),
    ]


@pytest.mark.parametrize("output", ["label", "probability", "two columns", "texts"])
def test_predictions_in_portions_are_those_of_one_call(output: str) -> None:
    calls: list[int] = []
    made = {
        "label": lambda x: (x > 3000).astype(int),
        "probability": lambda x: np.where(x < 2000, np.round(x / 6000), x / 6000),  # at first they look like labels
        "two columns": lambda x: np.column_stack([1 - x / 6000, x / 6000]),
        "texts": lambda x: np.where(x < 2000, "no", "yes, indeed"),
    }[output]

    def model(frame: Any) -> Any:
        calls.append(len(frame))
        return made(np.asarray(frame["x"]))

    truth = np.arange(6000) % 2
    y = np.where(truth, "yes, indeed", "no") if output == "texts" else truth
    data = Dataset({"x": np.arange(6000.0), "y": y}, target="y", positive=y[1])
    whole = Model.of(model).predict_frame(data.frame)
    parts = iso.Subject.of(data, model).predictions
    assert calls[0] == 6000
    assert sum(calls) == 12_000
    assert len(calls) > 2
    if output in ("label", "texts"):
        assert parts.kinds == ("label",)
        assert np.array_equal(np.array(parts.classes)[parts.label], whole)
    else:
        assert "probability" in parts.kinds
        assert np.array_equal(parts.probability, whole if whole.ndim == 1 else whole[:, 1])


def test_portions_with_different_columns_are_refused() -> None:
    def model(frame: Any) -> Any:
        p = np.full(len(frame), 0.5)
        return p if frame["x"].iloc[0] else np.column_stack([p, p])

    data = Dataset({"x": np.arange(3000.0), "y": np.arange(3000) % 2}, target="y")
    with pytest.raises(iso.ModelError, match=r"different shapes for portions .* \('n', 2\), \('n',\)"):
        iso.Subject.of(data, model)


def test_a_run_that_is_cancelled_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From another thread, in the middle of the checks: no report is left, and the run can be repeated."""
    monkeypatch.chdir(tmp_path)
    DATA.frame.assign(p=MODEL.predict(DATA.frame[list(DATA.features)])).to_csv(tmp_path / "people.csv", index=False)
    spec = {
        "dataset": str(tmp_path / "people.csv"),
        "target": "y",
        "positive": 1,
        "protected": ["sex"],
        "prediction": "p",
        "checks": ["performance", "weak_spots", "group_fairness"],
        "out": str(tmp_path / "out"),
    }
    reached, cancelled, outcome = threading.Event(), threading.Event(), []

    def sink(event: Event) -> None:
        if "weak_spots" in event.path:
            reached.set()
            assert cancelled.wait(60)

    def work() -> None:
        try:
            outcome.append(iso.run(spec, progress=progress))
        except Cancelled as error:
            outcome.append(error)

    progress = Progress(sink)
    thread = threading.Thread(target=work)
    thread.start()
    assert reached.wait(60)
    progress.cancel()
    cancelled.set()
    thread.join(60)
    assert isinstance(outcome[0], Cancelled)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    iso.run(spec)
    assert (tmp_path / "out" / "report.json").exists()


def test_a_slow_model_is_asked_in_short_calls() -> None:
    """Altered rows go to the model in calls of about half a second, however many there are."""
    rows: list[int] = []

    def slow(frame: Any) -> Any:
        rows.append(len(frame))
        time.sleep(len(frame) * 2e-4)
        return np.asarray(frame["x"]) > 2

    data = Dataset({"x": np.arange(6000.0), "y": np.arange(6000) % 2}, target="y")
    progress = Progress(lambda event: progress.cancel() if rows and sum(rows) > 15_000 else None)
    with pytest.raises(Cancelled):
        iso.robustness.perturb(data, slow, n_trials=50, progress=progress)
    assert rows[0] == 1024
    assert max(rows) <= 4096


@pytest.mark.parametrize("n", [1, 4096, 4097, 9000, 30_000])
def test_short_calls_give_the_same_predictions(n: int) -> None:
    x = np.arange(float(n))
    data = Dataset({"x": x, "y": np.arange(n) % 2}, target="y")
    model = Model.of(lambda frame: np.asarray(frame["x"]) / n, output="probability")
    predicted = model.surface(data)
    again = PacedModel(model, data, predicted).surface(pd.DataFrame({"x": x}))
    assert np.array_equal(again.probability, predicted.probability)
    assert np.array_equal(again.label, predicted.label)


# in a notebook --------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_bars_that_are_updated(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=lambda text: text, display=lambda page, display_id: shown.append(page) or handle)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("isonomia.notebook.PAUSE", 0)
    iso.audit(DATA, MODEL, checks=["performance", "consistency"], progress=iso.NotebookProgress("pt-BR"))
    assert any("Buscando pessoas semelhantes" in page and "Executando as verificações 1/2" in page for page in shown)
    assert "<progress max='2' value='2'></progress>" in shown[-1]
    assert capfd.readouterr() == ("", "")


def test_outside_a_notebook_it_is_a_line_of_text_per_stage(capsys: pytest.CaptureFixture[str]) -> None:
    iso.audit(DATA, MODEL, checks=["performance"], progress=iso.NotebookProgress())
    err = capsys.readouterr().err
    assert [line.split("\r")[-1] for line in err.split("\n")] == [
        "Predicting 400/400\x1b[K",
        "Running checks 1/1\x1b[K",
        "",
    ]
