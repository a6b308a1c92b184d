"""What AIF360 says about small random data, written down for the tests: tests/fairness/aif360_values.json.

Run in the peers' environment, from the project's root:

    .venv-peers/bin/python benchmarks/peers/aif360_values.py > tests/fairness/aif360_values.json
"""

import json
import logging

logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.metrics import ClassificationMetric  # noqa: E402

MEASURES = {
    "selection_rate": "statistical_parity_difference",
    "tpr": "true_positive_rate_difference",
    "fpr": "false_positive_rate_difference",
    "fnr": "false_negative_rate_difference",
}


def case(seed):
    """One random dataset, weighted, and AIF360's differences of the groups s=0 (unprivileged) and s=1."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    rows = {
        "s": rng.integers(0, 2, n).astype(float),
        "y": rng.integers(0, 2, n).astype(float),
        "w": rng.uniform(0.5, 2.0, n).round(3),
    }
    prediction = rng.integers(0, 2, n).astype(float)
    truth = BinaryLabelDataset(
        df=pd.DataFrame(rows), label_names=["y"], protected_attribute_names=["s"], instance_weights_name="w"
    )
    said = truth.copy()
    said.labels = prediction.reshape(-1, 1)
    metric = ClassificationMetric(truth, said, unprivileged_groups=[{"s": 0}], privileged_groups=[{"s": 1}])
    values = {name: float(getattr(metric, method)()) for name, method in MEASURES.items()}
    values["selection_rate_ratio"] = float(metric.disparate_impact())
    values["ppv_group"], values["ppv_reference"] = (float(metric.precision(privileged=p)) for p in (False, True))
    values["accuracy_group"], values["accuracy_reference"] = (
        float(metric.accuracy(privileged=p)) for p in (False, True)
    )
    whole = {name: [int(v) for v in column] for name, column in rows.items() if name != "w"}
    return {**whole, "w": rows["w"].tolist(), "p": [int(v) for v in prediction], "aif360": values}


if __name__ == "__main__":
    print(json.dumps({"made_by": "AIF360 0.6.1", "cases": [case(seed) for seed in range(12)]}))
