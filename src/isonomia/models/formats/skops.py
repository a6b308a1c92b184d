"""Reading and writing skops files: looked at in full before anything is built from them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

from isonomia.errors import FAULTS, ModelError, SpecError, UntrustedError, close_to
from isonomia.models._booster_soundness import check_planned_booster, planned_file
from isonomia.models._soundness import check_soundness
from isonomia.models._xgboost_soundness import check_xgboost_snapshot
from isonomia.models.allowed import PAIRS
from isonomia.models.model_format import BYTE_LIMIT, MODEL_FORMATS, TRUSTED_TYPES, ModelFormat

#: What unpacked content may at most weigh, as a multiple of the size cap of the file itself.
_UNPACKED = 4
#: In older protocols a node names what it builds in other fields than those that are checked here.
_PROTOCOL = 2


def load_skops(content: bytes, *, name: str, max_bytes: int, trusted: Sequence[str] = ()) -> Any:
    """Build the estimator in a skops file, after every type in it was found in our own list or among those `trusted`.

    Two locks: our reading of the file's plan (`schema.json`) against `allowed.ALLOWED`, then skops' own audit, which is
    configured to trust the types found by the first lock and no others. What was built is then checked for indices that
    compiled code would follow out of bounds.
    """
    found = inspect_skops(content, name=name, max_bytes=max_bytes)
    refused = sorted((kind, loader) for loader, kind in found - PAIRS if kind not in trusted)
    if refused:
        raise _untrusted(refused, trusted, name)
    if unused := sorted(set(trusted) - {kind for _, kind in found}):
        near = close_to(unused[0], sorted({kind for _, kind in found}))
        raise SpecError(f"`trust` names {unused[0]!r}, which '{name}' does not contain.{near}")
    import skops.io

    try:
        estimator = skops.io.loads(content, trusted=sorted({kind for _, kind in found}))
    except FAULTS as error:  # anything at all may come out of a hostile or foreign file
        raise ModelError(
            f"'{name}' could not be built: {type(error).__name__}: {error}. Was it saved with another version of "
            "scikit-learn? Save it again with the installed one."
        ) from error
    check_soundness(estimator, name=name)
    return estimator


def _untrusted(refused: Sequence[tuple[str, str]], trusted: Sequence[str], name: str) -> UntrustedError:
    """What the file contains beyond the list, and exactly what to write to trust it."""
    listed = ", ".join(f"{kind} (as {loader})" for kind, loader in refused)
    all_of_them = sorted({*trusted, *(kind for kind, _ in refused)})
    return UntrustedError(
        f"'{name}' contains {len(refused)} kind{'s' * (len(refused) > 1)} of object that isonomia does not load by "
        f"itself: {listed}. If you know these types and who made the file, name them: trust={all_of_them!r}; building "
        "and asking the model runs their code. Or save a model made of scikit-learn, LightGBM and XGBoost parts, load "
        "the file yourself and give the estimator, or give its predictions."
    )


def inspect_skops(content: bytes, *, name: str, max_bytes: int) -> set[tuple[str, str]]:
    """The (loader, type) of every object in a skops file; nothing is imported or built."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            sizes = {entry.filename: entry.file_size for entry in entries}
            if len(sizes) < len(entries):
                raise ModelError(f"Refused to load '{name}': it names a part twice (corrupt or malicious file).")
            if sum(sizes.values()) > _UNPACKED * max_bytes:
                raise ModelError(
                    f"'{name}' unpacks to {sum(sizes.values()):,} bytes, more than {_UNPACKED * max_bytes:,}."
                )
            schema = json.loads(archive.read("schema.json"))
            found = _walk(schema, archive, sizes, name=name, max_bytes=max_bytes)
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"'{name}' is not a readable skops file: {type(error).__name__}: {error}.") from error
    return found


def _check_protocol(schema: Any, name: str) -> None:
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if schema and (type(protocol) is not int or protocol < _PROTOCOL):
        raise ModelError(
            f"'{name}' follows protocol {protocol!r} of skops; files of protocol {_PROTOCOL} or later are read. "
            "Save it again with a current skops."
        )


def _walk(
    schema: Any, archive: zipfile.ZipFile, sizes: dict[str, int], *, name: str, max_bytes: int
) -> set[tuple[str, str]]:
    _check_protocol(schema, name)
    found: set[tuple[str, str]] = set()
    referenced = 0
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if "__loader__" in node:
                parts = [node.get(key) for key in ("__loader__", "__module__", "__class__")]
                if not all(isinstance(part, str) for part in parts):
                    raise ModelError(
                        f"Refused to load '{name}': an object in it has no valid type (corrupt or malicious file)."
                    )
                found.add((str(parts[0]), f"{parts[1]}.{parts[2]}"))
                if parts[1:] == ["lightgbm.basic", "Booster"]:
                    check_planned_booster(node, name=name)
                elif parts[1:] == ["xgboost.core", "Booster"]:
                    check_xgboost_snapshot(archive.read(planned_file(node, name=name)), name=name)
                # an array may be named by many nodes, and each of them reads it again
                file = node.get("file")
                referenced += sizes.get(file, 0) if isinstance(file, str) else 0
            stack.extend(node.values())
    if referenced > _UNPACKED * max_bytes:
        raise ModelError(
            f"The arrays of '{name}' would take {referenced:,} bytes, more than {_UNPACKED * max_bytes:,}."
        )
    if not found:
        raise ModelError(f"'{name}' contains no object.")
    return found


def save_skops(estimator: Any) -> bytes:
    """The estimator as skops bytes, refused at once when `load_skops` would not take them back."""
    import skops.io

    try:
        content: bytes = skops.io.dumps(estimator)
    except Exception as error:
        raise ModelError(f"{type(estimator).__name__} cannot be saved with skops: {error}") from error
    found = inspect_skops(content, name=type(estimator).__name__, max_bytes=max(len(content), 1))
    refused = sorted(kind for _, kind in found - PAIRS)
    if refused:
        raise UntrustedError(
            f"{type(estimator).__name__} contains parts that isonomia would refuse to load again: "
            f"{', '.join(refused)}. "
            "Save the fitted parts made of scikit-learn alone (for a search, its best_estimator_)."
        )
    return content


MODEL_FORMATS.add(
    ModelFormat(
        id="skops",
        title="skops",
        purpose="estimators of scikit-learn, LightGBM and XGBoost; every type in the file is checked first",
        suffixes=(".skops",),
        load=load_skops,
        starts=lambda content: content.startswith(b"PK\x03\x04"),
        save=save_skops,
        parameters=(BYTE_LIMIT, TRUSTED_TYPES),
    )
)
