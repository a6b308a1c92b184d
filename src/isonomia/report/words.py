"""What codes and keys are called in a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isonomia.evidence import Finding, Fold, Severity
from isonomia.languages import Message, Words, msg
from isonomia.languages.message import write_number
from isonomia.metrics import METRICS
from isonomia.report.document import Criterion, Document, Point, SectionOutcome, VerdictOutcome
from isonomia.report.texts import sentence, tame, who, with_unit

VERDICTS: Mapping[VerdictOutcome, Message] = {
    "meets": msg("Meets the policy"),
    "exceeds": msg("Exceeds the policy's limits"),
    "not_enough_evidence": msg("Not enough evidence"),
    "not_applicable": msg("Not applicable"),
    "documents": msg("Report complete; this profile sets no limits"),
    "incomplete": msg("Documentation incomplete"),
}
#: Outcomes in the order in which criteria are read.
WORST_FIRST: tuple[VerdictOutcome, ...] = (
    "exceeds",
    "not_enough_evidence",
    "incomplete",
    "not_applicable",
    "meets",
    "documents",
)
CRITERIA: Mapping[VerdictOutcome, Message] = {
    "meets": msg("meets"),
    "exceeds": msg("exceeds"),
    "not_enough_evidence": msg("not enough evidence"),
    "not_applicable": msg("not applicable"),
    "documents": msg("documented"),
    "incomplete": msg("missing"),
}
POINTS: Mapping[Point, Message] = {
    "keeps": msg("the figure itself meets the limit"),
    "breaks": msg("the figure itself exceeds the limit"),
}
OUTCOMES: Mapping[SectionOutcome, Message] = {
    "issue": msg("issue found"),
    "passed": msg("measured, no findings"),
    "not_applicable": msg("not applicable"),
    "skipped": msg("skipped"),
    "failed": msg("failed"),
}
SEVERITY: Mapping[Severity, Message] = {
    "critical": msg("critical"),
    "warning": msg("warning"),
    "notice": msg("notice"),
}
SUBJECT: Mapping[str, Message] = {
    "dataset": msg("Dataset"),
    "name": msg("Dataset"),
    "rows": msg("Rows"),
    "engine": msg("Counted by"),
    "columns": msg("Columns"),
    "target": msg("Target"),
    "positive": msg("Favourable outcome"),
    "protected": msg("Protected attributes"),
    "privileged": msg("Privileged groups"),
    "reference": msg("Reference"),
    "weight": msg("Weights"),
    "time": msg("Time"),
    "period": msg("Period"),
    "prediction": msg("Predictions"),
    "score": msg("Scores"),
    "threshold": msg("Decision threshold"),
    "model": msg("Model"),
    "features": msg("Features that the model uses"),
    "trusted": msg("Loaded as trusted code"),
    "task": msg("Task"),
    "checks": msg("Checks"),
    "source": msg("Source"),
    "binary": msg("binary classification"),
    "multiclass": msg("multiclass classification"),
    "regression": msg("regression"),
}
FINGERPRINT: Mapping[str, Message] = {
    "data": msg("Hash of the data (SHA-256)"),
    "data_sha256": msg("Hash of the data (SHA-256)"),
    "spec": msg("Hash of the spec (SHA-256)"),
    "spec_sha256": msg("Hash of the spec (SHA-256)"),
    "model_sha256": msg("Hash of the model (SHA-256)"),
    "version": msg("Version of Isonomia"),
    "seed": msg("Seed"),
    "isonomia": msg("Version of Isonomia"),
    "python": msg("Version of Python"),
    "packages": msg("Versions of packages"),
    "tests": msg("Tests adjusted together"),
    "versions": msg("Versions of packages"),
}


def people_affected(finding: Finding, language: str) -> str:
    """How many people a finding affects, with its interval; empty where none are counted or they are not worse off."""
    people = finding.people
    if people is None or people.value is None or round(people.value) < 1 or _counts(finding.message):
        return ""  # none, or the sentence itself counts them
    if people.low is None or people.high is None:
        return msg("About {n:# person is|# people are} affected.", n=round(people.value)).text(language)
    return msg(
        "About {n:# person is|# people are} affected ({low:int} to {high:int}).",
        n=round(people.value),
        low=max(0.0, people.low),
        high=people.high,
    ).text(language)


def _counts(message: Message) -> bool:
    """Whether a sentence counts people itself."""
    return "people" in message.params or any(
        _counts(part) for part in message.params.values() if isinstance(part, Message)
    )


def also(document: Document, fold: Fold, language: str) -> str:
    """What else was found about the same: by which other checks, and how many findings; empty where nothing was."""
    n = len(fold.others)
    if not n:
        return ""
    if not fold.also:
        return msg("{n:one more finding|# more findings} of this check", n=n).text(language)
    checks = ", ".join(sentence(document.called(code), language) for code in fold.also)
    return msg("also found by: {checks} ({n:one more finding|# more findings})", checks=checks, n=n).text(language)


def subject_of(document: Document, fold: Fold, language: str, escape: Callable[[str], str] = tame) -> str:
    """Whom or what the first finding of a fold is about: people, columns, or everyone."""
    if fold.columns:
        return columns_named(document, fold.columns, language, escape)
    return who(fold.who, language, document.words, escape)


def columns_named(
    document: Document, columns: Sequence[str], language: str, escape: Callable[[str], str] = tame
) -> str:
    """Columns by their labels: "the columns age, sex"."""
    names = ", ".join(escape(document.words.column(name)) for name in columns)
    return msg("{n:the column|the columns} {names}", n=len(columns), names=names).text(language)


def outcome(criterion: Criterion, language: str) -> str:
    """A criterion's outcome, with that of the figure itself where the rule is stated about it.

    >>> from isonomia.evidence import Estimate
    >>> outcome(Criterion("ratio", "not_enough_evidence", Estimate(0.86, 0.44, 1.54), 0.8, point="keeps"), "en")
    'not enough evidence (the figure itself meets the limit)'
    """
    label = CRITERIA[criterion.outcome].text(language)
    return label if criterion.point is None else f"{label} ({POINTS[criterion.point].text(language)})"


def people_of(
    criterion: Criterion, language: str, escape: Callable[[str], str] = tame, file_words: Words | None = None
) -> str:
    """Whom a criterion is about: the worst-off group, the attributes where there is none, or everyone."""
    if criterion.who or not criterion.by:
        return who(criterion.who, language, file_words, escape)
    return msg("groups by {by}", by=" x ".join(criterion.by)).text(language, escape=escape)


def style_of(criterion: Criterion) -> str:
    """How the figure of a criterion is written: differences of rates in points, rates as percentages, counts whole."""
    if criterion.estimate.method == "count":
        return "int"
    form = METRICS[criterion.metric].format if criterion.metric in METRICS else "num"
    if criterion.measure == "value":
        return form
    return "points" if criterion.measure == "difference" and form == "pct" else "num"


def amount(value: float, style: str) -> Message:
    """A figure by itself, in two digits with its unit: "0.80", "26 points".

    >>> amount(0.8, "num").text("pt-BR"), str(amount(-0.26, "points")), str(amount(0.0512, "pct"))
    ('0,80', '-26 points', '5.1%')
    """
    if style == "points":
        return msg("{x:points} points", x=value)
    return Message("{x:.2f}" if style == "num" and abs(value) < 10 else f"{{x:{style}}}", {"x": value})


def headline(criterion: Criterion, language: str) -> str:
    """The figure of a criterion by itself, as its sentence has it; empty where it has none."""
    value, style = criterion.estimate.value, style_of(criterion)
    if value is None:
        return ""
    same = value != criterion.threshold and f"{value:.2f}" == f"{criterion.threshold or 0.0:.2f}"
    return write_number(value, ".3f", language) if same and style == "num" else amount(value, style).text(language)


def limit_in_short(criterion: Criterion, language: str) -> str:
    """The limit of a criterion beside its figure: "limit 0.80"; empty where it has none."""
    if criterion.threshold is None:
        return ""
    low = amount(criterion.threshold, style_of(criterion))
    if criterion.side == "between" and criterion.upper is not None:
        return msg("limits {low} and {high}", low=low, high=amount(criterion.upper, style_of(criterion))).text(language)
    return msg("limit {limit}", limit=low).text(language)


def criteria_in_short(document: Document, criteria: Sequence[Criterion], language: str, *, named: bool) -> str:
    """Whom criteria of one rule and outcome are about: "race, sex: exceeds"; `named` where a policy has several."""
    first = criteria[0]
    ways = [" x ".join(tame(document.words.column(name)) for name in one.by) for one in criteria if one.by]
    by, name = ", ".join(dict.fromkeys(ways)), sentence(first.name, language) if named or not ways else ""
    about = msg("{criterion} by {by}", criterion=name, by=by).text(language) if name and by else name or by
    return f"{about}: {CRITERIA[first.outcome].text(language)}"


def limit(criterion: Criterion, language: str) -> str:
    """A criterion's threshold as it is read: "at least 0.800"."""
    if criterion.threshold is None:
        return "—"
    style = style_of(criterion)
    low = with_unit(criterion.threshold, style, language)
    if criterion.side == "between" and criterion.upper is not None:
        high = with_unit(criterion.upper, style, language)
        return msg("between {low} and {high}", low=low, high=high).text(language)
    if criterion.side == "at_most":
        return msg("at most {limit}", limit=low).text(language)
    return msg("at least {limit}", limit=low).text(language)


def called(names: Mapping[str, Message], key: str, language: str) -> str:
    """What a key is called; the key itself where it has no name."""
    return names[key].text(language) if key in names else key
