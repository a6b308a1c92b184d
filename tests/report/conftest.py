"""Documents to be shown: an ordinary one, and one whose every name is hostile."""

from __future__ import annotations

import pytest

from isonomia.evidence import Change, Column, Estimate, Finding, Picture, Result, Table
from isonomia.languages import msg
from isonomia.report import Criterion, Document, Section, Verdict

#: Names that data may hold, and that must be shown as they are.
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "<b>bold</b> <a href='javascript:alert(3)'>go</a>",
    "a|b`c`\n# heading\r\n<i>x</i>",
    "\"quoted\" 'twice' & %{x} {{ 7 * 7 }} ${x}",
    "👩‍👩‍👧 emoji \u202e turned שלום",
    "x" * 5000,
    "\u2028\u2029\x00\x1b[31mred",
)
NAMES = ("Female", "Male", "Other", "not stated", "Young", "Middle", "Old", "Retired")


def build(names: tuple[str, ...], column: str = "sex", other: str = "age") -> Document:
    """A document with every kind of part, whose groups and columns bear the names given."""
    sections = (
        _rates(names, column, other),
        _calibration(names, column),
        _rest(names, column),
        Section(
            "drift",
            msg("Drift"),
            msg("Purpose {x}", x=names[0]),
            "skipped",
            reason=msg("Reason {x}", x=names[1]),
            seconds=0.0,
        ),
        Section("proxies", msg("Proxies"), msg("Purpose {x}", x=column), "failed", reason=names[2], seconds=0.5),
    )
    balance = Result(
        "balance_sheet",
        msg("Balance sheet"),
        {"rows": Table.of({"what": ["used", names[3]], "n": [1000, 12]}, [Column("n", format="int")])},
        notes=(msg("{x} rows were left out.", x=names[4]),),
    )
    return Document(
        title=msg("Audit of {x}", x=names[5]),
        subject={
            "dataset": names[0],
            "rows": 48842,
            "target": "income",
            "positive": ">50K",
            "protected": [column, other],
            "model": "GradientBoosting",
            "trusted": False,
            "task": "binary",
            names[1]: names[2],
        },
        sections=sections,
        balance_sheet=balance,
        verdict=_verdict(names, column),
        fingerprint={"data_sha256": "ab" * 32, "seed": 20240, "versions": {"numpy": "2.4.0"}},
        created="2026-11-15T12:00:00+00:00",
        timings={"reading": 0.25},
    )


def _verdict(names: tuple[str, ...], column: str) -> Verdict:
    criteria = (
        Criterion(
            "selection rate ratio",
            "exceeds",
            Estimate(0.61, 0.55, 0.68, n=900, method="bootstrap"),
            0.8,
            "at_least",
            who={column: names[0]},
            reference={column: names[1]},
            citation="29 CFR 1607.4(D)",
        ),
        Criterion(
            "equal opportunity difference",
            "not_enough_evidence",
            Estimate.missing("no positives in the group"),
            0.1,
            "at_most",
            who={column: names[2]},
            reason=msg("Reason {x}", x=names[2]),
        ),
        Criterion("calibration", "meets", Estimate(0.02, 0.01, 0.03, n=900), 0.05, "between", upper=0.1),
    )
    return Verdict("exceeds", "eeoc", msg("Four-fifths rule"), "29 CFR 1607", criteria, names[0])


def _rates(names: tuple[str, ...], column: str, other: str) -> Section:
    groups, half = list(names[:4]), len(names) // 2
    rates = [0.12, 0.31, 0.22, None]
    tables = {
        "by_group": Table.of(
            {
                column: groups,
                "n": [900, 1200, 80, 7],
                "selection_rate": Column("selection_rate", rates, [0.10, 0.28, 0.14, None], [0.15, 0.34, 0.33, None]),
                "tpr": Column("tpr", [0.4, 0.6, 0.5, None], [0.3, 0.5, 0.2, None], [0.5, 0.7, 0.8, None]),
                "small": [False, False, True, True],
            },
            [
                Column("n", format="int"),
                Column("selection_rate", format="pct", title=msg("Selection rate")),
                Column("tpr", format="pct", title=msg("True positive rate")),
            ],
            title=msg("Rates by {x}", x=column),
        ),
        "crossed": Table.of(
            {
                column: [name for name in groups for _ in range(half)],
                other: list(names[half:]) * 4,
                "rate": [0.05 * place for place in range(4 * half)],
                "n": [10 * place + 3 for place in range(4 * half)],
                "small": [place == 0 for place in range(4 * half)],
            },
            [Column("rate", format="pct"), Column("n", format="int")],
        ),
        "confusion": Table.of(
            {column: groups, "tp": [10, 50, 8, 0], "fp": [5, 9, 1, 0], "fn": [9, 9, 2, 0], "tn": [200, 300, 40, 7]},
        ),
    }
    findings = tuple(
        Finding(
            f"group_fairness.rate_{place}",
            ("critical", "warning", "notice")[place % 3],
            msg("{group} is selected less often than {other}.", group=name, other=names[1]),
            Estimate(-0.19 + 0.01 * place, -0.23, -0.15, n=900, method="bootstrap"),
            {column: name} if place < len(names) else {other: name},
            900,
            1.9 - 0.1 * place,
            0.0001,
            None if place == 5 else min(0.9, 0.0004 * 3**place),
            0.1,
            {column: names[1]},
            "collect_rows",
            "group_fairness/by_group",
        )
        for place, name in enumerate(names * 2)
    )
    result = Result(
        "group_fairness",
        msg("Group fairness"),
        tables,
        {"difference": Estimate(-0.19, -0.23, -0.15, n=900), "ratio": 0.39, "worst": names[0]},
        findings,
        (
            Picture(
                "forest",
                "by_group",
                msg("Rates of {x}", x=column),
                {"labels": column, "value": ["selection_rate", "tpr"], "flag": "small", "reference": {"tpr": 0.5}},
            ),
            Picture(
                "heatmap", "crossed", msg("Rates crossed"), {"x": column, "y": other, "value": "rate", "flag": "small"}
            ),
            Picture("confusion", "confusion", msg("Confusion"), {"labels": [column]}),
        ),
        (msg("Small groups are marked: {x}.", x=names[2]),),
    )
    purpose = msg("Are groups of {x} treated alike?", x=column)
    return Section("group_fairness", msg("Group fairness"), purpose, "issue", result, seconds=1.25)


def _calibration(names: tuple[str, ...], column: str) -> Section:
    bins = [0.1, 0.3, 0.5, 0.7, 0.9]
    table = Table.of(
        {
            column: [name for name in names[:3] for _ in bins],
            "predicted": bins * 3,
            "observed": [(b * f, b * f - 0.05, min(1, b * f + 0.05)) for f in (0.9, 1.0, 1.1) for b in bins],
            "n": [100, 80, 60, 40, 20] * 3,
        },
        [Column("predicted", format="pct"), Column("observed", format="pct")],
    )
    picture = Picture("reliability", "bins", msg("Reliability by {x}", x=column), {"color": column})
    result = Result("calibration", msg("Calibration"), {"bins": table}, pictures=(picture,))
    return Section("calibration", msg("Calibration"), msg("Do scores keep their word?"), "passed", result, seconds=0.1)


def _rest(names: tuple[str, ...], column: str) -> Section:
    """The kinds of pictures that the other sections do not hold."""
    figures = Table.of(
        {
            column: list(names),
            "error": [(0.1 * place, 0.1 * place - 0.02, 0.1 * place + 0.02) for place in range(len(names))],
            "step": list(range(len(names))),
            "step_end": [place + 1 for place in range(len(names))],
            "count": [5 * place for place in range(len(names))],
        },
    )
    result = Result(
        "weak_spots",
        msg("Weak spots"),
        {"figures": figures, "empty": Table.of({"a": []})},
        pictures=(
            Picture("bars", "figures", msg("Bars"), {"labels": column, "value": "error", "reference": 0.3}),
            Picture("lines", "figures", msg("Lines"), {"x": "step", "value": "error", "reference": 0.3}),
            Picture("lines", "figures", msg("Lines of texts"), {"x": column, "value": "error"}),
            Picture(
                "scatter", "figures", msg("Scatter"), {"x": "step", "y": "error", "hover": [column], "color": column}
            ),
            Picture(
                "histogram",
                "figures",
                msg("Histogram"),
                {"left": "step", "right": "step_end", "reference": 2, "reference_label": msg("Limit {x}", x=names[0])},
            ),
            Picture("bars", "empty", msg("Nothing"), {"labels": "a", "value": "a"}),
        ),
    )
    return Section("weak_spots", msg("Weak spots"), msg("Where does it err?"), "passed", result, seconds=0.1)


@pytest.fixture(scope="session")
def document() -> Document:
    """An ordinary audit."""
    return build(NAMES)


@pytest.fixture(scope="session")
def hostile() -> Document:
    """The same audit of data whose names attack the page."""
    return build(HOSTILE, column=HOSTILE[0], other=HOSTILE[3])


def build_pairs(names: tuple[str, ...], column: str = "sex") -> Document:
    """An audit that found pairs of people, whose values bear the names given."""
    changes = [(0, 1), (0, 1), (2, 0), (1, 2), (3, 1)]
    table = Table.of(
        {
            "case_id": list(range(5)),
            "age": [40, 31, 22, 67, 18],
            column: [Change(names[a], names[b]) for a, b in changes],
            "town": [names[4], names[5], names[6], names[7], names[4]],
            "outcome": [Change("no", "yes")] * 3 + [Change("yes", "no")] * 2,
            "gap": [0.9, 0.8, 0.5, 0.25, 0.125],
        },
        [Column("gap", format="num"), Column("case_id", format="int")],
        title=msg("Pairs treated most differently (changed cells: before → after)"),
    )
    result = Result("pairs", msg("Pairs of people"), {"witnesses": table})
    section = Section("pairs", msg("Pairs of people"), msg("Who?"), "issue", result, seconds=0.1)
    return Document(title="Pairs", subject={"dataset": names[0]}, sections=(section,))


@pytest.fixture(scope="session")
def people() -> Document:
    """Pairs of people with ordinary values."""
    return build_pairs(NAMES)


@pytest.fixture(scope="session")
def hostile_people() -> Document:
    """Pairs of people whose values attack the page."""
    return build_pairs(HOSTILE, column=HOSTILE[1])
