"""Running an audit: a subject, its checks, one ranking, one verdict."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Unpack

from isonomia._version import __version__
from isonomia.audit.balance import TITLE as BALANCE
from isonomia.audit.balance import balance_sheet
from isonomia.audit.check_registry import Check, Options, choose_checks, read_check_options
from isonomia.audit.examining import examine_all
from isonomia.audit.finishing import Faults, adjusted, each
from isonomia.audit.grading import grade
from isonomia.audit.labels_first import with_labels_first
from isonomia.audit.multiplicity import Families
from isonomia.audit.recorded_spec import recorded_spec, spec_hash
from isonomia.audit.reference_named import compared_with
from isonomia.audit.report import Report
from isonomia.audit.scope import scope_of
from isonomia.audit.spec import Spec, read_spec
from isonomia.audit.spec_options import checks_and_options, with_keys
from isonomia.audit.tried import with_tried
from isonomia.audit.verdicts.broken_rules import with_broken_rules
from isonomia.audit.verdicts.one_rule import with_one_rule
from isonomia.audit.verdicts.verdict import conclude, decide_figures
from isonomia.data import Dataset, is_database
from isonomia.errors import DataError, SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Result
from isonomia.fairness.time.periods import days_between
from isonomia.languages import Message, check_language, msg
from isonomia.metrics import METRIC_NAME
from isonomia.models import TRUST, GroupThresholds, Model, Trust
from isonomia.parameters import LEVEL, MIN_PER_GROUP, MISSING, N_BOOT, SEED, validated
from isonomia.policies import Policy, check_attributes, load_policy
from isonomia.report import Criterion, Document, Section
from isonomia.subject import AllRoles, Settings, Subject
from isonomia.subject.attributes import protected_names


@validated(
    metric=METRIC_NAME.or_none(), seed=SEED, n_boot=N_BOOT, level=LEVEL, min_per_group=MIN_PER_GROUP, missing=MISSING
)
def audit(
    data: Any,
    model: Any = None,
    *,
    checks: str | Sequence[str] = "standard",
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    metric: str | None = None,
    seed: int = 0,
    n_boot: int = 1000,
    level: float = 0.95,
    min_per_group: int = 30,
    missing: Any = "group",
    reference: Any = None,
    language: str = "en",
    options: Options | None = None,
    progress: ProgressLike = None,
    **given: Unpack[AllRoles],
) -> Report:
    """Examine what a model does to the people in a dataset.

    Parameters
    ----------
    data : Dataset, frame, column of true outcomes, or Subject
        With its protected attributes; with predictions (``prediction=``, ``score=``) where no model is given. A plain
        frame takes its roles as keywords, arrays are given as ``sensitive_features=`` and so on (see `Subject.of`).
    model : optional
        Anything that predicts: a fitted estimator, a callable, an `isonomia.Model`. It is called once. Predictions
        may be given instead, as a `Surface` or a column.
    checks : "quick", "standard", "full", names of rooms ("fairness", "robustness") or of checks
        One name or a list of them, of any kind.
    policy : name, file, mapping or Policy, optional
        What the subject is compared with (`isonomia policies` lists those that come with the package).
    metric : str, optional
        The metric that checks of errors judge the model by first (`isonomia metrics`).
    seed, n_boot, level
        Of the intervals.
    min_per_group : int
        Smaller groups are shown and flagged; no finding relies on them.
    missing : "group", "exclude" or "error"
        What happens to rows with a missing protected value.
    reference : optional
        Whom groups are compared with; by default the privileged groups of the data, else "best": the best-off group
        that is large enough, which the report names.
    language : "en" or "pt-BR"
    options : mapping, optional
        Options of single checks, by their code (`isonomia checks NAME` lists them).
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; that of a finished check carries its section. A `Progress` can cancel the
        audit, from any thread. In a notebook bars are shown by default.
    **given
        What the columns of a plain frame are for, or columns themselves: ``target=``, ``positive=``, ``protected=``,
        ``privileged=``, ``prediction=``, ``score=``, ``weight=``, ``time=``, ``features=``, ``ignore=``,
        ``sensitive_features=``, ``weights=`` (see `Subject.of`).

    Returns
    -------
    Report

    Raises
    ------
    Cancelled
        Where `progress` was cancelled; nothing is written.
    """
    settings = Settings(n_boot, level, seed, min_per_group, missing, reference)
    rules = None if policy is None else load_policy(policy)
    check_attributes(() if rules is None else rules.rules, _protected(data, given))
    chosen = choose_checks(checks, () if rules is None else rules.checks)
    options = with_keys(chosen, options or {}, {"metric": metric})
    read = _options(options, chosen)
    known = check_language(language)
    timings: dict[str, float] = {}
    started = time.perf_counter()
    events = Progress.of(progress)
    events.check()
    subject = Subject.of(data, model, progress=events, counted=True, **given, **asdict(settings))
    _ = subject.surface  # raises an error where there are no predictions
    if subject.surface.other is not None and subject.surface.other.any():
        chosen = choose_checks([entry.id for entry in chosen], ["other_answers"])
    timings["prediction"] = time.perf_counter() - started
    found = examine_all(chosen, subject, read, rules, settled=reference is not None)
    begun = time.perf_counter()
    now = datetime.now(UTC)
    faults = Faults()
    sections, families = adjusted(found, [column.name for column in subject.attributes], faults)
    decided = {} if rules is None else decide_figures(rules, subject, sections, faults)
    criteria = [criterion for each in decided.values() for criterion in each]
    sections = _finished(sections, subject, criteria, faults)
    verdict = None if rules is None else conclude(rules, decided, sections, subject, faults, on=now.date())
    timings["verdict"] = time.perf_counter() - begun
    spec = recorded_spec(subject, chosen, options)
    document = Document(
        msg("Audit of {name}", name=subject.name) if subject.name else msg("Audit"),
        _subject_facts(subject) | {"checks": scope_of(chosen)},
        (),
        balance_sheet=_balance(subject, families, faults),
        verdict=verdict,
        policy=None if rules is None else rules.record(),
        language=known,
        fingerprint=_fingerprint(subject, spec, rules, families, faults),
        spec=spec,
        created=now.isoformat(timespec="seconds"),
        timings=timings,
        words=subject.words,
    )
    return Report(replace(document, sections=(*sections, *faults.sections.values())))


def _protected(data: Any, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The protected attributes of what is going to be examined."""
    if isinstance(data, Subject) and not {"protected", "sensitive_features"} & {*given}:
        return tuple(column.name for column in data.attributes)
    return protected_names(data, given)


@validated(trust=TRUST)
def run(
    spec: str | Path | Mapping[str, Any] | Spec,
    *,
    trust: bool | Sequence[str] | Trust = False,
    progress: ProgressLike = None,
) -> Report:
    """Everything from one spec: a mapping, or a JSON or YAML file; paths in a file are relative to it.

    Parameters
    ----------
    spec : mapping or path
        Keys: `dataset` (a path, or a mapping of the options of `Dataset`), `model` (a file, ``module:callable`` or an
        address, or a mapping), `name`, `task`, `target`, `positive`, `protected` (also `sensitive_feature`),
        `privileged`, `metric`, `checks`, `scenarios`, `n_trials`, `reference_dataset`, `train_dataset`, `policy`,
        `seed`, `out`, `options` and those of `audit`. `isonomia run --schema` prints all of them for an editor.
    trust : bool, or sequence of str
        Whether to do what a spec may not ask for by itself: run code (``module:callable`` below the working folder, a
        pickle, joblib or PyTorch file), connect to an address, write outside of the working folder. Names allow only
        these: modules (also those elsewhere, which are always named), types in a skops file, addresses.
    progress : callable or Progress, optional
        As in `audit`.

    Returns
    -------
    Report

    Raises
    ------
    UntrustedError
        Where the spec asks for something that the caller has not allowed.

    Examples
    --------
    >>> report = run({"dataset": "people.csv", "target": "hired", "protcted": ["sex"]})
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: The spec is not valid:
      - Unknown key `protcted` in the spec. ...
    """
    given = read_spec(spec)
    word = Trust.given(trust).asked_by("spec")
    checks, options = checks_and_options(given)
    out = out_folder(given, word)
    model = None if given.model is None else _load_model(given, word)
    report = audit(
        _read_data(given, word),
        model,
        checks=checks,
        policy=given.policy,
        seed=given.seed,
        n_boot=given.n_boot,
        level=given.level,
        min_per_group=given.min_per_group,
        missing=given.missing,
        reference=given.reference,
        language=given.language,
        options=options,
        progress=progress,
    )
    if out is not None:
        report.save(out)
    return report


def out_folder(given: Spec, trust: Trust) -> Path | None:
    """The folder that a spec names for its report; refused, before anything is done, where it is not its to name."""
    if given.out is not None and given.is_written("out"):
        trust.asked_by("spec").allow_folder(given.out)
    return None if given.out is None else Path(given.out)


def _read_data(given: Spec, word: Trust) -> Dataset:
    import isonomia.data as rooms

    source = given.dataset.path
    if source is not None and is_database(source) and given.is_written("dataset.path"):
        word.allow_address(source)
    options = {
        name: value
        for name, value in given.dataset.model_dump(exclude={"path", "catalog"}).items()
        if value not in (None, [], {}) or (name == "positive" and value is not None)
    }
    data_spec = given.dataset
    known = data_spec.catalog or data_spec.table or (None if data_spec.query else Path(data_spec.path or "data").name)
    options.setdefault("name", given.name or known or "query")
    if source is not None:
        return rooms.read(source, **options)
    from isonomia.data import catalog

    return catalog.load(str(given.dataset.catalog)).with_roles(**options)


def _load_model(given: Spec, word: Trust) -> Model:
    from isonomia.models import endpoint, is_address, load_model

    asked = given.model
    assert asked is not None
    word = word if given.is_written("model.path") else word.asked_by("")
    options: Any = asked.model_dump(include={"features", "classes", "threshold", "output", "name"}, exclude_none=True)
    if is_address(asked.path) and asked.endpoint is not None:
        word.allow_address(asked.path)
        return endpoint(asked.path, **asked.endpoint.model_dump(), **options)
    return load_model(asked.path, trust=word, format=asked.format, **options)


def _finished(
    sections: Sequence[Section], subject: Subject, criteria: Sequence[Criterion], faults: Faults
) -> list[Section]:
    """The sections with findings as severe as they may be, what was tried about them, and the policy's word."""
    sections = each(sections, lambda alone: grade(alone, subject, criteria))
    with faults.of("tried", msg("What was tried about the findings")):
        sections = with_tried(sections)
    sections = each(sections, lambda alone: with_one_rule(alone, criteria))
    with faults.of("policy", msg("Rules of the policy")):
        sections = with_broken_rules(sections, criteria)
    with faults.of("labels", msg("Whether labels may be what is biased")):
        sections = with_labels_first(sections)
    return list(sections)


def _balance(subject: Subject, families: Families, faults: Faults) -> Result:
    """The balance sheet with the notes of the whole run."""
    sheet = Result("balance_sheet", BALANCE)
    with faults.of("balance_sheet", BALANCE):
        sheet = balance_sheet(subject, families)
    read = () if subject.dataset is None else subject.dataset.notes
    notes = [*sheet.notes, *read]
    with faults.of("source", msg("Whether the data changed")):
        notes += _moved(subject)
    return replace(sheet, notes=tuple(notes))


def _options(options: Options, chosen: Sequence[Check]) -> dict[str, dict[str, Any]]:
    """The options of the checks that run, read before any of them starts."""
    read = read_check_options(options)
    codes = [entry.id for entry in chosen]
    for code in read:
        if code not in codes:
            raise SpecError(f"`options` names {code!r}, which is not among the checks that run: {', '.join(codes)}.")
    for entry in chosen:
        if entry.like in read:
            read.setdefault(entry.id, read[entry.like])  # what is then computed once
    return read


def _moved(subject: Subject) -> tuple[Message, ...]:
    """That the data changed while they were examined, where they did."""
    engine = None if subject.dataset is None else subject.dataset.engine
    moved = None if engine is None else engine.moved()
    return () if moved is None else (moved,)


def _subject_facts(subject: Subject) -> dict[str, Any]:
    data, model = subject.dataset, subject.model
    facts: dict[str, Any] = {"dataset": subject.name, "rows": subject.n_given}
    if data is not None and data.engine is not None:
        facts["engine"] = data.source
    facts["target"] = None if data is None else data.target
    if subject.task == "binary":
        facts["positive"] = str(subject.surface.classes[1])
        threshold = subject.surface.threshold
        if isinstance(threshold, GroupThresholds):
            facts["threshold"] = threshold.to_dict()
    elif subject.favourable:
        facts["positive"] = [str(label) for label in subject.favourable]
    facts["protected"] = [column.name for column in subject.attributes]
    if data is not None and data.privileged:
        facts["privileged"] = {name: [str(value) for value in values] for name, values in data.privileged.items()}
    facts["reference"] = compared_with(subject)
    facts["task"] = subject.task
    facts["period"] = _period(subject)
    if subject.weights is not None:
        facts["weight"] = data.roles.weight if data is not None and data.roles.weight is not None else "weights"
    if model is not None:
        facts["model"] = model.make
        facts["features"] = None if model.features is None else len(model.features)
        facts["trusted"] = bool(getattr(model, "trusted", False))
    elif data is not None:
        facts["prediction"] = data.roles.prediction
        facts["score"] = list(data.roles.score)
    return {key: value for key, value in facts.items() if value not in (None, "", [], {})}


def _period(subject: Subject) -> Message | None:
    """From when to when the rows are; None where they have no time, or none that is dates."""
    data = subject.dataset
    if data is None or data.roles.time is None or data.engine is not None:
        return None
    try:
        days = days_between(data.column(data.roles.time))
    except DataError:  # dates that can be read in two ways: the check over time says so
        return None
    return None if days is None else msg("{first:date} to {last:date}", first=days[0], last=days[1])


def _fingerprint(
    subject: Subject, spec: Mapping[str, Any], policy: Policy | None, families: Families, faults: Faults
) -> dict[str, Any]:
    content = None
    with faults.of("traceability", msg("Traceability")):
        content = subject.fingerprint
    model = subject.model
    return {
        "data_sha256": content,
        **({} if model is None or model.fingerprint is None else {"model_sha256": model.fingerprint}),
        "spec_sha256": spec_hash(spec, policy),
        "settings": {
            **{name: getattr(subject.settings, name) for name in ("missing", "min_per_group", "level")},
            "reference": str(subject.settings.reference),
        },
        "seed": subject.settings.seed,
        "tests": sum(families.sizes.values()),
        "isonomia": __version__,
        "python": platform.python_version(),
        "packages": {
            name: found for name in ("numpy", "scipy", "scikit-learn", "narwhals") if (found := _version(name))
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
