"""What a check is, and the registry of all checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.errors import SpecError, close_to
from isonomia.evidence import Result
from isonomia.languages import Message, take_texts
from isonomia.parameters import File, Maybe, Parameter, defaults_of, gathered, read_options
from isonomia.policies import Policy
from isonomia.registry import Registry
from isonomia.subject import Subject

#: Sets of checks; one that is "named" runs only where it, or a policy that needs it, is named.
CheckSet = Literal["quick", "standard", "full", "named"]
SETS: tuple[CheckSet, ...] = ("quick", "standard", "full")
#: The rooms that checks come from: the name of one stands for its checks, without those that are "named".
ROOMS = ("metrics", "fairness", "discovery", "robustness", "explain", "mitigation")
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
        What it is called, and the question it answers, in a report. Plain texts will do.
    purpose : str
        One line for the command line.
    run : callable
        ``run(subject, **options) -> Result``, with a value for every parameter; raises `NotApplicable` with a reason
        where the question has no answer.
    room : str
        The room whose name asks for it, one of `ROOMS`; empty where another package brings it.
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
    room: str = ""
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

    def __post_init__(self) -> None:
        take_texts(self, "title", "question")

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
    package=tuple(f"isonomia.audit.checks.{room}" for room in ROOMS),
    order=lambda entry: entry.order,
)


def check(code: str, **facts: Any) -> Callable[[Run], Run]:
    """Put a function ``run(subject, **options) -> Result`` into the registry of checks; `facts` as in `Check`."""
    if callable(code):
        raise SpecError(
            f"`check` needs the code of the check and what it asks: @check('{getattr(code, '__name__', 'code')}', "
            "title=..., question=..., purpose=...) before the function; nothing was registered."
        )

    def register(run: Run) -> Run:
        CHECKS.add(Check(id=code, run=run, room=_room_of(run), **facts))
        return run

    return register


def _room_of(run: Run) -> str:
    """The room that a shipped check stands in: the folder of its file."""
    found = run.__module__.removeprefix(f"{__package__}.checks.").partition(".")[0]
    return found if found in ROOMS else ""


def choose_checks(wanted: str | Sequence[str], besides: Sequence[str] = ()) -> tuple[Check, ...]:
    """The checks that are named, and those named `besides`, in the order of the registry.

    A name is that of a set, of a room, or of a check; several may be mixed, in a list or in one text.

    >>> [c.id for c in choose_checks("performance,group_fairness")]
    ['performance', 'group_fairness']
    >>> quick = choose_checks("quick")
    >>> {c.room for c in choose_checks(["explain", "quick"]) if c not in quick}
    {'explain'}
    """
    names: Any = [name.strip() for name in wanted.split(",") if name.strip()] if isinstance(wanted, str) else wanted
    if not names or not isinstance(names, list | tuple):
        raise SpecError(
            f"`checks` must be {', '.join(SETS)}, a room ({', '.join(ROOMS)}), or names of checks: "
            f"{', '.join(CHECKS.ids())}."
        )
    chosen = {code for name in (*names, *besides) for code in _called(name)}
    return tuple(entry for entry in CHECKS if entry.id in chosen)


def _called(name: Any) -> list[str]:
    """The codes of the checks that a name stands for; an error where there are none."""
    name = getattr(name, "id", name)
    if not isinstance(name, str):
        raise SpecError(f"`checks` must be names of checks, sets or rooms; got {name!r:.80}.")
    if name in SETS:
        reach = SETS[: SETS.index(name) + 1]
        return [entry.id for entry in CHECKS if entry.within in reach]
    if name in CHECKS:
        return [name]
    if name in ROOMS:
        return [entry.id for entry in CHECKS if entry.room == name and entry.within in SETS]
    raise SpecError(f"Unknown check, set or room of checks {name!r}.{close_to(name, [*SETS, *ROOMS, *CHECKS.ids()])}")


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
