"""Calibration by group, the data before any model, and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import isonomia as iso
from isonomia import fairness
from isonomia.evidence import score_difference
from isonomia.report.figures import draw

# calibration ---------------------------------------------------------------------------------------------------


def test_calibration_of_each_group_is_that_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    s, p = rng.choice(["a", "b"], 3000), rng.random(3000)
    y = (rng.random(3000) < np.where(s == "a", p, p**2)).astype(int)
    found = fairness.group_calibration(y, p, sensitive_features={"s": s}, n_boot=50)
    table = found.by_group.set_index("group")
    for group in ("a", "b"):
        inside = s == group
        row = table.loc[f"s={group}"]
        assert row["brier"] == pytest.approx(np.mean((p - y)[inside] ** 2))
        assert row["gap"] == pytest.approx((y - p)[inside].mean())
        edges = np.minimum((p[inside] * 10).astype(int), 9)
        ece = sum(abs((y - p)[inside][edges == b].sum()) for b in range(10)) / inside.sum()
        assert row["ece"] == pytest.approx(ece)
    assert table.loc["s=a", "slope_low"] < 1 < table.loc["s=a", "slope_high"]
    assert table.loc["s=b", "p_adjusted"] < 1e-6
    assert len(found.curves) == 20


def test_calibration_of_several_classes() -> None:
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], 1500)
    y = np.array(["x", "y", "z"])[(p.cumsum(axis=1) > rng.random((1500, 1))).argmax(axis=1)]
    s = rng.choice(["a", "b"], 1500)
    found = fairness.group_calibration(y, p, sensitive_features={"s": s}, n_boot=50)
    table = found.by_group
    assert sorted(set(table["class"])) == ["most probable", "x", "y", "z"]
    one = table[(table["class"] == "y") & (table["group"] == "s=a")].iloc[0]
    assert one["gap"] == pytest.approx((y[s == "a"] == "y").mean() - p[s == "a", 1].mean())
    assert one["slope_low"] < 1 < one["slope_high"]
    drawn = [draw(picture, found.tables[picture.table]) for picture in found.pictures]
    assert all(figure.data for figure in drawn)
    with pytest.raises(iso.NotApplicable, match="numbers, not probabilities"):
        fairness.group_calibration([0.5, 1.5], [0.2, 0.4], sensitive_features=["a", "b"])


# in the data ---------------------------------------------------------------------------------------------------


def test_representation_against_scipy_and_a_reference_that_misses_a_group() -> None:
    people = {"race": ["a"] * 60 + ["b"] * 30 + ["c"] * 10}
    even = fairness.representation(people)
    test = next(even.tables["tests"].rows())
    expected = stats.chisquare([60, 30, 10])
    assert (test["statistic"], test["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    found = fairness.representation(people, population={"race": {"a": 50, "b": 45, "d": 5}})
    rows = {row["group"]: row for row in found.tables["groups"].rows()}
    assert found.unknown == ("race=c",)
    assert rows["c"]["ratio"] is None
    assert "does not have this group" in str(rows["c"]["note"])
    assert rows["d"]["ratio"] == 0
    assert rows["a"]["ratio"] == pytest.approx(0.6 / 0.5)
    with pytest.raises(iso.errors.SpecError, match="Did you mean 'race'"):
        fairness.representation(people, population={"rase": {"a": 1}})
    weighted = fairness.representation(people, weights=[1.0] * 60 + [2.0] * 40)
    assert [row["share"] for row in weighted.tables["groups"].rows()] == pytest.approx([60 / 140, 60 / 140, 20 / 140])


def test_intersections_are_held_against_joint_shares_or_their_product() -> None:
    people = {"sex": ["F"] * 50 + ["M"] * 50, "race": (["a"] * 30 + ["b"] * 20) + (["a"] * 45 + ["b"] * 4 + [None])}
    found = fairness.representation(people, by="all", population={"sex": {"F": 1, "M": 3}})
    rows = {row["group"]: row for row in found.tables["groups"].rows()}
    assert rows["F, a"]["expected"] == pytest.approx(0.25 * 0.5)
    assert rows["F, a"]["share"] == pytest.approx(30 / 99)
    assert rows["F, a"]["ratio_low"] < rows["F, a"]["ratio"] < rows["F, a"]["ratio_high"]
    assert "products of single shares" in str(found.notes[0])
    joint = {"sex x race": {"F, a": 2, "F, b": 1, "M, a": 1}}
    given = fairness.representation(people, by="intersection", population=joint)
    rows = {row["group"]: row for row in given.tables["groups"].rows()}
    assert rows["F, b"]["expected"] == 0.25
    assert given.unknown == ("sex x race=M, b",)


def test_missing_values_of_intersections() -> None:
    frame = pd.DataFrame({"sex": ["F", "M"] * 40, "race": ["a", "a", "b", "b"] * 20, "pay": [1.0, None, 2.0, 3.0] * 20})
    found = fairness.missingness(iso.Dataset(frame, protected=["sex", "race"]), by="all").table.set_index("group")
    assert found.loc["sex=M, race=a", "rate"] == 1.0
    row = found.loc["sex=M"]
    expected = tuple(float(end) for end in score_difference(20, 40, 0, 40))
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(expected)


def test_missing_values_of_adult(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "adult.csv.gz", keep_default_na=False)
    data = iso.Dataset(frame, target="income", positive=">50K", protected=["sex"])
    found = fairness.missingness(data).table.set_index(["column", "group"])
    assert set(found.index.get_level_values(0)) == {"workclass", "occupation", "native-country"}
    women = frame["sex"] == "Female"
    row = found.loc[("workclass", "sex=Female")]
    assert row["rate"] == pytest.approx((frame.loc[women, "workclass"] == "?").mean())
    assert row["difference"] == pytest.approx(row["rate"] - (frame.loc[~women, "workclass"] == "?").mean())
    assert row["p_adjusted"] < 1e-6


def test_missing_values_are_weighted_by_repeating_rows() -> None:
    frame = pd.DataFrame({"sex": ["F"] * 6 + ["M"] * 6, "pay": [None, 1.0, 2.0] * 4, "w": [1, 2, 3] * 4})
    weighted = fairness.missingness(iso.Dataset(frame, protected=["sex"], weight="w")).table
    repeated = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
    plain = fairness.missingness(iso.Dataset(repeated, protected=["sex"])).table
    assert list(weighted["rate"]) == pytest.approx(list(plain["rate"]))
    assert list(weighted["difference"]) == pytest.approx(list(plain["difference"]))
    assert (weighted["rate_high"] - weighted["rate_low"] > plain["rate_high"] - plain["rate_low"]).all()


def test_nothing_missing_is_told() -> None:
    data = iso.Dataset({"sex": ["F", "M"], "x": [1, 2]}, protected=["sex"])
    assert "No value is missing" in fairness.missingness(data).notes[0].text()


def test_duplicates_by_hand(frame_kind: Any) -> None:
    frame = frame_kind(
        {"sex": ["F", "M", "F", "M", "F"], "job": ["a", "a", "a", "b", "c"], "y": ["no", "yes", "no", "yes", "yes"]}
    )
    data = iso.Dataset(frame, target="y", positive="yes", protected=["sex"])
    found = fairness.duplicates(data)
    assert (found.duplicated.value, found.conflicting.value) == (0.6, 1.0)
    women = next(row for row in found.tables["by_group"].rows() if row["group"] == "sex=F")
    assert (women["own"], women["others"], women["difference"]) == (0.0, 1.0, -1.0)


def people(n: int = 3000, bias: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Labels that follow skill, less `bias` for women; height tells the sex, noise tells nothing."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    skill, noise = rng.normal(size=n), rng.normal(size=n)
    height = 165 + 13 * (sex == "M") + rng.normal(scale=6, size=n)
    chance = np.clip(0.5 + 0.2 * skill - bias * (sex == "F"), 0, 1)
    return pd.DataFrame(
        {"sex": sex, "skill": skill, "noise": noise, "height": height, "y": (rng.random(n) < chance).astype(int)}
    )


def test_label_bias_fires_and_does_not_fire() -> None:
    for bias, fires in ((0.0, False), (0.25, True)):
        frame = people(bias=bias)[["sex", "skill", "noise", "y"]]
        data = iso.Dataset(frame, target="y", protected=["sex"], privileged={"sex": "M"})
        found = fairness.label_bias(data, given=["skill"], n_boot=50)
        information = next(found.tables["information"].rows())
        women = next(row for row in found.tables["neighbours"].rows() if row["group"] == "sex=F")
        assert (information["p_value"] < 0.01) is fires
        assert (women["p_value"] < 0.001) is fires
        if fires:
            assert women["difference"] == pytest.approx(-0.25, abs=0.06)
            rate = next(found.tables["base_rates"].rows())
            assert rate["difference"] == pytest.approx(
                frame["y"][frame["sex"] == "F"].mean() - frame["y"][frame["sex"] == "M"].mean()
            )


def test_conditional_information_by_hand() -> None:
    from isonomia.counting import Codes
    from isonomia.fairness.labels import mutual_information

    rng = np.random.default_rng(0)
    y, a, s = (rng.integers(0, k, 500) for k in (2, 3, 4))
    total = 0.0
    for stratum in range(4):
        part = s == stratum
        table = np.array([[np.mean((y[part] == i) & (a[part] == j)) for j in range(3)] for i in range(2)])
        margins = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
        total += part.mean() * float((table * np.log(table / margins)).sum())
    codes = [Codes.encode(x) for x in (s, a, y)]
    assert float(mutual_information.information(mutual_information.table(*codes, None))) == pytest.approx(total)


def test_labels_of_similar_people_allow_for_features_that_still_differ(rng: np.random.Generator) -> None:
    """A group at the edge has its similar people nearer to the middle: their labels differ for that reason alone."""
    sex = np.where(rng.random(600) < 0.3, "F", "M")
    x = rng.normal(size=(600, 3)) + 1.5 * (sex == "F")[:, None]
    frame = pd.DataFrame({**{f"x{i}": x[:, i] for i in range(3)}, "sex": sex, "pay": x.sum(axis=1)})
    table = fairness.label_bias(iso.Dataset(frame, target="pay", protected=["sex"]), n_boot=2).tables["neighbours"]
    row = next(row for row in table.rows() if row["group"] == "sex=F")
    assert abs(row["difference"]) < 1e-9
    assert row["disagreement"] > 0.3
    assert row["own"] - row["similar"] == pytest.approx(row["difference"], abs=1e-12)


def test_label_bias_of_numbers_and_classes() -> None:
    frame = people(600)
    frame["pay"] = frame["skill"] - 0.5 * (frame["sex"] == "F")
    found = fairness.label_bias(iso.Dataset(frame.drop(columns="y"), target="pay", protected=["sex"]), n_boot=50)
    women = next(row for row in found.tables["neighbours"].rows() if row["group"] == "sex=F")
    assert women["difference"] < -0.1
    frame["grade"] = np.where(frame["skill"] > 1, "a", np.where(frame["skill"] > 0, "b", "c"))
    several = fairness.label_bias(
        iso.Dataset(frame.drop(columns=["y", "pay"]), target="grade", protected=["sex"]), n_boot=50
    )
    near = several.tables["neighbours"].frame("pandas")
    assert sorted(set(near["class"])) == ["a", "b", "c"]
    assert near.groupby("group")["difference"].sum().abs().max() < 1e-12
    assert len(several.tables["base_rates"]) == 3


def test_proxies_name_the_column_that_carries() -> None:
    data = iso.Dataset(people(1500), target="y", protected=["sex"])
    found = fairness.proxies(data, folds=3)
    assert found.carriers("sex")[0] == "height"
    assert "noise" not in found.carriers("sex")
    auc = found.auc["sex"]
    best = stats.norm.cdf(13 / (6 * np.sqrt(2)))
    assert auc.low - 0.02 <= best <= auc.high + 0.03
    importance = found.tables["columns"].frame("pandas").set_index("column")["importance"]
    assert importance["height"] > 0.2 > abs(importance["noise"])
    blind = fairness.proxies(data, columns=["noise"], folds=3).balanced_accuracy["sex"]
    assert blind.low < 0.52


def test_proxies_tell_how_they_were_found() -> None:
    data = iso.Dataset(people(600), target="y", protected=["sex"])
    found = fairness.proxies(data, folds=2, rounds=5, shuffled_rows=50)
    assert "5 rounds" in str(found.notes[0])
    assert "at most 50 rows" in str(found.notes[0])
    assert "5 rodadas" in found.notes[0].text("pt-BR")
    usual = fairness.proxies(data, folds=2)
    assert "40 rounds" in str(usual.notes[0])
    assert "at most 800 rows" in str(usual.notes[0])
    assert usual.auc["sex"].value != found.auc["sex"].value  # the rounds are those asked for
    for option in ("rounds", "shuffled_rows", "folds"):
        with pytest.raises(iso.SpecError, match=f"`{option}` must be a whole number"):
            fairness.proxies(data, **{option: 0})


def test_an_attribute_of_one_value_is_not_told_and_says_why() -> None:
    frame = people(300)
    frame["sex"] = "F"
    found = fairness.proxies(iso.Dataset(frame, target="y", protected=["sex"]), folds=2)
    assert found.auc["sex"].value is None
    assert "fewer than two values" in found.auc["sex"].note
    assert all(row["importance"] is None and row["note"] is not None for row in found.tables["columns"].rows())


# over time -----------------------------------------------------------------------------------------------------


def months(n: int = 6000, gap_from: int | None = 8, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    when = rng.integers(0, 12, n)
    sex = rng.choice(["F", "M"], n)
    late = np.zeros(n, bool) if gap_from is None else when >= gap_from
    said = (rng.random(n) < 0.5 - 0.25 * ((sex == "F") & late)).astype(int)
    date = pd.to_datetime("2023-01-15") + pd.to_timedelta(when * 30, unit="D")
    return pd.DataFrame({"sex": sex, "date": date, "y": rng.integers(0, 2, n), "p": said})


def test_a_change_is_found_where_it_is_and_none_where_none_is() -> None:
    frame = months()
    found = fairness.over_time(
        frame["y"],
        frame["p"],
        time=frame["date"],
        every="month",
        reference="M",
        sensitive_features=frame["sex"],
        metrics=["selection_rate", "tpr"],
    )
    change = [a for a in found.alerts if a["kind"] == "change of the gap" and a["metric"] == "selection_rate"]
    assert len(change) == 1
    assert change[0]["period"] == "2023-09"
    assert change[0]["change"] == pytest.approx(-0.25, abs=0.07)
    frame = months(gap_from=None)
    calm = fairness.over_time(
        frame["y"],
        frame["p"],
        time=frame["date"],
        every="month",
        reference="M",
        sensitive_features=frame["sex"],
        metrics=["selection_rate"],
    )
    assert calm.alerts == ()
    series = calm.series
    one = series[(series["group"] == "sex=F") & (series["period"] == "2023-02")].iloc[0]
    inside = (frame["sex"] == "F") & (frame["date"].dt.strftime("%Y-%m") == "2023-02")
    assert one["value"] == pytest.approx(frame["p"][inside].mean())
    assert one["n"] == inside.sum()


def test_the_change_point_equals_brute_force() -> None:
    from isonomia.fairness.time.control_limits import change_point

    rng = np.random.default_rng(3)
    for _ in range(20):
        x, e = rng.normal(size=9), rng.uniform(0.1, 1, 9)
        best = max(
            range(1, 9),
            key=lambda t: (
                abs(np.average(x[t:], weights=e[t:] ** -2) - np.average(x[:t], weights=e[:t] ** -2))
                / np.sqrt(1 / (e[:t] ** -2).sum() + 1 / (e[t:] ** -2).sum())
            ),
        )
        assert change_point(x, e)[0] == best


def test_one_period_and_bad_times() -> None:
    with pytest.raises(iso.NotApplicable, match="one period"):
        fairness.over_time(None, [1, 0], time=["2024-01-01", "2024-01-02"], every="year", sensitive_features=["a", "b"])
    with pytest.raises(iso.errors.DataError, match="rows, but there are"):
        fairness.over_time(None, [1, 0], time=[1, 2, 3], sensitive_features=["a", "b"])
    with pytest.raises(iso.errors.SpecError, match="`every` must be one of"):
        fairness.over_time(None, [1, 0], time=[1, 2], every="fortnight", sensitive_features=["a", "b"])  # type: ignore[arg-type]
    with pytest.raises(iso.errors.SpecError, match="is for dates"):
        fairness.over_time(None, [1, 0], time=[1, 2], every="month", sensitive_features=["a", "b"])


@pytest.mark.parametrize(
    ("every", "labels"),
    [
        ("day", ("2023-12-31", "2024-01-01", "2024-02-29")),
        ("week", ("2023-12-25", "2024-01-01", "2024-02-26")),
        ("month", ("2023-12", "2024-01", "2024-02")),
        ("quarter", ("2023 Q4", "2024 Q1")),
        ("year", ("2023", "2024")),
    ],
)
def test_periods_of_dates(every: Any, labels: tuple[str, ...], frame_kind: Any) -> None:
    from isonomia.data import wrap
    from isonomia.fairness.time.periods import periods_of

    dates = np.array(["2024-01-01", "2023-12-31", "2024-02-29"], dtype="datetime64[ns]")
    column = wrap(frame_kind({"when": dates}))["when"]
    assert periods_of(column, every=every)[0].labels == labels
    assert periods_of([str(d)[:10] for d in dates], every=every)[0].labels == labels


@pytest.mark.parametrize(
    ("form", "labels"),
    [
        ("%d/%m/%Y", ("2024-12", "2025-01", "2025-02")),
        ("%d.%m.%Y 08:30", ("2024-12", "2025-01", "2025-02")),
        ("%m/%d/%Y", ("2024-12", "2025-01", "2025-02")),
        ("%m/%Y", ("2024-12", "2025-01", "2025-02")),
        ("%Y/%m/%d", ("2024-12", "2025-01", "2025-02")),
        ("%Y-%m-%dT10:00:00-03:00", ("2024-12", "2025-01", "2025-02")),
    ],
)
def test_dates_as_offices_write_them_are_in_order(form: str, labels: tuple[str, ...]) -> None:
    from datetime import date

    from isonomia.fairness.time.periods import periods_of

    days = [date(2025, 1, 31), date(2024, 12, 1), date(2025, 2, 3)]
    codes, known = periods_of([*(day.strftime(form) for day in days), None, ""], every="month")
    assert (codes.labels, codes.codes.tolist(), known.tolist()) == (labels, [1, 0, 2], [True] * 3 + [False] * 2)


@pytest.mark.parametrize("texts", [["01/02/2024", "01/01/2025"], ["05/01/24", "06/01/24"], ["2024-01-05", "3/2/2023"]])
def test_dates_that_can_be_read_in_two_ways_are_refused(texts: list[str]) -> None:
    from isonomia.fairness.time.periods import periods_of

    with pytest.raises(iso.errors.DataError, match="can be read as different dates"):
        periods_of(texts)


def test_texts_that_are_no_dates_are_names_of_periods() -> None:
    from isonomia.fairness.time.periods import periods_of

    for texts in (("1.5", "2.25"), ("12-3", "14-5"), ("2024-13-45", "2025-01-01"), ("spring", "summer")):
        assert periods_of(texts)[0].labels == texts


def test_a_control_factor_that_empties_a_cell_is_shown_without_a_value() -> None:
    frame = months(600)
    frame = frame[~((frame["sex"] == "F") & (frame["date"] > "2023-10-01"))]
    found = fairness.over_time(
        None, frame["p"], time=frame["date"], every="quarter", reference="M", sensitive_features=frame["sex"]
    )
    late = found.series[found.series["period"] == "2023 Q4"]
    assert list(late["group"]) == ["sex=M"], "a cell without rows has no metric, and nothing breaks"


def test_change_between_two_datasets() -> None:
    roles: dict[str, Any] = {"target": "y", "prediction": "p", "protected": ["sex"], "privileged": {"sex": "M"}}
    frame = months(8000)
    early, late = frame[frame["date"] < "2023-08-15"], frame[frame["date"] >= "2023-09-01"]
    found = fairness.change_between(iso.Dataset(early, **roles), iso.Dataset(late, **roles), metrics=["selection_rate"])
    rows = {(str(r["kind"]), r["group"]): r for r in found.tables["changes"].rows()}
    gap = rows["gap to the reference", "sex=F - sex=M"]
    women, men = late["p"][late["sex"] == "F"].mean(), late["p"][late["sex"] == "M"].mean()
    assert gap["after"] == pytest.approx(women - men)
    assert gap["change"] == pytest.approx(-0.25, abs=0.06)
    assert gap["p_adjusted"] < 1e-6
    assert rows["metric of the group", "sex=M"]["p_adjusted"] > 0.01


@pytest.mark.parametrize(
    ("texts", "noted"),
    [
        (["fev", "jan", "mar"], True),
        (["5-Jan-2024", "6-Feb-2024"], True),
        (["2024 Q1", "2024 Q2"], False),
        (["2024-01", "2024-02"], False),
        ([1, 2, 3], False),
    ],
)
def test_periods_in_the_order_of_the_alphabet_are_called_so(texts: list[Any], noted: bool) -> None:
    rng = np.random.default_rng(0)
    when, sex = np.repeat(texts, 200), np.tile(["F", "M"], 100 * len(texts))
    found = fairness.over_time(None, rng.random(len(when)) < 0.5, time=when, sensitive_features={"sex": sex}, n_boot=50)
    assert any("alphabetical order" in str(note) for note in found.notes) == noted
