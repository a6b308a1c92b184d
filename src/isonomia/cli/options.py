"""Options that several commands share, with one meaning each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from isonomia.languages import languages

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors (and JSON, with --json).")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR is heeded too.")]
Lang = Annotated[str, typer.Option("--lang", metavar="L", help=f"Language: {' or '.join(languages())}.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Start of everything random.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for report.html, report.json and report.md.")
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML for continuous integration.")]
Policy = Annotated[
    str | None, typer.Option("--policy", metavar="P", help="A policy (`isonomia policies`), or your own file.")
]

# what the columns are for
Data = Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or JSON lines; or a dataset's name.")]
Target = Annotated[str | None, typer.Option("--target", metavar="T", help="The column of true outcomes.")]
Positive = Annotated[str | None, typer.Option("--positive", metavar="V", help="The favourable outcome.")]
Protected = Annotated[
    list[str] | None,
    typer.Option("--protected", metavar="A,B", help="Protected attributes; numbers in bands: sex,age:25,60"),
]
Privileged = Annotated[
    list[str] | None, typer.Option("--privileged", metavar="A=V", help="A privileged value: sex=Male")
]
Prediction = Annotated[
    str | None, typer.Option("--prediction", metavar="COL", help="Instead of a model: the column it decided in.")
]
Score = Annotated[
    list[str] | None, typer.Option("--score", metavar="COL", help="Its probabilities; several classes: a=COL,b=COL")
]
Weight = Annotated[str | None, typer.Option("--weight", metavar="COL", help="One weight per row.")]
Task = Annotated[
    Literal["binary", "multiclass", "regression"] | None,
    typer.Option("--task", metavar="T", help="binary, multiclass or regression; else read off the data."),
]
Missing = Annotated[
    Literal["group", "exclude", "error"],
    typer.Option("--missing", metavar="M", help="Rows without a protected value: group, exclude or error."),
]
Na = Annotated[list[str] | None, typer.Option("--na", metavar="TEXT", help="A text that stands for a missing value: ?")]

# the model, and a search
ModelFile = Annotated[
    str | None,
    typer.Option("--model", metavar="FILE", help="A model file (skops, ONNX, ...), module:callable or http address."),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Load a pickle, joblib or PyTorch model: this runs whatever code is in it.")
]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", metavar="S", help="Stop after this.")]
MethodOption = Annotated[
    list[str] | None, typer.Option("--option", metavar="A=V", help="An option of the method: alpha=0.9")
]
TableFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the whole table: .csv, .csv.gz or .parquet.")
]
