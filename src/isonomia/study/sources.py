"""The datasets of the study: from the catalog, in the set-up of the paper, or a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, catalog, numbers, read, wrap
from isonomia.errors import DataError, SpecError
from isonomia.languages import Message, msg
from isonomia.registry import Registry
from isonomia.study.matrices import Matrices, encode, with_roles

#: Rows of Adult that the paper uses: those of the file adult.data.
ADULT_ROWS = 32_561


@dataclass(frozen=True, kw_only=True)
class StudyData:
    """A dataset of the study.

    Attributes
    ----------
    id, purpose : str
    title : Message
    load : callable
        The dataset, with the sensitive attribute as its first protected one.
    paper : callable or None
        The dataset in the set-up of the paper, where its matrices were not released.
    released : (target, sensitive) or None
        Columns of the matrices that were released with the paper.
    short : str
        Its name in the published result files.
    version : str
        What tells a user's rows and roles from others of the same name.
    """

    id: str
    purpose: str
    title: Message
    load: Callable[[], Dataset]
    paper: Callable[[], Dataset] | None = None
    released: tuple[str, str] | None = None
    short: str = ""
    version: str = ""

    def matrices(self, seed: int, *, max_test: int | None, released: Path | None = None) -> Matrices:
        """Training and test matrices; `released` is the folder of the paper's files where its set-up is wanted."""
        if released is None:
            return encode(self.load(), name=self.id, seed=seed, max_test=max_test)
        if self.released is not None:
            return read_released(released, self)
        if self.paper is None:
            raise DataError(
                f"The training data of {self.id!r} were not released, so the paper cannot be repeated on it."
            )
        return encode(self.paper(), name=self.id, seed=seed, max_test=1000)


def read_released(folder: Path, entry: StudyData) -> Matrices:
    """The matrices that were released with the paper."""
    assert entry.released is not None  # the caller has looked
    target, sensitive = entry.released

    def part(name: str) -> Dataset:
        path = folder / f"{entry.short}_{name}.csv.gz"
        if not path.is_file():
            raise DataError(
                f"The paper's matrix {path.name!r} is not in {str(folder)!r}. Name the folder of its files."
            )
        frame = wrap(read(str(path)).frame)
        frame = frame.select([name for name in frame.columns if name and not name.startswith("Unnamed")])
        frame = frame.with_columns(nw.col(target).cast(nw.Int64))
        return with_roles(frame.to_native(), target=target, sensitive=sensitive)

    return Matrices(
        name=entry.id,
        train=part("train"),
        test=part("test"),
        samples={"undersampling_0": part("train_usd0"), "undersampling_-1": part("train_usd-1")},
    )


def own_data(name: str, data: Any) -> StudyData:
    """A user's dataset as a dataset of the study."""
    if not isinstance(data, Dataset):
        raise SpecError(
            f"The dataset {name!r} of the study must be a Dataset; got {type(data).__name__}. Make one: "
            "isonomia.Dataset(frame, target=..., positive=..., protected=..., privileged=...)."
        )
    version = sha256(f"{data.fingerprint} {data.roles} {data.positive!r}".encode()).hexdigest()[:16]
    return StudyData(id=name, purpose="of your own", title=Message.literal(name), load=lambda: data, version=version)


def _sensitive(data: Dataset, attribute: str) -> Dataset:
    """The dataset with one of its protected attributes alone; the others are ordinary columns."""
    bands = data.roles.bands.get(attribute)
    given: Any = [attribute] if bands is None else {attribute: bands}
    return data.with_roles(protected=given, privileged={attribute: data.privileged[attribute]})


def _catalog(name: str, attribute: str) -> Callable[[], Dataset]:
    return lambda: _sensitive(catalog.load(name), attribute)


def _adult() -> Dataset:
    """Rows of adult.data; race as white or not."""
    data = catalog.load("adult")
    frame = wrap(data.frame)[:ADULT_ROWS]
    frame = frame.with_columns((nw.col("race") == "White").cast(nw.Float64).alias("race"))
    return Dataset(
        frame.to_native(),
        target="income",
        positive=">50K",
        protected=["sex"],
        privileged={"sex": "Male"},
        features=data.features,
    )


def _default() -> Dataset:
    """Undocumented codes with the last documented one; default counts as the favourable outcome, as in the paper."""
    data = catalog.load("default")
    frame = wrap(data.frame)
    merged = {"EDUCATION": ([0, 5, 6], 4), "MARRIAGE": ([0], 3)}
    for name, (codes, kept) in merged.items():
        values = numbers(frame[name])
        values = np.where(np.isin(values, codes), kept, values).astype(int).astype(str)
        frame = frame.with_columns(nw.new_series(name, values.tolist(), backend=frame.implementation))
    return Dataset(
        frame.to_native(),
        target=data.target,
        positive=1,
        protected=["SEX"],
        privileged={"SEX": 1},
        features=data.features,
    )


def _pnad(attribute: str, other: str) -> Callable[[], Dataset]:
    """People with an income; the other attribute is left out, as in the paper."""

    def load() -> Dataset:
        data = catalog.load("pnad")
        earners = data.take(np.flatnonzero(numbers(data.column("Renda")) > 0))
        return _sensitive(earners, attribute).with_roles(features=[n for n in data.features if n != other])

    return load


STUDY_DATA: Registry[StudyData] = Registry("study_dataset", word="dataset")
STUDY_DATA.add(
    StudyData(
        id="adult",
        purpose="US census 1994: income above 50,000 dollars, by sex",
        title=msg("Adult"),
        load=_catalog("adult", "sex"),
        paper=_adult,
        short="adult",
    ),
    StudyData(
        id="compas",
        purpose="Broward County: not charged again within two years, by race",
        title=msg("COMPAS"),
        load=_catalog("compas", "race"),
        released=("two_year_recid", "race"),
        short="compas",
    ),
    StudyData(
        id="default",
        purpose="Taiwan 2005: credit card default, by sex",
        title=msg("Default"),
        load=_catalog("default", "SEX"),
        paper=_default,
        short="default",
    ),
    StudyData(
        id="german",
        purpose="German bank: good credit risk, by age",
        title=msg("German"),
        load=_catalog("german", "age"),
        released=("credit_risk", "age"),
        short="german",
    ),
    StudyData(
        id="pnad_sex",
        purpose="Brazil 2015: income above 2,500 reais, by sex",
        title=msg("PNAD, sex"),
        load=_pnad("Sexo", "Cor"),
        short="pnad_genero",
    ),
    StudyData(
        id="pnad_race",
        purpose="Brazil 2015: income above 2,500 reais, by race",
        title=msg("PNAD, race"),
        load=_pnad("Cor", "Sexo"),
        short="pnad_raca",
    ),
)
