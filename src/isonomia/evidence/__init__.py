"""How sure are we: estimates, intervals, tests, multiplicity, power; findings and results."""

from typing import TYPE_CHECKING

from isonomia.evidence.affected import affected, at_least, beyond
from isonomia.evidence.column import Column, Format
from isonomia.evidence.contingency import chi_square, permutation
from isonomia.evidence.equivalence import equivalent_means, equivalent_proportions
from isonomia.evidence.estimate import Estimate, finite
from isonomia.evidence.finding import LABELS, SEVERITIES, TIERS, Finding, Severity, Tier, Tried, rank, ranking
from isonomia.evidence.folding import Fold, fold, folding
from isonomia.evidence.intervals import check_level, normal_quantile, percentile, wilson
from isonomia.evidence.multiplicity import AlphaInvesting, benjamini_hochberg, benjamini_hochberg_among, holm
from isonomia.evidence.power import detectable_means, detectable_rates
from isonomia.evidence.remedies import FIXES, REMEDIES
from isonomia.evidence.result import Drawing, Picture, Result
from isonomia.evidence.score_intervals import (
    agreeing,
    agreeing_ends,
    odds_difference,
    score_difference,
    score_odds_ratio,
    score_ratio,
)
from isonomia.evidence.significance import normal_p, two_proportions, welch
from isonomia.evidence.simultaneous import (
    Gaps,
    gaps_of_figures,
    gaps_of_odds,
    gaps_of_rates,
    pair_level,
    simultaneous_level,
)
from isonomia.evidence.table import Change, Table, free_name, yes_no
from isonomia.evidence.thresholds import THRESHOLDS, Threshold, thresholds_table
from isonomia.parameters import face

__all__ = [
    "AlphaInvesting",
    "Change",
    "Column",
    "Drawing",
    "Estimate",
    "FIXES",
    "Finding",
    "Fold",
    "Format",
    "Gaps",
    "LABELS",
    "Picture",
    "REMEDIES",
    "Result",
    "SEVERITIES",
    "Severity",
    "THRESHOLDS",
    "TIERS",
    "Table",
    "Threshold",
    "Tier",
    "Tried",
    "affected",
    "agreeing",
    "agreeing_ends",
    "at_least",
    "benjamini_hochberg",
    "benjamini_hochberg_among",
    "beyond",
    "check_level",
    "chi_square",
    "detectable_means",
    "detectable_rates",
    "equivalent_means",
    "equivalent_proportions",
    "finite",
    "fold",
    "folding",
    "free_name",
    "gaps_of_figures",
    "gaps_of_odds",
    "gaps_of_rates",
    "holm",
    "normal_p",
    "normal_quantile",
    "odds_difference",
    "pair_level",
    "percentile",
    "permutation",
    "rank",
    "ranking",
    "score_difference",
    "score_odds_ratio",
    "score_ratio",
    "simultaneous_level",
    "thresholds_table",
    "two_proportions",
    "welch",
    "wilson",
    "yes_no",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
