"""Checks of the boosters in a skops file, and of the wrappers around them, before and after they are built."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Mapping
from typing import Any

from isonomia.errors import ModelError
from isonomia.models._lightgbm_soundness import check_lightgbm

#: Parameters beyond those of the wrapper's signature that a LightGBM model in a skops file may carry: they shape the
#: training. Others can name files and machines, or switch checks off.
_LIGHTGBM_OPTIONS = re.compile(
    r"verbos(e|ity)|metric|seed|num_threads|deterministic|force_(col|row)_wise|is_unbalance|scale_pos_weight|"
    r"max_(bin|depth|delta_step|cat_to_onehot|cat_threshold)|num_leaves|extra_trees|path_smooth|linear_tree|"
    r"min_(data|sum|gain)_\w+|feature_fraction\w*|bagging_\w+|lambda_l[12]|cat_(smooth|l2)|monotone_\w+|"
    r"first_metric_only|early_stopping_round\w*|top_rate|other_rate|drop_rate|boost_from_average|alpha|sigmoid|"
    r"tweedie_variance_power|eval_at|num_class|boosting|learning_rate|num_iterations"
)


def check_booster(part: Any, *, name: str) -> None:
    """Raise `ModelError` where a booster, or the wrapper around one, could lead compiled code astray."""
    package = type(part).__module__.split(".")[0]
    if type(part).__name__ == "Booster":
        handle = getattr(part, "_handle" if package == "lightgbm" else "handle", None)
        if not isinstance(handle, ctypes.c_void_p) or not handle.value:
            raise ModelError(f"Refused to load '{name}': it contains a booster without a model.")
    elif package == "lightgbm":
        odd = [key for key in getattr(part, "_other_params", {}) if not _LIGHTGBM_OPTIONS.fullmatch(str(key))]
        if odd:
            raise ModelError(
                f"Refused to load '{name}': LightGBM would be called with the parameter {odd[0]!r}. Remove it from the "
                "model and save it again."
            )


def check_planned_booster(node: Mapping[str, Any], *, name: str) -> None:
    """Raise `ModelError` where a LightGBM booster that a skops file plans to build has an unsound model text."""
    content = _planned(node).get("content")
    try:
        text = json.loads(content) if isinstance(content, str) else None
    except json.JSONDecodeError:
        text = None
    if not isinstance(text, str):
        raise ModelError(f"Refused to load '{name}': it contains a booster without a model.")
    check_lightgbm(text, name=name)


def planned_file(node: Mapping[str, Any], *, name: str) -> str:
    """The part of a skops file that holds the XGBoost booster which it plans to build."""
    plan = _planned(node)
    if plan.get("__loader__") != "BytearrayNode" or not isinstance(plan.get("file"), str):
        raise ModelError(f"Refused to load '{name}': it contains a booster without a model.")
    return str(plan["file"])


def _planned(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """How the model in a booster is planned to be built; nothing where that is not said once."""
    state = node.get("content")
    parts = state.get("content") if isinstance(state, dict) else None
    found = [parts[key] for key in ("_handle", "handle") if key in parts] if isinstance(parts, dict) else []
    return found[0] if len(found) == 1 and isinstance(found[0], dict) else {}
