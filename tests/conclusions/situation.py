"""A situation: people whose truth is known, how an audit of them is asked for, and what its first page must conclude.

The groups have names that occur in no sentence of the product, so that a page of any language can be searched for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isonomia as iso

#: A pattern for both languages, or one for English and one for Portuguese.
Pattern = str | tuple[str, str]
LANGUAGES = ("en", "pt-BR")

#: What a sentence is about.
DECISIONS: Pattern = (r"\b(granted|selected|decision)\b|[Ss]election rate", r"decisão|[Tt]axa de seleção")


@dataclass(frozen=True)
class Asked:
    """What an audit is asked: rows, the roles of their columns, and options."""

    rows: Mapping[str, Any]
    roles: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def report(self) -> iso.Report:
        """The audit in Python."""
        return iso.audit(iso.Dataset(dict(self.rows), name="people", **self.roles), **self.options)


@dataclass(frozen=True)
class Situation:
    """A planted truth and the conclusion that follows from it.

    Attributes
    ----------
    truth : str
        What is so.
    make : callable
        The audit that is asked.
    outcome : str or None
        Of the verdict; None where no policy is given.
    exit_code : int
    first : pattern
        Whom the leading sentence names before any other group.
    about : pattern
        What that sentence is about.
    says, never : patterns
        What the first page must say, and what it must not.
    nobody : bool
        Whether nobody is treated worse: below the verdict no group is named.
    doors : tuple of str
        Through which it can be asked.
    """

    name: str
    truth: str
    make: Callable[[], Any]
    outcome: str | None
    exit_code: int
    first: Pattern = ""
    about: Pattern = ""
    says: tuple[Pattern, ...] = ()
    never: tuple[Pattern, ...] = ()
    nobody: bool = False
    doors: tuple[str, ...] = ("python", "stored", "command line")

    @cache  # noqa: B019  (situations live as long as the tests)
    def report(self) -> iso.Report:
        """The audit, made once."""
        return self.make().report()


SITUATIONS: list[Situation] = []


def situation(
    truth: str,
    outcome: str | None,
    exit_code: int,
    *,
    first: Pattern = "",
    about: Pattern = "",
    says: Sequence[Pattern] = (),
    never: Sequence[Pattern] = (),
    nobody: bool = False,
    doors: tuple[str, ...] = ("python", "stored", "command line"),
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Declare a situation; the function makes the audit, its name is the situation's."""

    def declare(make: Callable[[], Any]) -> Callable[[], Any]:
        name = make.__name__.replace("_", " ")
        SITUATIONS.append(
            Situation(name, truth, make, outcome, exit_code, first, about, tuple(says), tuple(never), nobody, doors)
        )
        return make

    return declare


def reads(pattern: Pattern, language: str) -> str:
    """A pattern in a language."""
    return pattern if isinstance(pattern, str) else pattern[LANGUAGES.index(language)]


@dataclass(frozen=True)
class FirstPage:
    """The first page as text: all of it, its leading sentence, and everything that is not the verdict."""

    text: str
    leading: str
    matters: str

    @classmethod
    def of(cls, report: iso.Report, language: str) -> FirstPage:
        """What stands before the findings in the Markdown of a report.

        It leads with the verdict's sentence where a limit is exceeded or may be, else with the first entry.
        """
        verdict_head, findings_head = {"en": ("Verdict", "Findings"), "pt-BR": ("Veredito", "Achados")}[language]
        text = report.to_markdown(language).partition(f"\n## {findings_head}\n")[0].replace("\\", "")
        parts = text.split("\n## ")[1:]
        matters = "\n".join(part for part in parts if not part.startswith(verdict_head))
        verdict = report.document.verdict
        entries = re.findall(r"^1\. (.*)$", matters, flags=re.MULTILINE)
        leading = entries[0] if entries else ""
        if verdict is not None and verdict.outcome in ("exceeds", "not_enough_evidence"):
            leading = verdict.reason.text(language)
            assert leading in text
        return cls(text, leading, matters)


def groups_of(document: Any) -> list[str]:
    """The values of the protected attributes of a report."""
    table = next(one.result.tables["groups"] for one in document.sections if one.code == "representation")
    return [str(group) for group in table["group"].values]


# ---- people ----------------------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]
Column = NDArray[Any]
ROLES: dict[str, Any] = {
    "target": "deserved",
    "positive": "granted",
    "prediction": "decision",
    "protected": ["origin", "guild"],
}


def answers(said: NDArray[np.bool_]) -> Column:
    """Decisions as words."""
    return np.where(said, "granted", "refused").astype(object)


def people(
    rate: Callable[[Column, Column], Any],
    *,
    n: int = 2400,
    seed: int = 0,
    mirra: float = 0.35,
    good: float | Callable[[Column, Column], Any] = 0.5,
) -> dict[str, Any]:
    """Applicants of an origin (Lunda, Mirra) and a guild (Tarn, Ovel), granted at these rates.

    Of those who deserve it 1.4 times as many are granted as the rate says, of the others 0.6 times, in every group
    alike; so many deserve it that the rate itself comes out where half do.
    """
    rng = np.random.default_rng(seed)
    origin = np.where(rng.random(n) < mirra, "Mirra", "Lunda").astype(object)
    guild = rng.choice(["Tarn", "Ovel"], n).astype(object)
    deserves = rng.random(n) < (good(origin, guild) if callable(good) else good)
    granted = rng.random(n) < np.clip(rate(origin, guild) * np.where(deserves, 1.4, 0.6), 0, 1)
    return {"origin": origin, "guild": guild, "deserved": answers(deserves), "decision": answers(granted)}


def alike(origin: Column, guild: Column) -> Floats:
    """Half of everybody."""
    return np.full(origin.size, 0.5)


def by_origin(origin: Column, guild: Column) -> Floats:
    """60% of Lunda, 30% of Mirra."""
    return np.where(origin == "Mirra", 0.3, 0.6)
