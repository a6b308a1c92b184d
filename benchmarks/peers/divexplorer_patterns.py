"""The divexplorer package: divergence of false positive and false negative rates over all frequent itemsets."""

import numpy as np
from divexplorer import DivergenceExplorer
from driver import answer


def prepare(frame, options):
    columns = [name for name in frame.columns if name not in ("label", "prediction", "error")]
    frame = frame.copy()
    frame["fpr"] = np.where(frame["label"] == 0, (frame["prediction"] == 1).astype(float), np.nan)
    frame["fnr"] = np.where(frame["label"] == 1, (frame["prediction"] == 0).astype(float), np.nan)
    return DivergenceExplorer(frame), columns, options


def work(prepared):
    explorer, columns, options = prepared
    return explorer.get_pattern_divergence(
        min_support=options["min_support"], attributes=columns, boolean_outcomes=["fpr", "fnr"]
    )


def values(found):
    named = {"itemsets": len(found) - 1}  # the empty one is everyone
    for itemset, fpr, fnr in zip(found["itemset"], found["fpr_div"], found["fnr_div"], strict=True):
        key = " & ".join(sorted(itemset))
        if key:
            named[f"fpr: {key}"], named[f"fnr: {key}"] = fpr, fnr
    return named


answer("DivExplorer", prepare=prepare, work=work, values=values)
