"""The share estimated where nothing is proved, against asking about everyone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from isonomia.discovery import find_pairs
from isonomia.probing import Oracle

from .test_exact import DOMAIN, MODELS, by_hand, learn

pytest.importorskip("pandas")


def forest(seed: int, **options: Any) -> Any:
    MODELS["deep"] = lambda: RandomForestClassifier(**{"n_estimators": 9, "max_depth": 6, "random_state": 0, **options})
    try:
        return learn("deep", seed)
    finally:
        MODELS.pop("deep")


def test_the_interval_holds_the_share_of_asking_everyone_at_least_nine_times_in_ten() -> None:
    held = total = 0
    for seed in range(6):
        model = forest(seed)
        share, _ = by_hand(model, ["sex"])
        for draw in range(4):
            metrics = find_pairs(DOMAIN, model, method="exact", protected="sex", max_boxes=150, seed=draw).metrics
            low, high = metrics["share_estimate_low"], metrics["share_estimate_high"]
            assert metrics["share_low"] <= low <= metrics["share_estimate"] <= high <= metrics["share_high"]
            held += low - 1e-9 <= share <= high + 1e-9
            total += 1
    assert held >= 0.9 * total


@pytest.mark.parametrize("gamma", [2.5, 4.0])
def test_it_is_drawn_for_numbers_and_gaps_too(gamma: float) -> None:
    MODELS["numbers"] = lambda: RandomForestRegressor(8, max_depth=5, random_state=0)
    model = learn("numbers", 2, number=True)
    MODELS.pop("numbers")
    share, _ = by_hand(model, ["sex"], gamma=gamma)
    metrics = find_pairs(DOMAIN, model, method="exact", protected="sex", gamma=gamma, max_boxes=60).metrics
    assert metrics["share_low"] < metrics["share_high"]
    assert metrics["share_estimate"] == pytest.approx(share, abs=0.03)


def test_a_share_that_is_known_is_its_own_estimate() -> None:
    result = find_pairs(DOMAIN, forest(1), method="exact", protected="sex", max_tests=None)
    metrics = result.metrics
    assert metrics["share_low"] == metrics["share_estimate"] == metrics["share_high"]
    assert metrics["share_drawn"] == 0
    assert any(note.text().startswith("Proved: ") and "Estimated" not in note.text() for note in result.notes)


def test_what_is_estimated_is_told_apart_from_what_is_proved() -> None:
    result = find_pairs(DOMAIN, forest(1), method="exact", protected="sex", max_boxes=100)
    told = next(note for note in result.notes if "Estimated, not proved" in note.text())
    assert "Estimado, não provado" in told.text("pt_BR")
    share, metrics = result.values["share"], result.metrics
    assert (share.value, share.low, share.high) == tuple(
        metrics[f"share_estimate{end}"] for end in ("", "_low", "_high")
    )
    assert (share.n, share.method) == (metrics["share_drawn"], "wilson")


def test_people_too_close_to_a_tie_are_asked_of_the_model_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    model = forest(3, n_estimators=4, max_depth=None)  # scores of exactly one half are common
    asked: list[int] = []
    real = Oracle.ask

    def counting(self: Oracle, rows: np.ndarray) -> object:
        asked.append(len(rows))
        return real(self, rows)

    share, _ = by_hand(model, ["sex"])
    monkeypatch.setattr(Oracle, "ask", counting)
    options: dict[str, Any] = {"method": "exact", "protected": "sex", "max_boxes": 40, "max_tests": None}
    wide = find_pairs(DOMAIN, model, **options, max_model_rows=2000).metrics
    assert wide["n_model_rows"] == sum(asked) <= 2000
    near = find_pairs(DOMAIN, model, **options).metrics
    spans = [one["share_estimate_high"] - one["share_estimate_low"] for one in (wide, near)]
    assert spans[1] < spans[0]
    for one in (wide, near):
        assert one["share_estimate_low"] - 1e-9 <= share <= one["share_estimate_high"] + 1e-9


def test_the_same_seed_draws_the_same_people() -> None:
    model = forest(5)
    runs = [find_pairs(DOMAIN, model, method="exact", protected="sex", max_boxes=100, seed=7).metrics for _ in "ab"]
    assert runs[0]["share_estimate"] == runs[1]["share_estimate"]
    other = find_pairs(DOMAIN, model, method="exact", protected="sex", max_boxes=100, seed=8).metrics
    assert other["share_estimate"] != runs[0]["share_estimate"]
    assert other["share_low"] == runs[0]["share_low"]


@pytest.mark.parametrize(
    ("bounds", "n", "said"),
    [
        ((0.0, 1.0), 0, []),
        ((0.0, 1.0), 50, ["Estimated, not proved, from 50 people drawn: 20% of the domain is treated differently"]),
        ((0.1, 0.4), 0, ["Proved: between 10% and 40% of the domain is treated differently."]),
    ],
)
def test_bounds_that_say_nothing_are_not_called_proved(bounds: tuple[float, float], n: int, said: list[str]) -> None:
    from types import SimpleNamespace

    from isonomia.discovery.pairs.exact.share_estimate import ShareEstimate
    from isonomia.discovery.pairs.searches.exact import _note_share

    space: Any = SimpleNamespace(facts=dict(zip(("share_low", "share_high"), bounds, strict=True)), notes=[])
    _note_share(space, ShareEstimate(0.2, 0.1, 0.3, n))
    assert len(space.notes) == len(said)
    assert all(str(note).startswith(text) for note, text in zip(space.notes, said, strict=True))


def test_a_share_that_is_proved_more_narrowly_counts() -> None:
    from isonomia.discovery.pairs.present import share_of

    drawn = {"DSN": 146, "TSN": 500, "uniform_found": 0, "uniform_tests": 100}
    proved = {"share_estimate": 0.001, "share_estimate_low": 0.0008, "share_estimate_high": 0.0013, "share_drawn": 0}
    assert share_of(drawn, observed=False).value == 0
    assert share_of({**drawn, **proved}, observed=False).value == 0.001
    other = {**proved, "share_estimate_low": 0.0, "share_estimate_high": 0.9}
    assert share_of({**drawn, **other}, observed=False).value == 0  # wider: what was drawn says more
