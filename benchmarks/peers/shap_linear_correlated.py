"""shap's LinearExplainer for correlated columns: 1,000 sampled orders."""

import numpy as np
import shap
from driver import answer


def prepare(frame, options):
    return frame.to_numpy(dtype=float), np.asarray(options["coefficients"])


def work(prepared):
    rows, coefficients = prepared
    np.random.seed(0)  # noqa: NPY002  shap draws from the global generator
    masker = shap.maskers.Impute(rows)
    explainer = shap.LinearExplainer((coefficients, 0.0), masker, nsamples=1000)
    return explainer.shap_values(rows)


def values(result):
    return {f"{at}:{column}": value for at, row in enumerate(result[:20]) for column, value in enumerate(row)}


answer("shap", prepare=prepare, work=work, values=values)
