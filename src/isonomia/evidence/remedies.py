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
        "Check whether the labels differ by group, and which column would distinguish these people."
    ),
    "examine_proxies": msg(
        "Removing the attribute from a model does not remove its information; examine the effect of these columns."
    ),
    "compare_with_neighbours": msg("Review the listed rows: which column distinguishes them from their neighbours?"),
    "collect_rows_or_widen_margin": msg("Collect more data on these groups, or accept and document a wider margin."),
    "recalibrate": msg("Recalibrate the probabilities before anybody reads them or sets a threshold by them."),
    "recalibrate_by_group": msg("Recalibrate by group, or add features that separate this group's outcomes."),
    "choose_fair_distance": msg(
        "Review the listed pairs, and define which distance between people is fair for this use."
    ),
    "remove_attribute": msg("Remove the attribute, or justify its use; then examine its proxies."),
    "collect_rows": msg("Collect more data on this group before relying on its figures."),
    "merge_groups": msg("Put the values of this attribute into fewer groups: bands, regions, years."),
    "explain_change": msg("Find out what changed: the data, the model or the labelling?"),
    "explain_missing_values": msg(
        "Find out why; filling the gaps with everyone's mean would hide this group's own values."
    ),
    "question_labels": msg("Find out how the labels were produced before training a model on them."),
    "check_labels_and_features": msg(
        "Check the labels and the features first: this model does no better than guessing."
    ),
    "measure_on_current_rows": msg(
        "Find out why before relying on old figures: measure the model again on current rows."
    ),
    "review_confident_errors": msg(
        "Review these rows first: labels may be wrong, or the model uses something it should not rely on."
    ),
    "review_rows": msg("Review these rows: the usual causes are wrong labels, missing features or too few examples."),
    "regularise": msg(
        "Train with more rows like these, or regularise the model (shallower trees, larger leaves, stronger penalties)."
    ),
    "calibrate_width_by_group": msg(
        "Set the width by group (by_group=True), or inform people in this group that the model is less certain about "
        "them."
    ),
    "choose_metric_beforehand": msg(
        "Decide in advance which metric counts, and why: here the choice of metric determines the winner."
    ),
    "monitor_scenario": msg(
        "Assess how likely this is where the model is used, and monitor it: the sensitivity curve shows how much of "
        "it the model tolerates."
    ),
    "measure_fairness_again": msg(
        "Fairness here depends on the data staying the same: measure it again when they change."
    ),
    "set_thresholds_by_group": msg(
        "A single threshold can close only part of the gap; thresholds by group or another model can close more of it."
    ),
    "judge_by_stable_metrics": msg(
        "Evaluate the model with metrics that are stable under the scenarios likely in use."
    ),
    "read_other_metrics_too": msg(
        "Do not rely on this metric alone where such a change is likely; the table shows which ones are stable."
    ),
    "harden_inputs": msg(
        "Small, valid changes of the inputs change decisions: limit who may change them, or train the model against "
        "them."
    ),
    "review_borderline_cases": msg(
        "Have people review cases near the threshold, and show users how certain a decision is."
    ),
    "improve_group_data": msg(
        "Decisions about this group are closer to the threshold: small errors in its data change them more often."
    ),
    "train_with_noise": msg(
        "Train with such noise, remove fragile features, or check inputs before they reach the model."
    ),
    "verify_feature": msg("The model relies on this feature: make sure that it is measured reliably."),
    "handle_invalid_rows": msg("Decide what happens to such rows before they reach the model."),
    "choose_criterion": msg(
        "Choose the criterion that matters for this use, since not all can be required: see the guide."
    ),
    "compare_base_rates": msg("Compare the true outcomes of the groups: they show which criteria can hold together."),
    "check_base_rates": msg(
        "Check whether the true outcomes of these groups differ as much. If they do not, look for columns that stand "
        "in for the attribute."
    ),
    "check_threshold_and_labels": msg(
        "Review the decision threshold for this group, and how its favourable outcomes were recorded."
    ),
    "review_false_positives": msg("Find out what the wrongly favourable decisions about this group have in common."),
    "compare_false_positives": msg(
        "Find out why wrongly favourable decisions are more frequent in the group it is compared with."
    ),
    "compare_precision": msg(
        "Find out why a favourable decision is right less often in this group: recalibrate by group, or look for "
        "features that separate its outcomes."
    ),
    "check_representation": msg("Check how well this group is represented in the training data."),
    "correct_bias": msg("The model errs in one direction for this group: look for a missing column or biased labels."),
}

#: Fixes that do what a remedy says, by the ids of mitigations; remedies without one are not here.
FIXES: Mapping[str, tuple[str, ...]] = {
    "recalibrate_by_group": ("calibrate",),
    "examine_proxies": ("decorrelate", "repair", "representation", "reweighing", "sampling", "massaging", "reduction"),
    "remove_attribute": ("decorrelate", "repair", "reweighing", "sampling", "massaging", "reduction"),
    "question_labels": ("massaging", "reweighing", "sampling"),
    "set_thresholds_by_group": ("thresholds", "level_up", "reject_option"),
    "check_base_rates": (
        "reweighing",
        "sampling",
        "massaging",
        "reduction",
        "adversarial",
        "thresholds",
        "level_up",
        "reject_option",
        "match",
    ),
    "check_threshold_and_labels": (
        "thresholds",
        "level_up",
        "reject_option",
        "reduction",
        "reweighing",
        "sampling",
        "massaging",
        "minimax",
    ),
    "review_false_positives": ("thresholds", "reject_option", "reduction", "reweighing", "sampling", "minimax"),
    "compare_false_positives": ("thresholds", "reject_option", "reduction", "reweighing", "sampling", "minimax"),
    "compare_precision": ("calibrate", "thresholds", "minimax", "reweighing", "sampling", "massaging", "reduction"),
    "check_representation": ("sampling", "reweighing", "minimax"),
    "correct_bias": ("match", "reweighing", "sampling", "minimax", "reduction"),
}
