"""What a rate says of two groups, as a sentence: of which people, how many of each group, and what happens to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.languages import Message, OutcomeName, msg
from isonomia.languages.words import ARE_SELECTED, TRULY_FAVOURABLE, TRULY_UNFAVOURABLE

#: By metric: the people it is a share of (None for everyone), and what it is the share of.
_RATES: Mapping[str, tuple[Message | None, Message]] = {
    "selection_rate": (None, ARE_SELECTED),
    "tpr": (TRULY_FAVOURABLE, ARE_SELECTED),
    "fpr": (TRULY_UNFAVOURABLE, ARE_SELECTED),
    "accuracy": (None, msg("get a correct decision")),
}


def rate_sentence(metric: str, group: Any, value: float, other: Any, base: float) -> Message | None:
    """Both rates in one sentence; None for a metric that is not a rate of people.

    Parameters
    ----------
    metric : str
        With its class, where it is about one of several: "tpr[wait]".
    group, other : People or name
        The two groups; `value` and `base` are their rates.

    Examples
    --------
    >>> str(rate_sentence("tpr", "women", 0.5, "men", 0.75))
    'Of people whose true outcome is favourable, 50% of women and 75% of men are selected.'
    >>> str(rate_sentence("ppv[wait]", "women", 0.5, "men", 0.75))
    'Of decisions for "wait", 50% are right for women and 75% for men.'
    """
    name, _, label = metric.removesuffix("]").partition("[")
    if (decisions := _right(name, label)) is not None:
        return msg(
            "Of {decisions}, {value:pct} are right for {group} and {base:pct} for {other}.",
            decisions=decisions,
            group=group,
            other=other,
            value=value,
            base=base,
        )
    phrases = _of_class(label).get(name) if label else _RATES.get(name)
    if phrases is None:
        return None
    of, what = phrases
    facts = {"group": group, "other": other, "value": value, "base": base, "what": what}
    if of is None:
        return msg("{value:pct} of {group} and {base:pct} of {other} {what}.", **facts)
    return msg("Of people {of}, {value:pct} of {group} and {base:pct} of {other} {what}.", of=of, **facts)


def decision_of(label: str, *, favourable: bool = False) -> Message:
    """That people get one of several decisions, and that it is a favourable one where it is.

    >>> str(decision_of("approved", favourable=True))
    'get the favourable decision "approved"'
    """
    own = OutcomeName(label)
    if favourable:
        return msg('get the favourable decision "{outcome}"', outcome=own)
    return msg('get the decision "{outcome}"', outcome=own)


def _of_class(label: str) -> Mapping[str, tuple[Message | None, Message]]:
    """The same of one of several classes, of which none is the favourable one."""
    own = OutcomeName(label)
    decided = decision_of(label)
    true, false = (
        msg('whose true outcome is "{outcome}"', outcome=own),
        msg('whose true outcome is not "{outcome}"', outcome=own),
    )
    return {
        "selection_rate": (None, decided),
        "tpr": (true, decided),
        "fpr": (false, decided),
    }


def _right(name: str, label: str) -> Message | None:
    """The decisions of which a metric says how many are right; None where it says something else."""
    if not label:
        return {"ppv": msg("favourable decisions"), "npv": msg("unfavourable decisions")}.get(name)
    own = OutcomeName(label)
    of_class = {"ppv": msg('decisions for "{outcome}"', outcome=own)}
    return (of_class | {"npv": msg('decisions against "{outcome}"', outcome=own)}).get(name)
