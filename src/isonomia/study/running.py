"""The study as an experiment: every dataset, model, fix and seed, resumed where it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from isonomia.errors import DataError, SpecError, close_to
from isonomia.events import Clock, Progress, ProgressLike
from isonomia.languages import msg
from isonomia.parameters import LEVEL, N_BOOT, SEED, Boolean, Integer, Number, Several, Text, validated
from isonomia.registry import Registry
from isonomia.study.cells import Effort, Key, Plan, compute, finished, plan_cells, store, stored, waiting_cells
from isonomia.study.explainers import STUDY_EXPLAINERS
from isonomia.study.fixes import STUDY_FIXES
from isonomia.study.measures import STUDY_MEASURES, StudyMeasure, own_measure
from isonomia.study.models import STUDY_MODELS, StudyModel, own_model
from isonomia.study.outcome import Study, assembled
from isonomia.study.published import published_rows
from isonomia.study.sources import STUDY_DATA, StudyData, own_data

T = TypeVar("T", bound=Any)
#: A name of the registry, several, or a user's own by name.
Chosen = Sequence[str] | Mapping[str, Any] | None
MAX_SECONDS = Number(above=0).or_none("for no limit")


@validated(
    fixes=Several(Text("the id of a fix"), single=True).or_none("for all"),
    explainers=Several(Text("the id of an explainer"), single=True).or_none("for all"),
    unsigned=Several(Text("the name of a measure"), single=True),
    seeds=Several(SEED, single=True),
    explained=Integer(2).or_none("for all test rows"),
    max_model_rows=Integer(1),
    max_test=Integer(10).or_none("for all"),
    tolerance=Number(at_least=0),
    n_boot=N_BOOT,
    level=LEVEL,
    max_seconds=MAX_SECONDS,
    paper_only=Boolean(),
)
def run_study(
    folder: str | os.PathLike[str] | None = None,
    *,
    datasets: Chosen = None,
    models: Chosen = None,
    fixes: Sequence[str] | None = None,
    explainers: Sequence[str] | None = None,
    measures: Chosen = None,
    unsigned: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    paper: str | os.PathLike[str] | None = None,
    explained: int | None = 200,
    max_model_rows: int = 50_000_000,
    max_test: int | None = 1000,
    tolerance: float = 0.005,
    n_boot: int = 2000,
    level: float = 0.95,
    max_seconds: float | None = None,
    progress: ProgressLike = None,
    paper_only: bool = False,
) -> Study:
    """Do explanations and fairness measures agree? Trains, measures and explains every model, then compares.

    Parameters
    ----------
    folder : path, optional
        Where every finished cell is kept as a small file: a run that was stopped goes on from there.
    datasets : names, or mapping of Dataset
        Of `STUDY_DATA`, or your own by name: with a target, a protected attribute and its privileged value. By default
        all six (in the set-up of the paper the four whose training data exist).
    models : names, or mapping of estimators
        Of `STUDY_MODELS`, or your own: an estimator, or a function or class that makes one.
    fixes, explainers : names, optional
        Of `STUDY_FIXES` and `STUDY_EXPLAINERS`; "unmitigated" is always among the fixes.
    measures : names, or mapping of functions
        Of `STUDY_MEASURES`, or your own: a function of a `Subject` that returns a number.
    unsigned : names
        Your own measures that have a size but no sign.
    seeds : ints
        Of the split, of sampling and of training.
    paper : path, optional
        The folder of the paper's files: its set-up is repeated, and published figures are shown beside ours.
    explained : int, optional
        Test rows that are explained; None for all of them.
    max_model_rows : int
        Rows that one explainer may ask a model about.
    max_test : int, optional
        Test rows that are used.
    tolerance, n_boot, level
        As in `isonomia.explain.agreement`.
    max_seconds : float, optional
        No new cell is begun after this time; the result is that of the finished cells.
    progress : callable or Progress, optional
        Receives an event per cell; a `Progress` can cancel the run.
    paper_only : bool
        With `paper`: no model is trained; the published results themselves are compared.

    Returns
    -------
    Study

    References
    ----------
    J. Cesaro (2020), Avaliacao de discriminacao em aprendizagem de maquina usando tecnicas de interpretabilidade,
    dissertation, University of Sao Paulo; J. Cesaro, F. Cozman (2019), Measuring unfairness through game-theoretic
    interpretability.
    """
    released = None if paper is None else Path(paper)
    if paper_only and released is None:
        raise SpecError("`paper_only` compares published results: give their folder as `paper`.")
    published = [] if released is None else published_rows(released)
    plan = Plan(
        measures=_measures(measures, unsigned),
        explainers=_picked(STUDY_EXPLAINERS, explainers),
        effort=Effort(explained=explained, max_model_rows=max_model_rows, max_test=max_test),
        setup="own" if released is None else "paper",
    )
    cells: list[dict[str, Any]] = []
    waiting = 0
    if not paper_only:
        chosen = _own(STUDY_DATA, datasets, own_data, _paper_data if released else None)
        ids = list(dict.fromkeys(["unmitigated", *(fixes or STUDY_FIXES.ids())]))
        trained = _own(STUDY_MODELS, models, own_model)
        started = list(dict.fromkeys(seeds))
        if folder is not None:
            plan_cells(Path(folder), [key.file for key in _keys(chosen, trained, ids, started)])
        cells = _cells(
            plan,
            chosen,
            trained,
            ids,
            started,
            folder=None if folder is None else Path(folder) / "cells",
            released=released,
            clock=Clock(max_seconds, Progress.of(progress)),
        )
        waiting = len(_keys(chosen, trained, ids, started)) - len(cells)
    study = assembled(cells, plan.measures, published, tolerance=tolerance, n_boot=n_boot, level=level)
    return replace(study, waiting=waiting)


@validated(tolerance=Number(at_least=0), n_boot=N_BOOT, level=LEVEL)
def read_study(
    folder: str | os.PathLike[str],
    *,
    paper: str | os.PathLike[str] | None = None,
    tolerance: float = 0.005,
    n_boot: int = 2000,
    level: float = 0.95,
) -> Study:
    """The study of the cells that are finished in a folder; nothing is trained.

    Parameters
    ----------
    folder : path
        That `run_study` wrote to.
    paper : path, optional
        The folder of the paper's files, to show published figures beside ours.
    tolerance, n_boot, level
        As in `isonomia.explain.agreement`.
    """
    cells, unread = finished(Path(folder) / "cells")
    if not cells:
        reasons = f" Files that could not be read: {'; '.join(unread[:5])}." if unread else ""
        raise DataError(f"There are no finished cells in {str(folder)!r}. Run the study into it first.{reasons}")
    names = list(dict.fromkeys(name for cell in cells for name in cell["measures"]))
    sizes = {name for cell in cells for name in cell["signature"]["unsigned"]}
    measures = [
        STUDY_MEASURES[name] if name in STUDY_MEASURES else own_measure(name, float, unsigned=name in sizes)
        for name in names
    ]
    published = [] if paper is None else published_rows(Path(paper))
    study = assembled(cells, measures, published, tolerance=tolerance, n_boot=n_boot, level=level)
    return replace(study, unread=tuple(unread), waiting=waiting_cells(Path(folder)))


def _keys(
    datasets: Sequence[StudyData], models: Sequence[StudyModel], fixes: Sequence[str], seeds: Sequence[int]
) -> list[Key]:
    """Every cell that is asked for."""
    return [
        Key(dataset=data.id, model=model.id, fix=fix, seed=seed)
        for data in datasets
        for seed in seeds
        for model in models
        for fix in fixes
    ]


def _cells(
    plan: Plan,
    datasets: Sequence[StudyData],
    models: Sequence[StudyModel],
    fixes: Sequence[str],
    seeds: Sequence[int],
    *,
    folder: Path | None,
    released: Path | None,
    clock: Clock,
) -> list[dict[str, Any]]:
    """The finished cells, in the order of the plan; matrices are made once per dataset and seed, and when needed."""
    found: list[dict[str, Any]] = []
    total = len(_keys(datasets, models, fixes, seeds))
    with clock.progress.stage("study", msg("Training, measuring and explaining models"), total=total) as stage:
        for data in datasets:
            for seed in seeds:
                matrices = None
                for model in models:
                    for fix in fixes:
                        key = Key(dataset=data.id, model=model.id, fix=fix, seed=seed)
                        path = None if folder is None else folder / key.file
                        signature = plan.signature(data, model)
                        cell = None if path is None else stored(path, signature)
                        if cell is None and clock.over:
                            return found
                        if cell is None:
                            if matrices is None:
                                matrices = data.matrices(seed, max_test=plan.effort.max_test, released=released)
                            cell = compute(key, plan, matrices, model, STUDY_FIXES[fix], signature)
                            if path is not None:
                                store(path, cell)
                        found.append(cell)
                        stage.at(stage.done + 1, result=cell["key"])
    return found


def _paper_data(entry: StudyData) -> bool:
    return entry.released is not None or entry.paper is not None


def _picked(registry: Registry[T], names: Sequence[str] | None) -> list[T]:
    return list(registry) if names is None else [registry[name] for name in dict.fromkeys(names)]


def _own(
    registry: Registry[T], given: Chosen, made: Callable[[str, Any], T], kept: Callable[[T], bool] | None = None
) -> list[T]:
    """Entries by name, or a user's own; a mapping may name entries too: ``{"adult": None, "mine": data}``."""
    if given is None:
        return [entry for entry in registry if kept is None or kept(entry)]
    if isinstance(given, Mapping):
        found = [registry[name] if value is None else made(str(name), value) for name, value in given.items()]
    else:
        found = _picked(registry, [given] if isinstance(given, str) else given)
    if not found:
        raise SpecError(f"The study needs at least one {registry.word}.")
    return found


def _measures(given: Chosen, unsigned: Sequence[str]) -> list[StudyMeasure]:
    known = [given] if isinstance(given, str) else list(given or STUDY_MEASURES.ids())
    for name in unsigned:
        if name not in known:
            raise SpecError(f"`unsigned` must name measures of this study; got {name!r}.{close_to(name, known)}")
    return _own(STUDY_MEASURES, given, lambda name, compute: own_measure(name, compute, unsigned=name in unsigned))
