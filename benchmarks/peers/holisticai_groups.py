"""holisticai: its group measures for two groups at a time: one contrast by sex and one by sex and race.

It takes membership vectors; making those from the frame's columns is part of asking, and timed.
"""

from driver import answer
from holisticai.bias.metrics import (
    accuracy_diff,
    disparate_impact,
    equal_opportunity_diff,
    false_positive_rate_diff,
    statistical_parity,
)


def prepare(frame, options):
    return frame, options


def _members(frame, by, group):
    member = frame[by[0]] == group[0]
    for name, value in zip(by[1:], group[1:], strict=True):
        member &= frame[name] == value
    return member.to_numpy()


def work(prepared):
    frame, options = prepared
    label, prediction = frame["label"].to_numpy(), frame["prediction"].to_numpy()
    named = {}
    for by, group in zip(options["by"], options["contrasts"], strict=True):
        a = _members(frame, by, group)
        b = _members(frame, by, [options["reference"][name] for name in by])
        who = "|".join(group)
        named[f"{who}:selection_rate:difference to reference"] = statistical_parity(a, b, prediction)
        named[f"{who}:selection_rate:ratio to reference"] = disparate_impact(a, b, prediction)
        named[f"{who}:tpr:difference to reference"] = equal_opportunity_diff(a, b, prediction, label)
        named[f"{who}:fpr:difference to reference"] = false_positive_rate_diff(a, b, prediction, label)
        named[f"{who}:accuracy:difference to reference"] = accuracy_diff(a, b, prediction, label)
    return named


def values(named):
    return named


answer("holisticai", prepare=prepare, work=work, values=values)
