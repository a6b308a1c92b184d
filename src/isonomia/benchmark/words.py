"""How factors, scores and ways to end are written for a reader."""

from __future__ import annotations

from isonomia.languages import Message, msg

FACTORS: dict[str, Message] = {
    "intersectionality": msg("Protected attributes of a subgroup"),
    "granularity": msg("Other attributes of a subgroup"),
    "similarity": msg("Similarity of the pair"),
    "bias": msg("Bias (log-odds)"),
    "aleatoric": msg("Noise in the score"),
    "epistemic": msg("Doubt about the model"),
    "group_rows": msg("Rows per subgroup"),
    "background": msg("Rows of the population"),
    "n_pairs": msg("Biased subgroups"),
    "model": msg("Model"),
    "task": msg("Task"),
    "falls_on": msg("Whom the bias falls on"),
    "source": msg("Data"),
}
SCORES: dict[str, Message] = {
    "f1": msg("F1"),
    "precision": msg("Precision"),
    "recall": msg("Recall"),
    "f1_realised": msg("F1, realised biases"),
    "recall_realised": msg("Recall, realised biases"),
    "f1_10": msg("F1 of the first 10"),
    "ap": msg("Average precision"),
    "mrr": msg("Reciprocal rank"),
    "best_jaccard": msg("Best overlap"),
    "coverage": msg("People found"),
    "row_precision": msg("Found people who are affected"),
    "confirmed": msg("Claims confirmed on fresh people"),
    "redundancy": msg("Redundancy"),
    "decision": msg("Right verdicts"),
    "seconds": msg("Seconds"),
    "recall_many": msg("Recall, 10 pairs each"),
    "validity": msg("Valid pairs"),
    "dsr": msg("Pairs per person tested"),
    "attributed": msg("Share due to planted biases"),
    "rows_per_pair": msg("Model rows per pair"),
    "naturalness": msg("Naturalness"),
    "area": msg("Pairs per 1,000 rows, over the budget"),
}
STATUSES: dict[str, Message] = {
    "done": msg("done"),
    "unsuitable": msg("does not apply"),
    "failed": msg("failed"),
    "timeout": msg("out of time"),
    "memory": msg("out of memory"),
}
TITLES: dict[str, Message] = {
    "subgroups": msg("Searches for subgroups"),
    "pairs": msg("Searches for pairs of people"),
}
