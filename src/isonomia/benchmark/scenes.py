"""A scene: generated data, the model examined, what is true about both, and fresh people to judge answers on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.benchmark.models import BENCHMARK_MODELS, Oracle, oracle
from isonomia.benchmark.settings import Setting
from isonomia.counting import Codes
from isonomia.data import Dataset, catalog, wrap
from isonomia.data.synthetic import Copula, Subgroup, Synthetic, generate
from isonomia.data.synthetic.credit import SCHEMA
from isonomia.models import Model
from isonomia.typing import Bools, Floats

#: A model's score moved by at least this much, on average over a subgroup, is a realised bias: in probability, in the
#: range of class codes, or in standard deviations of the unbiased number of a regression.
REALISED = 0.05
#: The credit schema without missing values, and with a fourth protected attribute.
_COLUMNS = {**SCHEMA.columns, "savings": replace(SCHEMA.columns["savings"], missing=0.0)}
CREDIT = replace(
    SCHEMA, columns=_COLUMNS, protected={"sex": None, "ethnicity": None, "age": [25, 60], "marital_status": None}
)


@dataclass(frozen=True, eq=False)
class Truth:
    """A subgroup that was given a bias, among the fresh people.

    Attributes
    ----------
    subgroup : Subgroup
        Side A of a pair.
    partner : Subgroup
        Side B.
    rows : bool array
        Which fresh people satisfy its conditions.
    sign : int
        -1 where the bias is unfavourable.
    shift : float
        By how much the model's score of these people departs from the bias-free one, on average.
    """

    subgroup: Subgroup
    partner: Subgroup
    rows: Bools
    sign: int
    shift: float

    @property
    def realised(self) -> bool:
        """Whether the model treats these people differently, in the direction of the bias."""
        return self.shift * self.sign >= REALISED


@dataclass(frozen=True, eq=False)
class Scene:
    """What methods are asked about, and what their answers are compared with.

    Attributes
    ----------
    setting : Setting
    people : Dataset
        The rows to search: features and protected attributes, no target.
    model : estimator
        Trained on the labels that contain the bias, or the generator's own rule.
    outcome : array
        What a fair decision would have been for each row, as a number: 0 and 1 (binary), class codes, or numbers.
    score : array
        What the model gives each row: the probability of the favourable class, the expected class code, or a number.
    fresh : Dataset
        People drawn anew in the same way as the rows.
    shift : array
        The model's score of each fresh person less the bias-free one.
    truths : tuple of Truth
    made : Synthetic
        The data that the model was trained on, and what is true about them.
    """

    setting: Setting
    people: Dataset
    model: Any
    outcome: NDArray[Any]
    score: Floats
    fresh: Dataset
    shift: Floats
    truths: tuple[Truth, ...]
    made: Synthetic
    _columns: dict[Any, Codes] = field(default_factory=dict)

    def members(self, features: Mapping[str, Codes]) -> dict[str, Codes]:
        """The fresh people in the codes of features that a search was made on."""
        return {name: self._recoded(name, column) for name, column in features.items()}

    def _recoded(self, name: str, column: Codes) -> Codes:
        key = (name, column.labels, column.edges)
        if key not in self._columns:
            values: Any = self.fresh.column(name)
            bands = self.fresh.roles.bands.get(name)
            if bands is not None:
                banded = Codes.bands(values.to_numpy(), bands, name=name)
                values = np.asarray(banded.labels, dtype=object)[banded.codes]
            self._columns[key] = column.like(values)
        return self._columns[key]

    @property
    def copula(self) -> Copula:
        """The population."""
        return self.made.copula

    @cached_property
    def realised(self) -> tuple[Truth, ...]:
        """The truths that the model realises."""
        return tuple(truth for truth in self.truths if truth.realised)

    @cached_property
    def usual_density(self) -> Floats:
        """Log densities of fresh people under the copula, sorted: what the naturalness of others is ranked in."""
        some = wrap(self.fresh.frame)[:500]
        return np.sort(self.copula.log_density(some.to_native(), draws=16))


@lru_cache(maxsize=4)
def population(source: str) -> tuple[Any, dict[str, Any]]:
    """The population of a source, fitted once per process, and the roles of its columns."""
    if source == "schema":
        roles = {"protected": CREDIT.protected, "privileged": CREDIT.privileged}
        return Copula.from_schema(CREDIT, seed=0), roles
    data = catalog.load(source)
    whole = data.take(np.flatnonzero(~np.asarray([_incomplete(data)]).any(axis=0)))
    bands = whole.roles.bands
    roles = {"protected": {name: bands.get(name) for name in whole.protected}, "privileged": dict(whole.privileged)}
    names = (*whole.features, *(name for name in whole.protected if name not in whole.features))
    return Copula.fit(whole, columns=names), roles


def _incomplete(data: Dataset) -> Bools:
    """Rows with a missing number: searches for pairs need whole people."""
    rows = np.zeros(len(data), dtype=bool)
    for name in data.features:
        if data.kinds[name] in ("integer", "numeric"):
            rows |= np.isnan(data.column(name).to_numpy().astype(float))
    return rows


def build(setting: Setting, seed: int) -> Scene:
    """The scene of a setting and a data seed; the same ones give the same scene."""
    made = _generated(setting, seed)
    rule = oracle(made, aleatoric=setting.aleatoric, epistemic=setting.epistemic)
    data = made.dataset
    model = rule if setting.model == "oracle" else BENCHMARK_MODELS[setting.model].train(data, seed)
    fresh = _fresh(made, setting, seed)
    unbiased = _unbiased(rule, fresh)
    unit = float(unbiased.std()) if setting.task == "regression" else len(made.scorer.cuts)
    shift = (_scores(model, data, fresh) - unbiased) / (unit or 1.0)
    return assembled(setting, seed, made, model, fresh, score=_scores(model, data, _features(data)), shift=shift)


def assembled(
    setting: Setting, seed: int, made: Synthetic, model: Any, fresh: Any, *, score: Floats, shift: Floats
) -> Scene:
    """A scene from what takes time to prepare: data, model, a frame of fresh people, and what the model gives both."""
    people = with_roles(made.dataset, fresh)
    return Scene(
        setting=setting,
        people=with_roles(made.dataset, _features(made.dataset)),
        model=model,
        outcome=_fair_outcomes(made, seed),
        score=score,
        fresh=people,
        shift=shift,
        truths=tuple(_truth(made, subgroup, people.frame, shift) for subgroup in made.truth.biased),
        made=made,
    )


def _features(data: Dataset) -> Any:
    return wrap(data.frame).select(list(data.features)).to_native()


def _generated(setting: Setting, seed: int) -> Synthetic:
    copula, roles = population(setting.source)
    return generate(
        copula,
        n_pairs=setting.n_pairs,
        n_samples=setting.group_rows,
        n_background=setting.background,
        bias=setting.bias,
        similarity=setting.similarity,
        intersectionality=setting.intersectionality,
        granularity=setting.granularity,
        aleatoric=setting.aleatoric,
        epistemic=setting.epistemic,
        outcome=setting.task,
        applies=setting.falls_on,
        seed=seed,
        **roles,
    )


def with_roles(data: Dataset, frame: Any) -> Dataset:
    """Rows with the roles of a dataset, without its target."""
    return Dataset(
        frame,
        protected={name: data.roles.bands.get(name) for name in data.protected},
        features=data.features,
        kinds={name: data.kinds[name] for name in data.features},
    )


def _fresh(made: Synthetic, setting: Setting, seed: int) -> Any:
    """People drawn in the same way as the rows searched: subgroups and background in the same proportions."""
    rng = np.random.default_rng([seed, 7919])
    total = made.truth.n_rows
    sides = [(subgroup.conditions, len(subgroup.members)) for subgroup in made.truth.subgroups]
    parts = [(conditions, round(setting.judged * n / total)) for conditions, n in [*sides, ((), setting.background)]]
    blocks = [made.copula.draw(n, rng, conditions) for conditions, n in parts if n]
    coded = {name: np.concatenate([block[name] for block in blocks]) for name in made.copula.columns}
    return made.copula.frame(coded)


def _fair_outcomes(made: Synthetic, seed: int) -> NDArray[Any]:
    """The outcome of every row without its bias, drawn anew: what the model should have learnt."""
    frame = wrap(made.frame)
    score = frame["_score"].to_numpy() - frame["_bias"].to_numpy()
    if made.dataset.task == "regression":
        return np.asarray(score, dtype=float)
    noise = np.random.default_rng([seed, 104_729]).logistic(size=score.size)
    return np.searchsorted(made.scorer.cuts, score + noise, side="left")


def _scores(model: Any, data: Dataset, frame: Any) -> Floats:
    """One number per row: the probability of the favourable class, the expected class code, or the predicted number."""
    if data.task == "regression":
        return np.asarray(model.predict(frame), dtype=float)
    chances = np.asarray(model.predict_proba(frame), dtype=float)
    if data.task == "multiclass":
        return np.asarray(chances @ np.arange(chances.shape[1]), dtype=float)
    return np.asarray(chances[:, list(model.classes_).index(data.positive)], dtype=float)


def _unbiased(rule: Oracle, frame: Any) -> Floats:
    if rule.made.dataset.task == "regression":
        return rule.made.scores(frame, biased=False)
    chances = rule.probabilities(frame, biased=False)
    return np.asarray(chances @ np.arange(chances.shape[1]), dtype=float)


def _truth(made: Synthetic, subgroup: Subgroup, frame: Any, shift: Floats) -> Truth:
    rows = subgroup.matches(frame)
    return Truth(
        subgroup=subgroup,
        partner=made.truth.partner(subgroup.id),
        rows=rows,
        sign=1 if subgroup.bias > 0 else -1,
        shift=float(shift[rows].mean()) if rows.any() else 0.0,
    )


def wrapped(scene: Scene) -> Model:
    """The scene's model with the interface that searches use, its counts at 0."""
    classes = None if scene.setting.task == "regression" else list(scene.model.classes_)
    return Model.of(scene.model, features=scene.people.features, task=scene.setting.task, classes=classes)
