"""How to read a report: its words, in the words of a reader who has not met them."""

from __future__ import annotations

from isonomia.languages import Message, msg

#: Term and explanation, in reading order.
GLOSSARY: tuple[tuple[Message, Message], ...] = (
    (
        msg("Verdict"),
        msg(
            "What a named policy concludes from the figures: the model meets it, exceeds its limits, the evidence is "
            "not sufficient, or the policy does not apply. It is not legal advice, and no score replaces it."
        ),
    ),
    (
        msg("Finding"),
        msg(
            "One statement about the model: who is affected, how many people, how large the effect is and how certain. "
            "Critical findings require action, warnings require review, notices are for information."
        ),
    ),
    (
        msg("People affected"),
        msg(
            "How many more people would have received the decision, or how many fewer a wrong one, at the rate of "
            "the group that they are compared with; in brackets the interval."
        ),
    ),
    (
        msg("Also found by"),
        msg(
            "Other checks found something about the same people, columns or aspect of the model. Their findings are "
            "listed below the first one; the annex has them all."
        ),
    ),
    (
        msg("Points"),
        msg(
            "Percentage points: the difference between two rates. From 30% to 20% is a fall of 10 points, or of one "
            "third in relative terms; the ratio shows the latter."
        ),
    ),
    (
        msg("Difference"),
        msg(
            "The figure of the group minus the figure of its reference group. Negative means that the reference group "
            "has the larger figure."
        ),
    ),
    (
        msg("Ratio"),
        msg("The figure of the group divided by the figure of its reference group; 1 means they are equal."),
    ),
    (
        msg("Interval"),
        msg(
            "The range [low, high] that is compatible with the data at the stated level, 95% by default. A wide "
            "interval means few rows, not a small problem."
        ),
    ),
    (
        msg("Adjusted p"),
        msg(
            "The p-value after correcting for all tests of the run about the same question: people (Holm), errors and "
            "robustness (Benjamini-Hochberg). A finding below 0.05 is marked as significant. The balance sheet counts "
            "the tests."
        ),
    ),
    (
        msg("Detectable below and above the reference"),
        msg(
            "The smallest differences, in each direction, that tests at the corrected level of the run find in 80% of "
            "the cases with groups of these sizes. The absence of a finding below them does not mean that there is no "
            "difference."
        ),
    ),
    (
        msg("Small group"),
        msg("A group with too few rows for reliable figures. It is shown and marked (hollow marks, *), never hidden."),
    ),
    (
        msg("Not available"),
        msg(
            "A figure that does not exist for these rows, such as a true positive rate without positives. It is "
            "not zero."
        ),
    ),
)

#: Where the assumptions stand in a report.
ASSUMPTIONS_TITLE = msg("What the intervals assume")
#: What has to hold so that intervals contain the truth as often as they claim.
ASSUMPTIONS: tuple[Message, ...] = (
    msg(
        "Rows are independent of each other and like those of the people on whom the model is used. Where several rows "
        "are about the same person, intervals are too narrow."
    ),
    msg(
        "Rates have Wilson's interval, differences and ratios of rates the score interval of Miettinen and Nurminen, "
        "means Hall's, areas under ROC curves Newcombe's, and other functions of decisions that of the delta method. "
        "None of these depends on the seed."
    ),
    msg(
        "The largest gap between several groups and figures that were picked among many have simultaneous intervals, "
        "which hold whichever was picked. Hidden subgroups are measured on rows that were not searched."
    ),
    msg("Where rows have weights, intervals use the effective number of rows."),
    msg(
        "With fewer than about five cases intervals are wider than necessary: more of them contain the truth than "
        "stated."
    ),
    msg(
        "How often intervals contain the truth was simulated for every kind of figure and many sizes; the results, "
        "including those that fall short, are in docs/statistics.md of Isonomia."
    ),
)
