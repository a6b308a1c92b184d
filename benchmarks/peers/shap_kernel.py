"""shap's KernelExplainer as it is by default, and how many rows it asks the model about."""

import numpy as np
import shap
from driver import answer
from network import probability


class Counted:
    def __init__(self, call):
        self.call, self.rows = call, 0

    def __call__(self, rows):
        self.rows += len(rows)
        return self.call(rows)


def prepare(frame, options):
    rows = frame.to_numpy(dtype=float)
    return rows[: options["explained"]], rows[-options["background"] :], options


def work(prepared):
    rows, background, options = prepared
    np.random.seed(0)  # noqa: NPY002  shap draws from the global generator
    model = Counted(probability(options["network"]))
    found = shap.KernelExplainer(model, background).shap_values(rows, silent=True)
    return found, model.rows


def values(result):
    found, asked = result
    named = {f"{at}:{column}": value for at, row in enumerate(found) for column, value in enumerate(row)}
    return {**named, "model_rows": asked}


answer("shap", prepare=prepare, work=work, values=values)
