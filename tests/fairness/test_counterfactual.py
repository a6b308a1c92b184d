"""Counterfactual fairness: flips, graphs, proxies; the law school story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import isonomia as iso
from isonomia import fairness
from isonomia.fairness import CausalGraph


def law(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """A synthetic twin of the law school data: race and sex move the scores, all move the first-year average."""
    rng = np.random.default_rng(seed)
    race, sex = rng.choice(["Black", "White"], n, p=[0.3, 0.7]), rng.choice([1, 2], n)
    talent = rng.normal(size=n)
    ugpa = 3.0 + 0.3 * talent + 0.2 * (race == "White") + 0.1 * (sex == 1) + rng.normal(scale=0.2, size=n)
    lsat = 33 + 3 * talent + 5 * (race == "White") + rng.normal(scale=2, size=n)
    zfya = 0.5 * talent + 1.2 * (race == "White") + rng.normal(scale=0.5, size=n)
    return pd.DataFrame({"race": race, "sex": sex, "LSAT": lsat, "UGPA": ugpa, "ZFYA": zfya})


GRAPH = [(cause, effect) for cause in ("race", "sex") for effect in ("LSAT", "UGPA", "ZFYA")]


def rows(result: Any, table: str = "changes", **where: Any) -> list[dict[str, Any]]:
    return [r for r in result.tables[table].rows() if all(str(r[key]) == str(value) for key, value in where.items())]


@pytest.mark.parametrize("mechanism", ["linear", "boosting"])
def test_the_linear_answer_is_the_coefficients(mechanism: Any) -> None:
    frame = law()
    data = iso.Dataset(frame, target="ZFYA", protected=["race", "sex"], privileged={"race": "White"})
    X = frame[["LSAT", "UGPA"]].assign(white=frame["race"] == "White")
    fitted = LinearRegression().fit(X, frame["ZFYA"])

    def model(table: pd.DataFrame) -> Any:
        return fitted.predict(table[["LSAT", "UGPA"]].assign(white=table["race"] == "White"))

    found = fairness.counterfactual(
        data, model, attributes=["race"], graph=GRAPH, mechanism=mechanism, keep_valid=False
    )
    flip = rows(found, route="flip", to="White")[0]["change"]
    graph = rows(found, route="graph", to="White")[0]["change"]
    assert flip == pytest.approx(fitted.coef_[2])
    moved = {
        name: LinearRegression()
        .fit(pd.get_dummies(frame[["race", "sex"]].astype(str), drop_first=True), frame[name])
        .coef_[0]
        for name in ("LSAT", "UGPA")
    }
    expected = flip + fitted.coef_[0] * moved["LSAT"] + fitted.coef_[1] * moved["UGPA"]
    assert graph == pytest.approx(expected, abs=1e-8 if mechanism == "linear" else 0.03)
    assert graph > flip > 0, "the graph's answer is larger: race moves the scores as well"
    compared = rows(found, "compared", to="White")[0]
    assert compared["difference"] == pytest.approx(graph - flip)
    if mechanism == "linear":  # the difference is the same for everyone, up to rounding: it may have no test
        assert compared["p_value"] is None or compared["p_value"] < 1e-6
    else:
        assert compared["p_value"] < 1e-6


def test_law_school(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "law_gpa.csv.gz")
    frame = frame[frame["race"].isin(["White", "Black"])].head(6000)
    data = iso.Dataset(
        frame,
        target="ZFYA",
        protected=["race", "sex"],
        features=["race", "sex", "LSAT", "UGPA"],
        privileged={"race": "White"},
    )
    full = make_pipeline(
        make_column_transformer((OneHotEncoder(drop="first"), ["race", "sex"]), remainder=StandardScaler()),
        LinearRegression(),
    ).fit(frame[["race", "sex", "LSAT", "UGPA"]], frame["ZFYA"])
    unaware = LinearRegression().fit(frame[["LSAT", "UGPA"]], frame["ZFYA"])
    both = fairness.counterfactual(data, full, graph=GRAPH)
    flip, graph = (rows(both, route=r, attribute="race", to="White")[0]["change"] for r in ("flip", "graph"))
    assert graph > flip > 0, "as in Kusner et al.: what race did to LSAT and UGPA adds to its own effect"
    blind = fairness.counterfactual(data, unaware, graph=GRAPH)
    assert blind.uses == {"race": False, "sex": False}
    assert rows(blind, route="flip", attribute="race", to="White")[0]["change"] == 0
    assert rows(blind, route="graph", attribute="race", to="White")[0]["change"] > 0.1, "unaware is not fair"
    told = fairness.counterfactual(data, unaware)
    assert rows(told, route="proxies", attribute="race", to="White")[0]["change"] > 0.1
    assert any("LSAT" in note.text() for note in told.notes)


def test_flips_one_at_a_time_and_together_equal_brute_force() -> None:
    frame = law(400)
    frame["admit"] = (frame["LSAT"] + 2 * (frame["race"] == "White") > 37).astype(int)
    data = iso.Dataset(frame, target="admit", protected=["race", "sex"], features=["race", "sex", "LSAT"])

    def model(table: pd.DataFrame) -> Any:
        return (table["LSAT"] + 2 * (table["race"] == "White") + (table["sex"] == 1) > 37).astype(int)

    found = fairness.counterfactual(data, model)
    said = model(frame)
    for value in ("Black", "White"):
        inside = frame["race"] == value
        other = "White" if value == "Black" else "Black"
        changed = (model(frame.assign(race=other)) != said)[inside]
        row = rows(found, route="flip", attribute="race", **{"from": value})[0]
        assert row["rate"] == pytest.approx(changed.mean())
        assert row["n"] == inside.sum()
    joint = fairness.counterfactual(data, model, together=True)
    assert len(rows(joint, route="flip")) == 12
    any_changed = np.zeros(len(frame), bool)
    for race in ("Black", "White"):
        for sex in (1, 2):
            any_changed |= (model(frame.assign(race=race, sex=sex)) != said).to_numpy()
    assert joint.rate["flip:race x sex"].value == pytest.approx(any_changed.mean())
    assert joint.tables["rows"]["row"].values


def test_every_kind_of_frame(frame_kind: Any) -> None:
    frame = law(200)
    data = iso.Dataset(
        frame_kind({name: frame[name].to_numpy() for name in frame}),
        target="ZFYA",
        protected=["race"],
        features=["race", "LSAT"],
    )

    def model(table: Any) -> Any:
        lsat = np.asarray(table["LSAT"], dtype=float)
        return lsat + (np.asarray(table["race"], dtype=object).astype(str) == "White")

    found = fairness.counterfactual(data, model, graph=["race -> LSAT"], keep_valid=False)
    assert rows(found, route="flip", to="White")[0]["change"] == pytest.approx(1.0)
    assert rows(found, route="graph", to="White")[0]["change"] > 3


def test_bands_categories_and_several_classes() -> None:
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "x": rng.normal(size=n)})
    frame["job"] = np.where(rng.random(n) < 0.2 + 0.6 * (frame["age"] > 50), "desk", "field")
    frame["y"] = np.where(frame["job"] == "desk", "high", np.where(frame["x"] > 0, "mid", "low"))
    data = iso.Dataset(frame, target="y", protected={"age": [30, 50]})

    def model(table: pd.DataFrame) -> Any:
        return np.where(table["job"] == "desk", "high", np.where(table["x"] > 0, "mid", "low"))

    found = fairness.counterfactual(data, model, graph=[("age", "job")])
    assert found.uses == {"age": False}
    grown = rows(found, route="graph", to=">= 50", **{"from": "< 30"})[0]
    assert 0.3 < grown["rate"] < 0.8, "about as many move to desks as the shares differ by"
    assert grown["change"] is None, "a change between classes has no direction"
    again = fairness.counterfactual(data, model, graph=[("age", "job")])
    assert again.tables["changes"]["rate"].values == found.tables["changes"]["rate"].values


def test_a_model_with_probabilities_asks_once_a_route() -> None:
    frame = law(500)
    frame["admit"] = (frame["ZFYA"] > 0).astype(int)
    X = frame[["LSAT", "UGPA"]]
    model = iso.Model.of(LogisticRegression().fit(X, frame["admit"]))
    data = iso.Dataset(frame, target="admit", protected=["race"], features=["race", "LSAT", "UGPA"])
    model.reset_clocks()
    found = fairness.counterfactual(data, model, graph=GRAPH)
    assert model.n_calls <= 2 * 3, "the data once, then all values of each route in one batch"
    assert found.rate["graph:race"].value > 0


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([("race", "LSAT"), ("LSAT", "UGPA"), ("UGPA", "LSAT")], "has a cycle: .*LSAT"),
        ([("race", "LSTA")], "Did you mean 'LSAT'"),
        ([("race",)], "An arrow of `graph` is two columns"),
        ([], "at least one arrow"),
        ([("LSAT", "UGPA")], "no arrow from 'race'"),
    ],
)
def test_bad_graphs(graph: Any, message: str) -> None:
    data = iso.Dataset(law(50), target="ZFYA", protected=["race"])
    with pytest.raises(iso.errors.SpecError, match=message):
        fairness.counterfactual(data, lambda t: t["LSAT"], graph=graph)


def test_bad_attributes_and_one_value() -> None:
    frame = law(50)
    data = iso.Dataset(frame, target="ZFYA", protected=["race"])
    with pytest.raises(iso.errors.SpecError, match="Did you mean 'race'"):
        fairness.counterfactual(data, lambda t: t["LSAT"], attributes=["rcae"])
    single = iso.Dataset(frame[frame["race"] == "White"], target="ZFYA", protected=["race"])
    with pytest.raises(iso.errors.NotApplicable, match="only one value"):
        fairness.counterfactual(single, lambda t: t["LSAT"])
    both = iso.Dataset(single.frame, target="ZFYA", protected=["race", "sex"])
    found = fairness.counterfactual(both, lambda t: t["LSAT"] + t["sex"])
    assert found.uses == {"sex": True}, "an attribute of one value does not keep the others from being examined"
    assert "race was not changed: race has only one value" in "".join(map(str, found.notes))


def test_graphs_in_every_spelling() -> None:
    columns = ["a", "b", "c"]
    spellings: list[Any] = [[("a", "b"), ("b", "c")], ["a -> b", "b->c"], {"a": ["b"], "b": "c"}]
    assert len({CausalGraph.of(each, columns) for each in spellings}) == 1


def test_durations_are_causes_and_effects() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 400)
    waited = pd.to_timedelta(np.where(sex == "F", 3, 1) + rng.integers(0, 2, 400), unit="D")
    data = iso.Dataset(pd.DataFrame({"sex": sex, "waited": waited}), protected=["sex"], task="regression")
    found = fairness.counterfactual(data, lambda t: t["waited"].dt.days.to_numpy(float), graph=[("sex", "waited")])
    change = {(str(row["route"]), row["from"]): row["change"] for row in found.tables["changes"].rows()}
    assert change["graph", "F"] == pytest.approx(-2, abs=0.2)
    assert change["graph", "M"] == pytest.approx(2, abs=0.2)
