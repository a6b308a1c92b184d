"""Models from files, looked at before anything is built from them; and to files."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path
from typing import Any, Unpack

from isonomia.atomic import atomic_write
from isonomia.config_files import path_of
from isonomia.errors import FAULTS, IsonomiaError, ModelError, UntrustedError, close_to, kind_of
from isonomia.models.endpoint import endpoint, is_address
from isonomia.models.model import Model, ModelOptions
from isonomia.models.model_format import (
    BYTE_LIMIT,
    MAX_BYTES,
    MODEL_FORMAT_NAME,
    MODEL_FORMATS,
    TRUSTED_TYPES,
    ModelFormat,
    format_of_suffix,
    recognise,
    supported,
)
from isonomia.models.trust import TRUST, Given, Trust, import_object, staying
from isonomia.parameters import parameters_of, read_options, validated

_IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class TrustWarning(UserWarning):
    """A file was loaded that can run any code."""


@validated(
    trust=TRUST,
    format=MODEL_FORMAT_NAME.or_none(),
    max_bytes=BYTE_LIMIT.kind,
)
def load_model(
    source: Any,
    *,
    trust: Given = False,
    format: str | None = None,  # noqa: A002  the word users know
    max_bytes: int = MAX_BYTES,
    **options: Unpack[ModelOptions],
) -> Model:
    """Load a model from a file, import it by name, or wrap an object.

    Parameters
    ----------
    source : path, "module:callable", an http(s) address, or anything `Model.of` takes
        A file of a format in `MODEL_FORMATS` (``isonomia formats`` lists them). The format is read off the suffix and
        must agree with how the file begins. An address is a server that answers about rows (see `endpoint`, which
        takes more options); files are not fetched.
    trust : bool, or sequence of str
        True allows a file that can run any code, such as a pickle. Loading one runs whatever code its author put in.
        Names of types (``["mypackage.steps.Clip"]``) allow a skops file to contain these besides those on our list:
        building and asking the model runs their code. Names of modules (``["mypackage.models"]``) allow
        "module:callable" from there; modules below the working folder need no name. In each case the model is marked
        as `trusted` and the report says so.
    format : str, optional
        Format of the file, where the suffix does not show it.
    max_bytes : int
        Largest file to read, in bytes.
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
    >>> load_model("math:sqrt", output="score", trust=["math"]).make
    'sqrt'
    >>> load_model("model.exe")
    Traceback (most recent call last):
    ...
    isonomia.errors.ModelError: There is no model file 'model.exe'.
    """
    if not isinstance(source, str | Path):
        return Model.of(source, **options)
    if is_address(source):
        return _answering(str(source), Trust.given(trust), options)
    read_options(parameters_of(Model.of), options, owner="`load_model`")  # before the file is read
    word = Trust.given(trust)
    path = path_of(source)
    if is_function_name(source):
        return _imported(str(source), word, options)
    content = _read(path, max_bytes)
    kind = _format_of(path) if format is None else MODEL_FORMATS[format]
    _check_start(content, kind, path.name)
    types = word.types
    if kind.trust:
        _ask_for_trust(kind, path.name, word)
        types = ()
    elif types and not kind.takes(TRUSTED_TYPES.name):
        raise ModelError(f"Types are trusted in skops files only; '{path.name}' is {kind}. Leave out `trust`.")
    given = {"max_bytes": max_bytes, "trusted": types}
    try:
        loaded = kind.load(content, name=path.name, **{one.name: given[one.name] for one in kind.parameters})
        model = Model.of(loaded, **options)
    except IsonomiaError:
        raise
    except FAULTS as error:  # what a library says of a file that it half understands
        raise ModelError(f"'{path.name}' is not a readable {kind.title} model: {kind_of(error)}.") from error
    model.format, model.source, model.trusted = kind.id, path.name, bool(kind.trust or types)
    model.fingerprint = hashlib.sha256(content).hexdigest()
    return model


def save_model(model: Any, path: str | Path) -> Path:
    """Save an estimator (or the Model around one) in a format that `load_model` takes back: skops, for scikit-learn.

    Raises
    ------
    ModelError
        When the suffix is of another format, or the estimator holds parts that `load_model` would refuse.
    """
    target = Path(path)
    kind = format_of_suffix(target.suffix)
    if kind is None or kind.save is None:
        written = "; ".join(str(one) for one in MODEL_FORMATS if one.save is not None)
        raise ModelError(
            f"Cannot save '{target.name}': models are saved as {written}. Boosters save themselves "
            "(booster.save_model('model.ubj'), booster.save_model('model.txt'))."
        )
    content = kind.save(model.estimator if isinstance(model, Model) else model)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        part.write_bytes(content)
    return target


def _answering(address: str, word: Trust, options: ModelOptions) -> Model:
    suffix = Path(address.partition("?")[0]).suffix.lower()
    if format_of_suffix(suffix) is not None:
        raise ModelError(
            f"Model files are not fetched from addresses ({suffix}); download the file first and give its path."
        )
    word.allow_address(address)
    return endpoint(address, **options)


def _read(path: Path, max_bytes: int) -> bytes:
    if not path.exists():
        near = close_to(path.name, [item.name for item in path.parent.iterdir()]) if path.parent.is_dir() else ""
        raise ModelError(f"There is no model file '{path}'.{near if near.startswith(' Did') else ''}")
    if not path.is_file():
        raise ModelError(f"'{path}' is not a file. Give the model's file: {supported()}.")
    size = path.stat().st_size
    if size == 0:
        raise ModelError(f"The model file '{path.name}' is empty.")
    if size > max_bytes:
        raise ModelError(
            f"The model file '{path.name}' has {size:,} bytes, more than the {max_bytes:,} allowed. Raise max_bytes if "
            "it is meant to be this large."
        )
    with path.open("rb") as file:
        content = file.read(size + 1)
    if len(content) > size:
        raise ModelError(f"The model file '{path.name}' grew while it was read. Wait until it is written.")
    return content


def _format_of(path: Path) -> ModelFormat:
    for suffix in reversed(path.suffixes):
        if (found := format_of_suffix(suffix)) is not None:
            return found
        if suffix.lower() not in (".gz", ".z", ".bz2", ".xz", ".lzma"):
            break
    raise ModelError(
        f"Cannot infer the format of '{path.name}' from '{path.suffix}'. Supported: {supported()}. Pass format=... "
        "if the name is unusual."
    )


def _check_start(content: bytes, named: ModelFormat, name: str) -> None:
    """A file must begin as its name says; a pickle under another name is never opened."""
    found = recognise(content)
    if found == named or (named.id == "pickle" and found is None):  # pickles of protocol 0 have no mark
        return
    if found is not None and found.id == "pickle":
        raise UntrustedError(
            f"'{name}' is named as {named}, but its first bytes are those of a pickle, which can run any "
            "code. Refused to load it."
        )
    what = f"begins like {found}" if found else "does not begin like one"
    raise ModelError(f"'{name}' is named as {named}, but {what}. Correct the suffix, or pass format=...")


def _ask_for_trust(kind: ModelFormat, name: str, word: Trust) -> None:
    word.allow_file(name, kind.trust, kind.instead)
    warnings.warn(
        f"Loading '{name}', {kind.trust}, runs whatever code its author put in. It was trusted on request; the report "
        "records it.",
        TrustWarning,
        stacklevel=3,
    )


def is_function_name(source: Any) -> bool:
    """Whether a source is ``module:callable`` rather than a file.

    >>> is_function_name("my_bank:decide"), is_function_name("model.skops")
    (True, False)
    """
    return isinstance(source, str) and _IMPORT.fullmatch(source) is not None and not Path(source).exists()


def _imported(source: str, word: Trust, options: ModelOptions) -> Model:
    found = import_object(source, word)
    with staying(f"'{source}'"):
        model = Model.of(found, **options)
    model.source, model.trusted = source, word.allow_function(source)
    return model
