"""Every public function that takes data, called with the frame library at hand; run inside an install."""

from __future__ import annotations

import importlib
import inspect
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import isonomia as iso
from isonomia import audit as audits
from isonomia import discovery, explain, fairness, metrics, mitigation, robustness
from isonomia.data import to_frame
from isonomia.fairness import conditional_statistical_parity as conditional

N = 240
RNG = np.random.default_rng(0)
SEX = RNG.choice(["F", "M"], N)
AGE, PAY = RNG.integers(18, 80, N), RNG.normal(size=N).round(2)
TRUTH = (PAY + 0.8 * (SEX == "M") + RNG.normal(size=N) > 0.4).astype(int)
COLUMNS = {"sex": SEX, "age": AGE, "pay": PAY, "month": np.arange(N) % 6, "y": TRUTH}
FRAME = to_frame(COLUMNS)
DATA = iso.Dataset(FRAME, target="y", protected=["sex"], time="month")


def model(frame: Any) -> Any:
    """Treats men better."""
    return 1 / (1 + np.exp(-(np.asarray(frame["pay"]) + 0.8 * (np.asarray(frame["sex"]) == "M"))))


def later(frame: Any) -> Any:
    """Treats men less better."""
    return 1 / (1 + np.exp(-(np.asarray(frame["pay"]) + 0.4 * (np.asarray(frame["sex"]) == "M"))))


SAID = model(COLUMNS)
DECIDED = (SAID >= 0.5).astype(int)
QUICK = {"checks": "quick", "policy": "eeoc"}
#: Criteria and other functions that need no more than data and a model.
PLAIN = [
    fairness.against_references,
    fairness.awareness,
    fairness.consistency,
    fairness.counterfactual,
    fairness.demographic_parity,
    fairness.disparate_impact,
    fairness.distribution_parity,
    fairness.equal_opportunity,
    fairness.equalized_odds,
    fairness.equivalence,
    fairness.generalized_entropy,
    fairness.group_calibration,
    fairness.group_metrics,
    fairness.incompatibility,
    fairness.negative_predictive_parity,
    fairness.over_time,
    fairness.overall_accuracy_equality,
    fairness.predictive_equality,
    fairness.predictive_parity,
    fairness.suite,
    fairness.treatment_equality,
    robustness.conformal,
    robustness.failure_modes,
    robustness.metric_disagreement,
    robustness.subgroup_diagnostics,
    robustness.threshold_sweep,
    robustness.weak_spots,
    explain.gap,
    explain.sensitive,
    explain.shapley,
    explain.interactions,
]
#: How every other is called.
CALLS: dict[Callable[..., Any], Callable[[], Any]] = {
    **{function: lambda function=function: function(DATA, model) for function in PLAIN},
    audits.audit: lambda: audits.audit(FRAME, model, target="y", protected=["sex"], **QUICK),
    audits.compare: lambda: audits.compare(audits.audit(DATA, model, **QUICK), audits.audit(DATA, later, **QUICK)),
    audits.run: lambda: audits.run(spec()),
    iso.read: lambda: iso.read(spec()["dataset"], target="y"),
    iso.synth: lambda: iso.synth(DATA, n_background=200, n_samples=20),
    discovery.compare_methods: lambda: discovery.compare_methods(DATA, model, methods=["observed"]),
    discovery.find_pairs: lambda: discovery.find_pairs(DATA, model, max_tests=50),
    discovery.find_subgroups: lambda: discovery.find_subgroups(DATA, model, k=1),
    discovery.fit_fair_naive_bayes: lambda: discovery.fit_fair_naive_bayes(DATA),
    discovery.retrain: None,  # a classifier of scikit-learn's, which is asked by the names of columns
    explain.change: lambda: explain.change(DATA, model, later),
    explain.proxies_at_work: lambda: explain.proxies_at_work(DATA, model),
    explain.agreement: None,  # results of a study
    fairness.change_between: lambda: fairness.change_between(DATA, DATA, model),
    fairness.conditional_statistical_parity: lambda: conditional(DATA, model, control="month"),
    fairness.criterion: lambda: fairness.criterion("demographic_parity", DATA, model),
    fairness.duplicates: lambda: fairness.duplicates(DATA),
    fairness.encode_people: lambda: fairness.encode_people(FRAME, protected="sex"),
    fairness.label_bias: lambda: fairness.label_bias(DATA),
    fairness.missingness: lambda: fairness.missingness(DATA),
    fairness.proxies: lambda: fairness.proxies(DATA),
    fairness.representation: lambda: fairness.representation(DATA),
    metrics.confusion: None,  # of codes
    metrics.evaluate: lambda: metrics.evaluate("accuracy", TRUTH, DECIDED),
    metrics.evaluate_all: lambda: metrics.evaluate_all(DATA, model),
    metrics.expected_calibration_error: lambda: metrics.expected_calibration_error(TRUTH, surface()),
    metrics.expected_error: None,  # of a surface
    metrics.expected_favourable: None,  # of a surface
    metrics.reliability: lambda: metrics.reliability(TRUTH, SAID),
    metrics.score: lambda: metrics.score(TRUTH, DECIDED),
    mitigation.before_after: lambda: mitigation.before_after(TRUTH, DECIDED, 1 - DECIDED, sensitive_features=SEX),
    mitigation.durability: None,  # trains a model of scikit-learn's, which is asked by the names of columns
    mitigation.mitigate: None,  # the same
    mitigation.sample: lambda: mitigation.sample(TRUTH, SEX),
    mitigation.weights: lambda: mitigation.weights(TRUTH, SEX),
    robustness.category_distances: None,  # of two columns
    robustness.dashboard: lambda: robustness.dashboard(DATA, model, ["label_noise"], n_trials=2),
    robustness.drift: lambda: robustness.drift(DATA, DATA),
    robustness.learn_cuts: None,  # of the numbers of a dataset: no frame comes in or goes out
    robustness.local_robustness: lambda: robustness.local_robustness(DATA, model, n_iterations=2),
    robustness.numeric_distances: None,  # of two columns
    robustness.overfit: lambda: robustness.overfit(DATA, DATA, model),
    robustness.perturb: lambda: robustness.perturb(DATA, model, n_trials=2),
    robustness.scenarios: lambda: robustness.scenarios(DATA, model, ["label_noise"], n_trials=2),
    robustness.sensitivity: lambda: robustness.sensitivity(DATA, model, n_trials=2),
}
ROOMS = ("audit", "discovery", "explain", "fairness", "metrics", "mitigation", "robustness")
#: The first parameter of a function that takes data.
TAKES = {"data", "truth", "train", "reference", "before", "y", "y_true", "X"}


def spec() -> dict[str, Any]:
    """A spec of a file with these people."""
    path = Path("people.csv")
    columns = COLUMNS | {"said": DECIDED}
    rows = [",".join(columns), *(",".join(str(value) for value in row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows), encoding="utf-8")
    return {
        "dataset": str(path),
        "target": "y",
        "protected": ["sex"],
        "prediction": "said",
        "checks": ["group_fairness"],
    }


def surface() -> Any:
    """The answers of the model."""
    return iso.Surface.of_probabilities(SAID, classes=(0, 1))


def shown(result: Any) -> None:
    """Show a result as a script, a notebook and a table would."""
    str(result), repr(result)
    if hasattr(result, "_repr_html_"):
        result._repr_html_()
    if isinstance(result, iso.Result) and result.tables:
        result.to_frame(next(iter(result.tables)))


def main() -> None:
    """Call all of them, and end with 1 where one fails."""
    failed = 0
    for room in ROOMS:
        module = importlib.import_module(f"isonomia.{room}")
        for name in module.__all__:
            found = getattr(module, name)
            if (
                inspect.isroutine(found)
                and next(iter(inspect.signature(found).parameters), "") in TAKES
                and found not in CALLS
            ):
                print(f"{room}.{name} takes data and is not called")
                failed += 1
    for function, call in CALLS.items():
        if call is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                shown(call())
        except iso.NotApplicable as error:
            print(f"{function.__name__}: {error}")
        except Exception:
            failed += 1
            print(function.__name__)
            traceback.print_exc(limit=-3)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
