"""How to read a report: its words, in the words of a reader who has not met them."""

from __future__ import annotations

from isonomia.languages import Message, msg

#: Term and explanation, in reading order.
GLOSSARY: tuple[tuple[Message, Message], ...] = (
    (
        msg("Verdict"),
        msg(
            "What a named policy says of the figures: the model meets it, exceeds its limits, there is not enough "
            "evidence to tell, or the policy does not apply. It is not legal advice, and no score stands in for it."
        ),
    ),
    (
        msg("Finding"),
        msg(
            "One statement worth reading: for whom, for how many rows, how large, how sure. Critical findings call for "
            "action, warnings for a look, notices are good to know."
        ),
    ),
    (
        msg("Also seen by"),
        msg(
            "Other checks found something about the same people, columns or side of the model. Their findings stand "
            "beneath the worst one, so that one matter is one entry; the counts above count every finding."
        ),
    ),
    (
        msg("Points"),
        msg(
            "Percentage points: the difference of two rates. From 30% to 20% is -10 points, and a third less; the "
            "ratio tells the latter."
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
            "The range [low, high] that is compatible with the data at the stated level, 95% unless told otherwise. A "
            "wide interval means few rows, not a small problem."
        ),
    ),
    (
        msg("Adjusted p"),
        msg(
            "The p-value after correcting for all tests of the run about the same question: people (Holm), errors and "
            "robustness (Benjamini-Hochberg). A finding below 0.05 stands. The balance sheet counts the tests."
        ),
    ),
    (
        msg("Size"),
        msg("How large a finding is, on one scale for all checks: 1 is just at the threshold, 2 is twice as far."),
    ),
    (
        msg("Smallest detectable gap"),
        msg(
            "The smallest difference these group sizes could have shown with 80% power. No finding below it does not "
            "mean that there is no difference."
        ),
    ),
    (
        msg("Small group"),
        msg("A group with too few rows to rely on. It is shown and marked (hollow marks, *), never hidden."),
    ),
    (
        msg("Not available"),
        msg(
            "A figure that does not exist for these rows, such as a true positive rate without positives. It is "
            "not zero."
        ),
    ),
)
