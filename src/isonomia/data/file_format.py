"""What a format of data files is, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isonomia.languages import Message
from isonomia.parameters import Choice, Integer, Parameter, Several, Text
from isonomia.registry import Registry

#: Options of `read` that only some formats take.
ENCODING = Parameter("encoding", Text("the name of an encoding").or_none(), None, "encoding of the text; found if None")
DELIMITER = Parameter("delimiter", Text("one character").or_none(), None, "character between the values; found if None")
BYTE_LIMIT = Parameter("max_bytes", Integer(1).or_none(), None, "largest file to read, in bytes after unpacking")
NA_VALUES = Parameter(
    "na_values",
    Several(Text("a text as it is written in the file"), single=True),
    (),
    "texts that stand for a missing value",
)
DECIMAL = Parameter(
    "decimal", Choice((".", ",")).or_none(), None, "decimal mark of numbers; with a comma, points group thousands"
)
SHEET = Parameter("sheet", Text("the name of a sheet").or_none(), None, "sheet of a workbook; the only one if None")
REPEATED = Parameter(
    "repeated", Choice(("error", "rename")), "error", "what to do with a header that names two columns alike"
)


#: The names of the columns of a file that was written as Parquet, and notes on it.
Converted = tuple[list[str], tuple[Message, ...]]


@dataclass(frozen=True)
class ReadTable:
    """What a format read: a frame, and what a reader of the results should know about how it was read."""

    frame: Any
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """One format of data files.

    Attributes
    ----------
    id : str
        Its name in options.
    title : str
        Its name in sentences.
    purpose : str
        One line for listings.
    suffixes : tuple of str
        The suffixes that stand for it.
    read : callable
        ``read(path, source_path, columns=..., backend=..., **options)`` gives a `ReadTable`; `source_path` is the
        file's name in errors, the options are those in `parameters` but for `encoding`: a text arrives in UTF-8.
    convert : callable, optional
        ``convert(path, source_path, connection, target, columns=..., **options)`` writes the table as Parquet through a
        DuckDB connection and gives the columns and notes: how a file is read that does not fit into memory.
    mark : bytes
        How every file of the format begins; empty where there is no such mark.
    extra : str
        The extra of the package that installs what it needs.
    parameters : tuple of Parameter
        Options of `isonomia.read` that it takes.
    """

    id: str
    title: str
    purpose: str
    suffixes: tuple[str, ...]
    read: Callable[..., ReadTable]
    convert: Callable[..., Converted] | None = None
    mark: bytes = b""
    extra: str = ""
    parameters: tuple[Parameter, ...] = ()

    def __str__(self) -> str:
        return f"{self.title} ({', '.join(self.suffixes)})"

    def takes(self, option: str) -> bool:
        """Whether an option of `isonomia.read` is for this format."""
        return any(one.name == option for one in self.parameters)


#: Every file format by its id; another package adds its own through the entry point group ``isonomia.file_formats``.
FILE_FORMATS: Registry[FileFormat] = Registry(
    "file_format", word="file format", package="isonomia.data.formats", order=lambda entry: entry.id
)
#: The id of a file format.
FILE_FORMAT_NAME = Choice(FILE_FORMATS.ids)


def format_of_suffix(suffix: str) -> FileFormat | None:
    """The format that a suffix stands for."""
    return next((one for one in FILE_FORMATS if suffix.lower() in one.suffixes), None)
