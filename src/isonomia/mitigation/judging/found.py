"""Found subgroups as groups of fixes: searched among the people that a fix is tuned on, never among those judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset
from isonomia.discovery import SubgroupResult, find_subgroups
from isonomia.errors import NotApplicable, SpecError
from isonomia.languages import msg
from isonomia.mitigation.found_groups import OTHERS, subgroup_columns
from isonomia.mitigation.judging.trial import People, Trial
from isonomia.subject import Subject
from isonomia.typing import Floats

#: Whose gap is closed: groups of the protected attributes, or people in subgroups that a search finds (or has found).
GroupsOf = Literal["protected", "found"] | SubgroupResult
#: The column that says whether a person is in a found subgroup, and its values.
COLUMN, FOUND = "subgroup", "found"
#: How many subgroups a search is asked for.
MOST = 3


def use_subgroups(
    groups: Literal["found"] | SubgroupResult, trial: Trial, people: People, subject: Subject, judged: Subject
) -> tuple[Subject, SubgroupResult]:
    """Let the fixes of every split be tuned for found subgroups instead of the protected attributes.

    In each split the search looks at the errors of the unchanged model among the training people, whom that model had
    not seen. The people judged get the conditions that were found. Returned are they, with the column that says who is
    in a subgroup of their split, and the subgroups among everyone (for fixes that are fitted on all rows).
    """
    if not isinstance(groups, SubgroupResult) and groups != "found":
        raise SpecError(f"`groups` must be 'protected', 'found' or a result of find_subgroups; got {groups!r}.")
    inside = np.zeros(len(judged), dtype=bool)
    wrong = np.zeros(len(subject))
    for split in trial.splits:
        if split.tuning is None:
            raise NotApplicable(msg("needs scores, and there are decisions only"))
        errors = _errors(split.tuning, split.train.y, trial)
        wrong[split.train_rows] = errors
        train_data = subject.known.take(split.train_rows)
        found = groups if isinstance(groups, SubgroupResult) else _search(train_data, errors)
        split.train.attributes = (_column(_members(found, train_data)),)
        inside[split.rows] = _members(found, judged.known.take(split.rows))
        split.test.attributes = (_column(inside[split.rows]),)
    everyone = groups if isinstance(groups, SubgroupResult) else _search(subject.known, wrong)
    people.attributes = (_column(_members(everyone, subject.known)),)
    return replace(judged, attributes=(*judged.attributes, _column(inside)), cache={}), everyone


def _search(data: Dataset, errors: Floats) -> SubgroupResult:
    found = find_subgroups(data, errors=errors, method="sliceline", k=MOST)
    if not found.subgroups:
        raise NotApplicable(msg("no subgroup with more errors was found"))
    return found


def _members(found: SubgroupResult, data: Dataset) -> NDArray[np.bool_]:
    return np.asarray(subgroup_columns(found, data)[COLUMN] != OTHERS, dtype=bool)


def _column(inside: NDArray[np.bool_]) -> Codes:
    return Codes(COLUMN, inside.astype(np.uint8), (OTHERS, FOUND))


def _errors(scores: Floats, truth: NDArray[Any], trial: Trial) -> Floats:
    """Wrong decisions, or the distance of predicted numbers."""
    if trial.regression:
        return np.asarray(np.abs(scores - truth), dtype=float)
    decided = scores.argmax(axis=1) if scores.ndim == 2 else scores >= 0.5
    return np.asarray(decided != truth, dtype=float)
