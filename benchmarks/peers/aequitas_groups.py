"""Aequitas: its cross table by group, and ratios to the reference group.

It takes one column at a time and no categorical ones, so the frame it gets has plain strings and the intersection ready
as a column of its own: making that is not timed.
"""

from aequitas.bias import Bias
from aequitas.group import Group
from driver import answer

THEIRS = {"selection_rate": "pprev", "tpr": "tpr", "fpr": "fpr", "precision": "precision", "accuracy": "accuracy"}


def prepare(frame, options):
    table = frame[["prediction", "label"]].rename(columns={"prediction": "score", "label": "label_value"})
    reference = {}
    for by in options["by"]:
        name = "|".join(by)
        table[name] = frame[by[0]].astype(str).str.cat([frame[other].astype(str) for other in by[1:]], sep="|")
        reference[name] = "|".join(options["reference"][attribute] for attribute in by)
    return table, reference


def work(prepared):
    table, reference = prepared
    crosstab, _ = Group().get_crosstabs(table, attr_cols=list(reference))
    ratios = Bias().get_disparity_predefined_groups(
        crosstab, original_df=table, ref_groups_dict=reference, mask_significance=False
    )
    return crosstab, ratios


def values(result):
    crosstab, ratios = result
    named = {}
    for row in crosstab.to_dict("records"):
        for metric, column in THEIRS.items():
            named[f"{row['attribute_value']}:{metric}"] = row[column]
    for row in ratios.to_dict("records"):
        for metric, column in THEIRS.items():
            if f"{column}_disparity" in row:
                named[f"{row['attribute_value']}:{metric}:ratio to reference"] = row[f"{column}_disparity"]
    return named


answer("aequitas", prepare=prepare, work=work, values=values)
