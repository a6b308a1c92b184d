"""Fixes in files: thresholds, offsets and maps as small JSON, estimators as skops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from isonomia._version import __version__
from isonomia.atomic import atomic_write
from isonomia.errors import DataError
from isonomia.languages.encoding import decode, encode
from isonomia.mitigation.after.fixes import Fix
from isonomia.models import load_model, save_model

#: A larger file is not a fix.
MAX_BYTES = 50_000_000


def save(fix: Any, path: str | Path) -> Path:
    """Write a fix: ``.json`` for what a method after training decided, anything else for the whole estimator (skops).

    Examples
    --------
    >>> import tempfile
    >>> from isonomia.mitigation import Thresholds
    >>> score, sex = [0.1, 0.4, 0.6, 0.9], {"sex": ["f", "f", "m", "m"]}
    >>> fair = Thresholds(tol=0.0).fit_scores(score, ["no", "yes", "no", "yes"], sensitive_features=sex)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(fair, Path(folder) / "fix.json"))
    >>> again.predict(score, sensitive_features=sex).tolist()
    ['no', 'yes', 'no', 'yes']
    """
    target = Path(path)
    if target.suffix != ".json":
        return save_model(fix, target)
    data = fix if isinstance(fix, Fix) else getattr(fix, "fix_", None)
    if not isinstance(data, Fix):
        raise DataError(
            f"{type(fix).__name__} has nothing that a JSON file can hold: it is not a fix after training, or is not "
            "fitted. Save it as skops instead."
        )
    with atomic_write(target) as part:
        part.write_text(json.dumps({"isonomia": __version__, "fix": encode(data)}, allow_nan=False), encoding="utf-8")
    return target


def load(path: str | Path) -> Any:
    """The fix that `save` wrote: an estimator from skops; from JSON one whose `predict` takes scores and attributes."""
    source = Path(path)
    if not source.is_file():
        raise DataError(f"There is no file {str(path)!r}.")
    if source.suffix != ".json":
        return load_model(source).estimator
    if source.stat().st_size > MAX_BYTES:
        raise DataError(f"{source.name} has {source.stat().st_size:,} bytes; a fix has at most {MAX_BYTES:,}.")
    try:
        found = decode(json.loads(source.read_text(encoding="utf-8"))["fix"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{source.name} does not hold a fix that `mitigation.save` wrote ({error}).") from None
    if not isinstance(found, Fix):
        raise DataError(f"{source.name} holds a {type(found).__name__}, not a fix.")
    return found
