"""The table that a command reads: the options that name its file and the roles of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.options.roles import read_names, read_positive, read_privileged, read_protected, read_score
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.cli.output.screen import Screen
    from isonomia.data import Dataset

Names = list[str] | None
#: Roles that are passed on as they are.
ROLES = ("target", "prediction", "weight", "time", "task", "other_answers")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """A table, what its columns are for, and how its file is written."""

    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="CSV, Excel, Parquet, JSON lines, postgresql://...; or a dataset."),
    ]
    target: Annotated[str | None, typer.Option("--target", metavar="T", help="The column of true outcomes.")] = None
    positive: Annotated[
        Names, typer.Option("--positive", metavar="V", help="The favourable outcome; of several classes: a,b")
    ] = None
    protected: Annotated[
        Names, typer.Option("--protected", metavar="A,B", help="Protected attributes; numbers in bands: sex,age:25,60")
    ] = None
    privileged: Annotated[Names, typer.Option("--privileged", metavar="A=V", help="A privileged value: sex=Male")] = (
        None
    )
    prediction: Annotated[
        str | None, typer.Option("--prediction", metavar="COL", help="The column of decisions or predicted numbers.")
    ] = None
    score: Annotated[
        Names, typer.Option("--score", metavar="COL", help="Its probabilities; several classes: a=COL,b=COL")
    ] = None
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="One weight per row.")] = None
    time: Annotated[str | None, typer.Option("--time", metavar="COL", help="The moment of a row.")] = None
    task: Annotated[
        Literal["binary", "multiclass", "regression"] | None,
        typer.Option("--task", metavar="T", help="binary, multiclass or regression; else read off the data."),
    ] = None
    other_answers: Annotated[
        Literal["error", "unfavourable", "apart"] | None,
        typer.Option("--other-answers", metavar="H", help="Answers outside the labels: error, unfavourable or apart."),
    ] = None
    features: Annotated[
        Names, typer.Option("--features", metavar="A,B", help="What a model sees; else all columns without a role.")
    ] = None
    ignore: Annotated[Names, typer.Option("--ignore", metavar="A,B", help="Columns that are not features.")] = None
    na: Annotated[Names, typer.Option("--na", metavar="TEXT", help="A text that stands for a missing value: ?")] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="E", help="Encoding of the text; else UTF-8 or cp1252 is found.")
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None,
        typer.Option("--decimal", metavar="D", help="Decimal mark of numbers, . or ,; else found."),
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="D", help="Character between the values; else found.")
    ] = None
    repeated: Annotated[
        Literal["error", "rename"],
        typer.Option("--repeated", metavar="R", help="Columns of the same name: error, or rename the second."),
    ] = "error"
    sheet: Annotated[str | None, typer.Option("--sheet", metavar="S", help="The sheet of an Excel workbook.")] = None
    max_bytes: Annotated[
        int | None, typer.Option("--max-bytes", metavar="N", min=1, help="Largest file to read, once unpacked.")
    ] = None

    engine: Annotated[
        Literal["memory", "duckdb"] | None,
        typer.Option("--engine", metavar="E", help="Count rows in memory, or where they are: memory, duckdb."),
    ] = None
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory for rows and groups: 512MB.")
    ] = None
    table: Annotated[str | None, typer.Option("--table", metavar="T", help="Of a database: the table or view.")] = None
    query: Annotated[str | None, typer.Option("--query", metavar="SQL", help="Of a database: a query that reads.")] = (
        None
    )

    def read(self, screen: Screen) -> Dataset:
        """The table; what was found while reading it is stated.

        A name that no file has is looked up in the catalog, whose roles hold unless others are given.
        """
        data = self._read()
        for note in data.first_notes:
            screen.remark(note)
        if data.task == "binary" and not self.positive and Path(self.data).exists():
            screen.remark(
                msg(
                    "No favourable outcome is named: {value} of {column} is taken as favourable; --positive names "
                    "another.",
                    value=str(data.positive),
                    column=data.target or data.roles.prediction,
                )
            )
        return data

    def _read(self) -> Dataset:
        from isonomia.data import catalog, read

        roles: dict[str, Any] = {
            "protected": read_protected(self.protected or []),
            "privileged": read_privileged(self.privileged or []),
            "score": read_score(self.score or []),
            "features": read_names(self.features or [], "--features"),
            "ignore": read_names(self.ignore or [], "--ignore"),
            "positive": read_positive(self.positive or []),
            **{name: getattr(self, name) for name in ROLES},
        }
        given = {name: value for name, value in roles.items() if value}
        if not Path(self.data).exists() and self.data in catalog.names():
            found = catalog.load(self.data)
            return found.with_roles(**given) if given else found
        return read(
            self.data,
            na_values=list(self.na or ()),
            encoding=self.encoding,
            decimal=self.decimal,
            delimiter=_character(self.delimiter),
            repeated=self.repeated,
            sheet=self.sheet,
            max_bytes=self.max_bytes,
            engine=self.engine,
            memory=self.memory,
            table=self.table,
            query=self.query,
            **given,
        )


def _character(delimiter: str | None) -> str | None:
    """The delimiter; a tab may be written as shells and people write it."""
    return "\t" if delimiter in ("\\t", "tab") else delimiter
