"""The Python face: every function takes data and a model, or arrays; reports read as sentences, tables and tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, mean_absolute_error

import isonomia as iso
from isonomia import discovery, explain, fairness, metrics, robustness
from isonomia.evidence import Table

RNG = np.random.default_rng(0)
N = 240
FRAME = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], N),
        "age": RNG.integers(18, 80, N),
        "pay": RNG.normal(size=N).round(2),
    }
)
FRAME["y"] = (FRAME["pay"] + 0.8 * (FRAME["sex"] == "M") + RNG.normal(size=N) > 0.4).astype(int)
FITTED = LogisticRegression().fit(FRAME[["age", "pay"]], FRAME["y"])
DATA = iso.Dataset(FRAME, target="y", protected=["sex"])


def model(frame: Any) -> Any:
    """Treats men better."""
    return 1 / (1 + np.exp(-(np.asarray(frame["pay"]) + 0.8 * (np.asarray(frame["sex"]) == "M"))))


SAID = model(FRAME)
DECIDED = (SAID >= 0.5).astype(int)
#: Functions that ask the model about other people, so that arrays alone are not enough.
ASKING: dict[str, Callable[..., Any]] = {
    "compare_methods": lambda *a, **k: discovery.compare_methods(*a, methods=["observed"], **k),
    "conformal": robustness.conformal,
    "counterfactual": fairness.counterfactual,
    "dashboard": lambda *a, **k: robustness.dashboard(*a, scenarios=["label_noise"], **k),
    "find_pairs": lambda *a, **k: discovery.find_pairs(*a, method="observed", **k),
    "gap": explain.gap,
    "local_robustness": lambda *a, **k: robustness.local_robustness(*a, n_iterations=2, **k),
    "perturb": lambda *a, **k: robustness.perturb(*a, n_trials=2, **k),
    "scenarios": lambda *a, **k: robustness.scenarios(*a, ["label_noise"], n_trials=2, **k),
    "sensitive": explain.sensitive,
    "shapley": explain.shapley,
}
#: Functions of outcomes and groups.
JUDGING: dict[str, Callable[..., Any]] = {
    "against_references": lambda *a, **k: fairness.against_references(*a, metric="selection_rate", **k),
    "awareness": fairness.awareness,
    "consistency": fairness.consistency,
    "demographic_parity": fairness.demographic_parity,
    "disparate_impact": fairness.disparate_impact,
    "distribution_parity": fairness.distribution_parity,
    "equalized_odds": fairness.equalized_odds,
    "equivalence": lambda *a, **k: fairness.equivalence(*a, margin=0.1, **k),
    "failure_modes": robustness.failure_modes,
    "find_subgroups": lambda *a, **k: discovery.find_subgroups(*a, k=1, **k),
    "generalized_entropy": fairness.generalized_entropy,
    "group_calibration": fairness.group_calibration,
    "group_metrics": fairness.group_metrics,
    "incompatibility": fairness.incompatibility,
    "metric_disagreement": robustness.metric_disagreement,
    "subgroup_diagnostics": robustness.subgroup_diagnostics,
    "suite": fairness.suite,
    "threshold_sweep": robustness.threshold_sweep,
    "weak_spots": robustness.weak_spots,
}
#: Of these, functions that compare people by their features.
OF_FEATURES = {
    *("awareness", "consistency", "failure_modes", "find_subgroups", "metric_disagreement"),
    *("subgroup_diagnostics", "weak_spots"),
}
OF_SCORES = {"group_calibration", "threshold_sweep"}


@pytest.mark.parametrize("name", [*ASKING, *JUDGING])
def test_every_function_takes_data_and_a_model(name: str) -> None:
    function = {**ASKING, **JUDGING}[name]
    from_dataset = function(DATA, model)
    assert isinstance(from_dataset, iso.Result | Table | explain.ShapleyValues)


@pytest.mark.parametrize("name", ["find_pairs", "suite", "group_metrics", "weak_spots", "find_subgroups", "perturb"])
def test_every_door_gives_the_same_answer(name: str) -> None:
    function = {**ASKING, **JUDGING}[name]
    from_dataset = function(DATA, model)
    from_frame = function(FRAME, model, target="y", protected=["sex"])
    assert str(from_dataset.tables) == str(from_frame.tables)


@pytest.mark.parametrize("name", sorted(set(JUDGING) - OF_FEATURES))
def test_functions_of_outcomes_take_arrays(name: str) -> None:
    given = {"y_score": SAID} if name in OF_SCORES | {"distribution_parity", "incompatibility"} else {}
    predicted = () if given else (DECIDED,)
    result = JUDGING[name](FRAME["y"].to_numpy(), *predicted, sensitive_features=FRAME["sex"].to_numpy(), **given)
    assert isinstance(result, iso.Result | Table)


def test_metrics_take_codes_columns_or_a_model() -> None:
    arrays = metrics.evaluate_all(FRAME["y"], DECIDED)
    assert arrays["accuracy"].value == pytest.approx(accuracy_score(FRAME["y"], DECIDED))
    scores = metrics.evaluate_all(FRAME["y"], SAID)
    assert scores["accuracy"] == arrays["accuracy"]
    assert scores["auc"].value is not None
    with_model = metrics.evaluate_all(DATA, model)
    assert {key: value.value for key, value in with_model.items()} == {k: v.value for k, v in scores.items()}
    words = np.where(FRAME["y"] == 1, "yes", "no"), np.where(DECIDED == 1, "yes", "no")
    assert metrics.evaluate("f1", *words, positive="yes").value == pytest.approx(f1_score(FRAME["y"], DECIDED))
    assert metrics.reliability(FRAME["y"], SAID).ece.value == metrics.reliability(DATA, model).ece.value


def test_an_audit_takes_a_frame_and_its_roles() -> None:
    report = iso.audit(FRAME, model, target="y", protected=["sex"], checks="quick", ignore=["age"])
    assert report.document.subject["protected"] == ["sex"]
    same = iso.audit(iso.Dataset(FRAME, target="y", protected=["sex"], ignore=["age"]), model, checks="quick")
    assert report.to_frame().equals(same.to_frame())


# own metric functions ---------------------------------------------------------------------------------------------


def test_own_metric_functions_as_in_fairlearn() -> None:
    from fairlearn.metrics import MetricFrame

    functions = {"acc": accuracy_score, "bal": balanced_accuracy_score}
    ours = fairness.group_metrics(FRAME["y"], DECIDED, sensitive_features=FRAME["sex"], metrics=functions, n_boot=100)
    theirs = MetricFrame(metrics=functions, y_true=FRAME["y"], y_pred=DECIDED, sensitive_features=FRAME["sex"])
    for name in functions:
        np.testing.assert_allclose(ours.by_group[name], theirs.by_group[name])
        assert ours.overall[name].value == pytest.approx(theirs.overall[name])
        low, high = ours.by_group[f"{name}_low"], ours.by_group[f"{name}_high"]
        assert ((low <= ours.by_group[name]) & (ours.by_group[name] <= high)).all()
    assert any("acc, bal come from how the figure changes with single rows" in str(note) for note in ours.notes)
    again = fairness.group_metrics(FRAME["y"], DECIDED, sensitive_features=FRAME["sex"], metrics=functions, n_boot=100)
    assert ours.by_group.equals(again.by_group), "the same seed gives the same intervals"
    gap = ours.comparisons.set_index("metric").loc["acc", "difference"]
    assert abs(gap) == pytest.approx(theirs.difference()["acc"])


def test_the_interval_of_a_function_agrees_with_the_registered_metric() -> None:
    both = fairness.group_metrics(DATA, model, metrics=["accuracy", accuracy_score], n_boot=1000).by_group
    for end in ("low", "high"):
        np.testing.assert_allclose(both[f"accuracy_score_{end}"], both[f"accuracy_{end}"], atol=0.03)


def test_functions_get_the_labels_of_the_user_and_weights() -> None:
    seen: list[Any] = []

    def cost(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        seen.append((set(y_true) | set(y_pred), sample_weight))
        return float(np.average(y_true != y_pred, weights=sample_weight))

    words = np.where(FRAME["y"] == 1, "yes", "no"), np.where(DECIDED == 1, "yes", "no")
    weights = RNG.uniform(1, 2, N)
    found = fairness.group_metrics(
        *words, sensitive_features=FRAME["sex"], metrics=[cost], positive="yes", weights=weights, n_boot=0
    )
    assert set().union(*(labels for labels, _ in seen)) == {"no", "yes"}
    women = (FRAME["sex"] == "F").to_numpy()
    wanted = np.average((words[0] != words[1])[women], weights=weights[women])
    assert found.by_group["cost"].iloc[0] == pytest.approx(wanted)
    with pytest.raises(iso.SpecError, match="takes no `sample_weight`"):
        fairness.group_metrics(
            *words, sensitive_features=FRAME["sex"], metrics=lambda a, b: 1.0, positive="yes", weights=weights
        )


def test_functions_that_fail_say_so() -> None:
    def picky(y_true: Any, y_pred: Any) -> float:
        if len(y_true) < N:
            raise ValueError("too few")
        return 0.5

    found = fairness.group_metrics(DATA, model, metrics={"picky": picky}, n_boot=5)
    assert found.by_group["picky"].isna().all()
    assert "ValueError: too few" in found.by_group["note"].iloc[0]
    assert found.overall["picky"].value == 0.5
    for bad, message in (
        ({"x": lambda a, b: "text"}, "must return a number; it returned str"),
        ([3], "a name or a function"),
        ([accuracy_score, accuracy_score], "more than once"),
        (["acuracy"], "Did you mean 'accuracy'"),
    ):
        with pytest.raises(iso.SpecError, match=message):
            fairness.group_metrics(DATA, model, metrics=bad)


def test_functions_of_numbers() -> None:
    truth, said = RNG.normal(size=N), RNG.normal(size=N)
    found = fairness.group_metrics(truth, said, sensitive_features=FRAME["sex"], metrics=mean_absolute_error, n_boot=20)
    women = (FRAME["sex"] == "F").to_numpy()
    assert found.by_group["mean_absolute_error"].iloc[0] == pytest.approx(np.abs(truth - said)[women].mean())


# registries and methods -------------------------------------------------------------------------------------------


def test_entries_stand_for_their_ids() -> None:
    for entry in (discovery.METHODS["observed"], "observed"):
        assert discovery.find_pairs(DATA, model, method=entry).method == "observed"
    assert discovery.find_subgroups(DATA, model, method=discovery.METHODS["sliceline"], k=1).method == "sliceline"
    assert metrics.METRICS[metrics.METRICS["tpr"]].id == "tpr"
    entry = metrics.METRICS["accuracy"]
    found = fairness.group_metrics(DATA, model, metrics=[entry])
    assert list(found.measured) == ["accuracy"]


def test_methods_side_by_side() -> None:
    found = discovery.compare_methods(DATA, model, kind="subgroups", max_seconds=60, k=2)
    frame = found.table
    assert list(frame["method"]) == list(discovery.METHODS.where(finds="subgroups").ids())
    run = frame[frame["reason"].isna()]
    assert (run["tested"] > 0).all()
    assert frame[frame["reason"].notna()]["found"].isna().all()
    pairs = discovery.compare_methods(DATA, model, methods=["observed", "exact"], max_tests=50).table
    reasons = dict(zip(pairs["method"], pairs["reason"], strict=True))
    assert isinstance(reasons["exact"], str), "the exact search reads no callable, and its row says so"
    assert pairs.set_index("method")["found"]["observed"] > 0
    with pytest.raises(iso.SpecError, match="methods that find subgroups"):
        discovery.compare_methods(DATA, model, kind="subgroups", methods=["observed"])
    with pytest.raises(iso.NotApplicable, match="no method applies"):
        discovery.compare_methods(DATA, model, methods=["exact"])


# the report -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> iso.Report:
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M<b>"], 3000)
    said = (rng.random(3000) < np.where(sex == "F", 0.2, 0.6)).astype(int)
    frame = pd.DataFrame({"sex": sex, "y": rng.integers(0, 2, 3000), "p": said})
    return iso.audit(frame, target="y", prediction="p", protected=["sex"], policy="eeoc", checks="quick")


def test_findings_and_verdict_read_as_sentences(report: iso.Report) -> None:
    lines = repr(report.findings).splitlines()
    assert len(lines) == len(report.findings) > 0
    assert all(line.split()[0] in ("critical", "warning", "notice") for line in lines)
    assert "Message(" not in repr(report.findings) + repr(report.verdict) + repr(report.findings[0])
    assert "M&lt;b&gt;" in report.findings._repr_html_()
    assert "M<b>" not in report.findings._repr_html_()
    assert repr(report.verdict).startswith("eeoc: exceeds.")
    assert "the limit is 0.80" in repr(report.verdict)
    assert repr(type(report.findings)()) == "no findings"


def test_parts_of_a_report_as_frames(report: iso.Report) -> None:
    findings, entries, criteria = (report.to_frame(part) for part in ("findings", "entries", "criteria"))
    assert list(findings["message"]) == [str(one.message) for one in report.findings]
    assert list(findings["value"]) == [one.estimate.value for one in report.findings]
    counted = [None if one.people is None else one.people.value for one in report.findings]
    assert [None if np.isnan(value) else value for value in findings["people"]] == counted
    assert any(value is not None for value in counted)
    assert {"people_low", "people_high"} < {*findings, *entries}
    assert entries["findings"].sum() == len(report.findings)
    assert all(repr(section).startswith(f"Section({section.code}: ") for section in report)
    table = report["group_fairness"]
    assert table.to_frame().equals(table.table)
    assert report.verdict is not None
    assert list(criteria["outcome"]) == [one.outcome for one in report.verdict.criteria]
    with pytest.raises(iso.SpecError, match=r"`part` must be one of findings, entries, criteria"):
        report.to_frame("finding")  # type: ignore[arg-type]
    assert len(iso.audit([0, 1], [0, 1], sensitive_features=["a", "b"], checks="quick").to_frame("criteria")) == 0


def test_a_report_is_walked_through(report: iso.Report) -> None:
    assert len(report) == len(list(report)) == len(report.keys()) > 0
    assert [section.code for section in report] == list(report.keys())
    ran = [section.code for section in report if section.result is not None]
    assert all(report[code].code == code for code in ran)


def test_check_raises_what_failed(report: iso.Report) -> None:
    with pytest.raises(AssertionError, match=r"Policy eeoc: exceeds \(exit code 1\)") as failed:
        report.check()
    assert isinstance(failed.value, iso.AuditFailed)
    assert "the limit is 0.80" in str(failed.value)
    same = np.array([0, 1] * 4000)
    groups = np.repeat(["a", "b"], 4000)
    assert iso.audit(same, same, sensitive_features=groups, policy="eeoc", checks="quick").check() is None
    with pytest.raises(iso.SpecError, match="audit with a policy"):
        iso.audit(same, same, sensitive_features=groups, checks="quick").check()


# progress ---------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_progress_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    from isonomia import notebook

    shown: list[str] = []

    class Handle:
        def update(self, page: str) -> None:
            shown.append(page)

    display = types.ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = lambda page, display_id: (shown.append(page), Handle())[1]  # type: ignore[attr-defined]
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    iso.audit(DATA, model, checks="quick")
    assert not shown, "quick work shows nothing"
    monkeypatch.setattr(notebook, "PAUSE", 0.0)
    ticks = iter(range(1000))
    monkeypatch.setattr(notebook.time, "monotonic", lambda: float(next(ticks)))
    iso.audit(DATA, model, checks="quick")
    assert shown
    assert "<progress" in shown[-1]
    del shell.kernel
    shown.clear()
    iso.audit(DATA, model, checks="quick")
    assert not shown, "a terminal of IPython is not a notebook"


def test_plain_scripts_are_silent() -> None:
    code = (
        "import isonomia as iso, sys\n"
        "iso.audit([0, 1] * 50, [0, 1] * 50, sensitive_features=['a', 'b'] * 50, checks='quick')\n"
        "assert 'IPython' not in sys.modules\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_registries_print_their_entries() -> None:
    """In a notebook `iso.audit.CHECKS` says what there is."""
    shown = repr(iso.audit.CHECKS).splitlines()
    assert [line.split()[0] for line in shown] == list(iso.audit.CHECKS.ids())
    assert all(line.endswith(check.purpose) for line, check in zip(shown, iso.audit.CHECKS, strict=True))
    assert repr(iso.discovery.METHODS.where(finds="nothing")) == "(no method)"
