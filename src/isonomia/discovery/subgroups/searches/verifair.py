"""VeriFair: is the rate of each group at least 1 - c times that of every other, with a stated probability of error.

Samples are drawn, batch by batch, until bounds that hold at every sample size at once settle the question, or the
budget ends: then the verdict is "not decided", with the interval reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, cross_sum
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups.conditions import condition_text
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.verification import (
    Population,
    Verdict,
    certainty,
    decide_ratio,
    decide_share,
    population_of,
    ratio_error,
    samples_needed,
)
from isonomia.errors import DataError
from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import Message, msg
from isonomia.parameters import Choice, Integer, Number, Parameter

COLUMNS = (
    Column("verdict", format="text", title=msg("Verdict")),
    Column("ratio", format="num4", title=msg("Ratio")),
    Column("ratio_low", format="num4", title=msg("Ratio, low")),
    Column("ratio_high", format="num4", title=msg("Ratio, high")),
    Column("n", format="int", title=msg("Samples of each group")),
    Column("n_needed", format="int", title=msg("Samples that would decide")),
    Column("compared_with", format="text", title=msg("Compared with")),
    Column("rate", format="num4", title=msg("Rate")),
    Column("rate_compared_with", format="num4", title=msg("Rate compared with")),
    Column("error_probability", format="num4", title=msg("Probability of error")),
)
#: Groups of one attribute that are compared, the largest first.
_MAX_GROUPS = 12
_ORDER = {"unfair": 0, "not decided": 1, "fair": 2}


@dataclass(eq=False)
class _Stream:
    """Decisions about members of one group, as far as they are drawn."""

    column: Codes
    code: int
    values: list[NDArray[np.uint8]] = field(default_factory=list)
    exhausted: bool = False

    @property
    def n(self) -> int:
        return sum(len(part) for part in self.values)

    def means(self, n: NDArray[np.int64]) -> NDArray[np.float64]:
        """Means of the first n values."""
        sums = np.cumsum(np.concatenate(self.values), dtype=np.int64)
        return np.asarray(sums[n - 1] / n, dtype=float)


_OPEN = Verdict(answer="not decided", ratio=None, low=None, high=None, n=0)


@dataclass(eq=False)
class _Comparison:
    a: _Stream
    b: _Stream
    checked: int = 0
    verdict: Verdict = _OPEN
    rates: tuple[float | None, float | None] = (None, None)

    @property
    def open(self) -> bool:
        return self.verdict.answer == "not decided"


def run(problem: Problem) -> Search:
    """Compare all pairs of groups of each protected attribute, the most telling attribute first."""
    options = problem.options
    population = population_of(problem, options["spec"], options["population"])
    pairs = _comparisons(problem, ordered=options["spec"] == "individual")
    if not pairs:
        raise DataError(
            "Verification compares groups of a protected attribute; none has two values with rows. "
            "Name one with protected=, or give more rows."
        )
    individual = options["spec"] == "individual"
    means = len(pairs) if individual else len({id(stream) for pair in pairs for stream in (pair.a, pair.b)})
    each = 2 * options["delta"] / means
    complete = _sample(problem, population, pairs, options, each)
    ranked = sorted(pairs, key=lambda pair: (_ORDER[pair.verdict.answer], _rank(pair.verdict.ratio)))
    chosen = [_subgroup(pair, options, means, each) for pair in ranked]
    unfair = tuple(row for row in chosen if row.stats["verdict"] == "unfair")
    undecided = [row for row in chosen if row.stats["verdict"] == "not decided"]
    drawn = sum(stream.n for stream in {id(s): s for pair in pairs for s in (pair.a, pair.b)}.values())
    return Search(
        unfair[: problem.k],
        _measure(options["spec"]),
        tested=drawn,
        nodes=drawn,
        complete=complete,
        columns=COLUMNS,
        discriminating=unfair,
        tables={"comparisons": _table(problem, chosen)},
        notes=_notes(population.name, options, undecided),
        values={"error_probability": 2 * options["delta"], "unfair": len(unfair), "not_decided": len(undecided)},
    )


def _rank(ratio: float | None) -> float:
    return 2.0 if ratio is None else ratio


def _measure(spec: str) -> Message:
    if spec == "individual":
        return msg("decisions that stay the same")
    return msg("true positive rate") if spec == "equal_opportunity" else msg("selection rate")


def _notes(population: str, options: Mapping[str, Any], undecided: Sequence[Subgroup]) -> tuple[Message, ...]:
    where = (
        msg("Samples are rows of the data, each used once; verdicts apply to the population they come from.")
        if population == "data"
        else msg("Samples come from a generator fitted to the data; verdicts apply to the people it generates.")
    )
    sure = msg(
        "The probability that any verdict here is wrong is at most {p}, with at most {n:int} samples per group.",
        p=f"{2 * options['delta']:.3g}",
        n=options["n_max"],
    )
    return (where, sure, _undecided(undecided)) if undecided else (where, sure)


def _undecided(rows: Sequence[Subgroup]) -> Message:
    """How many are not decided, and the samples that would do at the rates seen."""
    needed = sorted(row.stats["n_needed"] for row in rows if row.stats["n_needed"] is not None)
    if not needed:
        return msg(
            "{n:# comparison was|# comparisons were} not decided: no number of samples would do at the rates seen.",
            n=len(rows),
        )
    return msg(
        "{n:# comparison was|# comparisons were} not decided: at the rates seen, the easiest would take {least:int} "
        "samples of each group, the hardest {most:int}.",
        n=len(rows),
        least=needed[0],
        most=needed[-1],
    )


def _comparisons(problem: Problem, *, ordered: bool) -> list[_Comparison]:
    out = []
    columns = [column for column in problem.features if column.name in problem.protected]
    for column in sorted(columns, key=lambda column: -_information(problem, column)):
        counts = column.counts()
        codes = [code for code in np.argsort(-counts, kind="stable").tolist() if counts[code] > 0][:_MAX_GROUPS]
        streams = {code: _Stream(column, code) for code in codes}
        for a, b in combinations(codes, 2):
            if ordered:  # each comparison has people of its own
                out += [_Comparison(_Stream(column, x), _Stream(column, y)) for x, y in ((a, b), (b, a))]
            else:
                out.append(_Comparison(streams[a], streams[b]))
    return out


def _information(problem: Problem, column: Codes) -> float:
    """Mutual information of an attribute and the decisions at hand."""
    if problem.label is None:
        return 0.0
    joint = cross_sum(column.codes, np.asarray(problem.label) == 1, (column.size, 2))
    share = joint / joint.sum()
    base = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nansum(np.where(share > 0, share * np.log(share / base), 0.0)))


def _sample(
    problem: Problem, population: Population, pairs: list[_Comparison], options: Mapping[str, Any], delta: float
) -> bool:
    """Draw until every comparison is decided or the budget ends; False where the time limit ended it."""
    individual = options["spec"] == "individual"
    batch = int(options["n_samples"])
    stage = problem.clock.progress.stage("comparisons", msg("Comparing groups"), total=len(pairs))
    while any(pair.open for pair in pairs):
        moved = False
        needed = [pair for pair in pairs if pair.open]
        wanted = {id(s): (s, pair) for pair in needed for s in ((pair.a,) if individual else (pair.a, pair.b))}
        for stream, pair in wanted.values():
            if problem.clock.over:
                return False
            size = min(batch, int(options["n_max"]) - stream.n)
            if stream.exhausted or size <= 0:
                continue
            part = (
                population.flips(stream.column, stream.code, pair.b.code, size)
                if individual
                else population.draw(stream.column, stream.code, size)
            )
            stream.exhausted = len(part) < size
            if len(part):
                stream.values.append(part)
                moved = True
        for pair in pairs:
            if pair.open:
                _look(pair, individual, options["c"], delta)
        stage.at(sum(not pair.open for pair in pairs))
        if not moved:
            break
        batch *= 2
    return True


def _look(pair: _Comparison, individual: bool, c: float, delta: float) -> None:
    """The verdict at the first sample size, among the new ones, where it is clear."""
    reach = pair.a.n if individual else min(pair.a.n, pair.b.n)
    if reach <= pair.checked or reach < 2:
        return
    n = np.arange(max(pair.checked, 1) + 1, reach + 1, dtype=np.int64)
    if not n.size:
        return
    if individual:
        share = pair.a.means(n)
        pair.verdict = decide_share(share, n, c, delta)
        pair.rates = (float(share[pair.verdict.n - n[0]]), 1.0)
    else:
        a, b = pair.a.means(n), pair.b.means(n)
        pair.verdict = decide_ratio(a, b, n, c, delta)
        at = pair.verdict.n - n[0]
        pair.rates = (float(a[at]), float(b[at]))
    pair.checked = reach


def _sides(pair: _Comparison, individual: bool) -> tuple[_Stream, _Stream, float | None, float | None]:
    """The group that is worse off first."""
    one, other = pair.rates
    if not individual and one is not None and other is not None and one > other:
        return pair.b, pair.a, other, one
    return pair.a, pair.b, one, other


def _subgroup(pair: _Comparison, options: Mapping[str, Any], means: int, each: float) -> Subgroup:
    individual = options["spec"] == "individual"
    low, high, rate, other = _sides(pair, individual)
    verdict = pair.verdict
    text = condition_text(low.column, (low.code,))
    stats = {
        "verdict": verdict.answer,
        "ratio": verdict.ratio,
        "ratio_low": verdict.low,
        "ratio_high": verdict.high,
        "n": verdict.n,
        "n_needed": _needed(pair, options["c"], each, individual) if pair.open else None,
        "compared_with": condition_text(high.column, (high.code,)),
        "rate": rate,
        "rate_compared_with": other,
        "error_probability": None if verdict.answer == "not decided" else each * (1 if individual else 2),
    }
    single = _chance(verdict, rate, other, options["c"], individual)
    unfair = verdict.answer == "unfair" and rate is not None
    p = None if single is None else min(1.0, single * (1 if individual else 2))
    return Subgroup(
        {low.column.name: (low.code,)},
        stats,
        estimate=Estimate(rate, n=verdict.n)
        if unfair
        else Estimate.missing(msg("not shown to be unfair"), n=verdict.n),
        overall=other,
        p_value=p,
        p_adjusted=None if single is None else min(1.0, single * means),
        message=_sentence(individual, text, stats) if unfair else None,
    )


def _needed(pair: _Comparison, c: float, delta: float, individual: bool) -> int | None:
    """The samples of each group that would decide it at the rates seen."""
    one, other = pair.rates
    if one is None or other is None or pair.verdict.n < 2:
        return None
    if individual:
        return samples_needed(lambda ones, n: decide_share(one * ones, n, c, delta))
    return samples_needed(lambda ones, n: decide_ratio(one * ones, other * ones, n, c, delta))


def _sentence(individual: bool, text: str, stats: dict[str, Any]) -> Message:
    params = {
        "slice": text,
        "other": stats["compared_with"],
        "rate": stats["rate"],
        "base": stats["rate_compared_with"],
        "n": stats["n"],
    }
    if individual:
        return msg(
            "Only {rate:pct} of {slice} would get the same decision as {other} ({n:int} people sampled).",
            **params,
        )
    return msg(
        "Decisions are favourable for {rate:pct} of {slice} and {base:pct} of {other} ({n:int} sampled from each).",
        **params,
    )


def _chance(verdict: Verdict, rate: float | None, other: float | None, c: float, individual: bool) -> float | None:
    """The smallest error probability of a mean at which these samples still show unfairness; 1 where they never do."""
    if rate is None or other is None or verdict.n < 2:
        return None
    limit = 1 - c
    if individual:
        return certainty(limit - rate, verdict.n)
    if other <= 0 or rate / other >= limit:
        return 1.0
    low, high = 0.0, other
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rate / other + float(ratio_error(rate, other, middle)) < limit else (low, middle)
    return certainty(low, verdict.n)


def _table(problem: Problem, rows: list[Subgroup]) -> Table:
    """Every comparison, those not among the first k too."""
    texts = [condition_text(problem.by_name[name], codes) for row in rows for name, codes in row.conditions.items()]
    stats = [
        {**row.stats, "slice": text, "verdict": _word(row.stats["verdict"])}
        for row, text in zip(rows, texts, strict=True)
    ]
    columns = (Column("slice", title=msg("Subgroup")), *COLUMNS)
    return Table.from_rows(stats, columns, title=msg("Every comparison of two groups"), backend=problem.backend)


def _word(verdict: str) -> Message:
    if verdict == "fair":
        return msg("fair")
    return msg("unfair") if verdict == "unfair" else msg("not decided")


METHODS.add(
    Method(
        id="verifair",
        purpose="verdicts on pairs of groups by sampling, with a stated probability of error",
        needs=("protected", "predictions"),
        asks=True,
        tasks=("binary",),
        run=run,
        parameters=(
            Parameter("c", Number(above=0, below=1), 0.15, "how far a ratio may fall below 1"),
            Parameter(
                "delta",
                Number(above=0, below=0.5),
                0.025,
                "half the probability that any verdict is wrong (5e-11 in the publication, which takes a generator)",
            ),
            Parameter(
                "spec",
                Choice(("demographic_parity", "equal_opportunity", "individual")),
                "demographic_parity",
                "the criterion verified",
            ),
            Parameter(
                "population",
                Choice(("data", "copula")).or_none(),
                None,
                "the rows, or a generator fitted to them (copula), which is the default with a model",
            ),
            Parameter("n_samples", Integer(2), 1000, "samples of each group in the first batch; batches double"),
            Parameter("n_max", Integer(2), 200_000, "samples of each group at most"),
        ),
        reference="O. Bastani, X. Zhang, A. Solar-Lezama (2019), Probabilistic verification of fairness properties via "
        "concentration, OOPSLA, doi 10.1145/3360544",
    )
)
