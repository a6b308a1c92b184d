"""Synthetic data with injected, annotated bias: a Gaussian copula, subgroup pairs, conditional samples, outcomes."""

from isonomia.data.synthetic.conditions import Between, Condition, OneOf, holds, read_conditions
from isonomia.data.synthetic.copula import Copula
from isonomia.data.synthetic.credit import credit
from isonomia.data.synthetic.distributions import Categories, LogNormal, Normal, Uniform
from isonomia.data.synthetic.generator import Synthetic, generate
from isonomia.data.synthetic.outcome import Outcome
from isonomia.data.synthetic.pairs import Pair
from isonomia.data.synthetic.reading import MAX_LEVELS
from isonomia.data.synthetic.schema import Schema
from isonomia.data.synthetic.source import ANNOTATIONS
from isonomia.data.synthetic.truth import GroundTruth, Subgroup

#: The generator's name at the package's front door: ``iso.synth(...)``.
synth = generate

__all__ = [
    "ANNOTATIONS",
    "Between",
    "Categories",
    "Condition",
    "Copula",
    "MAX_LEVELS",
    "GroundTruth",
    "LogNormal",
    "Normal",
    "OneOf",
    "Outcome",
    "Pair",
    "Schema",
    "Subgroup",
    "Synthetic",
    "Uniform",
    "credit",
    "generate",
    "holds",
    "read_conditions",
    "synth",
]
