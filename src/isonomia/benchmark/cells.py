"""One cell: a method asked about one scene, its answer scored. What runs inside a worker."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from isonomia.benchmark.contestants import contestant
from isonomia.benchmark.grids import Budget, scene_of
from isonomia.benchmark.pair_scores import score_pairs
from isonomia.benchmark.processes import peak_mb, reset_peak
from isonomia.benchmark.scene_files import prepared
from isonomia.benchmark.scenes import Scene
from isonomia.benchmark.settings import Setting
from isonomia.benchmark.subgroup_scores import score_subgroups
from isonomia.errors import DataError, NotApplicable
from isonomia.models.call_threads import one_thread

#: How a cell ended. "unsuitable": the method does not apply to such a task or model. All but "done" score 0.
Status = Literal["done", "unsuitable", "failed", "timeout", "memory"]
STATUSES: tuple[Status, ...] = ("done", "unsuitable", "failed", "timeout", "memory")
Phase = Literal["preparing", "searching", "scoring"]
#: Scores that are 0 for a cell without an answer.
ZEROS = ("precision", "recall", "f1", "ap", "mrr", "best_jaccard", "coverage")


@lru_cache(maxsize=2)
def _scene(setting: Setting, seed: int) -> Scene:
    """The last scenes, kept in memory as well as on disk."""
    return prepared(setting, seed)


def run_cell(spec: Mapping[str, Any], report: Callable[[Phase], object] = lambda phase: None) -> dict[str, Any]:
    """The row of a cell: its status, scores and costs. A method that fails is a row too; `report` gets the phases."""
    setting, seed = scene_of(spec)
    who = replace(contestant(str(spec["method"])), options=spec["options"])
    budget = Budget(**spec["limits"])
    with one_thread():
        scene = _scene(setting, seed)
        reset_peak()
        report("searching")
        began, cpu = time.monotonic(), time.process_time()
        try:
            answer = who.ask(scene, budget, int(spec["method_seed"]), who)
        except MemoryError:
            return without_answer(spec, "memory", "the process ran out of memory")
        except (NotApplicable, DataError) as error:
            return without_answer(spec, "unsuitable", str(error))
        except Exception as error:
            return without_answer(spec, "failed", f"{type(error).__name__}: {error}"[:500])
        costs = {
            "seconds": time.process_time() - cpu,
            "wall": time.monotonic() - began,
            "model_seconds": answer.metrics.get("model_seconds"),
            "model_rows": answer.metrics.get("n_model_rows"),
            "model_calls": answer.metrics.get("n_model_calls"),
            "peak_mb": peak_mb(),
        }
        report("scoring")
        scores = score_subgroups(scene, answer) if who.finds == "subgroups" else score_pairs(scene, answer, budget)
    return {
        "status": "done",
        "reason": None,
        "complete": answer.complete,
        "scores": {name: _finite(value) for name, value in scores.items()},
        "costs": costs,
    }


def without_answer(
    spec: Mapping[str, Any], status: Status, reason: str, seconds: float | None = None
) -> dict[str, Any]:
    """The row of a cell without an answer: 0 where there was something to find."""
    setting, _ = scene_of(spec)
    zeros: dict[str, Any] = dict.fromkeys(ZEROS, 0.0) if setting.bias and setting.n_pairs else {}
    return {
        "status": status,
        "reason": reason,
        "complete": False,
        "scores": {**zeros, "n_claims": 0, "n_truths": setting.n_pairs if setting.bias else 0, "claimed": False},
        "costs": {"seconds": seconds},
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
