"""Agreement of measures and explanations: independent routes, laws, and clear errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

import isonomia as iso
from isonomia import DataError, SpecError
from isonomia.explain import agreement
from isonomia.explain.agreements.clusters import Clusters, kappas

MEASURES = ["parity", "inconsistency"]


def results(seed: int = 0, models: int = 12, link: float = 0.8) -> pd.DataFrame:
    """Models with one fix and two explainers; `link` is how much disparity follows parity."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(models):
        for fix in ("unmitigated", "reweighing", "sampling"):
            parity = rng.normal(-0.05 if fix == "unmitigated" else 0.0, 0.1)
            for explainer in ("kernel", "tree"):
                disparity = link * parity + 0.05 * rng.normal()
                rows.append(
                    {
                        "dataset": f"d{number // 2}",
                        "model": f"m{number % 2}",
                        "fix": fix,
                        "explainer": explainer,
                        "parity": parity,
                        "inconsistency": abs(rng.normal(0.1, 0.02)),
                        "disparity": disparity,
                        "importance": abs(disparity) / 2,
                    }
                )
    return pd.DataFrame(rows)


def cell(table: pd.DataFrame, **where: str) -> pd.Series:
    """The one row of a table with these values."""
    inside = np.logical_and.reduce([table[name] == value for name, value in where.items()])
    assert inside.sum() == 1
    return table[inside].iloc[0]


def scenario(values: Any, tolerance: float) -> Any:
    return np.where(np.abs(values) <= tolerance, 0, np.sign(values))


def test_kappa_and_share_equal_scikit_learn() -> None:
    data = results()
    found = agreement(data, measures=MEASURES, tolerance=0.02, n_boot=0).to_frame("agreement")
    for explainer in ("kernel", "tree"):
        part = data[data.explainer == explainer]
        a, b = scenario(part.parity, 0.02), scenario(part.disparity, 0.02)
        row = cell(found, against="disparity", explainer=explainer, measure="parity")
        assert row["agree"] == pytest.approx((a == b).mean())
        assert row["kappa"] == pytest.approx(cohen_kappa_score(a, b))
        assert row["n"] == len(part)
        chance = sum((a == code).mean() * (b == code).mean() for code in (-1, 0, 1))
        assert row["chance"] == pytest.approx(chance)
    a, b = scenario(data.parity, 0.02) != 0, scenario(data.importance, 0.02) != 0
    row = cell(found, against="importance", explainer="all", measure="parity")
    assert row["kappa"] == pytest.approx(cohen_kappa_score(a, b))


def test_changes_correlate_as_scipy_says() -> None:
    data = results()
    found = agreement(data, measures=MEASURES, n_boot=0).to_frame("changes")
    before = data[data.fix == "unmitigated"].set_index(["dataset", "model", "explainer"])
    after = data[data.fix != "unmitigated"].set_index(["dataset", "model", "explainer"])
    change = {name: before[name].abs().reindex(after.index) - after[name].abs() for name in ("parity", "importance")}
    x, y = change["parity"].to_numpy(), change["importance"].to_numpy()
    where = {"against": "importance", "explainer": "all", "measure": "parity"}
    assert cell(found, coefficient="pearson", **where)["correlation"] == pytest.approx(pearsonr(x, y)[0])
    assert cell(found, coefficient="spearman", **where)["correlation"] == pytest.approx(spearmanr(x, y)[0])


def test_scenario_shares_sum_to_one_and_to_the_agreement() -> None:
    found = agreement(results(), measures=MEASURES, n_boot=0)
    keys = ["against", "explainer", "measure"]
    parts = found.to_frame("scenarios").groupby(keys)[["agree", "contradict"]].sum()
    assert np.allclose(parts.sum(axis=1), 1)
    whole = found.to_frame("agreement").set_index(keys)["agree"]
    assert np.allclose(parts["agree"], whole.reindex(parts.index))


def test_replicates_are_those_of_drawn_clusters() -> None:
    """Kappa, Pearson and Spearman of one replicate equal the same figures of the rows repeated as drawn."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(8), 4)
    x = np.round(rng.normal(size=32), 1)
    y = np.round(x + rng.normal(size=32), 1)
    clusters = Clusters(codes=codes, n_boot=40, seed=5)
    rows = [np.repeat(np.arange(32), draw.astype(int)) for draw in clusters.draws[:, codes]]
    assert all(len(row) == 32 for row in rows)
    expected = np.std(np.arctanh([spearmanr(x[row], y[row])[0] for row in rows]), ddof=1) * np.sqrt(8 / 7)
    figure, _ = clusters.spearman(x, y)
    assert figure.value == pytest.approx(spearmanr(x, y)[0])
    half = (np.arctanh(figure.high) - np.arctanh(figure.low)) / 2
    from scipy.stats import t

    assert half == pytest.approx(t.ppf(0.975, 7) * expected)
    expected = np.std(np.arctanh([pearsonr(x[row], y[row])[0] for row in rows]), ddof=1) * np.sqrt(8 / 7)
    figure, p = clusters.pearson(x, y)
    half = (np.arctanh(figure.high) - np.arctanh(figure.low)) / 2
    assert half == pytest.approx(t.ppf(0.975, 7) * expected)
    assert p == pytest.approx(2 * t.sf(np.arctanh(figure.value) / expected, 7))
    a, b = (x > 0).astype(int), (y > 0).astype(int)
    figure, _ = clusters.kappa(a, b, 2)
    expected = np.std([cohen_kappa_score(a[row], b[row]) for row in rows], ddof=1) * np.sqrt(8 / 7)
    assert (figure.high - figure.low) / 2 == pytest.approx(t.ppf(0.975, 7) * expected)


def test_intervals_cover() -> None:
    """Seeded: 24 clusters of 4 rows, the study's size; bounds allow for the 400 repetitions."""
    rng = np.random.default_rng(7)

    def drawn(clusters: int) -> Any:
        common = rng.normal(size=(clusters, 1, 2)) @ np.array([[1, 0.6], [0, 0.8]])
        own = rng.normal(size=(clusters, 4, 2)) @ np.array([[1, 0.3], [0, 0.95]])
        return (common + own).reshape(-1, 2)

    def codes(values: Any) -> Any:
        return np.where(np.abs(values) < 0.5, 0, np.where(values < 0, 1, 2))

    many = drawn(100_000)
    table = np.zeros((3, 3))
    np.add.at(table, (codes(many[:, 0]), codes(many[:, 1])), 1)
    truth = {"kappa": float(kappas(table)), "pearson": np.corrcoef(many.T)[0, 1]}
    hits = dict.fromkeys(truth, 0)
    for repetition in range(400):
        data = drawn(24)
        clusters = Clusters(codes=np.repeat(np.arange(24), 4), n_boot=200, seed=repetition)
        figures = {
            "kappa": clusters.kappa(codes(data[:, 0]), codes(data[:, 1]), 3)[0],
            "pearson": clusters.pearson(*data.T)[0],
        }
        for name, figure in figures.items():
            hits[name] += figure.low <= truth[name] <= figure.high
    assert all(0.92 <= hit / 400 <= 0.98 for hit in hits.values()), hits


def test_same_seed_same_figures_and_rows_in_any_order() -> None:
    data = results()
    first = agreement(data, measures=MEASURES, seed=4)
    again = agreement(data, measures=MEASURES, seed=4)
    assert first.to_dict() == again.to_dict()
    shuffled = agreement(data.sample(frac=1, random_state=1), measures=MEASURES, seed=4)
    for name in ("agreement", "scenarios", "changes", "improvement", "explainers"):
        pd.testing.assert_frame_equal(first.to_frame(name), shuffled.to_frame(name))


def test_a_lasting_scenario_has_kappa_0_and_is_called_out() -> None:
    found = agreement(results(), measures=MEASURES)
    row = cell(found.to_frame("agreement"), against="importance", explainer="all", measure="inconsistency")
    assert row["kappa"] == 0
    assert "always shows the same scenario" in row["note"]
    called = [f for f in found.findings if f.code == "agreement.chance" and "inconsistency" in f.columns]
    assert len(called) == 2
    assert "o acaso sozinho daria" in called[0].message.text("pt-BR")


def test_strong_agreement_is_found_and_not_called_chance() -> None:
    found = agreement(results(link=1.0).assign(disparity=lambda d: d.parity), measures=["parity"])
    kinds = {f.code for f in found.findings if "disparity" in f.columns}
    assert kinds == {"agreement.disparity"}
    row = cell(found.to_frame("agreement"), against="disparity", explainer="all", measure="parity")
    assert row["agree"] == row["kappa"] == 1


def test_noise_survives_correction_rarely_and_a_link_does() -> None:
    noise = agreement(results(link=0.0, models=30), measures=["parity"], against=["disparity"])
    link = agreement(results(link=1.0, models=30), measures=["parity"], against=["disparity"])
    assert (noise.to_frame("changes")["p_adjusted"] > 0.05).all()
    assert (link.to_frame("changes")["p_adjusted"] < 0.05).all()
    assert (link.to_frame("changes")["p_adjusted"] >= link.to_frame("changes")["p_value"]).all()


def test_only_mitigated_rows() -> None:
    data = results()
    found = agreement(data, measures=MEASURES, rows="mitigated", n_boot=0).to_frame("agreement")
    assert cell(found, against="disparity", explainer="all", measure="parity")["n"] == (data.fix != "unmitigated").sum()


def test_explainers_are_compared_on_the_same_models() -> None:
    data = results().query("not (explainer == 'tree' and model == 'm0')")
    found = agreement(data, measures=MEASURES, n_boot=0).to_frame("explainers")
    row = cell(found, against="disparity", first="kernel", second="tree")
    assert row["n"] == 18
    both = data[data.model == "m1"].pivot(index=["dataset", "fix"], columns="explainer", values="disparity")
    same = scenario(both.kernel, 0.005) == scenario(both.tree, 0.005)
    assert row["same"] == same.sum()


def test_missing_values_are_left_out_of_their_pairs() -> None:
    data = results()
    data.loc[3, "parity"] = np.nan
    found = agreement(data, measures=MEASURES, n_boot=0).to_frame("agreement")
    assert cell(found, against="disparity", explainer="all", measure="parity")["n"] == len(data) - 1
    assert cell(found, against="disparity", explainer="all", measure="inconsistency")["n"] == len(data)


@given(scale=st.floats(0.1, 10), flip=st.booleans())
def test_scale_and_sign_do_not_matter(scale: float, flip: bool) -> None:
    """Measures and tolerance in another unit, or groups exchanged: the same agreement."""
    data, factor = results(models=6), -scale if flip else scale
    moved = data.assign(parity=data.parity * factor, disparity=data.disparity * factor)
    options: dict[str, Any] = {"measures": ["parity"], "against": ["disparity"], "n_boot": 0}
    first = agreement(data, tolerance=0.01, **options).to_frame("agreement")
    second = agreement(moved, tolerance=0.01 * scale, **options).to_frame("agreement")
    assert np.allclose(first["kappa"], second["kappa"])


def test_every_kind_of_table(frame_kind: Any) -> None:
    columns = {name: values.tolist() for name, values in results().items()}
    found = agreement(frame_kind(columns), measures=MEASURES, n_boot=0)
    assert next(found.tables["agreement"].rows())["n"] == len(columns["fix"])


def test_rows_as_mappings_and_the_round_trip() -> None:
    rows = results().to_dict("records")
    found = agreement(rows, measures=MEASURES, n_boot=50)
    assert iso.Result.from_dict(found.to_dict()).to_dict() == found.to_dict()
    html = found.to_html("pt-BR")
    assert "Kappa de Cohen" in html


@pytest.mark.parametrize(
    ("change", "options", "error", "text"),
    [
        ({}, {"measures": ["party"]}, SpecError, "Did you mean 'parity'"),
        ({}, {"unmitigated": "none"}, SpecError, "Found: 'reweighing'"),
        ({}, {"tolerance": -1}, SpecError, "tolerance"),
        ({}, {"rows": "some"}, SpecError, "rows"),
        ({"dataset": None}, {}, DataError, "missing values"),
        ({"parity": np.inf}, {}, DataError, "infinite"),
        ({"parity": "high"}, {"measures": ["parity"]}, DataError, "column of numbers"),
        ({"fix": "unmitigated"}, {}, DataError, "repeat a combination"),
    ],
)
def test_errors_say_what_to_do(
    change: Mapping[str, Any], options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        agreement(results().assign(**change), **options)


def test_few_models_have_no_interval() -> None:
    found = agreement(results(models=2), measures=["parity"])
    row = cell(found.to_frame("agreement"), against="disparity", explainer="all", measure="parity")
    assert np.isnan(row["kappa_low"])
    assert "fewer than 3" in row["note"]
