"""Why: Shapley values of any model, and what they say about groups."""

from typing import TYPE_CHECKING

from isonomia.explain.agreements.agreement import Agreement, agreement
from isonomia.explain.attribute_interactions import Interactions, interactions
from isonomia.explain.between_groups import Between
from isonomia.explain.change_explained import Change, change
from isonomia.explain.explained_class import explained_class, several_classes
from isonomia.explain.explainer import EXPLAINERS, Case, Explainer, Problem, Values
from isonomia.explain.gap_decomposition import gap
from isonomia.explain.gap_result import GapCriterion, GapDecomposition
from isonomia.explain.mixing import coalition_values
from isonomia.explain.outputs import OUTPUT_NAMES, OUTPUTS, Output
from isonomia.explain.players import By, Players
from isonomia.explain.prepare import Part, Prepared, prepare
from isonomia.explain.result import ShapleyValues
from isonomia.explain.sensitive_attribute import Sensitive, sensitive
from isonomia.explain.shapley_values import choose, shapley
from isonomia.explain.space import Space
from isonomia.explain.working_proxies import WorkingProxies, proxies_at_work
from isonomia.parameters import face

__all__ = [
    "Agreement",
    "Between",
    "By",
    "Case",
    "Change",
    "EXPLAINERS",
    "Explainer",
    "GapCriterion",
    "GapDecomposition",
    "Interactions",
    "OUTPUTS",
    "OUTPUT_NAMES",
    "Output",
    "Part",
    "Players",
    "Prepared",
    "Problem",
    "Sensitive",
    "ShapleyValues",
    "Space",
    "Values",
    "WorkingProxies",
    "agreement",
    "change",
    "choose",
    "coalition_values",
    "explained_class",
    "gap",
    "interactions",
    "prepare",
    "proxies_at_work",
    "sensitive",
    "several_classes",
    "shapley",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
