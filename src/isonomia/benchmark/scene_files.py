"""Scenes kept on disk by key: generated, trained and drawn once, for all methods, processes and later runs.

A file holds arrays, JSON and a model as skops, nothing that runs code when it is read. It is written whole or not at
all; a damaged one counts as missing. The folder is ``$ISONOMIA_SCENES``, else one of the user's cache.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia._version import __version__
from isonomia.atomic import write_whole
from isonomia.benchmark.grids import FORM
from isonomia.benchmark.models import Oracle, oracle
from isonomia.benchmark.scenes import Scene, assembled, build, population
from isonomia.benchmark.settings import Setting
from isonomia.data import Dataset, catalog, default_backend
from isonomia.data.synthetic import GroundTruth, Synthetic
from isonomia.data.synthetic.outcome import Scorer
from isonomia.errors import ModelError, SpecError
from isonomia.models import MAX_BYTES, MODEL_FORMATS

VARIABLE = "ISONOMIA_SCENES"
#: Bytes of all scenes; those not used for longest go first.
MAX_FOLDER = 2 * 1024**3
#: Seconds after which what a killed process had begun to write is removed.
_ABANDONED = 3600.0
#: What reading a damaged or foreign file ends with.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, ModelError, SpecError)
#: Columns of the generator beside the features and the target that a scene needs.
_ANNOTATIONS = ("_bias", "_score")


def prepared(setting: Setting, seed: int) -> Scene:
    """The scene of a setting and a data seed: read where it was prepared before, else prepared and kept.

    Of several processes that need it one prepares it, and the others wait. Where the folder cannot be written, the
    scene is prepared for this process alone.
    """
    path = scene_folder() / f"{scene_key(setting, seed)}.scene"
    scene = _read(path, setting, seed)
    if scene is not None:
        return scene
    try:
        with _alone(path):
            scene = _read(path, setting, seed) or build(setting, seed)
            if not path.exists():
                write_whole(path, scene_bytes(scene))
                _tidy(path)
    except OSError:
        return scene or build(setting, seed)
    return scene


def scene_folder() -> Path:
    """Where scenes are kept."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else catalog.cache_folder().parent / "scenes"


def scene_key(setting: Setting, seed: int) -> str:
    """A name that changes with everything a scene depends on."""
    made_by = [__version__, FORM, default_backend(), *(version(name) for name in ("numpy", "scipy", "scikit-learn"))]
    text = json.dumps([asdict(setting) | setting.stated, seed, made_by], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def scene_bytes(scene: Scene) -> bytes:
    """A scene as the content of a file."""
    made = scene.made
    data, scorer = made.dataset, made.scorer
    extra = (str(data.target), *_ANNOTATIONS)
    arrays: dict[str, NDArray[Any]] = {"score": scene.score, "shift": scene.shift}
    arrays |= {f"rows/{name}": codes for name, codes in made.copula.codes(data.frame).items()}
    arrays |= {f"fresh/{name}": codes for name, codes in made.copula.codes(scene.fresh.frame).items()}
    arrays |= {f"extra/{name}": data.column(name).to_numpy() for name in extra}
    arrays |= {f"scorer/{name}": getattr(scorer, name) for name in ("weights", "deltas", "cuts")}
    arrays |= {f"levels/{name}": table for name, (_, _, table) in scorer.encodings.items() if table is not None}
    described = {
        "target": data.target,
        "positive": data.positive,
        "features": list(data.features),
        "truth": made.truth.to_dict(),
        "encodings": [[name, centre, spread] for name, (centre, spread, _) in scorer.encodings.items()],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w") as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
        file.writestr("scene.json", json.dumps(described, allow_nan=False))
        if not isinstance(scene.model, Oracle):
            save = MODEL_FORMATS["skops"].save
            assert save is not None  # skops is written as well as read
            file.writestr("model.skops", save(scene.model))
    return buffer.getvalue()


def scene_from_bytes(content: bytes, setting: Setting, seed: int) -> Scene:
    """The scene in the content of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        arrays = {name[:-4]: _array(file, name) for name in file.namelist() if name.endswith(".npy")}
        described = json.loads(file.read("scene.json"))
        trained = None if setting.model == "oracle" else file.read("model.skops")
    copula, roles = population(setting.source)

    def part(folder: str) -> dict[str, NDArray[Any]]:
        return {name.partition("/")[2]: array for name, array in arrays.items() if name.partition("/")[0] == folder}

    levels = part("levels")
    data = Dataset(
        copula.frame(part("rows"), part("extra")),
        target=described["target"],
        positive=described["positive"],
        features=described["features"],
        kinds={column: marginal.kind for column, marginal in copula.marginals.items()},
        task=setting.task,
        **roles,
    )
    encodings = {name: (centre, spread, levels.get(name)) for name, centre, spread in described["encodings"]}
    scorer = Scorer(copula, encodings, **part("scorer"))
    made = Synthetic(data, GroundTruth.from_dict(described["truth"]), copula, scorer)
    model = (
        oracle(made, aleatoric=setting.aleatoric, epistemic=setting.epistemic)
        if trained is None
        else MODEL_FORMATS["skops"].load(trained, name="model.skops", max_bytes=MAX_BYTES)
    )
    fresh = copula.frame(part("fresh"))
    return assembled(setting, seed, made, model, fresh, score=arrays["score"], shift=arrays["shift"])


def _array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with file.open(name) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _read(path: Path, setting: Setting, seed: int) -> Scene | None:
    """The scene in a file; None where there is none, or where it is damaged, which removes it."""
    try:
        content = path.read_bytes()
        scene = scene_from_bytes(content, setting, seed)
    except FileNotFoundError:
        return None
    except _UNREADABLE:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    with suppress(OSError):
        os.utime(path)  # used now: the last to go
    return scene


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold one of sixteen locks, by the first letter of the key; the operating system frees it if this process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows: two processes may prepare the same scene, and keep the same file
        yield
        return
    with (path.parent / f"{path.name[0]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tidy(newest: Path) -> None:
    """Remove what killed processes left, and the scenes not used for longest beyond `MAX_FOLDER`."""
    with suppress(FileNotFoundError):  # another process tidies as well
        for part in newest.parent.glob("*.part"):
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink(missing_ok=True)
        kept = sorted(((file.stat(), file) for file in newest.parent.glob("*.scene")), key=lambda one: -one[0].st_mtime)
        room = MAX_FOLDER
        for found, file in kept:
            room -= found.st_size
            if room < 0 and file != newest:
                file.unlink(missing_ok=True)
