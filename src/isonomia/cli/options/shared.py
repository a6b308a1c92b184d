"""Options that several commands share, with one meaning each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Start of everything random.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The folder for report.html, .json and .md; or one file, by its suffix."),
]
Pdf = Annotated[
    bool,
    typer.Option("--pdf", help="Write report.pdf, the short report, as well; needs Chromium on the path, and --out."),
]
Annex = Annotated[
    bool, typer.Option("--annex", help="Write report-with-annex.pdf, with everything that was measured; as --pdf.")
]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="The first page alone as one small .html file, for a mail."),
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML for continuous integration.")]
FailOn = Annotated[
    Literal["verdict", "critical", "warning"],
    typer.Option(
        "--fail-on", metavar="F", help="End with 1 on: verdict (of the policy), critical findings too, or warnings too."
    ),
]
Policy = Annotated[
    str | None, typer.Option("--policy", metavar="P", help="A policy (`isonomia policies`), or your own file.")
]

Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="An option of a check, or a setting: drift.reference=old.csv"),
]

StoreAddress = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="The store: a file (runs.db) or postgresql://...; or ISONOMIA_STORE."),
]
AnalysisName = Annotated[
    str | None, typer.Option("--analysis", metavar="NAME", help="Keep it in the store under this name, such as loans.")
]

Reuse = Annotated[bool, typer.Option("--reuse", help="Answer from the store where the same question was asked before.")]

Missing = Annotated[
    Literal["group", "exclude", "error"],
    typer.Option("--missing", metavar="M", help="Rows without a protected value: group, exclude or error."),
]
ModelFile = Annotated[
    str | None,
    typer.Option("--model", metavar="FILE", help="A model file (skops, ONNX, ...), module:callable or http address."),
]

# a search
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", metavar="S", help="Stop after this.")]
MethodOption = Annotated[
    list[str] | None, typer.Option("--option", metavar="A=V", help="An option of the method: alpha=0.9")
]
TableFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the whole table: .csv, .csv.gz or .parquet.")
]
