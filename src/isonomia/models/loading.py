"""Models from files, looked at before anything is built from them; and to files."""

from __future__ import annotations

import hashlib
import importlib
import io
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Unpack

from isonomia.atomic import atomic_write
from isonomia.errors import ModelError, UntrustedError, close_to
from isonomia.models._boosters import load_lightgbm, load_xgboost
from isonomia.models._catboost import load_catboost
from isonomia.models._onnx import load_onnx
from isonomia.models._skops import load_skops, save_skops
from isonomia.models._torch import load_torch, torch_kind
from isonomia.models.endpoint import endpoint, is_address
from isonomia.models.model import Model, ModelOptions
from isonomia.parameters import Boolean, Choice, Integer, validated

Format = Literal["skops", "onnx", "xgboost", "lightgbm", "catboost", "torch", "pickle"]

#: Which format a suffix stands for.
SUFFIXES: Mapping[str, Format] = {
    ".skops": "skops",
    ".onnx": "onnx",
    ".ubj": "xgboost",
    ".json": "xgboost",
    ".txt": "lightgbm",
    ".lgb": "lightgbm",
    ".cbm": "catboost",
    ".pt": "torch",
    ".pth": "torch",
    ".pt2": "torch",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
}
_FORMATS: Mapping[Format, str] = {
    "skops": "skops (.skops), for scikit-learn",
    "onnx": "ONNX (.onnx)",
    "xgboost": "XGBoost (.ubj, .json)",
    "lightgbm": "LightGBM (.txt, .lgb)",
    "catboost": "CatBoost (.cbm)",
    "torch": "PyTorch (.pt2, .pt, .pth), with trust=True only",
    "pickle": "pickle and joblib (.pkl, .pickle, .joblib), with trust=True only",
}

#: Formats that can run any code while they are read or asked, each with the way round it.
_PROGRAMS: Mapping[Format, str] = {
    "pickle": "Save the model as skops (isonomia.models.save_model)",
    "torch": "Save the model as ONNX (torch.onnx.export)",
}

#: The largest model file read unless the caller says otherwise.
MAX_BYTES = 1 << 30

_IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
#: How the content of a pickle begins: its protocol mark, or the mark of a compression that joblib uses.
_PICKLE_HEADS = (
    b"\x80",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"x\x01",
    b"x\x5e",
    b"x\x9c",
    b"x\xda",
    b"ZF",
    b"\x04\x22M\x18",
)


class TrustWarning(UserWarning):
    """A file was loaded that can run any code."""


@validated(trust=Boolean(), max_bytes=Integer(1), format=Choice(_FORMATS).or_none())
def load_model(
    source: Any,
    *,
    trust: bool = False,
    format: Format | None = None,  # noqa: A002  the word users know
    max_bytes: int = MAX_BYTES,
    **options: Unpack[ModelOptions],
) -> Model:
    """Load a model from a file, import it by name, or wrap an object.

    Parameters
    ----------
    source : path, "module:callable", an http(s) address, or anything `Model.of` takes
        Files: skops, ONNX, XGBoost (.ubj, .json), LightGBM (.txt), CatBoost (.cbm); PyTorch (.pt2, .pt) and pickle or
        joblib when trusted. The format is read off the suffix and must agree with how the file begins. An address is
        a server that answers about rows (see `endpoint`, which takes more options); files are not fetched.
    trust : bool
        Allow a pickle, joblib or PyTorch file. Loading one runs whatever code its author put in; the model is marked as
        `trusted` and the report says so.
    format : str, optional
        The format, where the suffix does not tell.
    max_bytes : int
        The largest file to read.
    **options
        Those of `Model.of`: features, task, classes, positive, threshold, output, frame, name.

    Notes
    -----
    No format is a sandbox. A skops file is built only when every type in it is on this package's own list
    (`isonomia.models.allowed`); the native formats hold numbers and no code, but are parsed by compiled libraries.
    PyTorch's own files are programs: TorchScript has operators that write files, and `torch.export.load` unpickles and
    evaluates what the archive holds, so both need `trust` as a pickle does; ONNX does not.
    Load files of strangers in a separate process with limits.

    Raises
    ------
    UntrustedError
        When the file would have to be trusted.
    ModelError
        When there is no such file, it is too large, or it is not what its name says.

    Examples
    --------
    >>> load_model("math:sqrt", output="score").make
    'sqrt'
    >>> load_model("model.exe")
    Traceback (most recent call last):
    ...
    isonomia.errors.ModelError: There is no model file 'model.exe'.
    """
    if not isinstance(source, str | Path):
        return Model.of(source, **options)
    if is_address(source):
        return _answering(str(source), options)
    path = Path(source)
    if isinstance(source, str) and _IMPORT.fullmatch(source) and not path.exists():
        return _imported(source, options)
    content = _read(path, max_bytes)
    kind = format or _format_of(path)
    _check_head(content, kind, path.name)
    if kind in _PROGRAMS:
        _ask_for_trust(kind, path.name, trust=trust)
    model = Model.of(_build(content, kind, path.name, max_bytes=max_bytes), **options)
    model.format, model.source, model.trusted = kind, path.name, kind in _PROGRAMS
    model.fingerprint = hashlib.sha256(content).hexdigest()
    return model


def save_model(model: Any, path: str | Path) -> Path:
    """Save a scikit-learn estimator (or the Model around one) as a skops file that `load_model` takes back.

    Raises
    ------
    ModelError
        When the suffix is not .skops, or the estimator holds parts that `load_model` would refuse.
    """
    target = Path(path)
    if target.suffix.lower() != ".skops":
        raise ModelError(
            f"Models are saved as skops files; '{target.name}' must end in .skops. Boosters save themselves "
            "(booster.save_model('model.ubj'), booster.save_model('model.txt'))."
        )
    estimator = model.thing if isinstance(model, Model) else model
    content = save_skops(estimator)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        part.write_bytes(content)
    return target


def _answering(address: str, options: ModelOptions) -> Model:
    suffix = Path(address.partition("?")[0]).suffix.lower()
    if suffix in SUFFIXES:
        raise ModelError(
            f"Model files are not fetched from addresses ({suffix}); download the file first and give its path."
        )
    return endpoint(address, **options)


def _read(path: Path, max_bytes: int) -> bytes:
    if not path.exists():
        near = close_to(path.name, [item.name for item in path.parent.iterdir()]) if path.parent.is_dir() else ""
        raise ModelError(f"There is no model file '{path}'.{near if near.startswith(' Close') else ''}")
    if not path.is_file():
        raise ModelError(f"'{path}' is no file. Give the model's file: {'; '.join(_FORMATS.values())}.")
    size = path.stat().st_size
    if size == 0:
        raise ModelError(f"The model file '{path.name}' is empty.")
    if size > max_bytes:
        raise ModelError(
            f"The model file '{path.name}' has {size:,} bytes, more than the {max_bytes:,} allowed. Raise max_bytes if "
            "it is meant to be this large."
        )
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ModelError(f"The model file '{path.name}' grew beyond {max_bytes:,} bytes while it was read.")
    return content


def _format_of(path: Path) -> Format:
    for suffix in reversed(path.suffixes):
        if suffix.lower() in SUFFIXES:
            return SUFFIXES[suffix.lower()]
        if suffix.lower() not in (".gz", ".z", ".bz2", ".xz", ".lzma"):
            break
    raise ModelError(
        f"The suffix '{path.suffix}' of '{path.name}' tells no format. Known are: {'; '.join(_FORMATS.values())}. Say "
        "format='...' if the name is unusual."
    )


def _looks_like(content: bytes) -> Format | None:
    """The format a file begins like."""
    head = content[:512]
    if head.startswith(b"PK\x03\x04"):
        return _archive(content)
    if head.startswith(b"CBM1"):
        return "catboost"
    if head.startswith((b"tree\n", b"tree\r\n")):
        return "lightgbm"
    if head.lstrip()[:1] == b"{":
        return "xgboost"
    if head.startswith(_PICKLE_HEADS):
        return "pickle"
    if head[:1] in (b"\x08", b"\x12", b"\x1a", b"\x3a", b"\x42"):  # the first field of a ModelProto
        return "onnx"
    return None


def _archive(content: bytes) -> Format:
    """Which of the formats that are zip archives this is."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "skops" if torch_kind(archive.namelist()) is None else "torch"
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return "skops"  # whose reader says what is wrong with the archive


def _check_head(content: bytes, kind: Format, name: str) -> None:
    """A file must begin as its name says; a pickle under another name is never opened."""
    found = _looks_like(content)
    if found == kind or (kind == "pickle" and found is None):  # pickles of protocol 0 have no mark
        return
    if found == "pickle":
        raise UntrustedError(
            f"'{name}' is named as {_FORMATS[kind]}, but begins like a pickle, which can run any code. It stays closed."
        )
    what = f"begins like {_FORMATS[found]}" if found else "does not begin like one"
    raise ModelError(
        f"'{name}' is named as {_FORMATS[kind]}, but {what}. Give the file its right suffix, or format='...'."
    )


def _build(content: bytes, kind: Format, name: str, *, max_bytes: int) -> Any:
    if kind == "skops":
        return load_skops(content, name=name, max_bytes=max_bytes)
    if kind == "pickle":
        return _unpickle(content, name)
    build = {
        "onnx": load_onnx,
        "xgboost": load_xgboost,
        "lightgbm": load_lightgbm,
        "catboost": load_catboost,
        "torch": load_torch,
    }[kind]
    return build(content, name=name)


def _ask_for_trust(kind: Format, name: str, *, trust: bool) -> None:
    what = "a pickle" if kind == "pickle" else "a PyTorch program"
    if not trust:
        raise UntrustedError(
            f"'{name}' is {what}: loading it runs whatever code its author put in. {_PROGRAMS[kind]}, give its "
            "predictions instead, or, if you made the file yourself, say trust=True."
        )
    warnings.warn(
        f"Loading '{name}', {what}, runs whatever code its author put in. It was trusted on request; the report "
        "records it.",
        TrustWarning,
        stacklevel=3,
    )


def _unpickle(content: bytes, name: str) -> Any:
    import joblib

    try:
        return joblib.load(io.BytesIO(content))
    except Exception as error:  # unpickling may raise anything
        raise ModelError(f"'{name}' could not be unpickled: {type(error).__name__}: {error}") from error


def _imported(source: str, options: ModelOptions) -> Model:
    module_name, _, attribute = source.partition(":")
    try:
        thing: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise ModelError(
            f"The module of '{source}' could not be imported: {error}. Is its folder on PYTHONPATH?"
        ) from error
    for part in attribute.split("."):
        if not hasattr(thing, part):
            public = [name for name in dir(thing) if not name.startswith("_")]
            raise ModelError(f"'{source}' names no object: there is no '{part}'.{close_to(part, public)}")
        thing = getattr(thing, part)
    model = Model.of(thing, **options)
    model.source = source
    return model
