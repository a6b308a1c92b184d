"""The published results of the paper, beside ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.errors import DataError
from isonomia.evidence import Column, Result, Table
from isonomia.explain.agreements.outcomes import NAMES
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import together
from isonomia.study.explainers import STUDY_EXPLAINERS
from isonomia.study.fixes import STUDY_FIXES
from isonomia.study.measures import STUDY_MEASURES
from isonomia.study.models import STUDY_MODELS
from isonomia.study.sources import STUDY_DATA

#: Standard deviations over seeds within which a published value counts as reproduced.
WITHIN = 3.0
#: Two values of a deterministic model closer than this are equal; consistency depends on ties between neighbours.
EQUAL, EQUAL_NEIGHBOURS = 1e-5, 2e-3
#: The tolerance and the rows with which the paper's tables come out; its text states 1e-3 and mitigated models only.
PAPER_TOLERANCE = 0.005


ONE_SEED = msg("one seed: the spread is not known")


def published_rows(folder: Path) -> list[dict[str, Any]]:
    """The published results, one row per model, fix and explainer, with the names of this room.

    Parameters
    ----------
    folder : path
        With the files ``result_fairness_*.csv`` and ``result_shap_*.csv``.
    """
    models = {entry.short: entry.id for entry in STUDY_MODELS}
    fixes = {entry.short: entry.id for entry in STUDY_FIXES}
    found = []
    for entry in STUDY_DATA:
        paths = [folder / f"result_{kind}_{entry.short}.csv" for kind in ("fairness", "shap")]
        if not all(path.is_file() for path in paths):
            raise DataError(f"The published results of {entry.id!r} are not in {str(folder)!r}.")
        fairness = {row["name"]: row for row in _read(paths[0])}
        for row in _read(paths[1]):
            model, fix = row["name"].removeprefix(f"{entry.short}_").split("_", 1)
            measured = {name: float(value) for name, value in fairness[row["name"]].items() if name != "name"}
            found.append(
                {
                    "dataset": entry.id,
                    "model": models[model],
                    "fix": fixes[fix],
                    "explainer": _explainer(row["shap_method"]),
                    **{one.id: one.published(measured) for one in STUDY_MEASURES if one.published is not None},
                    "disparity": float(row["unpriv_value"]) - float(row["priv_value"]),
                    "importance": float(row["feat_import"]),
                    "rank": int(row["feature_pos"]) + 1,
                    "accuracy": measured["acc_test"],
                }
            )
    return found


def absent(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Which results one dataset lacks and another one has, as keys (see `key_of`)."""
    known = {key_of(row) for row in rows}
    asked = dict.fromkeys(key[1:] for key in map(key_of, rows))
    return [
        (name, *rest)
        for name in dict.fromkeys(key[0] for key in map(key_of, rows))
        for rest in asked
        if (name, *rest) not in known
    ]


def absent_note(released: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Message | None:
    """Which results of the paper the released files lack, and whether `rows`, which are shown, have them from here."""
    lacking = absent(released)
    if not lacking:
        return None
    groups: dict[tuple[Any, ...], list[Message]] = {}
    order = list(STUDY_FIXES.ids())
    for dataset, model, fix, explainer in sorted(lacking, key=lambda key: order.index(key[2])):
        groups.setdefault((dataset, model, explainer), []).append(STUDY_FIXES[fix].title)
    which = [
        msg(
            "{dataset} with {model}, {explainer} ({fixes})",
            dataset=STUDY_DATA[dataset].title,
            model=STUDY_MODELS[model].title,
            explainer=STUDY_EXPLAINERS[explainer].title,
            fixes=together((Name(fix) for fix in fixes), "; "),
        )
        for (dataset, model, explainer), fixes in groups.items()
    ]
    facts = {
        "n": len(lacking),
        "whole": len(released) + len(lacking),
        "which": together((Name(one) for one in which), "; "),
    }
    left = set(lacking) - {key_of(row) for row in rows}
    if not left:
        return msg(
            "{n:# result|# results} of the {whole:int} are not in the released files, and are from here: {which}.",
            **facts,
        )
    return msg(
        "{n:# result|# results} of the {whole:int} are not in the released files: {which}. {left:int} of them are "
        "missing here too: they take models trained here.",
        left=len(left),
        **facts,
    )


def _explainer(short: str) -> str:
    return next(entry.id for entry in STUDY_EXPLAINERS if entry.short == short)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def beside(published: Sequence[Mapping[str, Any]], obtained: Sequence[Mapping[str, Any]]) -> Table:
    """Each published figure beside ours: the mean over seeds, their standard deviation, and whether it is reproduced.

    Parameters
    ----------
    published : rows of `published_rows`
    obtained : rows of a study, with a column seed
    """
    names = [*(measure.id for measure in STUDY_MEASURES), "disparity", "importance", "rank"]
    ours: dict[tuple[Any, ...], dict[Any, Mapping[str, Any]]] = {}
    for row in obtained:  # a fairness measure is the same for all explainers of a model
        for key in (key_of(row), key_of(row)[:3]):
            ours.setdefault(key, {}).setdefault(row["seed"], row)
    rows, seen = [], set()
    for row in published:
        for name in names:
            key = key_of(row) if name in ("disparity", "importance", "rank") else key_of(row)[:3]
            if key not in ours or (key, name) in seen or name not in row:
                continue
            seen.add((key, name))
            values = np.asarray([one[name] for one in ours[key].values() if one.get(name) is not None], dtype=float)
            if values.size:
                rows.append(_compared(row, name, float(row[name]), values))
    columns = (
        *(Column(name, title=title) for name, title in _LABELS.items()),
        Column("measure", title=msg("measure"), names={**NAMES, "rank": msg("rank")}),
        Column("published", format="num4", title=msg("published")),
        Column("obtained", format="num4", title=msg("obtained, mean over seeds")),
        Column("spread", format="num4", title=msg("standard deviation over seeds")),
        Column("seeds", format="int", title=msg("seeds")),
        Column("reproduced", title=msg("reproduced")),
    )
    return Table.from_rows(rows, columns, title=msg("Published and obtained"))


_LABELS = {
    "dataset": msg("dataset"),
    "model": msg("model"),
    "fix": msg("fix"),
    "explainer": msg("explainer"),
}


def key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Which model, fix and explainer a row is about."""
    return row["dataset"], row["model"], row["fix"], row["explainer"]


def _compared(row: Mapping[str, Any], name: str, value: float, values: Any) -> dict[str, Any]:
    mean, spread = float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else 0.0
    near = EQUAL_NEIGHBOURS if name == "inconsistency" else EQUAL
    shap = name in ("disparity", "importance", "rank")
    same: bool | Message = bool(abs(value - mean) <= max(WITHIN * spread, near))
    if not same and values.size == 1:
        same = ONE_SEED
    return {
        **{label: row[label] for label in ("dataset", "model", "fix")},
        "explainer": row["explainer"] if shap else "",
        "measure": name,
        "published": value,
        "obtained": mean,
        "spread": spread if values.size > 1 else None,
        "seeds": int(values.size),
        "reproduced": same,
    }


def reproduction(table: Table) -> Result:
    """The comparison as a section of the report, with the shares of figures that came out again."""
    keys = [table[name].values for name in ("dataset", "model")]
    hits = [hit if isinstance(hit, bool) else None for hit in table["reproduced"].values]
    same = np.asarray([hit for hit in hits if hit is not None], dtype=bool)
    groups: dict[tuple[Any, ...], list[bool]] = {}
    for row, hit in enumerate(hits):
        if hit is not None:
            groups.setdefault((keys[0][row], keys[1][row]), []).append(hit)
    shares = [
        {"dataset": d, "model": m, "n": len(own), "reproduced": sum(own) / len(own)} for (d, m), own in groups.items()
    ]
    columns = (
        Column("dataset", title=msg("dataset")),
        Column("model", title=msg("model")),
        Column("n", format="int", title=msg("figures")),
        Column("reproduced", format="pct", title=msg("reproduced")),
    )
    note = msg(
        "A published figure counts as reproduced within {sd:int} standard deviations over the seeds, or where it is "
        "equal to {equal:num} (1 - consistency: {near:num}, since ties between neighbours are broken differently).",
        sd=WITHIN,
        equal=EQUAL,
        near=EQUAL_NEIGHBOURS,
    )
    return Result(
        code="reproduction",
        title=msg("Published results and ours"),
        tables={"shares": Table.from_rows(shares, columns, title=msg("Figures that came out again")), "figures": table},
        values={"reproduced": float(same.mean()) if same.size else None, "figures": int(same.size)},
        notes=(note,),
        formats={"reproduced": "pct", "figures": "int"},
    )
