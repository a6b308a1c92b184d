"""The result of `mitigate`: what every fix did, and the fixes fitted on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery import SubgroupResult
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import Result, Tried
from isonomia.fairness.judging.limits import Outcome
from isonomia.languages import msg
from isonomia.mitigation.judging.effect import effect_of
from isonomia.mitigation.judging.judge import Judged
from isonomia.mitigation.judging.trial import People, Trial
from isonomia.mitigation.judging.trying import Attempt, build
from isonomia.mitigation.saving import save

#: What a fix is not written as: files of these kinds hold the result.
PAGES = (".html", ".htm", ".md", ".pdf", ".csv")


@dataclass(frozen=True)
class Mitigated(Result):
    """What every fix did, on people it has not seen (see `mitigate`).

    Attributes
    ----------
    best : str or None
        The cheapest fix that meets the goal by the bound of its interval, "none" where none is needed; None where none
        does.
    front : tuple of str
        Fixes that no other one beats: clearly in one of gap and accuracy, and at least as good in the other.
    verdict : "meets", "exceeds" or "not_enough_evidence"
        That of the best fix.
    fitted : mapping of estimators
        Each fix fitted on all rows; fitted when it is asked for.
    decisions : mapping of arrays
        The decisions about the people judged after each fix, as codes of the classes (numbers for a regression).
    found : SubgroupResult or None
        Where fixes were tuned for found subgroups: those among all rows (`subgroup_columns` applies them to others).
    """

    best: str | None = field(default=None, kw_only=True)
    front: tuple[str, ...] = field(default=(), kw_only=True)
    verdict: Outcome = field(default="not_enough_evidence", kw_only=True)
    fitted: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    decisions: Mapping[str, NDArray[Any]] = field(default_factory=dict, kw_only=True, repr=False)
    judged: Judged | None = field(default=None, kw_only=True, repr=False)
    found: SubgroupResult | None = field(default=None, kw_only=True, repr=False)

    @property
    def outcomes(self) -> Any:
        """What the policy (or the goal) says of each fix: a row for each rule and way of grouping, as in an audit."""
        return self.to_frame("outcomes")

    @property
    def changes(self) -> Any:
        """Who changes decision, for every fix and group."""
        return self.to_frame("changes")

    @property
    def groups(self) -> Any:
        """The effect on every protected attribute and intersection."""
        return self.to_frame("groups")

    @property
    def levelling(self) -> Any:
        """Whether each fix levels up, trades or levels down."""
        return self.to_frame("levelling")

    @property
    def subgroups(self) -> Any:
        """Subgroups with many newly refused people under the best fix (or the closest, where none is best)."""
        if "subgroups" not in self.tables:
            raise NotApplicable(msg("nobody is newly refused, or there are no features to describe people by"))
        return self.to_frame("subgroups")

    def effect(self, methods: Sequence[str], *, metric: str = "", by: Sequence[str] = ()) -> Tried | None:
        """What one of these methods did about the gap of a metric between groups of the attributes `by`, in a sentence.

        The best fix if it is among them, else the one that leaves the smallest gap; None where none was tried.
        """
        return None if self.judged is None else effect_of(self.judged, methods, metric, by)

    def save(self, path: str | Path, method: str | None = None, *, language: str = "en") -> Path:  # type: ignore[override]
        """Write the best fix (or the one named): ``.json`` for thresholds, offsets and maps, else skops.

        What was found about all fixes goes into a file that ends in ``.html``, ``.md``, ``.pdf`` or ``.csv``.
        """
        if Path(path).suffix.lower() in PAGES:
            return super().save(path, language=language)
        name = method or self.best
        if name is None:
            raise SpecError("No fix meets the goal, so none is the best. Name the one to save (method=...).")
        return save(self.fitted[name], path)


class Fitted(Mapping[str, Any]):
    """Fixes fitted on all rows, each when it is asked for."""

    def __init__(self, attempts: Mapping[str, Attempt], trial: Trial, people: People) -> None:
        self._tried, self._trial, self._people = attempts, trial, people
        self._done: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._tried:
            raise SpecError(f"{name!r} is not among the fixes that were tried.{close_to(name, self._tried)}")
        if name not in self._done:
            self._done[name] = self._fit(self._tried[name])
        return self._done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tried)

    def __len__(self) -> int:
        return len(self._tried)

    def _fit(self, attempt: Attempt) -> Any:
        people, trial = self._people, self._trial
        entry, options = attempt.entry, attempt.options
        y = people.y if trial.regression else np.array(trial.classes)[people.y.astype(np.intp)]
        given: dict[str, Any] = {"sensitive_features": people.sensitive}
        if people.weights is not None:
            given["sample_weight"] = people.weights
        if trial.estimator is not None:
            return build(entry, options, trial.estimator).fit(people.X, y, **given)
        if len(trial.splits) == 1:  # other people were judged than the fix was tuned on
            scores = np.asarray(trial.splits[0].tuning)
        else:
            scores = np.zeros((len(people), *np.asarray(trial.splits[0].scores).shape[1:]))
            for split in trial.splits:
                scores[split.rows] = split.scores
        classes = None if trial.regression else np.array(trial.classes)
        fix = entry.estimator(**options)
        return fix.fit_scores(scores, y, classes=classes, regression=trial.regression, **given)
