"""Audits of generated frames of mixed and awkward types: no error of a dependency, no silent number, no hang.

CI audits 25 frames with the standard checks, 8 with all of them and 8 with a model; ``ISONOMIA_FRAMES=500`` audits that
many of each (``make frames``).
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import time
import warnings
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import isonomia as iso
from isonomia.evidence import Estimate

MANY = int(os.environ.get("ISONOMIA_FRAMES", "0"))
#: Seconds that one audit of at most 80 rows may take before it counts as hanging.
PATIENCE = 120.0

NUMBERS = st.one_of(
    st.floats(-1e3, 1e3),
    st.sampled_from([0.0, -0.0, 1e308, -1e308, 1e-308, math.inf, -math.inf, math.nan, 2.0**53, -1.0]),
)
EPOCH = dt.datetime(2020, 1, 1)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "float": NUMBERS,
    "integer": st.integers(-5, 5),
    "wide": st.integers(-(2**62), 2**62),
    "boolean": st.booleans(),
    "text": st.text(max_size=6),
    "word": st.sampled_from(["a", "b", "<b>", "", " ", "é", "x=y", "[1, 2)", "missing", "{n}"]),
    "date": st.integers(0, 3000).map(lambda days: EPOCH + dt.timedelta(days=days)),
    "duration": st.integers(0, 10**6).map(lambda seconds: dt.timedelta(seconds=seconds)),
    "time": st.integers(0, 86_399).map(lambda s: (EPOCH + dt.timedelta(seconds=s)).time()),
    "decimal": st.integers(-(10**6), 10**6).map(lambda cents: Decimal(cents) / 100),
    "list": st.lists(st.integers(0, 3), max_size=2),
    "zeros": st.sampled_from([0.0] * 9 + [5e-324, 1e-300, 0.5, 3.0, 1e6]),
    "constant": st.just("same"),
    "none": st.none(),
}
TYPES = {"wide": pl.Int64, "decimal": pl.Decimal(12, 2), "list": pl.List(pl.Int64), "float": pl.Float64}
#: Kinds that may form groups.
GROUPS = ("word", "text", "integer", "boolean", "float", "duration", "date", "constant")
NAMES = ["x", "age", "id", "a b", "é", "<i>", "class", "n", "value", "reference", "group", "[1]"]


@st.composite
def frames(draw: Any) -> tuple[Any, dict[str, Any]]:
    """A frame of 2 to 80 rows, and roles for it."""
    n = draw(st.integers(2, 80))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    kinds = {name: draw(st.sampled_from(sorted(CELLS))) for name in names}
    protected = draw(st.lists(st.sampled_from(["g0", "g1"]), min_size=1, max_size=2, unique=True))
    kinds |= {name: draw(st.sampled_from(GROUPS)) for name in protected}
    gaps = draw(st.booleans())
    # one seed for all cells: rows of independent draws would be slow to make and slower to shrink
    pools = {name: draw(st.lists(CELLS[kind], min_size=1, max_size=12)) for name, kind in kinds.items()}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns: dict[str, Any] = {}
    for name, kind in kinds.items():
        picked = [pools[name][i] for i in rng.integers(0, len(pools[name]), n)]
        values = [None if gaps and miss else cell for cell, miss in zip(picked, rng.random(n) < 0.2, strict=True)]
        columns[name] = pl.Series(name, values, dtype=TYPES.get(kind), strict=False)
    if draw(st.booleans()):  # a column that follows from another: one value for each of its values
        source = columns[draw(st.sampled_from(names))]
        columns["follows"] = pl.Series("follows", [len(str(value)) % 3 for value in source.to_list()])
    task = draw(st.sampled_from(["binary", "binary", "multiclass", "regression"]))
    if task == "regression":
        columns["target"] = rng.normal(size=n) * draw(st.sampled_from([1.0, 1e-12, 1e9]))
        columns["said"] = rng.normal(size=n)
    else:
        classes = [0, 1] if task == "binary" else ["k", "l", "m"]
        columns["target"] = rng.choice(classes, n)
        columns["said"] = rng.choice(classes, n)
        if task == "binary" and draw(st.booleans()):
            columns["score"] = rng.random(n).round(draw(st.integers(0, 6)))
    if draw(st.booleans()):
        columns["w"] = rng.uniform(0.5, 3, n)
    roles = {"target": "target", "protected": protected, "task": task}
    roles |= {"prediction": "said"} | ({"weight": "w"} if "w" in columns else {})
    roles |= {"score": "score"} if "score" in columns else {}
    frame = pl.DataFrame(columns)
    kind = draw(st.sampled_from(["polars", "pandas", "pyarrow"]))
    return frame if kind == "polars" else frame.to_pandas() if kind == "pandas" else frame.to_arrow(), roles


@st.composite
def frames_with_models(draw: Any) -> tuple[Any, dict[str, Any], Any]:
    """A frame, roles, and a model that looks at two of the columns: searches ask it about people who are not there."""
    frame, roles = draw(frames())
    try:
        columns = iso.Dataset(frame, **roles).features
    except iso.DataError:  # refused with a model too
        columns = tuple(roles["protected"])
    looked_at = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=2))
    classes = {"binary": [0, 1], "multiclass": ["k", "l", "m"]}.get(roles["task"])

    def model(rows: Any) -> Any:
        columns = [nw.from_native(rows, eager_only=True)[name].to_list() for name in looked_at]
        marks = [sum(map(ord, "".join(map(str, cells)))) for cells in zip(*columns, strict=True)]
        return np.array([mark / 7 if classes is None else classes[mark % len(classes)] for mark in marks])

    return frame, {name: role for name, role in roles.items() if name not in ("prediction", "score")}, model


def audited(frame: Any, roles: dict[str, Any], checks: str, model: Any = None) -> str:
    """The audit ends in time, with a report or an error of ours; every number in it is finite or explained."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow is what is tried here
        warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
        try:
            report = iso.audit(frame, model, checks=checks, n_boot=20, **roles)
        except (
            iso.DataError,
            iso.SpecError,
            iso.ModelError,
        ) as error:  # these rows cannot be examined, and the message says why
            return f"refused: {str(error)[:60]}"
    assert time.process_time() - begun < PATIENCE
    for section in report:
        # what a check cannot use is left out and stated: a whole check fails for nothing else
        assert section.outcome != "failed", (section.code, str(section.reason))
        for finding in section.findings:
            _explained(finding.estimate)
            assert finding.magnitude == finding.magnitude
        for value in (section.result.values if section.result is not None else {}).values():
            if isinstance(value, Estimate):
                _explained(value)
    json.loads(iso.report.dumps(report.document), parse_constant=_refused)
    assert iso.Report.from_dict(report.to_dict()).to_dict() == report.to_dict()
    return "audited"


def _refused(constant: str) -> None:
    raise AssertionError(f"JSON has no number {constant}")


def _explained(estimate: Estimate) -> None:
    if estimate.value is None:
        assert estimate.note, "a missing figure has a reason"
    else:
        assert math.isfinite(estimate.value)


def quick(count: int) -> settings:
    return settings(
        max_examples=MANY or count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        derandomize=not MANY,
    )


@quick(25)
@given(frames())
def test_standard_audits_of_awkward_frames(made: tuple[Any, dict[str, Any]]) -> None:
    event(audited(*made, "standard"))


@quick(8)
@given(frames())
def test_full_audits_of_awkward_frames(made: tuple[Any, dict[str, Any]]) -> None:
    event(audited(*made, "full"))


@quick(8)
@given(frames_with_models())
def test_full_audits_of_models_on_awkward_frames(made: tuple[Any, dict[str, Any], Any]) -> None:
    frame, roles, model = made
    event(audited(frame, roles, "full", model))


@pytest.mark.parametrize("checks", ["standard", "full"])
def test_the_laws_hold_for_a_plain_frame(checks: str) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=60), "g0": ["a", "b"] * 30, "target": [0, 1] * 30, "said": [0, 1] * 30})
    roles = {"target": "target", "protected": ["g0"], "prediction": "said", "task": "binary"}
    assert audited(frame, roles, checks) == "audited"
