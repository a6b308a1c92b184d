"""What a check is, and the registry of all checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.errors import SpecError, close_to
from isonomia.evidence import Result
from isonomia.languages import Message
from isonomia.parameters import File, Maybe, Parameter, defaults_of, gathered, read_options
from isonomia.policies import Policy
from isonomia.registry import Registry
from isonomia.subject import Subject

#: Sets of checks; one that is "named" runs only where it, or a policy that needs it, is named.
CheckSet = Literal["quick", "standard", "full", "named"]
SETS: tuple[CheckSet, ...] = ("quick", "standard", "full")
#: The question that a check's tests answer; p-values are corrected within it.
Family = Literal["people", "errors", "robustness"]

#: ``run(subject, **options) -> Result``.
Run = Callable[..., Result]
#: Options of checks, by their codes.
Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One examination.

    Attributes
    ----------
    id : str
        Its stable code.
    title, question : Message
        What it is called, and the question it answers, in a report.
    purpose : str
        One line for the command line.
    run : callable
        ``run(subject, **options) -> Result``, with a value for every parameter; raises `NotApplicable` with a reason
        where the question has no answer.
    within : "quick", "standard", "full" or "named"
        The smallest of the sets it belongs to; the larger ones have it too. "named": none of them.
    parameters : tuple of Parameter
        Its options. A default of None that depends on the subject is filled in by `run`.
    family : "people", "errors" or "robustness"
        The question its tests answer: p-values are corrected within a question. A test about values of protected
        attributes is about people whichever check makes it.
    what_if : bool
        Whether it examines rows that were altered on purpose (other units, noise): what it finds about everyone says
        how the model would fare, not how it fares, and is a notice at most.
    order : int
        Where it stands in a report.
    topic : str
        The question that several checks ask: they stand together in a report.
    keys : mapping
        Keys at the top of a spec that are its options: parameter -> key.
    asked_by : str
        A key at the top of a spec that asks for this check by itself.
    like : str
        Another check, whose options it takes where it is given none.
    counted : bool
        Whether it reads `Subject.counts`; otherwise a subject made of counts is repeated row by row for it.
    of_model : bool
        Whether it asks the model itself, so that it does not apply to predictions alone.
    by_policy : bool
        Whether `run` takes the policy of the audit too, as ``policy``: None where there is none.
    verify : callable, optional
        ``verify(options)`` refuses options that fit their parameters but not one another, before the audit starts.
    """

    id: str
    title: Message
    question: Message
    purpose: str
    run: Run
    within: CheckSet = "standard"
    family: Family = "errors"
    what_if: bool = False
    parameters: tuple[Parameter, ...] = ()
    order: int = 1000
    topic: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    asked_by: str = ""
    like: str = ""
    counted: bool = False
    of_model: bool = False
    by_policy: bool = False
    verify: Callable[[Mapping[str, Any]], object] | None = None

    def examine(self, subject: Subject, options: Mapping[str, Any], policy: Policy | None = None) -> Result:
        """Run it with these options, already read, and its defaults; `policy` is that of the audit."""
        if self.of_model:
            subject.needs_model()  # before any row is read
        given = {"policy": policy} if self.by_policy else {}
        return self.run(
            subject if self.counted else subject.in_rows(), **{**defaults_of(self.parameters), **options, **given}
        )

    @property
    def files(self) -> tuple[str, ...]:
        """Its options that are files."""
        kinds = {one.name: one.kind for one in self.parameters}
        return tuple(
            name for name, kind in kinds.items() if isinstance(kind.kind if isinstance(kind, Maybe) else kind, File)
        )


#: Every check by its code; another package adds its own through the entry point group ``isonomia.checks``.
CHECKS: Registry[Check] = Registry(
    "check",
    package=tuple(
        f"isonomia.audit.checks.{room}"
        for room in ("metrics", "fairness", "discovery", "robustness", "explain", "mitigation")
    ),
    order=lambda entry: entry.order,
)


def check(code: str, **facts: Any) -> Callable[[Run], Run]:
    """Put a function ``run(subject, **options) -> Result`` into the registry of checks; `facts` as in `Check`."""

    def register(run: Run) -> Run:
        CHECKS.add(Check(id=code, run=run, **facts))
        return run

    return register


def choose_checks(wanted: str | Sequence[str], besides: Sequence[str] = ()) -> tuple[Check, ...]:
    """The checks of a named set, or the ones named, and those named `besides`, in the order of the registry.

    >>> [c.id for c in choose_checks("performance,group_fairness")]
    ['performance', 'group_fairness']
    """
    names: Any = wanted
    if isinstance(wanted, str):
        if wanted in SETS:
            reach, more = SETS[: SETS.index(wanted) + 1], _known(besides)
            return tuple(entry for entry in CHECKS if entry.within in reach or entry.id in more)
        names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names or not isinstance(names, list | tuple):
        raise SpecError(f"`checks` must be one of {', '.join(SETS)}, or names of checks: {', '.join(CHECKS.ids())}.")
    chosen = _known([*names, *besides])
    return tuple(entry for entry in CHECKS if entry.id in chosen)


def _known(names: Sequence[str]) -> Sequence[str]:
    """Names of checks, or an error about the first that is none."""
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise SpecError(f"Unknown check or set of checks {unknown[0]!r}.{close_to(unknown[0], [*SETS, *CHECKS.ids()])}")
    return names


def read_check_options(options: Options) -> dict[str, dict[str, Any]]:
    """The options of checks as plain values, or one error with everything that is wrong with them.

    >>> read_check_options({"drift": {"bin": 3}, "weak_spots": {"bins": 2.5}})
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: 2 options are wrong:
      - The check 'drift' has no option 'bin'. Did you mean 'bins'?
      - `options.weak_spots.bins` must be a whole number of at least 1; got 2.5.
    """
    read: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for code, given in options.items():
        try:
            if not isinstance(given, Mapping):
                raise SpecError(f"`options.{code}` must map names of options to values; got {type(given).__name__}.")
            entry = CHECKS[code]
            read[code] = read_options(entry.parameters, given, owner=f"The check '{code}'", path=f"options.{code}.")
            if entry.verify is not None:
                entry.verify({**defaults_of(entry.parameters), **read[code]})
        except SpecError as error:
            problems += error.problems
    if problems:
        raise gathered(problems)
    return read
