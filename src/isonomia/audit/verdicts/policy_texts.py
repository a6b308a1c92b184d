"""What a report prints of a policy: how it decides, and whether it is in force."""

from __future__ import annotations

from datetime import date

from isonomia.languages import Message, msg
from isonomia.policies import Policy, Status

_STATUS: dict[Status, Message | None] = {
    "in_force": msg("Status: in force."),
    "adopted": msg("Status: adopted."),
    "practice": msg("Status: customary practice, not law."),
    "proposed": msg("Status: proposed, not in force."),
    "rescinded": msg("Status: rescinded; it no longer applies."),
    "internal": None,
}


def basis_of(policy: Policy) -> Message:
    """How this policy decides, in a sentence or two."""
    if policy.kind == "documentation":
        return msg(
            "This profile has no limits. A figure is documented where the report holds it with its interval and the "
            "number of people."
        )
    return msg(
        "A limit is exceeded only where the whole interval lies beyond it, and met only where every comparison is "
        "shown to keep it. Intervals hold together over all groups and criteria of this policy."
    )


def standing_of(policy: Policy, on: date) -> tuple[Message, ...]:
    """The status of the policy's text, and that a day lies outside its dates."""
    notes = [_STATUS[policy.status]]
    dates = policy.in_force
    if dates is not None and dates.start is not None and on < dates.start:
        notes.append(
            msg(
                "It applies from {start:date}; this audit was made on {day:date}, before that.",
                start=dates.start.isoformat(),
                day=on.isoformat(),
            )
        )
    elif dates is not None and dates.until is not None and on > dates.until:
        notes.append(
            msg(
                "It applied until {until:date}; this audit was made on {day:date}, after that.",
                until=dates.until.isoformat(),
                day=on.isoformat(),
            )
        )
    elif dates is not None and dates.start is not None:
        notes.append(msg("In force since {start:date}.", start=dates.start.isoformat()))
    if policy.as_of is not None:
        notes.append(msg("Source and status checked on {day:date}.", day=policy.as_of.isoformat()))
    return tuple(note for note in notes if note is not None)
