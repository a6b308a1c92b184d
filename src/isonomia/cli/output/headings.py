"""What the fields of a listing are called, and the words in them that are ours, in every language.

The keys and values of ``--json`` stay as they are, in English.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.languages import Message, Name, locale, msg

#: Field -> its heading, where it is called by another word than its key.
HEADINGS: Mapping[str, Message] = {
    "aliases": msg("aliases"),
    "better": msg("better"),
    "changes": msg("what changes"),
    "check": msg("check"),
    "citation": msg("citation"),
    "exact_for": msg("exact for"),
    "explainer": msg("explainer"),
    "extra": msg("extra"),
    "favourable": msg("favourable"),
    "fewest rows": msg("fewest rows"),
    "file": msg("file"),
    "finds": msg("finds"),
    "format": msg("format"),
    "here": msg("here"),
    "kind": msg("kind"),
    "labels": msg("labels"),
    "level": msg("level"),
    "licence": msg("licence"),
    "max_level": msg("largest level"),
    "method": msg("method"),
    "metric": msg("metric"),
    "mitigation": msg("mitigation"),
    "name": msg("name"),
    "needs": msg("needs"),
    "notes": msg("notes"),
    "of": msg("files of"),
    "outputs": msg("outputs"),
    "perturber": msg("perturber"),
    "policy": msg("policy"),
    "privileged": msg("privileged"),
    "protected": msg("protected"),
    "purpose": msg("purpose"),
    "question": msg("question"),
    "randomised": msg("randomised"),
    "range": msg("range"),
    "reference": msg("reference"),
    "references": msg("references"),
    "rows": msg("rows"),
    "scenario": msg("scenario"),
    "source": msg("source"),
    "stage": msg("stage"),
    "status": msg("status"),
    "suffixes": msg("suffixes"),
    "target": msg("target"),
    "task": msg("task"),
    "tasks": msg("tasks"),
    "title": msg("title"),
    "trust": msg("trust"),
    "unit": msg("unit"),
    "within": msg("within profile"),
}

#: Values of fields that are words, not names to type.
_WORDS: Mapping[str, Message] = {
    "adopted": msg("adopted"),
    "after": msg("after training"),
    "attribute": msg("protected attribute"),
    "attributes": msg("protected attributes"),
    "before": msg("before training"),
    "binary": msg("binary"),
    "category": msg("category"),
    "continuous": msg("continuous"),
    "data": msg("data"),
    "decisions": msg("decisions"),
    "documentation": msg("documentation"),
    "errors": msg("errors"),
    "features": msg("features"),
    "higher": msg("higher"),
    "in": msg("in training"),
    "in_force": msg("in force"),
    "infinity": msg("infinity"),
    "-infinity": msg("-infinity"),
    "internal": msg("internal"),
    "label": msg("label"),
    "labels": msg("labels"),
    "lower": msg("lower"),
    "model": msg("model"),
    "models": msg("models"),
    "multiclass": msg("multiclass"),
    "needed": msg("needed"),
    "neither": msg("neither"),
    "no": msg("no"),
    "none": msg("none"),
    "not needed": msg("not needed"),
    "number": msg("number"),
    "pairs": msg("pairs"),
    "practice": msg("practice"),
    "predictions": msg("predictions"),
    "probability": msg("probability"),
    "proposed": msg("proposed"),
    "protected": msg("protected attributes"),
    "ranking": msg("probabilities or scores"),
    "regression": msg("regression"),
    "rescinded": msg("rescinded"),
    "score": msg("score"),
    "scores": msg("scores"),
    "subgroups": msg("subgroups"),
    "threshold": msg("threshold"),
    "time": msg("time"),
    "yes": msg("yes"),
}


def heading(field: str) -> Message:
    """What a field is called.

    >>> heading("max_level").text("pt-BR"), heading("sha256").text("pt-BR")
    ('nível máximo', 'sha256')
    """
    return HEADINGS.get(field) or Message.literal(field)


def worded(value: str) -> str:
    """A value that is a word of ours: the same for machines, read in every language.

    >>> worded("multiclass") == "multiclass", shown(worded("in"), "pt-BR"), shown(worded("torch"), "pt-BR")
    (True, 'durante o treino', 'torch')
    """
    return Name(_WORDS[value], value) if value in _WORDS else value


def shown(value: Any, language: str) -> str:
    """A value of a field as a person reads it: words in the language, numbers with its marks.

    >>> shown([worded("binary"), "auc"], "pt-BR"), shown(0.25, "pt-BR"), shown(True, "pt-BR")
    ('binária, auc', '0,25', 'sim')
    """
    if isinstance(value, list):
        between = locale(language).separator if any(isinstance(one, float) for one in value) else ", "
        return between.join(shown(one, language) for one in value)
    if isinstance(value, bool):
        return _WORDS["yes" if value else "no"].text(language)
    if isinstance(value, Name):
        return value.text(language)
    return locale(language).write(str(value)) if isinstance(value, float) else str(value)
