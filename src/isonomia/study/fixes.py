"""What the study does against bias before training: nothing, reweighing, or undersampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from isonomia.data import Dataset
from isonomia.errors import ModelError
from isonomia.languages import Message, msg
from isonomia.mitigation import sample, weights
from isonomia.registry import Registry
from isonomia.study.matrices import Matrices, inputs_of, members_of, outcomes_of
from isonomia.typing import Floats


@dataclass(frozen=True)
class StudyFix:
    """A fix of the study.

    Attributes
    ----------
    id, purpose : str
    title : Message
    prepare : callable
        From matrices and a seed to the training set, and the weights of its rows (None where all count alike).
    short : str
        Its name in the published result files.
    """

    id: str
    purpose: str
    title: Message
    prepare: Callable[[Matrices, int], tuple[Dataset, Floats | None]]
    short: str


STUDY_FIXES: Registry[StudyFix] = Registry("study_fix", word="fix")


@dataclass(frozen=True, eq=False)
class Trained:
    """A fitted estimator, and the rows it was trained on."""

    estimator: Any
    rows: Dataset


def train(estimator: Any, fix: StudyFix, matrices: Matrices, seed: int) -> Trained:
    """The estimator trained on what the fix makes of the training set."""
    rows, weight = fix.prepare(matrices, seed)
    step = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    given = {} if weight is None else {f"{step}sample_weight": weight}
    try:
        return Trained(estimator.fit(inputs_of(rows), outcomes_of(rows).astype(int), **given), rows)
    except Exception as error:  # an estimator may raise anything
        raise ModelError(
            f"Training {type(estimator).__name__} on {matrices.name!r} with the fix {fix.id!r} failed. "
            f"{type(error).__name__}: {error}"
        ) from error


def _plain(matrices: Matrices, seed: int) -> tuple[Dataset, Floats | None]:
    return matrices.train, None


def _reweighed(matrices: Matrices, seed: int) -> tuple[Dataset, Floats | None]:
    data = matrices.train
    return data, weights(outcomes_of(data), members_of(data))


def _undersampled(fix: str, d: float) -> Callable[[Matrices, int], tuple[Dataset, Floats | None]]:
    def prepare(matrices: Matrices, seed: int) -> tuple[Dataset, Floats | None]:
        if fix in matrices.samples:
            return matrices.samples[fix], None
        data = matrices.train
        return data.take(sample(outcomes_of(data), members_of(data), d=d, seed=seed)), None

    return prepare


STUDY_FIXES.add(
    StudyFix(
        id="unmitigated",
        purpose="the training set as it is",
        title=msg("unmitigated"),
        prepare=_plain,
        short="orig",
    ),
    StudyFix(
        id="reweighing",
        purpose="weights that make group and outcome independent",
        title=msg("reweighing"),
        prepare=_reweighed,
        short="rw",
    ),
    StudyFix(
        id="undersampling_0",
        purpose="undersampling, d = 0: both groups get the overall rate",
        title=msg("undersampling, d = 0"),
        prepare=_undersampled("undersampling_0", 0.0),
        short="usd0",
    ),
    StudyFix(
        id="undersampling_-1",
        purpose="undersampling, d = -1: the groups exchange their rates",
        title=msg("undersampling, d = -1"),
        prepare=_undersampled("undersampling_-1", -1.0),
        short="usd-1",
    ),
)
