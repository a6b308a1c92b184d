"""Checks of boosters whose compiled code follows indices of the model text without looking."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError

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
    state = node.get("content")
    parts = state.get("content") if isinstance(state, dict) else None
    texts = [parts[key] for key in ("_handle", "handle") if key in parts] if isinstance(parts, dict) else []
    content = texts[0].get("content") if len(texts) == 1 and isinstance(texts[0], dict) else None
    try:
        text = json.loads(content) if isinstance(content, str) else None
    except json.JSONDecodeError:
        text = None
    if not isinstance(text, str):
        raise ModelError(f"Refused to load '{name}': it contains a booster without a model.")
    check_lightgbm(text, name=name)


def check_lightgbm(text: str, *, name: str) -> None:
    """Raise `ModelError` where a tree in the text of a LightGBM model reads a column or a node that is not there.

    LightGBM follows these indices as soon as it reads the text.
    """
    head, *trees = re.split(r"\r?\nTree=", text)
    last = re.search(r"^max_feature_idx=(\d{1,9})\s*$", head, re.MULTILINE)
    columns = int(last[1]) + 1 if last else 0
    for tree in trees:
        lines = dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
        try:
            leaves = int(lines.get("num_leaves", "0"))
            feature, left, right = (_numbers(lines, key) for key in ("split_feature", "left_child", "right_child"))
        except (ValueError, OverflowError):
            raise ModelError(f"Refused to load '{name}': a tree has indices that are not numbers.") from None
        whole = leaves >= 1 and feature.size == left.size == right.size == leaves - 1
        inside = bool(((feature >= 0) & (feature < columns)).all())
        children = np.concatenate([left, right])
        parents = np.tile(np.arange(leaves - 1), 2)
        linked = bool(
            (((children > parents) & (children < leaves - 1)) | ((children < 0) & (~children < leaves))).all()
        )
        if not (whole and inside and linked):
            raise ModelError(f"Refused to load '{name}': a tree points outside itself (corrupt or malicious file).")


def _numbers(lines: dict[str, str], key: str) -> NDArray[np.int64]:
    return np.array(lines.get(key, "").split(), dtype=np.int64)
