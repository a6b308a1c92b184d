"""Fairlearn's MetricFrame: five rates by group, overall, differences and ratios between groups."""

from driver import answer
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, precision_score

METRICS = {
    "selection_rate": selection_rate,
    "tpr": true_positive_rate,
    "fpr": false_positive_rate,
    "precision": precision_score,
    "accuracy": accuracy_score,
}


def prepare(frame, options):
    return frame, options


def work(prepared):
    frame, options = prepared
    n_boot = options.get("n_boot")
    extra = {"n_boot": n_boot, "ci_quantiles": [0.025, 0.975], "random_state": 0} if n_boot else {}
    results = []
    for by in options["by"]:
        measured = MetricFrame(
            metrics=METRICS, y_true=frame["label"], y_pred=frame["prediction"], sensitive_features=frame[by], **extra
        )
        parts = [measured.by_group, measured.overall, measured.difference(), measured.ratio()]
        if n_boot:
            parts += [measured.by_group_ci, measured.overall_ci, measured.difference_ci(), measured.ratio_ci()]
        results.append((by, *parts))
    return results


def values(results):
    named = {}
    for by, by_group, overall, difference, ratio, *_ in results:
        for metric in METRICS:
            for group, value in by_group[metric].items():
                key = group if isinstance(group, tuple) else (group,)
                named[f"{'|'.join(map(str, key))}:{metric}"] = value
            named[f"overall:{metric}"] = overall[metric]
            named[f"{'|'.join(by)}:{metric}:between"] = difference[metric]
            named[f"{'|'.join(by)}:{metric}:ratio"] = ratio[metric]
    return named


answer("fairlearn", prepare=prepare, work=work, values=values)
