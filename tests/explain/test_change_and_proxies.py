"""What a change of models runs through, and which columns stand in for an attribute that a model does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import isonomia as iso
from isonomia import SpecError
from isonomia.explain import change, gap, proxies_at_work

RNG = np.random.default_rng(1)
SEX = RNG.integers(0, 2, 500)
SKILL = RNG.normal(size=500)
DISTRICT = SEX * 2 + RNG.normal(size=500)
SHOE = SEX * 3 + RNG.normal(size=500)
FRAME = pd.DataFrame({"sex": np.where(SEX, "m", "f"), "skill": SKILL, "district": DISTRICT, "shoe": SHOE})
FRAME["y"] = (SKILL + DISTRICT + RNG.normal(size=500) > 1).astype(int)
NAMES = ["skill", "district", "shoe"]


def dataset(**options: Any) -> iso.Dataset:
    return iso.Dataset(
        FRAME, target="y", protected=["sex"], **{"privileged": {"sex": "m"}, "features": NAMES, **options}
    )


def model_of(estimator: Any, names: list[str]) -> iso.Model:
    return iso.Model.of(estimator.fit(FRAME[names].to_numpy(), FRAME["y"]), features=names)


def forest(names: list[str]) -> iso.Model:
    return model_of(RandomForestClassifier(15, max_depth=5, random_state=0), names)


def test_a_change_is_the_difference_of_contributions() -> None:
    before, after = forest(NAMES), forest(["skill", "shoe"])
    found = change(dataset(), before, after)
    one, other = gap(dataset(), before), gap(dataset(), after)
    assert found.columns == tuple(NAMES)
    expected = np.insert(other.parts["f"].value, 1, 0.0) - one.parts["f"].value
    np.testing.assert_allclose(found.parts["f"].value, expected, rtol=0, atol=1e-12)
    whole = other.gaps["f"].value - one.gaps["f"].value
    assert found.changes["f"].value == pytest.approx(whole, abs=1e-12)
    rows = {row["column"]: row for row in found.tables["contributions"].rows()}
    assert rows["district"]["after"] == pytest.approx(0.0, abs=1e-12)
    assert rows["district"]["p_adjusted"] < 0.001


def test_a_model_changed_into_itself_changes_nothing() -> None:
    same = forest(NAMES)
    found = change(dataset(), same, same)
    np.testing.assert_array_equal(found.parts["f"].value, 0.0)
    np.testing.assert_array_equal(found.parts["f"].error, 0.0)
    assert found.changes["f"].low == found.changes["f"].high == 0.0


def test_errors_of_a_change_are_those_of_paired_differences() -> None:
    """Two nearly equal linear models: the change is far more certain than either gap."""
    y = FRAME["skill"] + FRAME["district"]
    one = LinearRegression().fit(FRAME[["skill", "district"]].to_numpy(), y)
    other = LinearRegression().fit(FRAME[["skill", "district"]].to_numpy(), 1.1 * y)
    data = iso.Dataset(FRAME.assign(y=y), target="y", protected=["sex"], privileged={"sex": "m"}, features=NAMES)
    models = [iso.Model.of(each, features=["skill", "district"]) for each in (one, other)]
    found = change(data, *models)
    assert found.before is not None
    np.testing.assert_allclose(found.parts["f"].error, 0.1 * found.before.parts["f"].error, rtol=1e-6)


def test_a_column_that_carries_the_attribute_and_moves_the_gap_is_at_work() -> None:
    found = proxies_at_work(dataset(), forest(NAMES), estimator=RandomForestClassifier(15, max_depth=5, random_state=0))
    assert set(found.carriers) == {"district", "shoe"}
    assert found.at_work[0] == "district"
    assert "skill" not in found.at_work
    assert found.gap is not None
    assert found.refit is not None
    # the whole gap runs through the carriers, and is smaller without the worst
    assert found.block["f"].value == pytest.approx(found.gap.gaps["f"].value, abs=0.05)
    assert abs(found.refit.gaps["f"].value) < abs(found.gap.gaps["f"].value)
    assert found.refit.parts["f"].value[1] == 0.0
    rows = {row["column"]: row for row in found.tables["columns"].rows()}
    assert rows["shoe"]["information"] > rows["district"]["information"] > rows["skill"]["information"]
    assert [row["column"] for row in found.tables["columns"].rows() if row["at_work"]] == list(found.at_work)


def test_a_proxy_at_work_is_a_finding_in_both_languages() -> None:
    found = proxies_at_work(dataset(), forest(NAMES))
    row = next(row for row in found.tables["columns"].rows() if row["column"] == "district")
    finding = next(one for one in found.findings if one.columns == ("district",))
    assert {one.columns[0] for one in found.findings} <= set(found.at_work)
    assert finding.estimate is not None
    assert finding.estimate.value == pytest.approx(row["contribution"])
    assert (finding.who, finding.reference, finding.remedy) == ({"sex": "f"}, {"sex": "m"}, "examine_proxies")
    assert finding.evidence == "explain_proxies/columns"
    english, portuguese = finding.message.text(), finding.message.text("pt-BR")
    share = f"{100 * row['information']:.0f}%"
    assert f"carries {share} of the information about sex" in english
    assert f"traz {share.replace('.', ',')} da informação sobre" in portuguese
    assert "district" in english
    assert "district" in portuguese


def test_a_blind_model_without_a_gap_has_no_finding() -> None:
    found = proxies_at_work(dataset(features=["skill"]), forest(["skill"]))
    assert found.findings == ()


def test_the_block_is_one_player() -> None:
    """A block and the rest are two players: their values have a closed form."""
    model = forest(NAMES)
    found = gap(dataset(), model, block=["district", "shoe"])
    assert found.columns == ("skill", "district + shoe")
    assert found.additivity < 1e-12
    women, men = (FRAME.loc[FRAME.sex == sex, NAMES].to_numpy() for sex in "fm")
    predict = model.estimator.predict_proba
    hybrid = np.repeat(men, len(women), axis=0)
    hybrid[:, 0] = np.tile(women[:, 0], len(men))
    alone = predict(hybrid)[:, 1].mean()
    hybrid = np.repeat(women, len(men), axis=0)
    hybrid[:, 0] = np.tile(men[:, 0], len(women))
    others = predict(hybrid)[:, 1].mean()
    ours, theirs = predict(women)[:, 1].mean(), predict(men)[:, 1].mean()
    expected = [0.5 * (alone - theirs + ours - others), 0.5 * (others - theirs + ours - alone)]
    np.testing.assert_allclose(found.parts["f"].value, expected, rtol=0, atol=1e-12)


def test_a_model_without_carriers_has_no_proxy_at_work() -> None:
    found = proxies_at_work(dataset(features=["skill"]), forest(["skill"]), estimator=LogisticRegression())
    assert (found.at_work, found.carriers, dict(found.block), found.refit) == ((), (), {}, None)


def test_bad_input() -> None:
    with pytest.raises(SpecError, match="columns that the model takes"):
        gap(dataset(), forest(NAMES), block=["hat"])
    with pytest.raises(SpecError, match="`train` must be a Dataset"):
        proxies_at_work(dataset(), forest(NAMES), estimator=LogisticRegression(), train=FRAME)
