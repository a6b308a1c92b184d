"""The entrance: data and a model in, discriminating pairs out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset, Task, numbers
from isonomia.data.schema import TASKS
from isonomia.discovery.method import PAIR_METHODS
from isonomia.discovery.pairs import kept
from isonomia.discovery.pairs._proxies import proxies_of
from isonomia.discovery.pairs.dependency_table import state_dependencies
from isonomia.discovery.pairs.present import build_result
from isonomia.discovery.pairs.result import PairResult, Pairs
from isonomia.discovery.pairs.searches.auto import finish
from isonomia.discovery.pairs.searches.exact import conclude
from isonomia.discovery.pairs.space import Space
from isonomia.discovery.questions import ask
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.keeping import Keeper
from isonomia.languages import msg
from isonomia.models import Model
from isonomia.parameters import (
    NAMES,
    SEED,
    Anything,
    Boolean,
    Choice,
    Either,
    Entry,
    Integer,
    Keyed,
    Made,
    Number,
    Several,
    Text,
    validated,
)
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe, Script
from isonomia.subject import Subject, read_dataset
from isonomia.typing import Floats

#: The budget of a search where none is given.
MAX_TESTS, MAX_SECONDS = 10_000, 3600.0
_NAME = re.compile(r"[\w.-]{1,100}")


@validated(
    method=Entry(PAIR_METHODS),
    protected=NAMES.or_none(),
    target=Text("the name of a column").or_none(),
    task=Choice(TASKS).or_none(),
    constraints=Several(Anything("a rule")),
    values=Keyed(Several(Anything("a value"), 1)).or_none("for all"),
    domain=Either(
        Keyed(Anything("a range or values")), Made(lambda given: isinstance(given, Domain), "a Domain")
    ).or_none(),
    max_tests=Either(Choice(("auto",)), Integer(1)).or_none("for no limit"),
    max_seconds=Either(Choice(("auto",)), Number(above=0)).or_none("for no limit"),
    max_model_rows=Integer(1).or_none("for no limit"),
    dependencies=Boolean(),
    gamma=Number(at_least=0),
    one_attr_at_a_time=Boolean(),
    seed=SEED,
    reuse=Boolean(),
)
def find_pairs(
    data: Any,
    model: Any = None,
    *,
    method: str = "auto",
    protected: str | Sequence[str] | None = None,
    target: str | None = None,
    positive: Any = None,
    task: Task | None = None,
    domain: Domain | Mapping[str, Any] | None = None,
    constraints: Sequence[Any] = (),
    dependencies: bool = True,
    values: Mapping[str, Sequence[Any]] | None = None,
    max_tests: int | Literal["auto"] | None = "auto",
    max_seconds: float | Literal["auto"] | None = "auto",
    max_model_rows: int | None = None,
    gamma: float = 0.0,
    one_attr_at_a_time: bool = False,
    seed: int = 0,
    ledger_dir: str | os.PathLike[str] | None = None,
    store: Keeper | str | os.PathLike[str] | None = None,
    analysis: str | None = None,
    reuse: bool = False,
    progress: ProgressLike = None,
    **options: Any,
) -> PairResult:
    """Find people who would be treated differently if only their protected attributes were different.

    Parameters
    ----------
    data : Dataset, frame, Subject or Domain
        The people; searches start from them or from their domain.
    model : estimator, callable or Model
        The model to examine; None where `data` is a Subject, which has its model.
    method : str
        The name of a search in `METHODS` (``isonomia methods`` lists them).
    protected : str or sequence of str, optional
        The attributes to alter; by default those of the dataset.
    target, positive, task : optional
        Roles of a plain frame, as in `Dataset`.
    domain : Domain or mapping, optional
        Which people are valid. A mapping overrides some features: ``{"age": (18, 99)}``. By default what the data
        spans.
    constraints : sequence, optional
        Rules a valid person obeys, see `Domain`.
    dependencies : bool
        Whether people have to agree with what the data rule out in 99.9% of the rows (a husband is not female), both
        of a pair: who has no possible counterpart is not tested. Learned from the data, listed in
        ``tables["dependencies"]`` (see `isonomia.probing.Dependencies`). A `Domain` that is given brings its own.
    values : mapping, optional
        Values of protected attributes to try; by default all.
    max_tests, max_seconds, max_model_rows : optional
        The budget: distinct people tested, seconds, rows sent to the model. None: no limit. "auto" is 10,000 people
        and an hour, and no limit for "observed", which is the complete answer for the people in the data.
    gamma : float
        Smallest difference that counts; at 0 decisions must differ (numbers of a regression: at all); above 0 scores
        must differ by more than it.
    one_attr_at_a_time : bool
        Whether the two of a pair may differ in one protected attribute only.
    seed : int
        The same seed gives the same pairs.
    ledger_dir : path, optional
        A folder to keep the ledger in, under `analysis`; the same call goes on where an interrupted one stopped.
    store : Store or address, optional
        Where the result is kept, under `analysis` (see `isonomia.store.open`).
    analysis : str, optional
        What the search belongs to, such as "loans", in the store and in `ledger_dir`.
    reuse : bool
        Whether an earlier answer in the store is given again where the question is the same: data, model, method,
        options, budget, seed and version of Isonomia. Nothing is searched, trained or asked then.
    progress : callable or Progress, optional
        Receives the events of the search; a `Progress` can cancel it. What is in `ledger_dir` by then is not lost.
    **options
        The method's own, see its docstring.

    Returns
    -------
    PairResult

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M"] * 20, "skill": list(range(40))}, protected=["sex"])
    >>> def hire(frame):
    ...     skill, man = frame["skill"].to_numpy(), (frame["sex"] == "M").to_numpy()
    ...     return (skill + 3 * man > 30).astype(int)
    >>> result = find_pairs(data, hire, method="observed")
    >>> result.metrics["TSN"], result.metrics["DSN"]
    (40, 3)
    """
    chosen = PAIR_METHODS[method]
    if analysis is not None and store is None and ledger_dir is None:
        raise SpecError("`analysis` names a run in a store, or a ledger in `ledger_dir`; give store= or ledger_dir=.")
    options = chosen.read(options)
    endless = chosen.complete
    tests = (None if endless else MAX_TESTS) if max_tests == "auto" else max_tests
    seconds = (None if endless else MAX_SECONDS) if max_seconds == "auto" else max_seconds
    roles = {"protected": protected, "target": target, "positive": positive, "task": task}
    dataset, model = _read(data, model, roles)
    left_out = 0
    if dataset is not None and not isinstance(domain, Domain):
        dataset, left_out = _with_finite_numbers(dataset, _features(dataset, model))
    space_domain = data if dataset is None else _domain(dataset, model, domain, constraints)
    names = _protected(dataset, protected, space_domain)
    if dependencies and chosen.alters and dataset is not None and not isinstance(domain, Domain):
        space_domain.learn_dependencies(dataset.frame, leading=names)
    asked = None
    if store is not None or reuse:
        asked = ask(
            store,
            analysis,
            reuse=reuse,
            data=dataset,
            model=model,
            seed=seed,
            finds="pairs",
            method=method,
            options=options,
            protected=names,
            values=values,
            domain=space_domain.describe(),
            functions=[rule for rule in space_domain.rules if callable(rule)],
            budget=(tests, seconds, max_model_rows),
            gamma=gamma,
            one_attr_at_a_time=one_attr_at_a_time,
        )
        if reuse and (answer := asked.answer()) is not None:
            return kept.result_of(answer, space_domain)
    oracle = Oracle(model, space_domain, dataset)
    chosen.check_task(oracle.task)
    people, clipped = _people(dataset, space_domain, spanned=not isinstance(data, Domain) and domain is None)
    probe = Probe(oracle, names, values=values, gamma=gamma, one_attr_at_a_time=one_attr_at_a_time, reference=people)
    run = (
        {}
        if ledger_dir is None
        else {
            "method": method,
            "seed": seed,
            "gamma": probe.gamma,
            "one_attr_at_a_time": probe.one_attr_at_a_time,
            "protected": list(names),
            "variants": probe.variants.tolist(),
            "domain": space_domain.describe(),
            "options": {name: str(value) for name, value in sorted(options.items())},
            "data": None if dataset is None else dataset.fingerprint,
        }
    )
    ledger = Ledger(
        max_tests=tests,
        max_seconds=seconds,
        max_model_rows=max_model_rows,
        path=_path(ledger_dir, analysis, method),
        run=run,
        progress=Progress.of(progress),
    )
    loop = Loop(probe, ledger)
    space = Space(loop=loop, people=people, rng=np.random.default_rng(seed), data=dataset)
    state_dependencies(space)
    if left_out:
        space.notes.append(
            msg("{n:# person with an infinite number was|# people with infinite numbers were} left out.", n=left_out)
        )
    if clipped:
        space.notes.append(
            msg(
                "{n:# row of the data lies outside the domain and was|# rows of the data lie outside the domain and "
                "were} moved to its edge.",
                n=clipped,
            )
        )
    for name in probe.sampled:
        space.notes.append(
            msg("{name} has many values; nine of them, spread over its distribution, were tried.", name=name)
        )
    try:
        loop.drive(Script(chosen.run(space, **options)))
    finally:
        ledger.close()
    conclude(space)
    ledger.progress.check()
    pairs = space.facts.pop("pairs", None)
    if pairs is None:
        pairs = _pairs(probe, ledger.findings())
    finish(space, pairs.first)
    result = build_result(space, pairs, method=chosen)
    if asked is not None:
        asked.keep(result, kept.record_of(result))
    return result


def _read(data: Any, model: Any, roles: Mapping[str, Any]) -> tuple[Dataset | None, Any]:
    """The dataset (None where only a domain was given) and the model, which a subject has already."""
    if isinstance(data, Domain):
        return None, model
    if not isinstance(data, Subject):
        given = {name: value for name, value in roles.items() if value is not None}
        if isinstance(data, Dataset):
            given.pop("protected", None)
        return read_dataset(data, given), model
    repeated = ["model"] * (model is not None) + [n for n in ("target", "positive", "task") if roles[n] is not None]
    if repeated:
        raise SpecError(f"A Subject is read already; leave out {', '.join(repeated)}.")
    return data.data, data.needs_model()


def _domain(
    dataset: Dataset, model: Any, domain: Domain | Mapping[str, Any] | None, constraints: Sequence[Any]
) -> Domain:
    """The domain of valid people: the one given, or what the data spans."""
    if isinstance(domain, Domain):
        return domain
    return Domain.from_data(dataset, features=_features(dataset, model), constraints=constraints, overrides=domain)


def _features(dataset: Dataset, model: Any) -> list[str]:
    """The columns that the model takes."""
    takes = model.features if isinstance(model, Model) else getattr(model, "feature_names_in_", None)
    features = [str(name) for name in takes] if takes is not None else list(dataset.features)
    for name in features:
        if name not in dataset.columns:
            raise SpecError(
                f"The model needs a feature {name!r} that is not in the data.{close_to(name, dataset.columns)}"
            )
    return features


def _with_finite_numbers(dataset: Dataset, names: Sequence[str]) -> tuple[Dataset, int]:
    """The people without infinite numbers, and how many have one: no valid person is like them."""
    infinite = np.zeros(len(dataset), dtype=bool)
    for name in names:
        if dataset.kinds[name] == "numeric":
            infinite |= np.isinf(numbers(dataset.column(name)))
    if infinite.all():
        raise NotApplicable(msg("everyone has an infinite number in some feature"))
    return (dataset.take(~infinite), int(infinite.sum())) if infinite.any() else (dataset, 0)


def _names(protected: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if protected is None else (protected,) if isinstance(protected, str) else tuple(protected)


def _protected(dataset: Dataset | None, protected: str | Sequence[str] | None, domain: Domain) -> tuple[str, ...]:
    """The attributes to alter, all of them features that the model takes."""
    names = _names(protected) or (dataset.protected if dataset is not None else ())
    if not names:
        raise SpecError("No protected attribute is given; name at least one, for example protected=['sex'].")
    for name in names:
        if name in domain.names:
            continue
        if dataset is None or name not in dataset.columns:
            known = domain.names if dataset is None else dataset.columns
            raise SpecError(f"`protected` must name columns of the data; got {name!r}.{close_to(name, known)}")
        near = proxies_of(dataset, name, domain.names)
        raise NotApplicable(
            f"the model does not take '{name}', so no two people can differ in it alone. Closest features: "
            f"{', '.join(near)}. Examine pairs that differ in one of them, or group fairness by '{name}'"
        )
    return names


def _people(dataset: Dataset | None, domain: Domain, *, spanned: bool) -> tuple[Floats, int]:
    """The rows of the data as valid people, and how many had to be moved to the edge of the domain.

    With `spanned` the domain is the range of these rows: nobody is outside, only constraints may exclude people.
    """
    if dataset is None:
        return np.empty((0, len(domain))), 0
    rows = domain.encode(dataset.frame)
    if spanned:
        return rows[domain.valid(rows)] if domain.rules else rows, 0
    snapped = domain.snap(rows)
    changed = (rows != snapped) & ~np.isnan(rows)
    moved = int(changed.any(axis=1).sum()) if changed.any() else 0
    return snapped[domain.valid(snapped)], moved


def _pairs(probe: Probe, found: Mapping[str, NDArray[Any]]) -> Pairs:
    """The findings of a ledger as pairs of people; the one treated better second."""
    if not found:
        none, nothing = np.empty((0, len(probe.domain))), np.empty(0)
        codes = np.empty(0, np.int64)
        return Pairs(
            first=none,
            columns=probe.altered,
            other=none[:, probe.altered],
            outcome_first=codes,
            outcome_second=codes,
            score_first=nothing,
            score_second=nothing,
            gap=nothing,
        )
    first, other = (probe.as_variant(found["row"], found[side].astype(np.intp)) for side in "ab")
    regression = probe.oracle.task == "regression"
    outcome = [found[f"{'score' if regression else 'label'}_{side}"] for side in "ab"]
    return Pairs(
        first=first,
        columns=probe.altered,
        other=other[:, probe.altered],
        outcome_first=outcome[0],
        outcome_second=outcome[1],
        score_first=found["score_a"],
        score_second=found["score_b"],
        gap=found["gap"],
    )


def _path(ledger_dir: str | os.PathLike[str] | None, analysis: str | None, method: str) -> Path | None:
    if ledger_dir is None:
        return None
    name = analysis or method
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise SpecError(f"`analysis` may contain letters, digits, '_', '-' and '.'; got {name!r}.")
    folder = Path(ledger_dir)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.ledger"
