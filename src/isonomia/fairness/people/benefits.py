"""What a benefit is: being judged rightly, being favoured, or what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isonomia.data import to_numpy
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.languages import Message, msg
from isonomia.subject import Outcome, Subject
from isonomia.typing import Floats


def benefits_of(subject: Subject, benefit: Any) -> Floats:
    """One benefit per row, by the rule (or the numbers) given; see `generalized_entropy`."""
    outcome, surface = subject.outcome, subject.surface
    if isinstance(benefit, str) and benefit not in ("prediction", "correct"):
        raise SpecError(
            f"`benefit` must be 'prediction', 'correct', an array, a mapping of classes or None; got {benefit!r}."
        )
    if benefit is not None and not isinstance(benefit, str | Mapping):
        numbers = np.asarray(to_numpy(benefit), dtype=float)
        n = subject.rows.size
        if numbers.shape != (n,) or not np.isfinite(numbers).all():
            raise DataError(f"`benefit` needs one finite number per row: {n}; got shape {numbers.shape}.")
        return numbers[subject.rows]
    if outcome.task == "regression":
        assert surface.continuous is not None
        if isinstance(benefit, Mapping) or benefit == "correct":
            raise SpecError(
                "`benefit` by class and benefit='correct' apply to classification only; this is a regression."
            )
        return surface.continuous
    if surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions, so benefits are unknown"))
    if benefit == "prediction":
        if outcome.task != "binary":
            raise SpecError(
                "`benefit='prediction'` needs numbers or two classes. Give the benefit of each class: "
                "benefit={class: number}."
            )
        return np.asarray(surface.label.astype(float))
    if outcome.truth is None:
        raise NotApplicable(msg("there are no true outcomes, so correct decisions are unknown"))
    if isinstance(benefit, Mapping):
        return _class_benefits(outcome, benefit)
    if outcome.task == "binary" and benefit is None:
        return np.asarray(1.0 + surface.label.astype(float) - outcome.truth.astype(float))
    return np.asarray(surface.label == outcome.truth, dtype=float)


def _class_benefits(outcome: Outcome, benefit: Mapping[Any, Any]) -> Floats:
    surface = outcome.surface
    known = {str(name): float(value) for name, value in benefit.items()}
    missing = [str(label) for label in surface.classes if str(label) not in known]
    if missing:
        raise SpecError(f"`benefit` must give a number for every class; it lacks {', '.join(map(repr, missing[:5]))}.")
    worth = np.array([known[str(label)] for label in surface.classes])
    spread = float(worth.max() - worth.min())
    if not np.isfinite(worth).all() or spread == 0:
        raise SpecError("`benefit` must give finite numbers that are not all the same.")
    assert outcome.truth is not None  # the caller has looked
    assert surface.label is not None
    return np.asarray(1.0 + (worth[surface.label] - worth[outcome.truth]) / spread)


def check_benefits(b: Floats, alpha: float) -> None:
    """That an inequality index with `alpha` is defined for these benefits."""
    if (b < 0).any():
        raise NotApplicable(
            msg(
                "{negative:int} of {all:int} benefits are negative, and an inequality index needs benefits of at "
                "least 0; pass others with benefit=",
                negative=int((b < 0).sum()),
                all=b.size,
            )
        )
    if not b.any():
        raise NotApplicable(msg("every benefit is 0, so inequality is not defined"))
    if alpha <= 0 and (b == 0).any():
        raise NotApplicable(
            msg(
                "{zero:int} benefits are 0, for which the index with alpha = {alpha:num} is infinite; use an alpha "
                "above 0",
                zero=int((b == 0).sum()),
                alpha=alpha,
            )
        )


def what_benefits_are(outcome: Outcome, benefit: Any) -> Message:
    """What a benefit is here."""
    if benefit is not None and not isinstance(benefit, str):
        return msg("Benefits are as given.")
    if outcome.task == "regression" or benefit == "prediction":
        return msg("The benefit is the predicted number.")
    if outcome.task == "binary" and benefit is None:
        return msg("The benefit is 1 for a correct decision, 0 for a false negative and 2 for a false positive.")
    return msg(
        "The benefit is 1 for a correct prediction and 0 for a wrong one: the classes have no order of preference "
        "unless one is given."
    )
