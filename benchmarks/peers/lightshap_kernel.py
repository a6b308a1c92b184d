"""lightshap's kernel values as they are by default (exact for sizes 1 and 2, sampled until its own tolerance)."""

from driver import answer
from lightshap import explain_any
from network import probability


def prepare(frame, options):
    rows = frame.to_numpy(dtype=float)
    return rows[: options["explained"]], rows[-options["background"] :], options


def work(prepared):
    rows, background, options = prepared
    model = probability(options["network"])
    return explain_any(model, rows, bg_X=background, method="kernel", random_state=0, verbose=False)


def values(result):
    found = result.shap_values
    return {f"{at}:{column}": value for at, row in enumerate(found) for column, value in enumerate(row)}


answer("lightshap", prepare=prepare, work=work, values=values)
