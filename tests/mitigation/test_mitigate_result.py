"""What the result of `mitigate` shows: every attribute and intersection, pictures, headlines and subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from isonomia.data import Dataset
from isonomia.errors import NotApplicable
from isonomia.mitigation import Mitigated, before_after, mitigate

WAYS = {"sex", "race", "sex x race"}


def people(n: int = 2400) -> pd.DataFrame:
    """Hiring with a bonus for men; pay and grades with the same bonus."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b"], n)})
    frame["skill"] = rng.normal(size=n)
    frame["proxy"] = (frame.sex == "M") + rng.normal(scale=0.3, size=n)
    merit = frame.skill + (frame.sex == "M") + rng.normal(size=n)
    return frame.assign(hired=np.where(merit > 0.5, "yes", "no"), pay=merit, grade=pd.cut(merit, 3, labels=[*"abc"]))


def tried(target: str, estimator: Any, **options: Any) -> Mitigated:
    roles: dict[str, Any] = {"positive": "yes"} if target == "hired" else {}
    data = Dataset(
        people().astype({"grade": str}),
        target=target,
        protected=["sex", "race"],
        features=["skill", "proxy"],
        **roles,
    )
    return mitigate(data, estimator, folds=2, attribute_at_decision=True, **options)


@pytest.fixture(scope="module")
def hired() -> Mitigated:
    return tried("hired", LogisticRegression(), limit=0.15, methods=["thresholds", "reweighing"])


def test_every_attribute_and_intersection_is_shown(hired: Mitigated) -> None:
    assert set(hired.groups.by.dropna()) == WAYS
    assert set(hired.levelling.by) == WAYS
    assert set(hired.to_frame("criteria").by) == WAYS
    assert set(hired.to_frame("flows").by) == WAYS
    groups = set(hired.changes.group)
    assert {"sex=F", "race=b", "sex=F, race=b", "everyone"} <= groups
    assert {row["method"] for row in hired.tables["levelling"].rows()} == {"none", "thresholds", "reweighing"}


def test_flows_add_up_to_the_groups_and_agree_with_the_changes(hired: Mitigated) -> None:
    flows, changes = hired.to_frame("flows"), hired.changes
    for method in ("thresholds", "reweighing"):
        mine = flows[flows.method == method]
        granted = mine[(mine.before == "no") & (mine.after == "yes")].groupby("group").n.sum()
        wanted = changes[(changes.method == method) & (changes.group != "everyone")].set_index("group").granted
        assert granted.to_dict() == wanted.to_dict()
        assert mine[mine.by == "sex x race"].n.sum() == 2400


def test_the_fix_in_detail_comes_first_and_is_the_one_in_the_pictures(hired: Mitigated) -> None:
    assert hired.best is not None
    assert hired.groups.method.iloc[0] == hired.best
    assert hired.groups.method.iloc[-1] == "none"
    kinds = {name: drawing.picture.kind for name, drawing in hired.drawings.items()}
    assert list(kinds.values()) == ["front", "forest", "slopes", "flows", "forest"]
    front, slopes, flows = (hired.plot(name) for name in ("methods", "groups", "flows"))
    table = hired.table.set_index("method")
    assert [trace.x[0] for trace in front.data[1:]] == pytest.approx(table.gap.to_list())
    assert [trace.y[0] for trace in front.data[1:]] == pytest.approx(table.accuracy_change.to_list())
    assert front.layout.shapes[0].x0 == 0.15
    rates = hired.groups[(hired.groups.method == hired.best) & (hired.groups.metric == "selection_rate")]
    wanted = rates[rates.group != "everyone"][["before", "after"]].to_numpy()
    assert np.array([trace.y for trace in slopes.data]) == pytest.approx(wanted)
    changed = hired.changes[hired.changes.method == hired.best].set_index("group")
    moved = [trace for trace in flows.data if "→" in trace.name]
    shares = np.sum([trace.x for trace in moved], axis=0)
    assert shares == pytest.approx(changed.share_changed.drop("everyone").to_numpy())


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Best fix", "Fixes that no other beats", "Who changes decision", "Levelling up or down"]),
        ("pt-BR", ["Melhor correção", "Subgrupos com muitas pessoas", "Decisões de cada grupo, antes e depois"]),
    ],
)
def test_the_page_has_all_of_it(hired: Mitigated, language: str, words: list[str]) -> None:
    page, fragment = hired.to_html(language), hired.to_html(language, page=False)
    for part in words:
        assert part in page
        assert part in fragment
    assert page.count("<svg ") == fragment.count("<svg ") == 10  # five pictures, for a page and for a phone


def test_subgroups_are_people_who_are_newly_refused(hired: Mitigated) -> None:
    found = hired.subgroups
    assert len(found)
    assert "Subgroups with many newly refused people" in hired.to_html()
    nothing = tried("hired", LogisticRegression(), limit=0.15, methods=[])
    with pytest.raises(NotApplicable, match="nobody is newly refused"):
        _ = nothing.subgroups


def test_numbers_cost_error_and_not_accuracy() -> None:
    pay = tried("pay", LinearRegression(), methods=["match"], limit=0.4)
    assert {"mae", "mae_change"} <= set(pay.table)
    assert "accuracy" not in pay.table
    assert pay.best == "match"
    assert "the mean absolute error changes by" in pay.findings[0].message.text()
    assert [drawing.picture.kind for drawing in pay.drawings.values()] == ["front", "forest", "slopes", "forest"]
    assert pay.plot("groups").layout.meta["title"] == "Mean prediction of each group before and after"


def test_several_classes_have_flows_and_slopes_of_each() -> None:
    grade = tried("grade", LogisticRegression(), methods=["reweighing"])
    kinds = [drawing.picture.kind for drawing in grade.drawings.values()]
    assert kinds == ["front", "forest", "slopes", "slopes", "slopes", "flows", "forest"]
    assert grade.plot("flows").data[0].name == "decision unchanged"


def test_before_after_has_the_same_pictures() -> None:
    frame = people(800)
    was, now = frame.skill > 0, frame.skill + 0.5 * (frame.sex == "F") > 0
    result = before_after(
        frame.hired == "yes", was, now, sensitive_features={"sex": frame.sex, "race": frame.race}, by="all"
    )
    assert [drawing.picture.kind for drawing in result.drawings.values()] == ["slopes", "flows", "forest"]
    female = result.plot("groups").data[0]
    assert female.name == "sex=F"
    assert female.y == pytest.approx((was[frame.sex == "F"].mean(), now[frame.sex == "F"].mean()))


def test_a_model_that_has_the_attribute_as_a_feature_is_said_to_read_it(hired: Mitigated) -> None:
    frame = people(1200).assign(woman=lambda one: (one.sex == "F") * 1.0)
    data = Dataset(frame, target="hired", positive="yes", protected=["woman"], features=["skill", "woman"])
    found = mitigate(data, LogisticRegression(), folds=2, methods=["reweighing"])
    assert set(found.table["reads_attribute"]) == {"yes"}
    assert any("among its features (woman)" in note.text() for note in found.notes)
    table = hired.table.set_index("method")
    assert table.loc[["none", "reweighing"], "reads_attribute"].tolist() == ["no", "no"]
    assert not any("among its features" in note.text() for note in hired.notes)
