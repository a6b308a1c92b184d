"""Does a fix last? Fitted on the first period, judged on the people of each later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.counting import Codes
from isonomia.errors import DataError, IsonomiaError, SpecError
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table
from isonomia.fairness.judging.limits import Outcome
from isonomia.fairness.time.periods import Every, periods_of
from isonomia.languages import Message, error_message, msg
from isonomia.languages.naming import as_text
from isonomia.mitigation.judging.before_after import compare
from isonomia.mitigation.judging.effect_findings import people_apart
from isonomia.mitigation.judging.effect_tables import COSTS, cost_of, criterion_titles, number_format
from isonomia.mitigation.judging.judge import Judged, judge
from isonomia.mitigation.judging.mitigate import try_fixes
from isonomia.mitigation.judging.mitigated import PAGES, Mitigated
from isonomia.mitigation.judging.verdict_tables import VERDICTS, method_row
from isonomia.mitigation.registry import MITIGATIONS
from isonomia.subject import Reading, read_dataset

#: What the table of periods shows of each fix.
SHOWN = ("gap_before", "gap", "gap_change", "share_changed", "verdict")


@dataclass(frozen=True)
class Durability(Result):
    """What fixes of the first period did to the people of each later one (see `durability`).

    Attributes
    ----------
    lasting : tuple of str
        Fixes that meet the goal in every later period by the bound of their intervals.
    best : str or None
        The cheapest of them.
    verdict : "meets", "exceeds" or "not_enough_evidence"
        "meets" where a fix lasts, "exceeds" where every fix exceeds the limit in some period.
    mitigated : Mitigated
        The fixes, and all later periods together.
    """

    lasting: tuple[str, ...] = field(default=(), kw_only=True)
    best: str | None = field(default=None, kw_only=True)
    verdict: Outcome = field(default="not_enough_evidence", kw_only=True)
    mitigated: Mitigated | None = field(default=None, kw_only=True, repr=False)

    def save(self, path: str | Path, method: str | None = None, *, language: str = "en") -> Path:  # type: ignore[override]
        """Write the best lasting fix (or the one named), fitted on the first period; or a page, as `Mitigated.save`."""
        if Path(path).suffix.lower() in PAGES:
            return super().save(path, language=language)
        name = method or self.best
        if self.mitigated is None or name is None:
            raise SpecError("No fix is shown to last, so none is the best. Name the one to save (method=...).")
        return self.mitigated.save(path, name)


def durability(
    data: Any,
    estimator: Any = None,
    *,
    time: str | None = None,
    every: Every | int | None = None,
    **options: Any,
) -> Durability:
    """Fit fixes on the first period, and judge them on the people of each later one.

    Parameters
    ----------
    data : Dataset or frame with its roles
        As in `mitigate`, with a column of moments.
    estimator : estimator, "logistic", "forest" or "boosting", optional
        What is trained on the first period; without it the predictions that the data carry are fixed.
    time : str, optional
        The column of moments: dates, texts that are dates, numbers, or names of periods. That of the data by default.
    every : "day", "week", "month", "quarter", "year" or int, optional
        How long a period is, or how many stretches with equally many rows.
    **options
        The other arguments of `mitigate`: `model`, `goal`, `limit`, `policy`, `methods`, `attributes`,
        `attribute_at_decision`, `randomised`, `objective`, `seed`, `max_seconds`, `progress`, and the roles of a frame.

    Returns
    -------
    Durability
        Tables ``periods`` (a row per fix and period: gap before and after, accuracy, verdict) and ``methods`` (in how
        many periods each fix meets the limit, and how its gap changed from the first judged period to the last) and
        ``together`` (the table of `mitigate` for all later periods, with the reasons of what was not tried),
        ``.lasting``, ``.best``, ``.verdict``, ``.mitigated``.

    Notes
    -----
    Intervals are simultaneous over methods, gaps, groups and periods: within a period by max-t at the level
    1 - 0.05 / P, over the P periods by Bonferroni. A change between two periods has the interval from the lower end of
    one less the upper end of the other, and the reverse: people of different periods are different people.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> year, sex, skill = np.repeat([2015, 2016, 2017], 3000), rng.choice(["F", "M"], 9000), rng.normal(size=9000)
    >>> man = (sex == "M") * np.where(year == 2017, 2.5, 1.0)
    >>> hired = (skill + man + rng.normal(size=9000) > 0.5).astype(int)
    >>> score = 1 / (1 + np.exp(-2 * (skill + man - 0.5)))
    >>> frame = {"year": year, "sex": sex, "skill": skill, "score": score, "hired": hired}
    >>> found = durability(
    ...     frame, target="hired", protected="sex", score="score", time="year",
    ...     methods=["thresholds"], limit=0.15, attribute_at_decision=True,
    ... )
    >>> found.verdict, [(row["period"], row["verdict"]) for row in found.tables["periods"].rows()][2:]
    ('exceeds', [('2016', 'meets'), ('2017', 'exceeds')])
    """
    roles = {name: options.pop(name) for name in Reading.__annotations__ if name in options}
    if "test" in options or "folds" in options:
        raise SpecError("`durability` fits on the first period and judges on the later ones: no `test`, no `folds`.")
    dataset = read_dataset(data, roles)
    if time is not None:
        dataset = dataset.with_roles(time=time)
    if dataset.roles.time is None:
        raise SpecError("The data have no column of moments: name it (time='...').")
    periods, known = periods_of(dataset.column(dataset.roles.time), every=every)
    first, later = periods.codes == 0, periods.codes > 0
    rows = np.flatnonzero(known)
    parts = periods.size - 1
    fixed = try_fixes(dataset.take(rows[first]), estimator, test=dataset.take(rows[later]), parts=parts, **options)
    assert fixed.judged is not None
    inside = fixed.judged.comparison.subject.rows
    judged = _by_period(fixed.judged, periods.take(later).take(inside), periods.texts[1:])
    return _result(fixed, judged, periods.texts[0])


def _by_period(judged: Judged, periods: Codes, names: Sequence[str]) -> dict[str, Judged | str]:
    """The verdicts of every period, or why there are none."""
    comparison = judged.comparison
    subject = comparison.subject
    level = 1 - (1 - subject.settings.level) / len(names)
    by: Any = "all" if len(subject.attributes) > 1 else "each"
    found: dict[str, Judged | str] = {}
    for name in names:
        rows = np.flatnonzero(np.array(periods.texts)[periods.codes] == name)
        try:
            after = {method: decided[rows] for method, decided in comparison.after.items()}
            larger = [least for goal in judged.goals if (least := goal.least(len(rows)))]
            part = compare(subject.take(rows), after, by, level=level, larger=larger)
            found[name] = judge(
                part,
                judged.goals,
                judged.ways,
                judged.chances,
                judged.objective,
                judged.features,
                policy=judged.policy,
            )
        except IsonomiaError as error:  # a group that is too small there, say
            found[name] = as_text(error_message(error))
    if not any(isinstance(one, Judged) for one in found.values()):
        raise DataError(f"No later period can be judged: {next(iter(found.values()))}")
    return found


def _result(fixed: Mitigated, periods: Mapping[str, Judged | str], first: str) -> Durability:
    whole = fixed.judged
    assert whole is not None
    names = whole.comparison.names
    known = {period: one for period, one in periods.items() if isinstance(one, Judged)}
    verdicts = {name: [one.verdicts[name] for one in known.values()] for name in names}
    complete = len(known) == len(periods)
    lasting = tuple(name for name in names if complete and set(verdicts[name]) == {"meets"})
    best = min((name for name in lasting if name not in whole.worthless), key=whole.loss, default=None)
    fixes = [name for name in names if name != "none"] or ["none"]
    failed = all("exceeds" in verdicts[name] for name in fixes)
    return Durability(
        code="durability",
        title=msg("Does it last?"),
        tables={
            "periods": _periods_table(whole, periods),
            "methods": _methods_table(whole, known, verdicts),
            "together": replace(fixed.tables["methods"], title=msg("All later periods together")),
        },
        values={"fitted_on": first, "periods": len(periods), "lasting": len(lasting)},
        titles={
            "fitted_on": msg("fitted on"),
            "periods": msg("later periods"),
            "lasting": msg("fixes that meet the limit in every period"),
        },
        findings=_findings(known, verdicts, fixes, lasting, best),
        pictures=(
            Picture(
                "lines",
                "periods",
                msg("Gap after each fix, period by period"),
                {"x": "period", "value": "gap", "color": "method", "reference": whole.goals[0].limit},
            ),
        ),
        notes=(
            msg("Models and fixes are fitted on {first}, and judged on the people of each later period.", first=first),
            msg("Intervals are simultaneous over all methods, gaps, groups and periods."),
            *whole.comparison.subject.notes,
        ),
        lasting=lasting,
        best=best,
        verdict="meets" if best is not None else "exceeds" if failed else "not_enough_evidence",
        mitigated=fixed,
    )


def _title(name: str) -> Message:
    return msg("no fix") if name == "none" else MITIGATIONS[name].title


def _periods_table(whole: Judged, periods: Mapping[str, Judged | str]) -> Table:
    cost = cost_of(whole.comparison)
    shown = (*SHOWN[:3], cost, f"{cost}_change", *SHOWN[3:])
    rows = []
    for name in whole.comparison.names:
        for period, one in periods.items():
            if isinstance(one, str):
                missing = {**dict.fromkeys(shown), "gap": Estimate.missing(one), "verdict": "not_enough_evidence"}
                rows.append({"method": name, "period": period, "n": None, **missing})
                continue
            row = method_row(one, name, None)
            n = len(one.comparison.subject)
            rows.append({"method": name, "period": period, "n": n, **{column: row[column] for column in shown}})
    figure, change, _ = COSTS[cost]
    columns = (
        Column("method", title=msg("method"), names={name: _title(name) for name in whole.comparison.names}),
        Column("period", title=msg("period")),
        Column("n", format="int", title=msg("people")),
        Column("gap_before", format=number_format(whole.comparison), title=msg("before")),
        Column("gap", format=number_format(whole.comparison), title=msg("after")),
        Column("gap_change", format=number_format(whole.comparison), title=msg("change")),
        Column(cost, format=number_format(whole.comparison), title=figure),
        Column(f"{cost}_change", format=number_format(whole.comparison), title=change),
        Column("share_changed", format="pct", title=msg("decisions changed")),
        Column("verdict", title=msg("verdict"), names=VERDICTS),
    )
    return Table.from_rows(
        rows, columns, title=msg("Fixes, period by period"), backend=whole.comparison.subject.backend
    )


def _methods_table(whole: Judged, known: Mapping[str, Judged], verdicts: Mapping[str, Sequence[Outcome]]) -> Table:
    """In how many periods each fix meets the limit, and how its gap changed between the first and the last."""
    first, last = next(iter(known.values())), list(known.values())[-1]
    rows = []
    for name, own in verdicts.items():
        ends = [method_row(one, name, None)["gap"] for one in (first, last)]
        rows.append(
            {
                "method": name,
                "meets": own.count("meets"),
                "exceeds": own.count("exceeds"),
                "not_shown": own.count("not_enough_evidence"),
                "gap_drift": (ends[1][0] - ends[0][0], ends[1][1] - ends[0][2], ends[1][2] - ends[0][1]),
            }
        )
    columns = (
        Column("method", title=msg("method"), names={name: _title(name) for name in verdicts}),
        Column("meets", format="int", title=msg("periods that meet")),
        Column("exceeds", format="int", title=msg("periods that exceed")),
        Column("not_shown", format="int", title=msg("periods without enough evidence")),
        Column(
            "gap_drift",
            format=number_format(whole.comparison),
            title=msg("change of the gap from the first to the last"),
        ),
    )
    return Table.from_rows(rows, columns, title=msg("How long fixes last"), backend=whole.comparison.subject.backend)


def _findings(
    known: Mapping[str, Judged],
    verdicts: Mapping[str, Sequence[Outcome]],
    fixes: Sequence[str],
    lasting: Sequence[str],
    best: str | None,
) -> tuple[Finding, ...]:
    first = next(iter(known.values()))
    goal, by = first.goals[0], " x ".join(first.ways[-1])
    common = {"limit": goal.limit, "criterion": criterion_titles()[goal.criterion], "by": by}
    found = []
    if best is not None and best != "none":
        text = msg(
            "{method} meets the limit of {limit:num} for {criterion} by {by} in all {n} later periods",
            method=_title(best),
            n=len(known),
            **common,
        )
        found.append(_finding("durability.lasts", "notice", text, known, best, first))
    for name in fixes:
        own = dict(zip(known, verdicts[name], strict=True))
        broken = next((period for period, verdict in own.items() if verdict == "exceeds"), None)
        if next(iter(own.values())) == "meets" and broken is not None:
            text = msg(
                "{method} meets the limit of {limit:num} for {criterion} by {by} at first, and exceeds it in {period}",
                method=_title(name),
                period=broken,
                **common,
            )
            found.append(_finding("durability.fades", "warning", text, known, name, known[broken]))
    return tuple(found)


def _finding(code: str, severity: Any, text: Message, known: Mapping[str, Judged], name: str, at: Judged) -> Finding:
    value, low, high = method_row(at, name, None)["gap"]
    n = sum(len(one.comparison.subject) for one in known.values())
    return Finding(
        code=code,
        severity=severity,
        message=text,
        estimate=Estimate(value, low, high, n=len(at.comparison.subject), method="max-t"),
        n=n,
        threshold=at.goals[0].limit,
        columns=at.ways[-1],
        people=people_apart(at.comparison, at.comparison.names.index(name), at.figures[name]),
        evidence="durability/periods",
    )
