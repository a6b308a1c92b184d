"""From a path to a plain local file: its format, unpacked within a limit of bytes."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import lzma
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from isonomia.config_files import path_of
from isonomia.data._encoding import found_encoding
from isonomia.data.file_format import FILE_FORMATS, FileFormat, format_of_suffix
from isonomia.errors import DataError, MissingExtraError, SpecError, close_to
from isonomia.parameters import Integer, validated

#: How a file may be packed: the suffix, how such a file begins, and words for it.
PACKINGS: dict[str, tuple[bytes, str]] = {
    ".gz": (b"\x1f\x8b", "packed with gzip"),
    ".xz": (b"\xfd7zXZ", "packed with xz"),
    ".zip": (b"PK\x03\x04", "a zip archive"),
    ".zst": (b"\x28\xb5\x2f\xfd", "packed with zstd"),
}
#: Spreadsheets that only their own programs read well.
SPREADSHEETS = (".xls", ".xlsb", ".xlsm", ".ods", ".numbers")
#: Bytes read from one file, after unpacking, unless the caller sets another limit.
MAX_BYTES = 4 << 30
#: A packed file that grows beyond both is refused, unless the caller sets a limit: data do not shrink that much.
MAX_GROWTH, ALWAYS_UNPACKED = 100, 256 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A file that exists, the format of its table and how it is packed (a suffix, or nothing)."""

    path: Path
    format: FileFormat
    packing: str = ""
    found_encoding: str | None = None
    """The encoding of a text where it was found to be another one than UTF-8, not given."""


def locate(path: str | Path, given: str | None = None) -> Source:
    """The file and its format by its name; an error if either is wrong."""
    text = str(path)
    if "://" in text:
        raise DataError(f"Only local files are read; got the address {text!r}. Download it first, then give its path.")
    if "\x00" in text:
        raise DataError(f"A path must not contain a null character; got {text!r}.")
    try:
        file = Path(path).expanduser()
    except RuntimeError:
        raise DataError(f"The home folder in {text!r} is not known. Give the whole path.") from None
    path_of(file)
    if file.is_dir():
        raise DataError(f"'{file}' is a folder; give one file.{_near(file.name, file)}")
    if not file.exists():
        folder = file.parent
        where = f"'{folder}' is not a folder" if not folder.is_dir() else f"no such file in '{folder}'"
        raise DataError(f"File not found: '{file}': {where}.{_near(file.name, folder)}")
    if not file.is_file():
        raise DataError(f"'{file}' is neither a file nor a link to one.")
    if file.stat().st_size == 0:
        raise DataError(f"The file '{file}' is empty (0 bytes).")
    packing = file.suffix.lower() if file.suffix.lower() in PACKINGS else ""
    inner = Path(file.stem).suffix.lower() if packing else file.suffix.lower()
    found = format_of_suffix(inner) if given is None else FILE_FORMATS[given]
    if inner in SPREADSHEETS and found is None:
        raise DataError(
            f"'{file.name}' is a spreadsheet of a kind that is not read. Open it in the program that made it, and save "
            "it as .xlsx or as CSV (UTF-8)."
        )
    if found is None and packing != ".zip":
        raise DataError(
            f"Cannot infer the format of '{file.name}' from '{inner}'. Supported: {'; '.join(map(str, FILE_FORMATS))}; "
            f"also packed as {', '.join(PACKINGS)}. Rename the file, or pass format=..., one of "
            f"{', '.join(FILE_FORMATS.ids())}."
        )
    return Source(file, found or FILE_FORMATS["csv"], packing)


@contextlib.contextmanager
@validated(max_bytes=Integer(1).or_none())
def unpacked(source: Source, *, max_bytes: int | None, encoding: str | None, given: bool) -> Iterator[Source]:
    """The source as a plain file; texts in UTF-8. What had to be written is deleted afterwards.

    `given` says that the caller named the format, so that the name inside a zip does not matter.
    """
    max_bytes = growth_limit(source.path, max_bytes) if source.packing else max_bytes or MAX_BYTES
    with contextlib.ExitStack() as stack:
        plain = source
        if source.packing or any(letter in str(source.path) for letter in "*?[]{}"):
            # The reader below treats such letters in a name as a pattern; a plain name cannot be mistaken.
            plain = _written(source, stack, max_bytes, given)
        elif source.path.stat().st_size > max_bytes:
            raise _too_big(source, max_bytes)
        if plain.format.takes("encoding"):
            _check_text(plain, source, encoding)
            found = found_encoding(plain.path, source.path) if encoding is None else None
            coded = encoding or found or "utf-8"
            if coded.lower().replace("_", "-") not in ("utf-8", "utf8", "ascii"):
                plain = Source(_recoded(plain, source, stack, coded), plain.format, found_encoding=found)
        yield plain


def growth_limit(path: Path, given: int | None) -> int:
    """The bytes that a packed file may have once unpacked."""
    return given or min(MAX_BYTES, max(ALWAYS_UNPACKED, MAX_GROWTH * path.stat().st_size))


def _written(source: Source, stack: contextlib.ExitStack, max_bytes: int, given: bool) -> Source:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="isonomia-")))
    format_ = source.format
    try:
        if source.packing == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(source.path))
            member = _only_member(archive, source, given)
            format_ = format_ if given else format_of_suffix(Path(member.filename).suffix) or format_
            stream: IO[bytes] = stack.enter_context(archive.open(member))
        else:
            stream = stack.enter_context(_opener(source.packing)(source.path))
        target = folder / f"data.{format_.id}"
        with target.open("wb") as out:
            left = max_bytes
            while chunk := stream.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise _too_big(source, max_bytes)
                with _writing(target):
                    out.write(chunk)
    except _FullDiskError as error:
        raise error.args[0] from error
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(
            f"The file '{source.path}' cannot be unpacked: {_brief(error)}. It is damaged, truncated, or not a "
            f"{source.packing or 'readable'} file."
        ) from None
    if target.stat().st_size == 0:
        raise DataError(f"The file '{source.path}' is empty once unpacked.")
    return Source(target, format_)


class _FullDiskError(Exception):
    """What was written for a while could not be written, which says nothing of the file that was read."""


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(target)
        raise _FullDiskError(error) from error


def _only_member(archive: zipfile.ZipFile, source: Source, given: bool) -> zipfile.ZipInfo:
    files = [
        item
        for item in archive.infolist()
        if not item.is_dir() and not item.filename.startswith("__MACOSX/") and Path(item.filename).name[:1] != "."
    ]
    tables = files if given and len(files) == 1 else [f for f in files if _is_table(f.filename)]
    if len(tables) != 1:
        names = ", ".join(repr(item.filename) for item in files[:6]) or "nothing"
        raise DataError(
            f"The archive '{source.path}' must contain exactly one table ({_suffixes()}); it contains {names}. "
            "Unpack it and give the path of one file."
        )
    if tables[0].flag_bits & 0x1:
        raise DataError(f"The archive '{source.path}' is locked with a password. Unpack it and give the file.")
    return tables[0]


def _opener(packing: str) -> Callable[[Path], Any]:
    if packing == ".gz":
        return lambda path: gzip.open(path, "rb")
    if packing == ".xz":
        return lambda path: lzma.open(path, "rb")
    if packing == ".zst":
        return _open_zstd
    return lambda path: path.open("rb")


def _open_zstd(path: Path) -> Any:
    with contextlib.suppress(ImportError):
        return importlib.import_module("compression.zstd").open(path, "rb")  # standard since Python 3.14
    with contextlib.suppress(ImportError):
        return importlib.import_module("pyarrow").input_stream(str(path), compression="zstd")
    raise MissingExtraError(
        "Reading .zst files needs Python 3.14 or the package 'pyarrow'. Install it with: pip install 'isonomia[arrow]'"
    )


def _check_text(plain: Source, source: Source, encoding: str | None) -> None:
    with plain.path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(PACKINGS[".zip"][0]) and b"[Content_Types].xml" in start:
        raise DataError(f"'{source.path}' is an Excel workbook, not {plain.format.title}. Name it .xlsx.")
    marks = [(one.mark, one.title) for one in FILE_FORMATS if one.mark]
    for mark, words in (*marks, *PACKINGS.values()):
        if start.startswith(mark):
            raise DataError(
                f"'{source.path}' is {words}, not {plain.format.title}. Rename it with the matching suffix."
            )
    if encoding is not None:
        return
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"'{source.path}' is written in UTF-16, expected UTF-8. Pass encoding='utf-16'.")
    if b"\x00" in start:
        raise DataError(
            f"'{source.path}' contains null bytes: it is not UTF-8 text. Is it really {plain.format.title}?"
        )


def _recoded(plain: Source, source: Source, stack: contextlib.ExitStack, encoding: str) -> Path:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="isonomia-")))
    target = folder / f"utf8.{plain.format.id}"
    try:
        with (
            plain.path.open(encoding=encoding, newline="") as given,
            _writing(target),
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            shutil.copyfileobj(given, out, _CHUNK)
    except _FullDiskError as error:
        raise error.args[0] from error
    except LookupError:
        raise SpecError(f"`encoding` {encoding!r} is not known. Common ones: 'utf-8', 'latin-1', 'cp1252'.") from None
    except UnicodeError as error:
        raise DataError(
            f"'{source.path}' is not written in {encoding}: {_brief(error)}. Pass the encoding it was saved with."
        ) from None
    return target


def _too_big(source: Source, max_bytes: int) -> DataError:
    return DataError(
        f"The file '{source.path}' has more than {max_bytes:,} bytes{' once unpacked' if source.packing else ''}. "
        "If you trust it, raise `max_bytes`."
    )


def _near(name: str, folder: Path) -> str:
    """The files of the folder that could be meant; nothing where there are none."""
    found = _data_files(folder)
    return close_to(name, found) if found else ""


def _data_files(folder: Path) -> list[str]:
    """Names of tables in a folder, for suggestions."""
    try:
        names = [item.name for _, item in zip(range(10_000), folder.iterdir(), strict=False)]
    except OSError:
        return []
    return sorted(name for name in names if any(map(format_of_suffix, Path(name).suffixes)))


def _is_table(name: str) -> bool:
    return format_of_suffix(Path(name).suffix) is not None


def _suffixes() -> str:
    return ", ".join(suffix for one in FILE_FORMATS for suffix in one.suffixes)


def _brief(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")[:200] if str(error) else type(error).__name__
