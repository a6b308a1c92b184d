"""One cell of the study: a dataset, a model, a fix and a seed, measured and explained, kept as a small file."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isonomia._version import __version__
from isonomia.atomic import atomic_write
from isonomia.errors import BudgetError, DataError, IsonomiaError, ModelError, NotApplicable
from isonomia.evidence import finite
from isonomia.study.explainers import Explained, StudyExplainer, explain
from isonomia.study.fixes import StudyFix, train
from isonomia.study.matrices import Matrices, members_of, outcomes_of
from isonomia.study.measures import StudyMeasure
from isonomia.study.models import StudyModel
from isonomia.study.sources import StudyData
from isonomia.subject import Subject
from isonomia.typing import Bools, Indices

#: What every cell's file has.
PARTS = {"key", "signature", "accuracy", "measures", "explanations"}
#: Raised when the figures of a cell change, so that old files are computed again.
FORM = 1
#: Beside the folder of cells: which were asked for.
PLANNED = "planned.json"


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work a cell may take.

    Attributes
    ----------
    explained : int or None
        Test rows that are explained, drawn at random; None for all.
    max_model_rows : int
        Rows that one explainer may ask the model about.
    max_test : int or None
        Test rows that are used.
    """

    explained: int | None = 200
    max_model_rows: int = 50_000_000
    max_test: int | None = 1000


@dataclass(frozen=True, eq=False)
class Plan:
    """What is done in every cell."""

    measures: Sequence[StudyMeasure]
    explainers: Sequence[StudyExplainer]
    effort: Effort
    setup: str

    def signature(self, data: StudyData, model: StudyModel) -> dict[str, Any]:
        """What a cell's figures depend on beside its key: a file with another signature is computed again."""
        own = {measure.id: measure.version for measure in self.measures if measure.version}
        return {
            "form": FORM,
            "setup": self.setup,
            "model": repr(model.make(0)),
            "measures": [measure.id for measure in self.measures],
            "unsigned": [measure.id for measure in self.measures if measure.unsigned],
            "explainers": [explainer.id for explainer in self.explainers if explainer.explains(model)],
            **asdict(self.effort),
            **({"data": data.version} if data.version else {}),
            **({"functions": own} if own else {}),
        }


@dataclass(frozen=True)
class Key:
    """Which cell."""

    dataset: str
    model: str
    fix: str
    seed: int

    @property
    def file(self) -> str:
        """The cell's file: readable, and never the same for two keys."""
        name = "-".join((self.dataset, self.model, self.fix, str(self.seed)))
        digest = hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)[:80]}-{digest}.json"


def stored(path: Path, signature: Mapping[str, Any]) -> dict[str, Any] | None:
    """The cell in a file; None where there is none, it is not whole, or it was computed in another way."""
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = isinstance(found, dict) and found.get("signature") == signature
    return found if same else None


def finished(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """All whole cells of a folder, by name of their file; and the files that are not cells, each with the reason."""
    found, unread = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            cell = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            unread.append(f"{path.name}: {error}")
            continue
        if isinstance(cell, dict) and set(cell) >= PARTS:
            found.append(cell)
        else:
            unread.append(f"{path.name}: it is not a cell of the study")
    return found, unread


def plan_cells(folder: Path, names: Sequence[str]) -> None:
    """Note which cells a study asks for, beside those of earlier runs into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / PLANNED) as part:
        part.write_text(json.dumps(sorted({*_planned(folder), *names}), indent=1) + "\n", encoding="utf-8")


def waiting_cells(folder: Path) -> int:
    """How many of the cells that were asked for are not in the folder."""
    return sum(not (folder / "cells" / name).is_file() for name in _planned(folder))


def _planned(folder: Path) -> list[str]:
    """The files of the cells that were asked for; none where no run noted them."""
    path = folder / PLANNED
    if not path.is_file():
        return []
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{str(path)!r} is not JSON ({error}). Remove it, or run the study again.") from None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def store(path: Path, cell: Mapping[str, Any]) -> None:
    """Write a cell, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_text(json.dumps(cell, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def compute(
    key: Key, plan: Plan, matrices: Matrices, model: StudyModel, fix: StudyFix, signature: Mapping[str, Any]
) -> dict[str, Any]:
    """Train, measure and explain one model."""
    began = time.perf_counter()
    trained = train(model.make(key.seed), fix, matrices, key.seed)
    subject = Subject.of(matrices.test, trained.estimator, seed=key.seed)
    label = subject.surface.label
    if label is None:
        raise NotApplicable(f"the model '{model.id}' gives no decisions")
    truth = outcomes_of(matrices.test)
    cell: dict[str, Any] = {
        "key": asdict(key),
        "signature": signature,
        "version": __version__,
        "rows": {"train": len(trained.rows), "test": len(truth), "columns": len(matrices.test.columns) - 1},
        "accuracy": float((label == truth).mean()),
        "measures": {measure.id: _measured(measure, subject) for measure in plan.measures},
        "explanations": {},
    }
    rows = _explained(members_of(matrices.test), plan.effort.explained, key.seed)
    given = Explained(
        subject=subject,
        trained=trained,
        model=model,
        rows=rows,
        max_model_rows=plan.effort.max_model_rows,
        seed=key.seed,
    )
    for explainer in plan.explainers:
        if explainer.explains(model):
            cell["explanations"][explainer.id] = _explanation(explainer, given)
    cell["seconds"] = round(time.perf_counter() - began, 3)
    return cell


def _explained(member: Bools, limit: int | None, seed: int) -> Indices:
    """The test rows to explain: both groups with their shares, at least two rows of each."""
    if limit is None or member.size <= limit:
        return np.arange(member.size)
    rng = np.random.default_rng(seed)
    drawn = [
        rng.choice(rows, min(rows.size, max(2, round(limit * rows.size / member.size))), replace=False)
        for rows in (np.flatnonzero(member), np.flatnonzero(~member))
    ]
    return np.sort(np.concatenate(drawn))


def _measured(measure: StudyMeasure, subject: Subject) -> dict[str, Any]:
    try:
        value = finite(measure.compute(subject))
    except (NotApplicable, DataError, ModelError, BudgetError) as error:
        return {"value": None, "reason": str(error)}
    return {"value": value, "reason": None if value is not None else "not defined for these rows"}


def _explanation(explainer: StudyExplainer, given: Explained) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        found = dict(explain(explainer, given))
    except IsonomiaError as error:
        return {"reason": str(error)}
    return {**found, "reason": None, "seconds": round(time.perf_counter() - began, 3)}
