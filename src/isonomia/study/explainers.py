"""The SHAP variants of the study, and what they say about the sensitive column: disparity, importance, rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.explain import ShapleyValues, shapley
from isonomia.languages import Message, msg
from isonomia.registry import Registry
from isonomia.study.fixes import Trained
from isonomia.study.matrices import inputs_of, members_of
from isonomia.study.models import StudyModel
from isonomia.subject import Subject
from isonomia.typing import Bools, Indices

#: Centres that the background of Kernel SHAP is summarised by.
CENTRES = 50


@dataclass(frozen=True, eq=False)
class Explained:
    """What an explainer gets: the test rows and the trained model, and how much work is allowed."""

    subject: Subject
    trained: Trained
    model: StudyModel
    rows: Indices
    max_model_rows: int
    seed: int

    def shapley(self, **options: Any) -> ShapleyValues:
        """Shapley values of every encoded column for the chosen test rows, against the rows of training."""
        return shapley(
            self.subject,
            background=inputs_of(self.trained.rows),
            by="encoded",
            rows=self.rows,
            max_model_rows=self.max_model_rows,
            seed=self.seed,
            **options,
        )


@dataclass(frozen=True)
class StudyExplainer:
    """A SHAP variant of the study.

    Attributes
    ----------
    id, purpose : str
    title : Message
    families : tuple of str
        The families of models it explains; empty for all.
    explain : callable
        From `Explained` to Shapley values.
    unit : str
        "probability" or "log odds": only results in one unit are compared in size.
    short : str
        Its name in the published result files.
    """

    id: str
    purpose: str
    title: Message
    families: tuple[str, ...]
    explain: Callable[[Explained], ShapleyValues]
    unit: str = "probability"
    short: str = ""

    def explains(self, model: StudyModel) -> bool:
        """Whether it applies to a model."""
        return not self.families or model.family in self.families


STUDY_EXPLAINERS: Registry[StudyExplainer] = Registry("study_explainer", word="explainer")


def sensitive_figures(values: ShapleyValues, sensitive: str, privileged: Bools) -> dict[str, float]:
    """Disparity, importance and rank of the sensitive column.

    With phi its Shapley values: disparity = mean phi of the unprivileged - mean phi of the privileged, importance =
    mean |phi|, rank = its position by importance among all encoded columns, 1 for the first.

    Parameters
    ----------
    values : ShapleyValues
    sensitive : str
    privileged : (n,) bool array
        Of the explained rows.
    """
    column = values.columns.index(sensitive)
    phi = values.values[:, column]
    sizes = np.abs(values.values).mean(axis=0)
    low, high = float(phi[~privileged].mean()), float(phi[privileged].mean())
    return {
        "disparity": low - high,
        "importance": float(sizes[column]),
        "rank": int((sizes > sizes[column]).sum()) + 1,
        "unprivileged": low,
        "privileged": high,
    }


def explain(explainer: StudyExplainer, given: Explained) -> Mapping[str, float]:
    """What a SHAP variant says about the sensitive column of a model."""
    data = given.subject.data
    return sensitive_figures(explainer.explain(given), data.protected[0], members_of(data)[given.rows])


def _kernel(given: Explained) -> ShapleyValues:
    players = len(given.subject.data.columns) - 1
    exact = 2**players * min(CENTRES, len(given.trained.rows)) * given.rows.size <= given.max_model_rows
    return given.shapley(method="enumeration" if exact else "kernel", clusters=CENTRES)


def _tree(given: Explained) -> ShapleyValues:
    margins = not type(given.trained.estimator).__name__.startswith(("RandomForest", "ExtraTrees", "DecisionTree"))
    return given.shapley(method="trees", output="rescaled" if margins else "probability")


STUDY_EXPLAINERS.add(
    StudyExplainer(
        id="kernel",
        purpose="Kernel SHAP of the probability, 50 k-means centres as background",
        title=msg("Kernel SHAP"),
        families=(),
        explain=_kernel,
        short="kernel",
    ),
    StudyExplainer(
        id="tree",
        purpose="interventional Tree SHAP of the probability, all training rows as background",
        title=msg("Tree SHAP"),
        families=("trees",),
        explain=_tree,
        short="tree",
    ),
    StudyExplainer(
        id="linear_independent",
        purpose="Linear SHAP of the log odds, columns taken as independent",
        title=msg("Linear SHAP, independent"),
        families=("linear",),
        explain=lambda given: given.shapley(method="linear", output="log_odds"),
        unit="log odds",
    ),
    StudyExplainer(
        id="linear_correlated",
        purpose="Linear SHAP of the log odds, columns taken as correlated and normal",
        title=msg("Linear SHAP, correlated"),
        families=("linear",),
        explain=lambda given: given.shapley(method="linear_correlated", output="log_odds"),
        unit="log odds",
        short="linear",
    ),
)
