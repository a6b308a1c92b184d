"""Specs: a whole audit as a mapping, a JSON or a YAML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from isonomia.audit.check_registry import CHECKS, choose_checks, read_check_options
from isonomia.audit.spec_changes import changed
from isonomia.config_files import path_of, plain, problems_of, read_mapping, validated
from isonomia.data import is_database
from isonomia.data.schema import TASK_NAMES
from isonomia.errors import SpecError, close_to
from isonomia.metrics import METRIC_NAME
from isonomia.models import MODEL_FORMAT_NAME, is_address, is_function_name
from isonomia.policies.policy import MOST_ROWS
from isonomia.robustness import PLAN

_SHAPE = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

Task = Annotated[
    Literal["binary", "multiclass", "regression"],
    BeforeValidator(lambda value: TASK_NAMES.get(value, value) if isinstance(value, str) else value),
]
Names = Annotated[list[str], Field(max_length=10_000)]


class DataSpec(BaseModel):
    """The data of an audit: where it is, and what its columns are for."""

    model_config = _SHAPE

    path: str | None = None
    """A CSV, Excel, Parquet, Arrow or JSON lines file, relative to the spec file; or a PostgreSQL address."""
    catalog: str | None = None
    """Instead of a path: the name of a public dataset (`isonomia datasets`)."""
    target: str | None = None
    """The column of true outcomes."""
    positive: Any = None
    """The favourable value of the target; of several classes one, or a list of them: [approved, approved in part]."""
    protected: Names | dict[str, Any] = Field(default_factory=list)
    """Protected attributes; a numeric one with the edges of its bands: {age: [25, 60]}. Without bands, numbers with
    many values get some near their quartiles."""
    privileged: dict[str, Any] = Field(default_factory=dict)
    """The privileged value (or values) of an attribute: {sex: male}."""
    prediction: str | None = None
    """Instead of a model: the column that holds what it decided or predicted."""
    score: str | Names | dict[str, str] | None = None
    """Instead of a model: the column of its probabilities or scores; one a class where there are several."""
    weight: str | None = None
    """The column of weights."""
    time: str | None = None
    """The column that holds the moment of a row."""
    features: Names | None = None
    """The features; else all columns without another role."""
    ignore: Names | None = None
    """Columns that are not features."""
    kinds: dict[str, str] | None = None
    """How to read a column: numeric, integer, boolean, category or datetime."""
    task: Task | None = None
    """binary, multiclass or regression; else read off the target."""
    other_answers: Literal["error", "unfavourable", "apart"] | None = None
    """Predictions that are none of the target's values: refused, unfavourable, or apart as an outcome of their own."""
    name: str | None = None
    """What to call the data in the report."""
    labels: dict[str, str | dict[Any, str]] = Field(default_factory=dict)
    """What to call columns and values in the report: {dti: debt to income, sex: {F: women, M: men}}."""
    delimiter: str | None = None
    """CSV: what stands between the values; else found."""
    decimal: Literal[".", ","] | None = None
    """CSV: the decimal mark; else found."""
    encoding: str | None = None
    """CSV: the encoding of the text; else UTF-8 or Windows-1252 is found."""
    sheet: str | None = None
    """Excel: the sheet; else the first."""
    max_bytes: int | None = Field(default=None, ge=1)
    """The largest file to read, in bytes once unpacked."""
    na_values: Names | None = None
    """CSV: texts that stand for a missing value."""
    engine: Literal["memory", "duckdb"] | None = None
    """Where rows are counted: in memory, or in the files, which may be larger than memory."""
    memory: str | int | None = None
    """How much memory rows and groups may take: 512MB."""
    table: str | None = None
    """Database: the table or view."""
    query: str | None = None
    """Database: instead of a table, a query that reads."""
    timeout: float | None = Field(default=None, gt=0, le=86_400)
    """Database: seconds that one statement may take."""

    @model_validator(mode="after")
    def _one_source(self) -> DataSpec:
        if (self.path is None) == (self.catalog is None):
            raise ValueError("the dataset needs either a `path` or a name of the `catalog`.")
        return self


class EndpointSpec(BaseModel):
    """How a model behind an address is asked."""

    model_config = _SHAPE

    protocol: Literal["auto", "v2", "json"] = "auto"
    """v2 is the open inference protocol; json sends rows and reads predictions; auto reads it off the address."""
    batch: int = Field(default=1000, ge=1, le=1_000_000)
    """Rows in one request."""
    timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds one request may take."""
    retries: int = Field(default=3, ge=0, le=10)
    """How often a failed connection, or an answer 502, 503 or 504, is tried again."""
    max_bytes: int = Field(default=64 << 20, ge=1)
    """The largest answer that is read."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with every request."""
    output_name: str | None = None
    """v2: the output that holds the predictions."""


class ModelSpec(BaseModel):
    """The model of an audit: a file, ``module:callable`` or an address, and how to read its answers."""

    model_config = _SHAPE

    path: str
    """A model file relative to the spec file, module:callable, or an http(s) address."""
    format: str | None = None
    """The file's format (`isonomia formats`), where its suffix does not show it."""
    features: Names | None = None
    """The columns it takes, in its order."""
    classes: Annotated[list[Any], Field(max_length=10_000)] | None = None
    """What its classes are called in the data, in the model's own order."""
    threshold: float | None = None
    """Where the probability (or score) of the positive class is cut."""
    output: Literal["label", "probability", "score", "continuous"] | None = None
    """What it returns, where it does not say."""
    name: str | None = None
    """What to call it in the report."""
    endpoint: EndpointSpec | None = None
    """For an address: how it is asked."""

    @model_validator(mode="before")
    @classmethod
    def _no_word_of_its_own(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and "trust" in given:
            raise ValueError(
                "a spec cannot trust itself. Leave out `trust`, and say it when you run the spec: --trust, or "
                "trust=True in Python."
            )
        return given

    @model_validator(mode="after")
    def _endpoint_has_address(self) -> ModelSpec:
        if self.endpoint is not None and not is_address(self.path):
            raise ValueError(f"`endpoint` is for a model behind an http(s) address; `path` is {self.path!r:.80}.")
        return self


class Spec(BaseModel):
    """A whole audit.

    `dataset` and `model` may be given as plain paths; those in a file are relative to it. The options of the dataset
    that say what its columns are for may stand beside it.
    """

    model_config = _SHAPE

    name: str | None = None
    """What to call the audit."""
    dataset: DataSpec
    """The data."""
    model: ModelSpec | None = None
    """The model; none where the data hold its predictions."""
    metric: str | None = None
    """The metric the model is judged by first (`isonomia metrics`)."""
    checks: str | Annotated[list[str], Field(max_length=1000)] = "standard"
    """quick, standard, full, or names of rooms and of checks."""
    scenarios: Annotated[list[str | dict[str, Any]], Field(max_length=100)] | None = None
    """Run a stress test with these scenarios: names, or mappings such as {type: label_noise, noise_rate: 0.1}. An empty
    list runs the rest of the stress test (failure modes, sensitivity, threshold sweep, disagreement, subgroups)."""
    n_trials: int | None = Field(default=None, ge=1, le=10_000)
    """How often each scenario is played."""
    reference_dataset: str | None = None
    """A file of earlier rows, which the data are compared with (the check drift)."""
    train_dataset: str | None = None
    """A file of the rows the model was trained on (the check overfit)."""
    policy: str | dict[str, Any] | None = None
    """What the model is compared with: the name of a policy (`isonomia policies`), a file, or the rules themselves."""
    seed: int = Field(default=0, ge=0, lt=1 << 63)
    """Start of everything random."""
    n_boot: int = Field(default=1000, ge=0, le=100_000)
    """Bootstrap samples of an interval."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Of intervals."""
    min_per_group: int = Field(default=30, ge=1, le=MOST_ROWS)
    """Smaller groups are shown and flagged; no finding relies on them."""
    missing: Literal["group", "exclude", "error"] = "group"
    """What happens to rows with a missing protected value."""
    reference: str | dict[str, Any] | None = None
    """Whom groups are compared with: largest, best, overall, or a value for each attribute."""
    language: str = "en"
    """en or pt-BR."""
    out: str | None = None
    """A folder for the report, relative to where the audit is run and below it."""
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options of single checks, by their code."""
    _replaced: frozenset[str] = PrivateAttr(default=frozenset())

    def is_written(self, key: str) -> bool:
        """Whether the value of a dotted key stands in the spec itself; the person who runs it may have replaced it."""
        return not any(key == one or key.startswith(f"{one}.") for one in self._replaced)


#: Options of the data that may stand at the top of a spec, beside `dataset`.
LIFTED = (
    *("target", "positive", "protected", "privileged", "prediction", "score"),
    *("weight", "time", "task", "features", "ignore", "labels", "other_answers"),
)
#: Another name of `protected`, for one attribute or several.
SENSITIVE = "sensitive_feature"


def read_spec(spec: str | Path | Mapping[str, Any] | Spec, changes: Mapping[str, Any] | None = None) -> Spec:
    """A spec from a mapping, or from a JSON or YAML file; paths in a file are relative to it.

    `changes` are put in its place first, by dotted keys: ``{"model.path": "b.skops", "options.drift.bins": 5}``.

    Raises
    ------
    SpecError
        With every problem, each named with its path.
    """
    if isinstance(spec, Spec):
        return spec
    changes = changes or {}
    if isinstance(spec, Mapping):
        return _with_replaced(_read(changed(plain(spec), changes), "the spec"), changes)
    path = path_of(spec)
    if not path.is_file():
        near = [str(item.name) for item in path.parent.glob("*") if item.suffix in (".yaml", ".yml", ".json")]
        raise SpecError(f"There is no spec file {str(spec)!r}.{close_to(path.name, near) if near else ''}")
    given = _read(changed(read_mapping(path), changes), f"the spec in {str(path)!r}")
    return _with_replaced(_relative_to(given, path.parent), changes)


def _with_replaced(spec: Spec, changes: Mapping[str, Any]) -> Spec:
    spec._replaced = frozenset(changes)
    return spec


def _read(content: Mapping[str, Any], where: str) -> Spec:
    lifted, problems = _lifted(content)
    try:
        spec = validated(Spec, lifted, where, also=(*LIFTED, SENSITIVE))
    except SpecError as error:
        problems.extend(error.problems)
    problems += _problems(lifted)
    if problems:
        raise problems_of(problems, where)
    return spec


def _problems(content: Mapping[str, Any]) -> list[str]:
    """What is wrong with names and options that registries declare; their shape is checked elsewhere."""
    readers: dict[str, Callable[[Any], Any]] = {
        "metric": lambda name: METRIC_NAME.check("metric", name),
        "checks": choose_checks,
        "scenarios": lambda given: given and PLAN.check("scenarios", given),
        "model": lambda given: _check_format(given) if isinstance(given, Mapping) else None,
        "options": lambda given: read_check_options(given) if isinstance(given, Mapping) else None,
    }
    problems: list[str] = []
    for key, read in readers.items():
        if content.get(key) is not None:
            try:
                read(content[key])
            except SpecError as error:
                problems += [text if text.startswith("`") else f"`{key}`: {text}" for text in error.problems]
    return problems


def _check_format(given: Mapping[str, Any]) -> None:
    MODEL_FORMAT_NAME.or_none().check("model.format", given.get("format"))


def _lifted(content: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The roles beside the dataset put into it, short forms made whole; and what is given twice."""
    out = dict(content)
    problems = []
    data = out.get("dataset")
    data = {"path": data} if isinstance(data, str) else data
    up = {key: out.pop(key) for key in LIFTED if key in out}
    if SENSITIVE in out:
        given = out.pop(SENSITIVE)
        if "protected" in up:
            problems.append(f"`{SENSITIVE}` and `protected` mean the same; give only one.")
        up["protected"] = [given] if isinstance(given, str) else given
    if isinstance(data, Mapping):
        problems += [f"`{key}` is given both beside the dataset and in it; keep one." for key in up if key in data]
        out["dataset"] = {**up, **data}
    if isinstance(out.get("model"), str):
        out["model"] = {"path": out["model"]}
    return out, problems


def _relative_to(spec: Spec, folder: Path) -> Spec:
    def there(name: str) -> str:
        path = path_of(name)
        return str(path if path.is_absolute() else folder / path)

    changes: dict[str, Any] = {
        key: there(value) for key in ("reference_dataset", "train_dataset") if (value := getattr(spec, key)) is not None
    }
    if spec.dataset.path is not None and not is_database(spec.dataset.path):
        changes["dataset"] = spec.dataset.model_copy(update={"path": there(spec.dataset.path)})
    if spec.model is not None and not is_address(spec.model.path):
        is_name = is_function_name(spec.model.path) and not Path(there(spec.model.path)).exists()
        changes["model"] = spec.model.model_copy(update={} if is_name else {"path": there(spec.model.path)})
    if isinstance(spec.policy, str) and (folder / path_of(spec.policy)).is_file():
        changes["policy"] = there(spec.policy)
    options = {code: dict(given) for code, given in spec.options.items()}
    for code, given in options.items():
        given |= {name: there(given[name]) for name in CHECKS[code].files if isinstance(given.get(name), str)}
    return spec.model_copy(update={**changes, "options": options})
