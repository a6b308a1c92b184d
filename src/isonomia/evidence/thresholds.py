"""From which size on something is reported, and how severe it is: the defaults of all checks, in one table.

A policy overrides them: a figure that one of its rules judges is as severe as the rule's outcome. A finding that may be
chance after correction is a notice whatever its size, and only findings about people are critical.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isonomia.evidence.column import Column
from isonomia.evidence.finding import Severity
from isonomia.evidence.table import Table
from isonomia.languages import Message, msg


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Sizes of one kind of figure.

    Attributes
    ----------
    what : Message
        The figure.
    reported : float
        From here on it is a finding.
    warning, critical : float, optional
        From here on it is a warning, or critical; None where it never is.
    lower : bool
        Whether small figures are the bad ones.
    """

    what: Message
    reported: float
    warning: float | None = None
    critical: float | None = None
    lower: bool = False

    def severity(self, size: float) -> Severity:
        """How severe a figure of this size is, before any test.

        >>> [THRESHOLDS["rate_gap"].severity(size) for size in (0.1, 0.25)]
        ['warning', 'critical']
        """
        if self.critical is not None and self._beyond(size, self.critical):
            return "critical"
        return "warning" if self.warning is not None and self._beyond(size, self.warning) else "notice"

    def _beyond(self, size: float, end: float) -> bool:
        return size <= end if self.lower else size >= end


#: The defaults, by what is measured. Rates and shares are fractions: 0.1 is ten points.
THRESHOLDS: Mapping[str, Threshold] = {
    "rate_gap": Threshold(what=msg("gap of a rate between groups"), reported=0.1, warning=0.1, critical=0.2),
    "mean_gap": Threshold(
        what=msg("gap of mean predictions, in their standard deviations"), reported=0.2, warning=0.2, critical=0.4
    ),
    "error_gap": Threshold(
        what=msg("gap of errors of a regression, relative to the reference"), reported=0.25, warning=0.25, critical=0.5
    ),
    "decision_change": Threshold(
        what=msg("people whose decision changes with the attribute alone"), reported=0.01, warning=0.01, critical=0.05
    ),
    "wide_change": Threshold(
        what=msg("people whose decision changes with the attribute and its effects"), reported=0.1
    ),
    "pairs": Threshold(
        what=msg("possible people whose decision changes with the attributes alone"),
        reported=0.0,
        warning=0.0,
        critical=0.01,
    ),
    "attribute_use": Threshold(what=msg("probability moved by the attribute itself"), reported=0.01, warning=0.05),
    "predictable": Threshold(what=msg("how much better than guessing an attribute is predicted"), reported=0.3),
    "label_gap": Threshold(
        what=msg("gap of labels between similar people (a regression: in standard deviations)"),
        reported=0.1,
        warning=0.1,
    ),
    "conflicting_labels": Threshold(what=msg("people with an identical record of another label"), reported=0.01),
    "missing_gap": Threshold(what=msg("gap of missing values between groups"), reported=0.05, warning=0.05),
    "thin_share": Threshold(what=msg("share of a group in the data"), reported=0.01, lower=True),
    "population_ratio": Threshold(
        what=msg("share of a group, relative to its share of the population"), reported=0.8, warning=0.8, lower=True
    ),
    "calibration_gap": Threshold(
        what=msg("gap between predicted and observed rates of a group"), reported=0.05, warning=0.05
    ),
    "calibration_slope": Threshold(what=msg("calibration slope of a group"), reported=0.8, warning=0.8, lower=True),
    "consistency": Threshold(what=msg("consistency of decisions about similar people"), reported=0.8, lower=True),
    "consistency_gap": Threshold(
        what=msg("gap of consistency between a group and everyone"), reported=0.05, warning=0.05
    ),
    "unequal_pairs": Threshold(
        what=msg("pairs of similar people who are treated more differently than they differ"), reported=0.05
    ),
    "between_groups": Threshold(what=msg("share of the inequality of benefits between groups"), reported=0.05),
    "gap_change": Threshold(what=msg("change of a gap over time"), reported=0.05, warning=0.05),
    "slice_error": Threshold(
        what=msg("error of a slice beyond the overall error, relative to it"), reported=0.1, warning=0.5, critical=1.0
    ),
    "subgroup_gap": Threshold(what=msg("gap between a subgroup and everyone"), reported=0.1, warning=0.1),
    "subgroup_share": Threshold(
        what=msg("gap between a subgroup and everyone, relative to everyone"), reported=0.2, warning=0.2
    ),
    "worst_rows": Threshold(
        what=msg("share of a slice among the worst rows, relative to its share"), reported=1.5, warning=3.0
    ),
    "coverage": Threshold(what=msg("lack of coverage of prediction sets"), reported=0.02, warning=0.02),
    "stability_index": Threshold(
        what=msg("population stability index of a column, beyond noise"), reported=0.0, warning=0.1
    ),
    "robustness_gap": Threshold(
        what=msg("gap between groups in decisions that change under noise"), reported=0.02, warning=0.02
    ),
    "fragile_share": Threshold(what=msg("share of fragile decisions"), reported=0.1),
    "scenario_gap": Threshold(what=msg("growth of a gap under a scenario"), reported=0.05),
}


def thresholds_table(backend: Any) -> Table:
    """The defaults as a table: from which size on something is reported, a warning or critical."""
    every = list(THRESHOLDS.values())
    never = msg("never")

    def column(name: str, title: Message, sizes: list[float | None]) -> Column:
        return Column(name, sizes, reason=[never if size is None else None for size in sizes], title=title)

    return Table(
        (
            Column("what", [one.what for one in every], title=msg("what")),
            Column("side", [msg("at most") if one.lower else msg("at least") for one in every], title=msg("side")),
            column("reported", msg("reported"), [one.reported for one in every]),
            column("warning", msg("warning"), [one.warning for one in every]),
            column("critical", msg("critical"), [one.critical for one in every]),
        ),
        msg("Default thresholds: used where no rule of a policy judges a figure"),
        backend,
    )
