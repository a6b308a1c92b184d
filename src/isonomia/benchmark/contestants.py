"""Who takes part: every method of the registry, asked the same question, with its published settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from isonomia.benchmark.grids import Budget
from isonomia.benchmark.scenes import Scene, wrapped
from isonomia.discovery import METHODS, PairResult, SubgroupResult, find_pairs, find_subgroups
from isonomia.errors import SpecError, UntrustedError
from isonomia.models import import_object
from isonomia.registry import Registry
from isonomia.typing import Bools

#: Subgroups that a method may return.
K = 10
#: Half the error probability of VeriFair's verdicts, as published.
PUBLISHED_DELTA = 0.5e-10
#: Numbers of a regression that differ by more than this treat two people differently (a quarter of the usual bias).
NUMBERS_DIFFER = 0.25


@dataclass(frozen=True, eq=False)
class Claim:
    """A subgroup that a method claims, as rows of the fresh people.

    `sign` is -1 where these people are treated worse than they should be, `p` the adjusted p-value (None: no test).
    """

    rows: Bools
    sign: int
    p: float | None = None
    text: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method came to: claimed subgroups (the best first) or a result of pairs, and what it took.

    `unfair` is the method's overall verdict where it gives nothing else to compare (None: any significant claim).
    """

    claims: tuple[Claim, ...] = ()
    pairs: PairResult | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    unfair: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A method in the benchmark.

    Attributes
    ----------
    id, purpose : str
    finds : "subgroups" or "pairs"
    ask : callable
        ``ask(scene, budget, seed, options)`` returns an `Answer`.
    method : str
        Of `METHODS`.
    options : mapping
        What differs from the defaults of the function that is called; part of a cell's identity.
    ranked : bool
        Whether it is ranked by what it found; a method that only gives a verdict is not.
    """

    id: str
    purpose: str
    finds: Literal["subgroups", "pairs"]
    ask: Callable[[Scene, Budget, int, Contestant], Answer]
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    ranked: bool = True


def contestant(name: str) -> Contestant:
    """A contestant by its id, or one of your own as ``module:name`` from a module below the working folder.

    A store names those whose cells it keeps, so that other modules are never imported here.
    """
    try:
        found = import_object(name) if ":" in name else CONTESTANTS[name]
    except UntrustedError as error:
        raise SpecError(
            f"The method '{name}' is code from outside of the working folder; it is not run because a store or a list "
            "names it. Run the benchmark from the folder of its module, or register it (entry point group "
            "'isonomia.benchmark_contestants')."
        ) from error
    if not isinstance(found, Contestant):
        raise SpecError(f"'{name}' is a {type(found).__name__}, not a Contestant.")
    return found


def ask_slices(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """Whom does the score underrate (or overrate, where the bias is favourable)?

    Outcomes are compared with what scores let expect (classes), or errors in that direction are searched (numbers).
    """
    sign = scene.setting.sign
    given: dict[str, Any] = {"k": K, "seed": seed, "max_seconds": budget.seconds, **who.options}
    if scene.setting.task == "binary":
        given |= _as_classes(scene, "underrated" if sign < 0 else "overrated")
    else:
        given |= {"errors": np.maximum((scene.outcome - scene.score) * -sign, 0.0)}
    return _answer(scene, find_subgroups(scene.people, method=who.method, **given), lambda item: sign)


def ask_linear_rule(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """The same of groups cut out by a linear rule; of its two directions the one that is asked for."""
    sign = scene.setting.sign
    given: dict[str, Any] = {"k": K, "seed": seed, "max_seconds": budget.seconds, **who.options}
    if scene.setting.task == "binary":
        given |= _as_classes(scene, "underrated" if sign < 0 else "overrated")
        wanted = "high"
    else:
        given |= _as_numbers(scene, "residual")
        wanted = "low" if sign < 0 else "high"
    result = find_subgroups(scene.people, method=who.method, **given)
    return _answer(scene, result, lambda item: sign if item.stats["direction"] == wanted else -sign)


def ask_scan(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """Whose outcomes are better (or worse) than the model expects?"""
    sign = scene.setting.sign
    given: dict[str, Any] = {"k": K, "seed": seed, "max_seconds": budget.seconds, **who.options}
    given |= {"direction": "under" if sign < 0 else "over"}
    given |= _as_classes(scene, None) if scene.setting.task == "binary" else _as_numbers(scene, None)
    return _answer(scene, find_subgroups(scene.people, method=who.method, **given), lambda item: sign)


def ask_patterns(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """In which contexts do protected attributes make decisions worse (or better)?"""
    limits: dict[str, Any] = {"k": K, "seed": seed, "max_seconds": budget.seconds}
    result = find_subgroups(scene.people, wrapped(scene), method=who.method, **limits, **who.options)
    return _answer(scene, result, lambda item: -1 if (item.estimate.value or 0) < (item.overall or 0) else 1)


def ask_verdict(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """Is the model unfair to any group? The verdict alone counts."""
    limits: dict[str, Any] = {"k": K, "seed": seed, "max_seconds": budget.seconds}
    options = {"delta": PUBLISHED_DELTA, **who.options}
    result = find_subgroups(scene.people, wrapped(scene), method=who.method, **limits, **options)
    return Answer(metrics=result.metrics, complete=result.complete, unfair=bool(result.subgroups))


def ask_pairs(scene: Scene, budget: Budget, seed: int, who: Contestant) -> Answer:
    """Who would be treated differently with another protected attribute?"""
    result = find_pairs(
        scene.people,
        wrapped(scene),
        method=who.method,
        max_tests=None,
        max_seconds=budget.seconds,
        max_model_rows=budget.model_rows,
        one_attr_at_a_time=True,
        values=_one_per_band(scene),
        gamma=NUMBERS_DIFFER if scene.setting.task == "regression" else 0.0,
        seed=seed,
        **_affordable(scene, budget, who),
    )
    return Answer(pairs=result, metrics=result.metrics, complete=result.metrics["stopped"] != "seconds")


def _affordable(scene: Scene, budget: Budget, who: Contestant) -> dict[str, Any]:
    """The options of a search, with the length of its first phase as a share of the people that the budget allows."""
    options = dict(who.options)
    share = options.pop("first_phase", None)
    if share is not None:
        values = _one_per_band(scene)
        sizes = [len(values[n]) if n in values else scene.people.column(n).n_unique() for n in scene.people.protected]
        options[_FIRST_PHASE[who.method]] = max(1, round(share * budget.model_rows / math.prod(sizes)))
    return options


def _one_per_band(scene: Scene) -> dict[str, list[Any]]:
    """The median person of each band, for protected attributes in bands: more values would only repeat these."""
    bands = scene.people.roles.bands
    columns = {name: scene.people.column(name).to_numpy() for name in bands}
    cuts = {name: np.searchsorted(bands[name].edges, column, side="right") for name, column in columns.items()}
    return {
        name: [columns[name].dtype.type(np.median(columns[name][cut == band])).item() for band in np.unique(cut)]
        for name, cut in cuts.items()
    }


def claims_of(scene: Scene, result: SubgroupResult, sign: Callable[[Any], int]) -> list[Claim]:
    """The subgroups of a result among the fresh people."""
    features = scene.members(result.features)
    texts = [str(row["slice"]) for row in result.tables["subgroups"].rows()]
    return [
        Claim(rows=item.mask(features), sign=sign(item), p=item.p_adjusted, text=text)
        for item, text in zip(result.subgroups, texts, strict=True)
    ]


def _answer(scene: Scene, result: SubgroupResult, sign: Callable[[Any], int]) -> Answer:
    """The claims in the direction that was asked for."""
    claims = tuple(claim for claim in claims_of(scene, result, sign) if claim.sign == scene.setting.sign)
    return Answer(claims=claims, metrics=result.metrics, complete=result.complete)


def _as_classes(scene: Scene, metric: str | None) -> dict[str, Any]:
    return {"y_true": scene.outcome, "y_score": scene.score, "metric": metric, "positive": 1}


def _as_numbers(scene: Scene, metric: str | None) -> dict[str, Any]:
    """Outcomes and predictions as numbers from 0 on: BiasScan multiplies what is expected by a factor."""
    outcome = np.asarray(scene.outcome, dtype=float)
    low = min(0.0, float(outcome.min()), float(scene.score.min()))
    return {"y_true": outcome - low, "y_pred": scene.score - low, "task": "regression", "metric": metric}


CONTESTANTS: Registry[Contestant] = Registry("benchmark_contestant", word="contestant")
#: How a subgroup method is asked; methods not named here are searches for slices.
_ASKED: dict[str, Callable[..., Answer]] = {
    "biasscan": ask_scan,
    "gerryfair": ask_linear_rule,
    "naivebayes": ask_patterns,
    "verifair": ask_verdict,
}
_VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "divexplorer_t": (
        "divexplorer",
        "DivExplorer by t, without repeats",
        {"rank_by": "t", "max_overlap": 0.6},
    ),
    "divexplorer_one_by_one": (
        "divexplorer",
        "DivExplorer by t, each subgroup by what it has beyond those before it",
        {"rank_by": "t", "one_by_one": True},
    ),
    "sliceline_one_by_one": (
        "sliceline",
        "SliceLine with less weight of size, one by one",
        {"alpha": 0.99, "one_by_one": True},
    ),
    "sliceline_holdout": (
        "sliceline",
        "SliceLine on half of the rows, measured on the other half, with ranges, one by one: what 'auto' does",
        {"alpha": 0.99, "holdout": 0.5, "one_by_one": True},
    ),
}
#: Settings of subgroup methods that are not the defaults. BiasScan: as many starts as in its reference implementation
#: (AIF360), and replicates enough for a test at 5%, which is exact with 39 of them; VeriFair: samples per group.
_SUBGROUP_OPTIONS: dict[str, dict[str, Any]] = {
    "biasscan": {"bias_scan_num_iters": 10, "n_randomisations": 39},
    "verifair": {"spec": "individual", "n_max": 1000},
}
#: Methods that do not take part, and why.
LEFT_OUT = {"fliptest": "it compares different people of two groups; its pairs are not variants of one person"}
#: The option that limits the first phase of searches with two; published limits are beyond any budget here.
_FIRST_PHASE = {"aequitas": "max_global", "kosei": "num_samples", "adf": "max_global"}
#: What lets a search for pairs go on to its budget; `first_phase` is a share of the people that the budget allows.
#: "exact" is given fewer boxes and leaves out bounds, which take most of its time and are not judged here.
ENDLESS: dict[str, dict[str, Any]] = {
    "exact": {"max_boxes": 2000, "bounds": False},
    "aequitas": {"first_phase": 0.25, "max_local": 10**6},
    "kosei": {"first_phase": 0.25, "local_search_limit": 10**6},
    "adf": {"first_phase": 0.25, "max_local": 10**6},
    "limi": {"n_test_samples": 10**7, "n_approx_samples": 1000},
}


def _subgroup_contestants() -> Sequence[Contestant]:
    plain = [
        Contestant(
            id=method.id,
            purpose=method.purpose,
            finds="subgroups",
            ask=_ASKED.get(method.id, ask_slices),
            method=method.id,
            options=_SUBGROUP_OPTIONS.get(method.id, {}),
            ranked=method.id != "verifair",
        )
        for method in METHODS.where(finds="subgroups")
    ]
    variants = [
        Contestant(id=name, purpose=purpose, finds="subgroups", ask=ask_slices, method=method, options=options)
        for name, (method, purpose, options) in _VARIANTS.items()
    ]
    return [*plain, *variants]


def _pair_contestants() -> Sequence[Contestant]:
    plain = [
        Contestant(
            id=method.id,
            purpose=method.purpose,
            finds="pairs",
            ask=ask_pairs,
            method=method.id,
            options=ENDLESS.get(method.id, {}),
        )
        for method in METHODS.where(finds="pairs")
        if method.id not in LEFT_OUT
    ]
    uniform = Contestant(
        id="random_people",
        purpose="uniform random people until the budget ends: what other searches have to beat",
        finds="pairs",
        ask=ask_pairs,
        method="themis",
        options={"error": None},
    )
    return [*plain, uniform]


for _entry in (*_subgroup_contestants(), *_pair_contestants()):
    CONTESTANTS.add(_entry)
