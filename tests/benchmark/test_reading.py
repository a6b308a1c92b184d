"""Reading a benchmark: means and intervals by hand, advice, CSV, LaTeX, figures, the report, the commands."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.benchmark import CENTRE, GRIDS, Benchmark, Grid
from isonomia.benchmark.advice import advice_rows
from isonomia.benchmark.figures import critical_difference_figure
from isonomia.benchmark.latex_scores import latex_scores
from isonomia.benchmark.settings import LEVELS, one_at_a_time, sobol_points
from isonomia.benchmark.summary import Cells, csv_rows, row_of
from isonomia.benchmark.tables import (
    alone,
    bias_by_size_table,
    null_table,
    summary_table,
    unanswered_table,
    variance_table,
)
from isonomia.cli.app import app
from isonomia.report import to_html

SETTINGS = (
    CENTRE,
    *(
        replace(CENTRE, bias=bias, group_rows=rows)
        for bias in (-2.0, -1.0)
        for rows in (50, 500)
        if (bias, rows) != (-1.0, 500)
    ),
    replace(CENTRE, model="logistic"),
    replace(CENTRE, bias=0.0, model="oracle"),
)
GRID = Grid(id="fake", purpose="", settings=SETTINGS, seeds=3, budget="b10k", method_seeds=2)
#: Every method's own level; one is better than all others.
LEVEL = {"sliceline_holdout": 0.8, "divexplorer": 0.4, "random": 0.1, "verifair": 0.0, "auto": 0.9, "observed": 0.7}


def record(spec: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A row as a worker would give it."""
    method, null = str(spec["method"]), spec["bias"] == 0
    score = min(1.0, max(0.0, LEVEL[method] + 0.02 * spec["data_seed"] + 0.01 * rng.standard_normal()))
    scores: dict[str, Any] = {"n_claims": 2, "n_truths": 0 if null else 5, "claimed": not null or method == "random"}
    if not null:
        scores |= {"f1": score, "precision": score, "recall": score, "ap": score, "coverage": score, "decision": True}
        scores |= {"recall_by_jaccard": [score] * 10, "descriptions": {"exact": 1, "miss": 1}}
    if method in ("auto", "observed"):
        scores |= {"pairs_at": [1.0, 2.0, 3.0, 4.0], "valid": 4, "validity": 1.0, "area": 0.4, "dsr": 0.2}
    costs = {"seconds": 2.0 - LEVEL[method], "wall": 3.0, "peak_mb": 250.0}
    return {"status": "done", "reason": None, "complete": True, "scores": scores, "costs": costs, "machine": "here"}


@pytest.fixture(scope="module")
def cells() -> Cells:
    rng = np.random.default_rng(0)
    specs = list(GRID.cells({name: {} for name in LEVEL}))
    return Cells("fake", [row_of(spec, record(spec, rng)) for spec in specs])


def test_means_and_intervals_by_hand(cells: Cells) -> None:
    scores = cells.scores("subgroups", "f1", cells.to_find())
    index = scores.methods.index("divexplorer")
    own: dict[Any, dict[int, list[float]]] = {}
    for row in cells.rows:
        if row["method"] == "divexplorer" and row["bias"]:
            key = tuple(row[name] for name in LEVELS)
            own.setdefault(key, {}).setdefault(row["data_seed"], []).append(row["f1"])
    by_setting = [np.mean([np.mean(seeds) for seeds in one.values()]) for one in own.values()]
    estimate = scores.means[index]
    assert estimate.value == pytest.approx(np.mean(by_setting))
    assert estimate.low < estimate.value < estimate.high
    spread = np.sqrt(sum(np.var([np.mean(s) for s in one.values()], ddof=1) / 3 for one in own.values())) / len(own)
    assert scores.draws[:, index].std() == pytest.approx(spread, rel=0.1)  # the standard error of stratified means
    assert (estimate.high - estimate.low) / 2 == pytest.approx(1.96 * spread, rel=0.2)
    once = replace(scores, values=scores.values[:, :1]).means[index]
    assert (once.low, once.high) == (None, None)


def test_a_missing_figure_is_not_zero(cells: Cells) -> None:
    scores = cells.scores("subgroups", "confirmed", cells.to_find())
    assert all(estimate.value is None for estimate in scores.means)
    table = summary_table(cells, "subgroups")
    rows = {row["method"]: row for row in table.rows()}
    assert rows["verifair"]["f1"] is None
    assert rows["verifair"]["decision"] == 1
    assert next(iter(rows)) == "sliceline_holdout"


def test_the_best_is_advised_and_those_not_worse(cells: Cells) -> None:
    rows = {str(row["situation"]): row for row in advice_rows(cells, "subgroups")}
    assert rows["all settings"]["best"] == "sliceline_holdout"
    assert rows["all settings"]["alike"] is None
    assert rows["all settings"]["settings"] == 5
    assert "few rows per subgroup (up to 100)" not in rows  # two settings, and none is advised below five
    assert "several classes" not in rows
    assert {row["best"] for row in advice_rows(cells, "pairs")} == {"auto"}


def test_false_claims_have_intervals(cells: Cells) -> None:
    table = null_table(cells)
    assert table is not None
    rows = {row["method"]: row for row in table.rows()}
    assert (rows["random"]["claims"], rows["random"]["runs"]) == (3, 3)
    assert rows["divexplorer"]["share"] == 0
    assert 0.4 < rows["divexplorer"]["share_high"] < 0.75


def test_factors_around_the_centre(cells: Cells) -> None:
    assert cells.centre == CENTRE
    assert [setting.bias for setting in alone(cells, "bias")] == [-2.0, -1.0]
    assert [setting.group_rows for setting in alone(cells, "group_rows")] == [50, 500]
    heat = bias_by_size_table(cells, "subgroups")
    assert heat is not None
    assert len(heat) == 4
    variance = variance_table(cells)
    assert variance is not None
    assert all(0 <= row["seed"] < 0.05 for row in variance.rows())


def test_csv_has_lists_as_columns_and_times_last(cells: Cells) -> None:
    rows = csv_rows(cells)
    assert len(rows) == len(cells.rows)
    assert len({tuple(row) for row in rows}) == 1
    assert list(rows[0])[-5:] == ["seconds", "wall", "peak_mb", "dss", "machine"]
    assert "recall_by_jaccard_9" in rows[0]
    pair = next(row for row in rows if row["method"] == "auto")
    assert pair["dss"] == pytest.approx((2.0 - 0.9) / 4)


def test_latex_marks_the_best(cells: Cells) -> None:
    text = latex_scores(cells, "subgroups")
    best = next(line for line in text.splitlines() if line.startswith(r"sliceline\_holdout"))
    assert best.count(r"\textbf") >= 4
    assert re.search(r"0\.8\d\} \$\\pm\$ 0\.0\d", best)
    assert "5 settings" in text
    assert text.count(r"\toprule") == 1
    assert "5 configurações" in latex_scores(cells, "subgroups", "pt-BR")


def test_everything_is_written(cells: Cells, tmp_path: Path) -> None:
    found = Benchmark(cells)
    written = found.save(tmp_path / "out", figures=False)
    for name in ("cells.csv", "summary.csv", "README.md", "en/html", "pt-BR/html", "tables/subgroups.en.tex"):
        assert written[name].is_file(), name
    page = written["pt-BR/html"].read_text(encoding="utf-8")
    assert "Qual método devo usar em cada situação?" in page
    assert "Para encontrar subgrupos, use sliceline_holdout" in page
    with written["summary.csv"].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["finds"] for row in rows} == {"subgroups", "pairs"}
    assert "`isonomia benchmark run fake`" in written["README.md"].read_text(encoding="utf-8")


def test_figures(cells: Cells, tmp_path: Path) -> None:
    from isonomia.benchmark.figures import save_figures

    written = {path.name: path for path in save_figures(cells, tmp_path / "a", language="pt-BR", nemenyi=True)}
    for name in ("critical_difference", "factors", "bias_by_size", "anytime", "score_by_time"):
        for form in ("svg", "pdf"):
            assert written[f"{name}_subgroups.pt-BR.{form}"].stat().st_size > 1000
    assert written["nulls.pt-BR.pdf"].read_bytes().startswith(b"%PDF")
    again = next(save_figures(cells, tmp_path / "b", language="pt-BR", nemenyi=True))
    assert again.read_bytes() == written[again.name].read_bytes()
    figure = critical_difference_figure(cells, "subgroups", "en")
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels[0].startswith("sliceline_holdout (1.00)")


def test_grids_are_as_they_promise() -> None:
    sizes = {grid.id: (len(grid.settings), grid.seeds) for grid in GRIDS}
    assert sizes["quick"] == (12, 5)
    assert sizes["standard"] == (59, 10)
    assert 130 <= sizes["paper"][0] <= 160
    assert sizes["paper"][1] == 20
    assert sum(setting.null for setting in GRIDS["paper"].settings) == 20
    assert len(list(one_at_a_time())) == 1 + sum(len(levels) - 1 for levels in LEVELS.values())
    points = list(sobol_points(64))
    assert len(set(points)) == 64
    assert {point.intersectionality for point in points} == {1, 2, 3, 4}
    assert all(-2 <= point.bias <= -0.25 for point in points)
    assert {"oracle", "logistic", "forest", "boosting", "network", "boosting_blind"} == {
        setting.model for setting in GRIDS["standard"].settings
    }


def test_the_commands(tmp_path: Path) -> None:
    runner = CliRunner()
    store = str(tmp_path / "cells.db")
    refused = runner.invoke(app, ["benchmark", "run", "quick", "--store", store, "--shard", "3 of 4"])
    assert refused.exit_code == 2
    assert "such as 3/20" in refused.stderr
    refused = runner.invoke(app, ["benchmark", "run", "quik", "--store", store])
    assert refused.exit_code == 2
    assert "quick" in refused.stderr
    arguments = [
        "benchmark",
        "run",
        "quick",
        "--store",
        store,
        "--max-seconds",
        "0.000001",
        "--methods",
        "random",
        "--json",
    ]
    ended = runner.invoke(app, arguments)
    assert ended.exit_code == 0, ended.stderr
    assert json.loads(ended.stdout)["waiting"] == 60
    refused = runner.invoke(app, ["benchmark", "report", "quick", "--store", store, "--out", str(tmp_path / "out")])
    assert refused.exit_code == 2
    with iso.store.open(store) as opened:
        for _ in range(2):
            lease = opened.cells.claim("quick")
            assert lease is not None
            made = record({**lease.spec, "method": "random"}, np.random.default_rng(0))
            opened.cells.finish(lease, figures={"f1": 0.1}, record=made)
    ended = runner.invoke(app, ["benchmark", "status", "quick", "--store", store])
    assert "2 cells done, 58 to do" in ended.stdout
    assert "the rest takes" in ended.stdout
    out = tmp_path / "out"
    ended = runner.invoke(app, ["benchmark", "report", "quick", "--store", store, "--out", str(out), "--no-figures"])
    assert ended.exit_code == 0, ended.stderr
    assert (out / "cells.csv").is_file()
    assert not (out / "figures").exists()


def test_why_there_was_no_answer_stands_in_both_languages(cells: Cells) -> None:
    reasons = {
        "unsuitable": "The method 'verifair' is for binary tasks; this is a multiclass task. `isonomia methods` lists "
        "the others.",
        "timeout": "still searching after 60 s",
        "memory": "the process ran out of memory",
        "failed": "ValueError: a text of a dependency",
    }
    silent = {f"{row['method']} {row['data_seed']}": row for row in cells.of("subgroups")}.values()
    named = dict(zip((id(row) for row in silent), reasons.items(), strict=False))
    rows = [
        {**row, "status": named[id(row)][0], "reason": named[id(row)][1]} if id(row) in named else row
        for row in cells.rows
    ]
    table = unanswered_table(Cells("fake", rows), "subgroups")
    assert table is not None
    assert sorted(str(reason) for reason in table["reason"].values) == sorted(reasons.values())
    assert set(table["cells"].values) == {1}
    written = {table["reason"].text(row, "pt-BR") for row in range(len(table))}
    assert "O método 'verifair' serve para tarefas do tipo" in " ".join(written)
    assert {"a fase 'searching' não terminou em 60 s", "o processo ficou sem memória"} < written
    assert "ValueError: a text of a dependency" in written
    assert "Por que não houve resposta" in to_html(Benchmark(Cells("fake", rows)).document, "pt-BR")
    assert unanswered_table(cells, "subgroups") is None
