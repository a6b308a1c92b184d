"""`isonomia synth`: data with known bias, and the truth about it beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import Seed
from isonomia.cli.output.screen import Screen

if TYPE_CHECKING:
    from isonomia.data.synthetic import Synthetic
    from isonomia.events import Progress


def synth(
    *,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .csv, .csv.gz or .parquet.")],
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="Rows of the plain population.")] = 20_000,
    like: Annotated[
        Path | None, typer.Option("--like", metavar="DATA", help="Real data to learn from; needs --protected.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE", help="Columns and correlations wanted: YAML or JSON.")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="T", help="With --like: the outcome.")] = None,
    positive: Annotated[
        str | None, typer.Option("--positive", metavar="V", help="With --like: its good value.")
    ] = None,
    protected: Annotated[
        list[str] | None, typer.Option("--protected", metavar="A,B", help="Protected attributes: sex,age:25,60")
    ] = None,
    privileged: Annotated[
        list[str] | None, typer.Option("--privileged", metavar="A=V", help="A privileged value: sex=Male")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B", help="With --like: the columns to learn; else all.")
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option("--pairs", metavar="N", min=0, help="Biased subgroups to draw; else 10, or all there can be."),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", metavar="N", min=0, help="Rows drawn for each side.")] = 500,
    bias: Annotated[
        float | None,
        typer.Option("--bias", metavar="X", help="Log-odds added to a subgroup; for credit data a factor."),
    ] = None,
    outcome: Annotated[
        Literal["binary", "multiclass", "regression"],
        typer.Option("--outcome", metavar="KIND", help="binary, multiclass or regression."),
    ] = "binary",
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Make data with known bias.

    Credit data, or data like yours; what is true about them is written to OUT.truth.json.
    """
    from isonomia.atomic import write_whole
    from isonomia.cli.options.roles import read_names, read_privileged, read_protected
    from isonomia.cli.output.frames import check_writable, write_frame
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.data import default_backend
    from isonomia.errors import SpecError
    from isonomia.languages import msg

    screen = talk.screen()
    check_writable(out)
    default_backend()  # without a library for tables nothing is begun
    if like is not None and schema is not None:
        raise SpecError("Give either --like or --schema, not both.")
    groups = {"protected": read_protected(protected or []), "privileged": read_privileged(privileged or [])}
    with ProgressBar(screen, msg("Making data")) as progress:
        if like is None and schema is None:
            if any(groups.values()) or target or positive or columns or outcome != "binary":
                raise SpecError("Credit data have their own columns and outcome; give --like or --schema for others.")
            generated = _credit(rows, 1.0 if bias is None else bias, seed)
        else:
            options: dict[str, Any] = {
                "n_background": rows,
                "n_pairs": pairs,
                "n_samples": samples,
                "outcome": outcome,
                "seed": seed,
                "bias": -1.0 if bias is None else bias,
            }
            if columns is not None:
                options["columns"] = read_names(columns, "--columns")
            generated = _generated(like, schema, target, positive, groups, options, progress)
        write_frame(generated.frame, out)
    truth = out.with_name(f"{out.name}.truth.json")
    write_whole(truth, generated.truth.to_json() + "\n")
    _tell(screen, generated, out, truth)


def _credit(rows: int, bias: float, seed: int) -> Synthetic:
    from isonomia.data.synthetic import credit

    return credit(rows, seed=seed, bias=bias)


def _generated(
    like: Path | None,
    schema: Path | None,
    target: str | None,
    positive: str | None,
    groups: dict[str, Any],
    options: dict[str, Any],
    progress: Progress,
) -> Synthetic:
    from isonomia.config_files import read_mapping
    from isonomia.data import read
    from isonomia.data.synthetic import generate
    from isonomia.errors import SpecError

    if schema is not None:
        if target or positive or "columns" in options:
            raise SpecError("`--target`, `--positive` and `--columns` go with --like; a schema has its own.")
        given = {name: value for name, value in groups.items() if value}
        return generate(read_mapping(schema), **given, **options, progress=progress)
    if not groups["protected"]:
        raise SpecError("`--like` needs --protected: subgroups differ in protected attributes.")
    data = read(str(like), target=target, positive=positive, **groups)
    return generate(data, **options, progress=progress)


def _tell(screen: Screen, generated: Synthetic, out: Path, truth: Path) -> None:
    from isonomia.evidence import Column, Table

    biased = generated.truth.biased
    if screen.json:
        screen.data(
            {
                "data": str(out),
                "truth": str(truth),
                "rows": len(generated.dataset),
                "target": generated.dataset.target,
                "positive": generated.dataset.positive,
                "protected": list(generated.dataset.protected),
                "biased": [{"subgroup": str(s), "bias": s.bias, "rows": int(s.rows.size)} for s in biased],
            }
        )
    columns: dict[str, list[Any]] = {
        "subgroup": [str(s) for s in biased],
        "bias": [s.bias for s in biased],
        "rows": [s.rows.size for s in biased],
    }
    screen.say(f"{len(generated.dataset):,} rows in {out}; what is true about them in {truth}.")
    if biased:
        screen.table(
            Table.of(columns, [Column("bias", format="num"), Column("rows", format="int")]), title="Biases put in"
        )
