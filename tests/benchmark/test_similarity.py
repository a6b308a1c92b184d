"""The similarity of the generated pairs: what is asked for as nearly as it can be, whatever else varies, and stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from isonomia.benchmark.grids import GRIDS, cell_specs
from isonomia.benchmark.scene_files import scene_key
from isonomia.benchmark.scenes import _generated
from isonomia.benchmark.settings import CENTRE, LEVELS, Setting
from isonomia.benchmark.summary import row_of

SMALL = replace(CENTRE, group_rows=20, background=200)


def generated(setting: Setting) -> list[float]:
    """The share of equal conditions of every pair, from the conditions themselves."""
    pairs: dict[int, list[set]] = {}
    for subgroup in _generated(setting, 0).truth.subgroups:
        pairs.setdefault(subgroup.pair, []).append(set(subgroup.conditions))
    return [len(a & b) / len(a) for a, b in pairs.values()]


@pytest.mark.parametrize("factor", ["intersectionality", "granularity", "similarity", "n_pairs"])
def test_what_is_generated_is_what_is_stated(factor: str) -> None:
    for level in LEVELS[factor]:
        setting = replace(SMALL, **{factor: level})
        own = generated(setting)
        assert len(own) == setting.n_pairs
        assert np.mean(own) == pytest.approx(setting.similarity_reached)


def test_other_factors_do_not_move_it() -> None:
    for factor, levels in LEVELS.items():
        for level in levels:
            setting = replace(CENTRE, **{factor: level})
            if factor != "similarity" and setting.n_pairs > 1:
                assert setting.similarity_reached == pytest.approx(0.5, abs=0.035), (factor, level)
    one = replace(CENTRE, n_pairs=1).similarity_reached
    assert one == pytest.approx(1 / 3), "one pair of three conditions shares one of them or two"


def test_levels_are_different_settings() -> None:
    reached = [replace(CENTRE, similarity=level).similarity_reached for level in LEVELS["similarity"]]
    assert np.diff(reached).min() > 0.15
    for level, value in zip(LEVELS["similarity"], reached, strict=True):
        assert value == pytest.approx(level, abs=0.04)
    frames = [_generated(replace(SMALL, similarity=level), 0).dataset.frame for level in LEVELS["similarity"]]
    assert not any(a.equals(b) for i, a in enumerate(frames) for b in frames[:i])


def test_settings_whose_pairs_are_as_before_keep_their_identity() -> None:
    """With two or four conditions half of them is a whole number: such cells and scenes keep their keys."""

    def spec(setting: Setting) -> dict:
        return next(cell_specs(setting, [0], [0], [("random", {})], "b10k"))

    for change in ({"intersectionality": 1}, {"granularity": 2}, {"similarity": 0.0}, {"n_pairs": 1}):
        setting = replace(CENTRE, **change)
        assert setting.stated == {}
        assert "similarity_reached" not in spec(setting)
    assert spec(CENTRE)["similarity_reached"] == pytest.approx(7 / 15, abs=1e-6)
    assert len({scene_key(setting, 0) for setting in GRIDS["standard"].settings}) == len(GRIDS["standard"].settings)


def test_cells_state_the_similarity_of_their_pairs() -> None:
    record = {"status": "done", "reason": None, "complete": True, "scores": {}, "costs": {"seconds": 1.0}}
    now = next(cell_specs(CENTRE, [0], [0], [("random", {})], "b10k"))
    former = {name: value for name, value in now.items() if name != "similarity_reached"}
    assert row_of(now, record)["similarity_reached"] == pytest.approx(7 / 15, abs=1e-6)
    assert row_of(former, record)["similarity_reached"] == pytest.approx(1 / 3)
