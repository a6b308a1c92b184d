"""A CatBoost file opened by a process of its own, which may crash without harm to the one that asks.

The format is compiled code's own and cannot be checked from outside: CatBoost looks at its outer form, and follows the
counts and indices inside unasked. The process loads the file, compares the counts that the model states about itself,
writes it as JSON (which visits every split and leaf), reads that, and predicts about a few rows. It costs 1 to 2
seconds per file. Run as a program, so that it imports nothing but CatBoost:

    python _catboost_probe.py FILE
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: Seconds after which a file is given up, and bytes of memory it may take; more for each byte of a large file.
SECONDS, MEMORY = 30.0, 4 << 30
SECONDS_PER_BYTE, MEMORY_PER_BYTE = 1e-6, 30
#: What the process ends with where the model is not in order.
UNSOUND = 3


def crashes(content: bytes) -> str:
    """What happened to a process that opened a model file; empty where all went well."""
    seconds = SECONDS + len(content) * SECONDS_PER_BYTE
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="isonomia-") as folder:
        path = Path(folder) / "model.cbm"
        path.write_bytes(content)
        try:
            done = subprocess.run(
                [sys.executable, __file__, str(path)],
                env=here,
                cwd=folder,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"it was not read within {seconds:.0f} seconds"
    if done.returncode in (0, UNSOUND):
        return done.stdout.decode("utf-8", "replace").strip()
    return f"the process that opened it ended with {done.returncode}"


def _bound(size: int) -> None:
    """A false count must not take the memory of everybody else; where the system knows such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = MEMORY + size * MEMORY_PER_BYTE
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _look(path: Path) -> str:
    """What is wrong with a model; nothing where it is in order."""
    _bound(path.stat().st_size)
    import catboost
    import numpy as np

    model: Any = catboost.CatBoost()
    try:
        model.load_model(str(path))
        model.get_all_params()
    except Exception as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    counts, values = np.asarray(model.get_tree_leaf_counts()), np.asarray(model.get_leaf_values())
    if counts.sum() <= 0 or values.size % counts.sum():
        return "its leaves and their values differ in number"
    if not (model.get_text_feature_indices() or model.get_embedding_feature_indices()):
        dump = path.with_suffix(".json")
        model.save_model(str(dump), format="json")
        if problem := _problem(json.loads(dump.read_text(encoding="utf-8")), values.size // int(counts.sum())):
            return problem
        _predict(model, np)
    return ""


def _problem(dump: dict[str, Any], width: int) -> str:
    columns = {
        kind: {one["feature_index"] for one in dump["features_info"].get(f"{kind}_features") or ()}
        for kind in ("float", "categorical")
    }
    for tree in dump.get("oblivious_trees") or ():
        splits = tree.get("splits") or []
        if len(tree["leaf_values"]) != width << len(splits):
            return "a tree has another number of leaves than its splits need"
        for split in splits:
            read = split.get("float_feature_index")
            if split["split_type"] == "FloatFeature" and read not in columns["float"]:
                return "a tree reads a column that is not there"
    return ""


def _predict(model: Any, np: Any) -> None:
    """About rows of small, large and missing numbers."""
    n, categories = len(model.feature_names_), set(model.get_cat_feature_indices())
    rows = [
        [("a" if value < 0 else "b") if column in categories else value for column in range(n)]
        for value in (-1e30, -1.0, 0.0, 0.5, 1.0, 1e30)
    ]
    model.predict(np.array(rows, dtype=object), prediction_type="RawFormulaVal", thread_count=1)


if __name__ == "__main__":
    found = _look(Path(sys.argv[1]))
    print(found)
    sys.exit(UNSOUND if found else 0)
