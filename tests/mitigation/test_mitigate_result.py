"""What the result of `mitigate` shows: every attribute and intersection, pictures, headlines and subgroups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from isonomia.data import Dataset
from isonomia.errors import NotApplicable
from isonomia.mitigation import Mitigated, before_after, mitigate
from isonomia.mitigation.judging.before_after import read_comparison
from isonomia.mitigation.judging.goals import Goal
from isonomia.mitigation.judging.judge import judge
from isonomia.models import load_model

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
    assert "The mean absolute error changes by" in pay.findings[0].message.text()
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
    assert female.name == "sex F"
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


def test_the_front_leaves_out_what_is_clearly_beaten_and_nothing_else() -> None:
    """A fix that is worse in gap and accuracy by chance alone stays; one that is worse by more than that does not."""
    rng = np.random.default_rng(0)
    n = 4000
    sex, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    right = rng.random(n) < 0.8
    good = np.where(right, y, 1 - y)
    before = np.where((sex == 0) & (rng.random(n) < 0.3), 0, good)
    near = good.copy()
    worse = np.flatnonzero((sex == 0) & (good == 1) & (y == 1))[:4]  # four women lose what they had rightly
    near[worse] = 0
    bad = np.where(rng.random(n) < 0.25, 1 - before, before)
    columns = {"none": before, "good": good, "near": near, "bad": bad}
    found = read_comparison(y, before, columns, "each", {"sensitive_features": {"sex": sex}})
    judged = judge(found, [Goal("demographic_parity", 0.1)], [("sex",)], dict.fromkeys(columns, 0.0), "accuracy")
    gap = {name: abs(np.diff([said[sex == g].mean() for g in (0, 1)])[0]) for name, said in columns.items()}
    accuracy = {name: np.mean(said == y) for name, said in columns.items()}
    assert gap["good"] < gap["near"] < gap["none"]
    assert accuracy["good"] > accuracy["near"] > accuracy["none"] > accuracy["bad"]
    assert judged.front == ("good", "near")
    assert judged.best == "good"


def test_labels_that_were_changed_are_counted() -> None:
    found = tried("hired", LogisticRegression(), methods=["massaging", "reweighing"])
    table = found.table.set_index("method")
    assert table.loc[["none", "reweighing"], "labels_changed"].tolist() == [0, 0]
    frame = people()
    women, rate = (frame.sex == "F").to_numpy(), (frame.hired == "yes").groupby(frame.sex).mean()
    flips = 2 * women.mean() * (1 - women.mean()) * (rate["M"] - rate["F"])  # n_F n_U (PR_F - PR_U) / n, in both groups
    assert table.loc["massaging", "labels_changed"] == pytest.approx(flips, abs=0.002)


def test_a_fix_tuned_on_few_people_says_that_it_is_not_sure() -> None:
    frame = people(4000)
    roles: dict[str, Any] = {"target": "hired", "positive": "yes", "protected": "sex", "features": ["skill", "proxy"]}
    options: dict[str, Any] = {"methods": ["thresholds"], "limit": 0.12, "folds": 2, "attribute_at_decision": True}
    few, many = (mitigate(Dataset(frame.iloc[:rows], **roles), LogisticRegression(), **options) for rows in (200, 4000))
    assert (few.best, few.verdict) == (None, "not_enough_evidence")
    assert (many.best, many.verdict) == ("thresholds", "meets")
    wide, narrow = (
        table.loc["thresholds", "gap_high"] - table.loc["thresholds", "gap"]
        for table in (few.table.set_index("method"), many.table.set_index("method"))
    )
    assert wide > 3 * narrow


def test_what_was_found_is_saved_as_a_page_and_the_fix_as_a_fix(hired: Mitigated, tmp_path: Path) -> None:
    page = hired.save(tmp_path / "fixes.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Reweighing" in page
    assert hired.save(tmp_path / "fixes.md", language="pt-BR").read_text(encoding="utf-8") == hired.to_markdown("pt-BR")
    fix = load_model(hired.save(tmp_path / "fix.skops", "reweighing"))
    assert fix.estimator.classes_.tolist() == ["no", "yes"]
    assert hired.to_frame().columns.tolist() == pd.read_csv(hired.save(tmp_path / "fixes.csv")).columns.tolist()
