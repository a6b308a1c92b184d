"""Is a report what it says? Its hash, whether its verdict follows from its figures, and whether they come out again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia._version import __version__
from isonomia.audit.naming import metric_title
from isonomia.audit.repeating import (
    Difference,
    compared_figures,
    other_parts,
    recorded_model,
    recorded_rows,
    repeated,
    why_not_repeatable,
)
from isonomia.audit.report import Report, read_record, unverified
from isonomia.audit.verdicts.following import unfounded
from isonomia.data import Dataset
from isonomia.errors import DataError
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Result, Table
from isonomia.languages import Message, msg
from isonomia.models import TRUST, Model, Trust
from isonomia.parameters import validated
from isonomia.report import content_hash

Outcome = Literal["holds", "differs", "unchecked"]
OUTCOMES: Mapping[str, Message] = {
    "holds": msg("holds"),
    "differs": msg("does not hold"),
    "unchecked": msg("not checked"),
}


@dataclass(frozen=True)
class _Step:
    """One thing that was checked; `asked` where the caller wanted it, so that leaving it out counts."""

    name: Message
    outcome: Outcome
    what: Message
    asked: bool = True


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """What was checked of a report.

    Attributes
    ----------
    exit_code : int
        0 where everything that was asked holds, 1 where something does not, 3 where something could not be checked.
    compared : int
        How many figures were computed again.
    tables
        ``steps``: hash, verdict, data, model and figures, with their outcome; ``differences``: figures that came out
        otherwise, as recorded and as computed again.
    """

    exit_code: int = 0
    compared: int = 0
    headline: Message = field(default=Message("{nothing}", {"nothing": ""}))

    @property
    def lead(self) -> tuple[Message, ...]:
        """What was found, in a sentence."""
        return (self.headline,)


@validated(trust=TRUST)
def verify(
    report: Report | Mapping[str, Any] | str | os.PathLike[str],
    data: Any = None,
    model: Any = None,
    *,
    trust: Any = False,
    progress: ProgressLike = None,
) -> Verification:
    """Check a report: is it the record that was written, does its verdict follow, and do its figures come out again?

    Parameters
    ----------
    report : path, mapping or Report
        A report.json, the folder it is in, or what it contains. Of a `Report` in memory the hash is made, not compared.
    data : path, frame or Dataset, optional
        The rows of the audit: then it is repeated as the report records it, and every figure compared.
    model : path or estimator, optional
        The model of the audit, where it had one.
    trust : bool or sequence of str
        As in `load_model`; also for files that only the report names, such as those of an earlier period.
    progress : callable or Progress, optional
        As in `audit`.

    Returns
    -------
    Verification

    Notes
    -----
    The hash is no signature: it shows that a file is the one whose hash was signed or printed. Whoever changes figures
    consistently and makes a new hash is found by repeating the audit alone.

    Examples
    --------
    >>> import isonomia as iso
    >>> data = iso.Dataset({"sex": ["F", "M"] * 50, "p": [0, 1, 1, 0] * 25}, prediction="p", protected=["sex"])
    >>> record = iso.audit(data, checks="group_fairness", policy="eeoc").to_dict()
    >>> iso.verify(record, data=data).exit_code
    0
    >>> iso.verify({**record, "created": "2020-01-01T00:00:00+00:00"}).exit_code
    1
    """
    record = _record(report)
    given = unverified(record)
    steps = [_hash(record), _verdict(given)]
    differences, compared = _differences([]), 0
    word = Trust.given(trust)
    if data is None:
        steps.append(_Step(_FIGURES, "unchecked", msg("name the data, and they are computed again"), asked=False))
    elif reason := why_not_repeatable(given, model, word):
        steps.append(_Step(_FIGURES, "unchecked", reason))
    else:
        rows, asked = recorded_rows(data, given), recorded_model(model, given, word)
        others = [*_others(given, rows, asked)]
        steps += others
        if not others:
            again = repeated(given, rows, asked, progress)
            found, compared = compared_figures(given, again)
            differences = _differences(found)
            steps.append(_figures(given, again, len(found), compared))
    return Verification(
        "verification",
        msg("Verification of {title}", title=given.document.title),
        {"steps": _steps(steps), "differences": differences},
        exit_code=_exit_code(steps),
        compared=compared,
        headline=_headline(steps),
        notes=_notes(given, compared),
    )


_HASH, _VERDICT, _DATA = msg("hash of the record"), msg("verdict"), msg("data")
_MODEL, _FIGURES = msg("model"), msg("figures")


def _record(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Report):
        return given.to_dict()
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str | os.PathLike):
        record = read_record(given)
        if isinstance(record, Mapping):
            return record
        raise DataError("This is not a report: it has no schema_version. Give the report.json of an audit.")
    raise DataError(f"`report` must be a Report, its dictionary or a path; got {type(given).__name__}.")


def _hash(record: Mapping[str, Any]) -> _Step:
    written, found = record.get("sha256"), content_hash(record)
    if written is None:
        return _Step(_HASH, "differs", msg("the record has no hash, so nothing shows that it was not changed"))
    if written != found:
        what = msg(
            "the record was changed after it was written: its content has the hash {found}, not {mark}",
            found=found[:12],
            mark=str(written)[:12],
        )
        return _Step(_HASH, "differs", what)
    return _Step(_HASH, "holds", msg("the record is the one with the hash {mark}", mark=found[:12]))


def _verdict(report: Report) -> _Step:
    doubted = unfounded(report.document, report.policy)
    if doubted:
        what = msg("the verdict does not follow from the figures: {criteria}", criteria=", ".join(doubted))
        return _Step(_VERDICT, "differs", what)
    if report.verdict is None:
        return _Step(_VERDICT, "unchecked", msg("no policy was given, so there is no verdict"), asked=False)
    n = len(report.verdict.criteria)
    return _Step(_VERDICT, "holds", msg("{n:the criterion follows|all # criteria follow} from the figures", n=n))


def _others(report: Report, rows: Dataset, model: Model | None) -> Iterator[_Step]:
    """That the data or the model are not those of the audit."""
    given = (
        (_DATA, "data_sha256", rows.fingerprint, msg("these are other data, or they were read otherwise")),
        (_MODEL, "model_sha256", None if model is None else model.fingerprint, msg("this is another model")),
    )
    for name, key, found, other in given:
        mark = report.document.fingerprint.get(key)
        if mark is not None and found not in (None, mark):
            what = msg("{other} (hash {found}, not {mark})", other=other, found=str(found)[:12], mark=str(mark)[:12])
            yield _Step(name, "differs", what)


def _figures(report: Report, again: Report, differing: int, compared: int) -> _Step:
    if differing:
        what = msg("{n:one figure|# figures} of {all:int} came out otherwise", n=differing, all=compared)
        return _Step(_FIGURES, "differs", what)
    parts = other_parts(report, again)
    if parts:
        what = msg("all {n:int} figures came out the same, but not these parts: {parts}", n=compared, parts=parts)
        return _Step(_FIGURES, "differs", what)
    return _Step(_FIGURES, "holds", msg("all {n:int} figures came out the same", n=compared))


def _differences(found: Sequence[Difference]) -> Table:
    return Table(
        (
            Column("group", [one.recorded.label for one in found], title=msg("group")),
            Column(
                "metric",
                [one.recorded.metric for one in found],
                title=msg("metric"),
                names={
                    one.recorded.metric: title
                    for one in found
                    if (title := metric_title(one.recorded.metric)) is not None
                },
            ),
            Column("measure", [one.recorded.measure for one in found], title=msg("measure")),
            Column("recorded", (), title=msg("recorded")).filled([one.recorded.estimate for one in found]),
            Column("again", (), title=msg("computed again")).filled([one.again for one in found]),
        ),
        msg("Figures that came out otherwise"),
    )


def _steps(steps: Sequence[_Step]) -> Table:
    return Table(
        (
            Column("step", [one.name for one in steps], title=msg("what was checked")),
            Column("outcome", [one.outcome for one in steps], title=msg("outcome"), names=OUTCOMES),
            Column("what", [one.what for one in steps], title=msg("what was found")),
        ),
        msg("What was checked"),
    )


def _exit_code(steps: Sequence[_Step]) -> int:
    if any(one.outcome == "differs" for one in steps):
        return 1
    return 3 if any(one.outcome == "unchecked" and one.asked for one in steps) else 0


def _headline(steps: Sequence[_Step]) -> Message:
    wrong = [one.what for one in steps if one.outcome == "differs"]
    if wrong:
        return msg("Not verified: {reason}.", reason=wrong[0])
    open_ = [one.what for one in steps if one.outcome == "unchecked" and one.asked]
    if open_:
        return msg("Not fully verified: {reason}.", reason=open_[0])
    if any(one.name is _FIGURES and one.outcome == "holds" for one in steps):
        return msg("Verified: the record is whole, its verdict follows from its figures, and they come out again.")
    if any(one.name is _VERDICT and one.outcome == "holds" for one in steps):
        return msg(
            "The record is whole and its verdict follows from its figures. "
            "Those were not computed again: name the data."
        )
    return msg("The record is whole. Its figures were not computed again: name the data.")


def _notes(report: Report, compared: int) -> tuple[Message, ...]:
    """What the answer rests on: other versions of the packages, and what a hash cannot show."""
    then, now = str(report.document.fingerprint.get("isonomia", "")), __version__
    notes = [msg("A hash is no signature: compare it with the one that was signed or printed.")]
    if compared and then != now:
        notes.append(msg("The audit was run with Isonomia {then}, this check with {now}.", then=then, now=now))
    return tuple(notes)
