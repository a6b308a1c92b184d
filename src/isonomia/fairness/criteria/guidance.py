"""Which criterion for which use: a decision guide, to be argued with before a model is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from isonomia.evidence import Column, Result, Table
from isonomia.fairness.criteria.named import CRITERIA
from isonomia.languages import Message, msg
from isonomia.parameters import Choice, validated

Use = Literal["credit", "hiring", "justice", "health", "advertising"]
USES: tuple[Use, ...] = get_args(Use)
Priority = Literal["first", "also", "watch"]

_PRIORITIES: dict[Priority, Message] = {
    "first": msg("require first"),
    "also": msg("also require"),
    "watch": msg("monitor"),
}
_TITLES: dict[Use, Message] = {
    "credit": msg("credit"),
    "hiring": msg("hiring and admissions"),
    "justice": msg("justice"),
    "health": msg("health"),
    "advertising": msg("advertising and recommendations"),
}


@dataclass(frozen=True)
class Advice:
    """One criterion for one use, how much it matters there, and why."""

    criterion: str
    priority: Priority
    reason: Message


GUIDE: dict[Use, tuple[Advice, ...]] = {
    "credit": (
        Advice(
            "predictive_parity",
            "first",
            msg("An approval should mean the same risk of default in every group; lender and borrower rely on it."),
        ),
        Advice(
            "equal_opportunity",
            "also",
            msg("People who would repay should be approved at equal rates; a refusal keeps them out of the market."),
        ),
        Advice(
            "disparate_impact",
            "watch",
            msg(
                "US practice screens approvals with the four-fifths rule (ECOA, Regulation B); a legitimate "
                "business need can justify a gap if no less harmful model does as well."
            ),
        ),
    ),
    "hiring": (
        Advice(
            "equal_opportunity",
            "first",
            msg("Qualified people should have the same chance; the qualified who are missed bear the harm."),
        ),
        Advice(
            "disparate_impact",
            "also",
            msg("The four-fifths rule (29 CFR 1607.4 D) and NYC Local Law 144 use ratios of selection rates."),
        ),
        Advice(
            "demographic_parity",
            "watch",
            msg(
                "Past hires record past opinions: where labels are doubtful, selection rates are more informative "
                "than errors."
            ),
        ),
    ),
    "justice": (
        Advice(
            "equalized_odds",
            "first",
            msg("Both errors harm: detaining those who would not reoffend, releasing those who would."),
        ),
        Advice(
            "predictive_equality",
            "also",
            msg(
                "The false positive rate is the share of people who would not reoffend but are classed as a risk, at "
                "the cost of their liberty."
            ),
        ),
        Advice(
            "predictive_parity",
            "watch",
            msg(
                "A score should mean the same risk for all; with unequal base rates it cannot keep both error rates "
                "equal too, so the choice has to be made and defended."
            ),
        ),
    ),
    "health": (
        Advice(
            "equalized_odds",
            "first",
            msg("Missed illness and needless treatment both harm; each should be equally rare in every group."),
        ),
        Advice(
            "negative_predictive_parity",
            "also",
            msg('"Nothing found" ends the search for care: it should be equally reliable for everyone.'),
        ),
        Advice(
            "overall_accuracy_equality",
            "watch",
            msg("Groups that are rare in the data often get worse predictions; labels such as cost can hide need."),
        ),
    ),
    "advertising": (
        Advice(
            "demographic_parity",
            "first",
            msg(
                "Only people who are shown an offer of work, housing or credit can accept it; there is no true "
                "outcome to compare with."
            ),
        ),
        Advice(
            "conditional_statistical_parity",
            "also",
            msg("Compare people with the same stated interests: any remaining gap is due to the system."),
        ),
        Advice(
            "disparate_impact",
            "watch",
            msg("Offers of housing, jobs and credit are covered by anti-discrimination law in many countries."),
        ),
    ),
}


@dataclass(frozen=True, repr=False)
class Guide(Result):
    """The guide for some uses: ``table`` has ``use, priority, criterion, asks, why``."""

    uses: tuple[Use, ...] = USES

    def explain(self, language: str = "en") -> str:
        """The guide in sentences."""
        lines = []
        for use in self.uses:
            for advice in GUIDE[use]:
                message = msg(
                    "For {use}, {priority}: {criterion}. {why}",
                    use=_TITLES[use],
                    priority=_PRIORITIES[advice.priority],
                    criterion=CRITERIA[advice.criterion].title,
                    why=advice.reason,
                )
                lines.append(message.text(language))
        return "\n".join(lines)


@validated(use=Choice(USES).or_none())
def guide(use: Use | None = None) -> Guide:
    """Which criterion for which use, and why.

    A starting point for the people who answer for the model, not a rule: the criteria exclude each other where base
    rates differ (see `incompatibility`), so one has to be chosen, and the choice is about who bears which error.

    Parameters
    ----------
    use : "credit", "hiring", "justice", "health", "advertising", optional
        Criteria to consider; all of them where left out.

    References
    ----------
    S. Barocas, M. Hardt, A. Narayanan (2023), Fairness and Machine Learning, MIT Press, ch. 3.

    Examples
    --------
    >>> [row["criterion"].text() for row in guide("justice").tables["guide"].rows()]
    ['Equalized odds', 'Predictive equality', 'Predictive parity']
    """
    uses: tuple[Use, ...] = USES if use is None else (use,)
    rows = [(one, advice) for one in uses for advice in GUIDE[one]]
    table = Table(
        (
            Column("use", [_TITLES[one] for one, _ in rows], title=msg("use")),
            Column("priority", [_PRIORITIES[advice.priority] for _, advice in rows], title=msg("priority")),
            Column("criterion", [CRITERIA[advice.criterion].title for _, advice in rows], title=msg("criterion")),
            Column("asks", [CRITERIA[advice.criterion].formula for _, advice in rows], title=msg("requires that")),
            Column("why", [advice.reason for _, advice in rows], title=msg("why")),
        ),
        msg("Which criterion for which use"),
    )
    return Guide("guide", msg("Decision guide"), {"guide": table}, uses=uses)
