"""Fairlearn's constraints for rows that count by a weight: its moments with means, shares and costs by weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.typing import Floats


def weighted_moment(reductions: Any, name: str, limit: float, weights: Floats) -> Any:
    """One of Fairlearn's moments of rates within `limit` of everyone's, with rows that count by their weight.

    A row of weight w counts like w rows: in the constraints' probabilities P(event) and P(group, event), in the rates,
    and in the error that is minimised.
    """
    import pandas as pd  # comes with Fairlearn

    share = weights / weights.mean()

    class WeightedError(reductions.ErrorRate):  # type: ignore[misc]
        def gamma(self, predictor: Any) -> Any:
            wrong = np.abs(self.tags["label"] - np.squeeze(predictor(self.X)))
            return pd.Series(float(np.mean(share * wrong)), index=self.index)

        def signed_weights(self, lambda_vec: Any = None) -> Any:
            return super().signed_weights(lambda_vec) * share

    class WeightedRates(getattr(reductions, name)):  # type: ignore[misc]
        def default_objective(self) -> Any:
            return WeightedError()

        def load_data(self, X: Any, y: Any, **given: Any) -> None:
            super().load_data(X, y, **given)
            tags = self.tags.assign(share=share)
            self.prob_event = tags.groupby("event")["share"].sum() / self.total_samples
            self.prob_group_event = tags.groupby(["event", "group_id"])["share"].sum() / self.total_samples
            for event, group in self.prob_group_event.index:
                inside = share * (tags["event"] == event)
                one = inside / self.prob_event[event]
                other = inside * (tags["group_id"] == group) / self.prob_group_event[event, group]
                self.U["+", event, group] = one - self.ratio * other
                self.U["-", event, group] = other - self.ratio * one

    return WeightedRates(difference_bound=limit)
