"""Figures over time: charts, watches and alerts, their errors by simulation."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.store.reports import audited

import isonomia as iso
from isonomia import Report
from isonomia.errors import SpecError, StoreError
from isonomia.store import Store, chart_of
from isonomia.store.over_time.charts import ALTOGETHER, EWMA_LIMIT, LAMBDA, PER_LOOK, POINT_LIMIT, alpha_of

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def on_day(report: Report, day: int) -> Report:
    """The report as if it had been made on another day."""
    return Report(replace(report.document, created=(DAY + timedelta(days=day)).isoformat()))


def test_residuals_are_those_of_a_regression_on_a_constant(rng: np.random.Generator) -> None:
    """By another route: the prediction error of a weighted mean, over its standard error from the design matrix."""
    errors = rng.uniform(0.5, 2, 12)
    values = 3 + errors * rng.normal(size=12)
    chart = chart_of(values, errors)
    for t in range(1, 12):
        design, weights = np.ones((t, 1)), np.diag(errors[:t] ** -2)
        covariance = np.linalg.inv(design.T @ weights @ design)
        mean = (covariance @ design.T @ weights @ values[:t]).item()
        spread = np.sqrt(errors[t] ** 2 + covariance.item())
        assert chart.expected[t] == pytest.approx(mean)
        assert chart.residual[t] == pytest.approx((values[t] - mean) / spread)
    weighted = 0.0
    for t in range(1, 12):
        weighted = LAMBDA * chart.residual[t] + (1 - LAMBDA) * weighted
        assert chart.weighted[t] == pytest.approx(weighted)
        variance = sum(LAMBDA**2 * (1 - LAMBDA) ** (2 * k) for k in range(t))
        assert chart.limit[t] == pytest.approx(EWMA_LIMIT * np.sqrt(variance))


def test_in_control_at_most_one_alert_in_370_points() -> None:
    """500 analyses of 400 runs of unequal sizes: the upper end of the interval of the rate is below 1 in 370."""
    rng = np.random.default_rng(7)
    alerts = points = 0
    for _ in range(500):
        errors = rng.uniform(0.3, 3, 400)
        chart = chart_of(errors * rng.normal(size=400), errors)
        alerts, points = alerts + int(chart.alerts.sum()), points + 399
    assert alerts / points < 1 / 370
    assert stats.binomtest(alerts, points, 1 / 370, alternative="less").pvalue < 0.05


def test_a_shift_of_two_standard_errors_is_found_within_ten_runs() -> None:
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(1000):
        values = rng.normal(size=30)
        values[20:] += 2  # twenty runs in control, then the shift
        found += bool(chart_of(values, np.ones(30)).alerts[20:].any())
    assert found / 1000 >= 0.9


def test_looks_at_a_baseline_spend_five_percent_altogether() -> None:
    spent = np.array([alpha_of(look) for look in range(1, 200_001)])
    assert spent.max() == PER_LOOK == 1 / 370
    assert spent.sum() == pytest.approx(ALTOGETHER, abs=1e-5)
    assert (np.diff(spent) <= 0).all()


def test_a_chart_watches_every_group_of_a_metric(store: Store) -> None:
    store.watch("loans", rule="chart", metric="selection_rate")
    for day in range(4):
        store.keep(on_day(audited(day), day), analysis="loans")
    assert store.alerts("loans") == []
    run = store.keep(on_day(audited(9, 3.0), 4), analysis="loans")
    alerts = store.alerts("loans")
    assert {alert.run for alert in alerts} == {run.id}
    men = next(alert for alert in alerts if alert.who_key == "sex=M")
    history = store.history("selection_rate", analysis="loans", who={"sex": "M"}).tables["history"]
    chart = chart_of(np.array(history["value"].values, float), np.array(history["se"].values, float))
    assert (men.value, men.expected, men.direction) == (history["value"].values[-1], chart.expected[-1], "up")
    assert men.statistic == chart.residual[-1]
    assert men.critical == POINT_LIMIT
    assert "Selection rate (sex = M) is" in str(men.message)
    assert "carta de controle" in men.message.text("pt-BR")
    assert [str(value) for value in history["alert"].values] == ["", "", "", "", "outside the limits"]
    assert men.to_dict()["people"] == {"sex": "M"}
    store.close_alert(men.id, note="a new product")
    assert men.id not in {alert.id for alert in store.alerts("loans")}
    (closed,) = store.alerts("loans", state="closed")
    assert (closed.id, closed.note, closed.state) == (men.id, "a new product", "closed")
    with pytest.raises(StoreError, match="no open alert"):
        store.close_alert(men.id, note="again")


def test_a_change_is_judged_against_the_baseline_with_holm(store: Store) -> None:
    baseline = store.keep(on_day(audited(0, n=2000), 0), analysis="loans")
    store.set_baseline(baseline)
    for sex in ("F", "M"):
        store.watch("loans", rule="change", metric="selection_rate", who={"sex": sex})
    same = store.keep(on_day(audited(1, n=2000), 1), analysis="loans")
    assert store.alerts("loans", run=same.id) == []
    run = store.keep(on_day(audited(2, 0.9, 2000), 2), analysis="loans")
    rows = {sex: store.history("selection_rate", analysis="loans", who={"sex": sex}).table for sex in "FM"}
    z = {}
    for sex, table in rows.items():
        value, se = table["value"].tolist(), table["se"].tolist()
        z[sex] = (value[2] - value[0]) / np.sqrt(se[2] ** 2 + se[0] ** 2)
    p = {sex: 2 * stats.norm.sf(abs(one)) for sex, one in z.items()}
    smaller, larger = sorted(p, key=p.__getitem__)
    rejected = [smaller] if 2 * p[smaller] <= alpha_of(2) else []
    rejected += [larger] if rejected and p[larger] <= alpha_of(2) else []
    alerts = store.alerts("loans", run=run.id)
    assert rejected == ["M"]
    assert [alert.who_key for alert in alerts] == ["sex=M"]
    assert alerts[0].statistic == pytest.approx(z["M"])
    assert alerts[0].critical == pytest.approx(stats.norm.isf(alpha_of(2) / 2 / 2))  # the first of Holm's two steps
    assert alerts[0].expected == rows["M"]["value"].tolist()[0]


def test_the_rule_policy_alerts_when_a_criterion_turns_to_exceeds(store: Store) -> None:
    store.watch("loans", rule="policy")
    outcomes = []
    for day, (seed, shift) in enumerate([(0, 0.0), (1, 2.0), (2, 2.0), (3, 0.0), (4, 2.0)]):
        run = store.keep(on_day(audited(seed, shift, 1000), day), analysis="loans")
        alerts = store.alerts("loans", run=run.id)
        outcomes.append((run.verdict == "exceeds", len(alerts)))
    assert [bool(alerts) for _, alerts in outcomes] == [False, True, False, False, True]
    assert [exceeds for exceeds, _ in outcomes] == [False, True, True, False, True]


def test_an_ended_watch_looks_no_more(store: Store) -> None:
    watch = store.watch("loans", rule="policy")
    assert [one.id for one in store.watches("loans")] == [watch.id]
    store.end_watch(watch.id)
    assert store.watches("loans") == []
    store.keep(audited(1, 2.0, 1000), analysis="loans")
    assert store.alerts("loans", state=None) == []
    with pytest.raises(StoreError, match="no active watch"):
        store.end_watch(watch.id)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "chart"}, "name its `metric`"),
        ({"rule": "policy", "metric": "tpr"}, "leave `metric` out"),
        ({"rule": "hope", "metric": "tpr"}, "`rule` must be"),
    ],
)
def test_a_watch_says_what_it_needs(store: Store, options: dict[str, Any], said: str) -> None:
    with pytest.raises((StoreError, SpecError), match=said):
        store.watch("loans", **options)
    assert store.watches("loans") == []


def test_a_history_names_what_there_is(store: Store) -> None:
    with pytest.raises(StoreError, match="has no audit"):
        store.history("tpr", analysis="loans")
    store.keep(audited(), analysis="loans")
    with pytest.raises(StoreError, match="Did you mean 'selection_rate'"):
        store.history("selecton_rate", analysis="loans")
    with pytest.raises(StoreError, match="value of sex=F"):
        store.history("tpr", analysis="loans", who={"sex": "X"})
    with pytest.raises(StoreError, match="Several figures match"):
        store.history("selection_rate", analysis="loans", measure="difference")
    gap = store.history("selection_rate", analysis="loans", measure="difference", attributes=["sex"])
    disparities = audited()["group_fairness"].tables["disparities"]
    row = [
        metric == "selection_rate" and by == ("sex",)
        for metric, by in zip(disparities["metric"].values, disparities["by"].keys or (), strict=True)
    ].index(True)
    assert gap.tables["history"]["value"].values == [disparities["difference"].values[row]]
    assert "<svg" in gap.drawings["history"].to_svg()


def test_an_imported_history_raises_no_alerts(store: Store, tmp_path: Any) -> None:
    for day, shift in enumerate([0.5, 0.5, 3.0]):
        on_day(audited(day, shift), day).save(tmp_path / str(day), formats=("json",))
    store.watch("loans", rule="chart", metric="selection_rate")
    assert store.import_(tmp_path, analysis="loans") == (3, 0)
    assert store.alerts("loans", state=None) == []
    assert iso.store.chart_of is chart_of
