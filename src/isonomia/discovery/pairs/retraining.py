"""Pairs fed back: relabelled by majority, added to the training data, and the drop measured on fresh people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, wrap
from isonomia.discovery.pairs.find import find_pairs
from isonomia.discovery.pairs.result import PairResult
from isonomia.errors import FAULTS, DataError, ModelError, NotApplicable
from isonomia.evidence import Estimate
from isonomia.models import Model
from isonomia.parameters import SEED, Integer, Number, validated
from isonomia.probing import Oracle, Probe


@dataclass(frozen=True, eq=False)
class Retrained:
    """A model trained again with pairs relabelled, and what it changed.

    Attributes
    ----------
    model : estimator
        The new one.
    before, after : Estimate
        The share of people drawn uniformly from the domain who are treated differently; the same people for both.
    accuracy_before, accuracy_after : float
        Share of the data's own labels that each model gives.
    n_added : int
        Rows added to the training data.
    """

    model: Any
    before: Estimate
    after: Estimate
    accuracy_before: float
    accuracy_after: float
    n_added: int

    def __repr__(self) -> str:
        return (
            f"Retrained({self.before.value:.4g} -> {self.after.value:.4g} treated differently, accuracy "
            f"{self.accuracy_before:.4g} -> {self.accuracy_after:.4g}, {self.n_added:,} rows added)"
        )


@validated(share=Number(above=0, at_most=10), tests=Integer(1), seed=SEED)
def retrain(
    data: Dataset, model: Any, result: PairResult, *, share: float = 0.2, tests: int = 20_000, seed: int = 0
) -> Retrained:
    """Train a model again with the pairs of a result in its data.

    Every person found goes in with both variants of the pair under one label: the one the model gives to most of
    their protected variants (ADF, section 3.3; AEQUITAS, section 4). At most `share` times the rows of the data are
    added, drawn at random. The share treated differently is then measured for both models on the same fresh people.

    Parameters
    ----------
    data : Dataset
        What the model was trained on, with its target.
    model : scikit-learn classifier
        It is cloned, not changed. One that is not fitted is fitted to the data first, and that is the model before.
    result : PairResult
        Of any search over variants of one person (not of "fliptest").
    share : float
        Maximum number of rows to add, as a share of the data's.
    tests : int
        Fresh people, drawn uniformly with another seed than the search's.
    """
    estimator = Model.of(model).estimator
    if data.target is None:
        raise DataError("Training again needs the target; give the data as Dataset(..., target=...).")
    if not _is_classifier(estimator):
        raise ModelError(f"Only scikit-learn classifiers can be trained again here; got {type(estimator).__name__}.")
    if len(result.pairs) == 0:
        raise NotApplicable("the result has no pairs to train with")
    if result.method == "fliptest":
        raise NotApplicable("FlipTest compares different people; its pairs have no common label")
    features = wrap(data.frame).select(result.domain.names)
    truth = np.asarray(data.column(data.target).to_numpy())
    if not hasattr(estimator, "classes_"):
        estimator = _fitted(estimator, features.to_native(), truth)
    differs = (result.pairs.first != result.pairs.second).any(axis=0)
    names = [name for name, altered in zip(result.domain.names, differs, strict=True) if altered]
    rng = np.random.default_rng([seed, 1])
    chosen = rng.permutation(len(result.pairs))[: max(1, int(share * len(data) / 2))]
    people = result.pairs.take(chosen)
    probe = Probe(Oracle(estimator, result.domain, data), names, reference=result.pairs.first)
    predicted = probe.consult(probe.spread(people.first)).label
    if predicted is None:
        raise NotApplicable("a regression has no label to vote on")
    votes = predicted.reshape(len(people.first), -1)
    counts = np.stack([(votes == code).sum(axis=1) for code in range(len(probe.oracle.classes))], axis=1)
    label = np.array(probe.oracle.classes, dtype=object)[counts.argmax(axis=1)]
    added = nw.from_native(result.domain.decode(np.concatenate([people.first, people.second])), eager_only=True)
    joined = nw.concat([features, added.select(features.columns)])
    target = np.concatenate([truth, np.tile(label.astype(truth.dtype), 2)])
    fresh = _fitted(estimator, joined.to_native(), target)
    rates = [
        find_pairs(
            data,
            one,
            method="themis",
            protected=names,
            domain=result.domain,
            error=None,
            max_tests=tests,
            seed=seed + 7919,
        ).values["share"]
        for one in (estimator, fresh)
    ]
    frame = features.to_native()
    right = [float((np.asarray(one.predict(frame)) == truth).mean()) for one in (estimator, fresh)]
    return Retrained(
        model=fresh,
        before=rates[0],
        after=rates[1],
        accuracy_before=right[0],
        accuracy_after=right[1],
        n_added=2 * len(chosen),
    )


def _is_classifier(estimator: Any) -> bool:
    """Whether it can be cloned and fitted to classes."""
    from sklearn.base import is_classifier

    return hasattr(estimator, "get_params") and (hasattr(estimator, "classes_") or is_classifier(estimator))


def _fitted(estimator: Any, frame: Any, target: Any) -> Any:
    """A clone fitted to these rows."""
    from sklearn.base import clone

    try:
        return clone(estimator).fit(frame, target)
    except FAULTS as error:  # any error of the user's estimator
        raise ModelError(f"{type(estimator).__name__} could not be fitted to the data: {error}") from error
