"""The tables of a benchmark: scores by method, tests between methods, factors, nulls, costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from isonomia.benchmark.cells import STATUSES
from isonomia.benchmark.contestants import contestant
from isonomia.benchmark.grids import BUDGETS, scene_of
from isonomia.benchmark.pair_scores import SHARES
from isonomia.benchmark.ranking import friedman, mean_ranks, pairwise_p, wins
from isonomia.benchmark.settings import LEVELS, Setting
from isonomia.benchmark.subgroup_scores import ALPHA
from isonomia.benchmark.summary import PRIMARY, SCORES, Cells, Finds, Scores
from isonomia.benchmark.words import FACTORS
from isonomia.benchmark.words import SCORES as SCORE_WORDS
from isonomia.benchmark.words import STATUSES as STATUS_WORDS
from isonomia.evidence import Column, Estimate, Format, Table, wilson
from isonomia.languages import error_message, msg

METHOD = Column("method", title=msg("Method"))


def format_of(score: str) -> Format:
    """Seconds and counts are numbers, all other scores shares."""
    return "num" if score in ("seconds", "rows_per_pair", "area") else "pct"


def summary_table(cells: Cells, finds: Finds) -> Table:
    """One row per method, the best first: mean scores with intervals over data seeds, ranks, how cells ended."""
    settings = cells.to_find()
    columns = {name: cells.scores(finds, name, settings, ranked=False) for name in SCORES[finds]}
    methods = cells.methods(finds, ranked=False)
    ended = Counter((row["method"], row["status"]) for row in cells.of(finds))
    short = Counter(row["method"] for row in cells.of(finds) if row["status"] == "done" and not row["complete"])
    rows = [
        {
            "method": method,
            **{name: _of(scores, index, method, name) for name, scores in columns.items()},
            **{status: ended[method, status] for status in STATUSES},
            "cut_short": short[method],
        }
        for index, method in enumerate(methods)
    ]
    first = PRIMARY[finds]
    rows.sort(key=lambda row: (row[first].value is None, -(row[first].value or 0), row["method"]))
    fields = [METHOD]
    fields += [Column(name, format=format_of(name), title=SCORE_WORDS[name]) for name in SCORES[finds]]
    fields += [Column(status, format="int", title=STATUS_WORDS[status]) for status in STATUSES]
    fields.append(Column("cut_short", format="int", title=msg("ended by its limit of time")))
    return Table.from_rows(rows, fields, title=msg("Mean scores over settings"))


def unanswered_table(cells: Cells, finds: Finds) -> Table | None:
    """Why methods had no answer, and in how many cells; None where all had one."""
    reasons = Counter(
        (row["method"], row["status"], row["reason"]) for row in cells.of(finds) if row["status"] != "done"
    )
    if not reasons:
        return None
    ordered = sorted(reasons, key=lambda key: (key[0], -reasons[key], key))
    return Table(
        (
            replace(METHOD, values=[method for method, _, _ in ordered]),
            Column("status", [STATUS_WORDS[status] for _, status, _ in ordered], title=msg("Outcome")),
            Column("reason", [error_message(reason) for _, _, reason in ordered], title=msg("Reason")),
            Column("cells", [reasons[key] for key in ordered], format="int", title=msg("Cells")),
        ),
        msg("Why there was no answer"),
    )


def _of(scores: Scores, index: int, method: str, name: str) -> Estimate:
    if not contestant(method).ranked and name not in ("decision", "seconds"):
        return Estimate.missing(msg("gives a verdict alone"))
    return scores.means[index]


def rank_table(cells: Cells, finds: Finds) -> Table:
    """Mean ranks over settings by what methods of a kind are ranked by."""
    scores = cells.scores(finds, PRIMARY[finds], cells.to_find())
    ranks = mean_ranks(scores.blocks)
    order = np.argsort(ranks, kind="stable")
    return Table.of(
        {"method": [scores.methods[index] for index in order], "rank": ranks[order]},
        (METHOD, Column("rank", format="num", title=msg("Mean rank"))),
        title=msg("Mean ranks over {n:# setting|# settings}", n=len(scores.blocks)),
    )


def comparison_table(cells: Cells, finds: Finds) -> Table:
    """Every two methods: wins, ties, losses over settings, Wilcoxon's p-value adjusted over all pairs."""
    scores = cells.scores(finds, PRIMARY[finds], cells.to_find())
    adjusted = pairwise_p(scores.blocks)
    won, tied = wins(scores.blocks)
    rows = [
        {
            "method": scores.methods[i],
            "other": scores.methods[j],
            "wins": int(won[i, j]),
            "ties": int(tied[i, j]),
            "losses": int(won[j, i]),
            "p_adjusted": float(adjusted[i, j]),
        }
        for i, j in combinations(range(len(scores.methods)), 2)
    ]
    fields = (
        METHOD,
        Column("other", title=msg("Compared with")),
        *(Column(name, format="int", title=title) for name, title in _WINS.items()),
        Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
    )
    return Table.from_rows(rows, fields, title=msg("Wins over settings, and Wilcoxon's test (Holm)"))


_WINS = {"wins": msg("Wins"), "ties": msg("Ties"), "losses": msg("Losses")}


def friedman_table(cells: Cells) -> Table:
    """Friedman's test with Iman and Davenport's correction, for each kind of method."""
    rows = []
    for finds in PRIMARY:
        scores = cells.scores(finds, PRIMARY[finds], cells.to_find())
        found = friedman(scores.blocks) if len(scores.methods) > 2 else None
        if found is not None:
            rows.append({"finds": finds, "n": found.n, "k": found.k, "f": found.f, "p_value": found.p_value})
    fields = (
        Column("finds", title=msg("Finds"), names={"subgroups": msg("subgroups"), "pairs": msg("pairs")}),
        Column("n", format="int", title=msg("Settings")),
        Column("k", format="int", title=msg("Methods")),
        Column("f", format="num", title=msg("F (Iman-Davenport)")),
        Column("p_value", format="p", title=msg("p-value")),
    )
    return Table.from_rows(rows, fields, title=msg("Do methods differ at all?"))


def alone(cells: Cells, *factors: str) -> list[Setting]:
    """The settings in which these factors alone depart from the centre, in the order of their levels."""
    centre = cells.centre
    fixed = [name for name in LEVELS if name not in factors]
    found = [s for s in cells.to_find() if all(getattr(s, name) == getattr(centre, name) for name in fixed)]
    numeric = [name for name in factors if isinstance(getattr(centre, name), int | float)]
    return sorted(found, key=lambda setting: [getattr(setting, name) for name in numeric])


def factor_table(cells: Cells, finds: Finds, factor: str) -> Table | None:
    """The score by level of a factor that is varied alone; None where it has one level."""
    settings = alone(cells, factor)
    if len(settings) < 2:
        return None
    rows: list[dict[str, Any]] = []
    for setting in settings:
        scores = cells.scores(finds, PRIMARY[finds], [setting])
        facts = {"level": getattr(setting, factor), "similarity_reached": reached_in(cells, setting)}
        for method, estimate in zip(scores.methods, scores.means, strict=True):
            rows.append({**facts, "method": method, "score": estimate})
    fields = (
        Column("level", format="num" if isinstance(rows[0]["level"], int | float) else None, title=FACTORS[factor]),
        METHOD,
        Column("score", format="pct", title=SCORE_WORDS[PRIMARY[finds]]),
        Column("similarity_reached", format="num", title=msg("Similarity reached")),
    )
    return Table.from_rows(rows, fields, title=FACTORS[factor])


def reached_in(cells: Cells, setting: Setting) -> float:
    """The similarity of the pairs in the cells of a setting."""
    return float(np.mean([row["similarity_reached"] for row in cells.rows if scene_of(row)[0] == setting]))


def bias_by_size_table(cells: Cells, finds: Finds) -> Table | None:
    """The best method and its score by size of bias and of subgroup; None where fewer than two of both were run."""
    settings = alone(cells, "bias", "group_rows")
    if len(settings) < 4 or min(len({s.bias for s in settings}), len({s.group_rows for s in settings})) < 2:
        return None
    rows = []
    for setting in settings:
        scores = cells.scores(finds, PRIMARY[finds], [setting])
        best = int(np.nanargmax(scores.by_setting[0]))
        rows.append(
            {
                "bias": f"{setting.bias:g}",
                "group_rows": f"{setting.group_rows}",
                "method": scores.methods[best],
                "score": scores.means[best],
            }
        )
    fields = (
        Column("bias", title=FACTORS["bias"]),
        Column("group_rows", title=FACTORS["group_rows"]),
        METHOD,
        Column("score", format="pct", title=SCORE_WORDS[PRIMARY[finds]]),
    )
    return Table.from_rows(rows, fields, title=msg("The best score by size of bias and of subgroup"))


def null_table(cells: Cells) -> Table | None:
    """In how many runs without any bias a method claims something; None where no null was run."""
    nulls = set(cells.nulls())
    rows = []
    for finds in PRIMARY:
        claimed = cells.scores(finds, "claimed", sorted(nulls, key=repr), ranked=False)
        for index, method in enumerate(claimed.methods):
            runs = claimed.values[:, :, index]
            known = runs[~np.isnan(runs)]
            if known.size:
                hits = int(known.sum())
                low, high = wilson(hits, known.size)
                share = Estimate(hits / known.size, float(low), float(high), known.size, "wilson")
                rows.append({"method": method, "finds": finds, "runs": known.size, "claims": hits, "share": share})
    if not rows:
        return None
    fields = (
        METHOD,
        Column("finds", title=msg("Finds"), names={"subgroups": msg("subgroups"), "pairs": msg("pairs")}),
        Column("runs", format="int", title=msg("Runs without bias")),
        Column("claims", format="int", title=msg("Runs with a claim")),
        Column("share", format="pct", title=msg("Share of false claims")),
    )
    return Table.from_rows(
        rows, fields, title=msg("False claims where there is nothing to find (at most {alpha:pct})", alpha=ALPHA)
    )


def anytime_table(cells: Cells, finds: Finds) -> Table | None:
    """Scores by share of the budget: of model rows (pairs), of seconds (subgroups; nothing before a search ends)."""
    rows = [row for row in cells.of(finds) if row["status"] == "done"]
    methods = cells.methods(finds)
    found = []
    for method in methods:
        own = [row for row in rows if row["method"] == method and row["n_truths"]]
        for index, share in enumerate(SHARES):
            values = [_at(row, index, share) for row in own]
            if values:
                found.append({"share": share, "method": method, "score": float(np.mean(values))})
    if not found:
        return None
    title = msg("Pairs found by then") if finds == "pairs" else msg("F1 by then")
    fields = (
        Column("share", format="pct", title=msg("Share of the budget")),
        METHOD,
        Column("score", format="num" if finds == "pairs" else "pct", title=title),
    )
    return Table.from_rows(found, fields, title=msg("What is known by when"))


def _at(row: Any, index: int, share: float) -> float:
    if "pairs_at" in row:
        return float(row["pairs_at"][index])
    return float(row["f1"]) if row["seconds"] <= share * BUDGETS[str(row["budget"])].seconds else 0.0


def variance_table(cells: Cells) -> Table | None:
    """How much of a score's variance comes from the data and how much from the method's own seed; None without both."""
    seeds = {int(row["method_seed"]) for row in cells.rows}
    if len(seeds) < 2:
        return None
    rows = []
    for finds in PRIMARY:
        for method in cells.methods(finds):
            grid = _by_seeds(cells, finds, method)
            if grid is not None:
                within = float(grid.var(axis=1, ddof=1).mean())
                between = max(0.0, float(grid.mean(axis=1).var(ddof=1)) - within / grid.shape[1])
                rows.append({"method": method, "data": np.sqrt(between), "seed": np.sqrt(within)})
    if not rows:
        return None
    fields = (
        METHOD,
        Column("data", format="num", title=msg("Standard deviation between datasets")),
        Column("seed", format="num", title=msg("Standard deviation between seeds of the method")),
    )
    return Table.from_rows(rows, fields, title=msg("Where the variance comes from"))


def _by_seeds(cells: Cells, finds: Finds, method: str) -> Any:
    """The score by data seed and method seed, in the setting that was run with several of both."""
    several = {scene_of(row)[0] for row in cells.rows if row["method_seed"]}
    found: dict[tuple[int, int], float] = {}
    for row in cells.of(finds):
        if row["method"] == method and scene_of(row)[0] in several and row.get(PRIMARY[finds]) is not None:
            found[int(row["data_seed"]), int(row["method_seed"])] = float(row[PRIMARY[finds]])
    data, own = sorted({a for a, _ in found}), sorted({b for _, b in found})
    whole = [a for a in data if all((a, b) in found for b in own)]
    return np.array([[found[a, b] for b in own] for a in whole]) if len(whole) > 1 and len(own) > 1 else None
