"""What to do about a finding: each remedy has an id that findings carry, and a sentence that reports show."""

from __future__ import annotations

from collections.abc import Mapping

from isonomia.languages import Message, msg

#: By id, what to do next.
REMEDIES: Mapping[str, Message] = {
    "retrain_without_pairs": msg(
        "Review the pairs, then retrain with them relabelled, or without the attribute and its proxies."
    ),
    "confirm_on_new_rows": msg("Confirm it on new data before acting: it was found by searching many subgroups."),
    "explain_differing_labels": msg(
        "See whether the labels differ by group, and which column would tell these people apart."
    ),
    "examine_proxies": msg("Leaving the attribute out of a model does not blind it; look at what these columns do."),
    "compare_with_neighbours": msg("Look at the rows listed: which column sets them apart from their neighbours?"),
    "collect_rows_or_widen_margin": msg("Collect more rows of the groups concerned, or accept a wider margin openly."),
    "recalibrate_by_group": msg("Recalibrate by group, or add features that separate this group's outcomes."),
    "choose_fair_distance": msg(
        "Look at the pairs listed, and say which distance between people is fair for this use."
    ),
    "remove_attribute": msg("Leave the attribute out, or show why it must decide; then look at its proxies."),
    "collect_rows": msg("Collect more data on this group before relying on its figures."),
    "explain_change": msg("Find out what happened then: new data, a new model, a new way of labelling?"),
    "explain_missing_values": msg(
        "Find out why; filling the gaps with everyone's mean would hide this group's own values."
    ),
    "question_labels": msg("Ask how the labels came about before a model learns them."),
    "check_labels_and_features": msg(
        "Check the labels and the features first: this model does no better than guessing."
    ),
    "measure_on_current_rows": msg(
        "Find out why before trusting old figures: measure the model again on current rows."
    ),
    "review_confident_errors": msg(
        "Review these rows first: labels may be wrong, or the model uses something it should not rely on."
    ),
    "review_rows": msg(
        "Look at these rows: wrong labels, missing features or too few examples to learn from are the usual causes."
    ),
    "regularise": msg(
        "Train with more rows like these, or restrain the model (shallower trees, larger leaves, regularisation)."
    ),
    "calibrate_width_by_group": msg(
        "Set the width group by group (by_group=True), or tell users of this group that the model "
        "is less sure about them."
    ),
    "choose_metric_beforehand": msg(
        "Say beforehand which metric decides, and why: here the choice of the metric is the choice of the winner."
    ),
    "monitor_scenario": msg(
        "Ask how likely this is where the model is used, and watch for it: the sensitivity curve "
        "tells how much of it the model stands."
    ),
    "measure_fairness_again": msg(
        "Even-handedness here rests on the data staying as they are: measure it again when they change."
    ),
    "set_thresholds_by_group": msg(
        "One threshold for all moves the gap only so far; thresholds by group, or another model, move it further."
    ),
    "judge_by_stable_metrics": msg(
        "Judge the model by metrics that hold under the scenarios that are likely where it is used."
    ),
    "read_other_metrics_too": msg(
        "Do not read this metric alone where such change is likely; the table tells which ones hold."
    ),
    "harden_inputs": msg("Small, valid changes of the inputs decide: limit who may change them, or train against it."),
    "review_borderline_cases": msg(
        "Have people review cases near the threshold, and show users how certain a decision is."
    ),
    "improve_group_data": msg(
        "This group is decided nearer to the border: small errors in its data decide more often."
    ),
    "train_with_noise": msg(
        "Train with such noise, leave fragile features out, or check inputs before they reach the model."
    ),
    "verify_feature": msg("The model leans on this feature: make sure of how it is measured."),
    "handle_invalid_rows": msg("Decide what happens to such rows before they reach the model."),
    "choose_criterion": msg(
        "Choose which criterion matters for this use before asking for all of them: see the guide."
    ),
    "compare_base_rates": msg(
        "Look at the groups side by side, then at the base rates: see which criteria can hold together."
    ),
    "check_base_rates": msg(
        "Check whether the base rates differ too; if they do not, compare true positive rates and look for proxies."
    ),
    "check_threshold_and_labels": msg(
        "Review the decision threshold for this group, and how its positives are labelled."
    ),
    "review_false_positives": msg("Find out what the false positives of this group have in common."),
    "check_representation": msg("Check how well this group is represented in the training data."),
    "correct_bias": msg("The model errs in one direction for this group: look for a missing feature or biased labels."),
}
