"""`find_pairs`: data and a model in, pairs of people treated differently out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from isonomia.data import Task
from isonomia.data.schema import TASKS
from isonomia.discovery.method import PAIR_METHODS
from isonomia.discovery.pairs.population import Population
from isonomia.discovery.pairs.question import PairQuestion
from isonomia.discovery.pairs.result import PairResult
from isonomia.discovery.questions import answered
from isonomia.errors import SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.keeping import Keeper
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
from isonomia.probing import Domain

#: The budget of a search where none is given.
MAX_TESTS, MAX_SECONDS = 10_000, 3600.0


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
        and an hour, and no limit for "observed" and "fliptest", whose answers are about all people in the data.
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
    >>> from isonomia import Dataset
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
    population = Population.of(
        data,
        model,
        roles={"protected": protected, "target": target, "positive": positive, "task": task},
        domain=domain,
        constraints=constraints,
        dependencies=dependencies and chosen.alters,
    )
    question = PairQuestion(
        population=population,
        method=chosen,
        options=options,
        max_tests=(None if chosen.complete else MAX_TESTS) if max_tests == "auto" else max_tests,
        max_seconds=(None if chosen.complete else MAX_SECONDS) if max_seconds == "auto" else max_seconds,
        max_model_rows=max_model_rows,
        values=values,
        gamma=gamma,
        one_attr_at_a_time=one_attr_at_a_time,
        seed=seed,
        ledger_dir=ledger_dir,
        analysis=analysis,
        progress=Progress.of(progress),
    )
    return answered(question, store, analysis, reuse=reuse)
