"""The audit's checks of this room: they run, say when they do not apply, and their pages can be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.report.figures import draw
from isonomia.robustness import conformal, drift, overfit, weak_spots

CHECKS = "weak_spots,overfit,drift,conformal"


def test_without_other_data_two_checks_do_not_apply(make_broken: Any) -> None:
    report = iso.audit(make_broken(n=2000, protected=["city"]), checks=CHECKS, n_boot=50)
    outcomes = {section.code: section.outcome for section in report.document.sections}
    assert outcomes["weak_spots"] == "issue"
    assert outcomes["overfit"] == outcomes["drift"] == "not_applicable"
    assert outcomes["conformal"] in ("passed", "issue")


def test_with_other_data_all_run(make_broken: Any, tmp_path: Any) -> None:
    data, other = make_broken(n=1500), make_broken(n=1500)
    path = tmp_path / "train.csv"
    import polars as pl

    pl.DataFrame({name: other.column(name).to_numpy() for name in other.columns}).write_csv(path)
    report = iso.audit(
        data, checks=CHECKS, n_boot=50, options={"overfit": {"train": str(path)}, "drift": {"reference": other}}
    )
    for section in report.document.sections:
        assert section.outcome in ("passed", "issue"), (section.code, section.reason)
    html = report.document
    assert html.sections


def test_an_unknown_option_is_named(make_broken: Any) -> None:
    with pytest.raises(iso.SpecError, match="Did you mean 'slicing'"):
        iso.audit(make_broken(n=200), checks="weak_spots", options={"weak_spots": {"slcing": "tree"}})


def results(make: Any) -> list[Any]:
    data = make(n=3000, protected=["city"])
    other = make(n=3000, protected=["city"], where=lambda c: np.zeros(3000, dtype=bool))
    return [
        weak_spots(data, pairs=True),
        overfit(other, data, pairs=True),
        drift(other, data, joint=False),
        conformal(data),
    ]


def test_every_picture_can_be_drawn_in_both_languages(make_broken: Any) -> None:
    for result in results(make_broken):
        assert result.pictures
        for picture in result.pictures:
            for language in ("en", "pt-BR"):
                figure = draw(picture, result.tables[picture.table], language)
                assert len(figure.data) > 0
        for finding in result.findings:
            assert finding.message.text("pt-BR") != finding.message.text("en")
        assert result.to_dict()["tables"]
        assert result._repr_html_()


def test_disturbed_inputs_are_a_check_of_the_full_set(make_broken: Any) -> None:
    data = make_broken(n=400)

    def model(frame: Any) -> Any:
        return np.where(np.asarray(frame["income"]) > 50, "yes", "no")

    options = {"perturb": {"levels": [0.3], "n_trials": 2, "adversarial": True, "budget": 5, "max_rows": 200}}
    report = iso.audit(data, model, checks="perturb", options=options)
    section = report.document.sections[0]
    assert section.outcome in ("issue", "passed")
    assert section.result is not None
    assert any("200 of 400 rows" in str(note) for note in section.result.notes)
    for picture in section.result.pictures:
        for language in ("en", "pt-BR"):
            assert len(draw(picture, section.result.tables[picture.table], language).data) > 0
    assert "Entradas perturbadas" in report.to_html("pt-BR")
    without = iso.audit(data, checks="perturb")
    assert without.document.sections[0].outcome == "not_applicable"


def test_local_robustness_is_a_check_of_the_full_set(make_broken: Any) -> None:
    data = make_broken(n=300, protected=["city"])

    def model(frame: Any) -> Any:
        return np.where(np.asarray(frame["income"]) > 50, "yes", "no")

    options = {"local_robustness": {"max_rows": 200, "budget": 15, "strength": 0.5}}
    report = iso.audit(data, model, checks="local_robustness", options=options)
    section = report.document.sections[0]
    assert section.outcome == "issue"
    assert section.result is not None
    first = next(iter(section.result.tables["fragile"].rows()))
    income = data.column("income").to_numpy()
    assert abs(income[first["row"]] - 50) < 10, "rows are those of the data, not of the sample"
    for picture in section.result.pictures:
        for language in ("en", "pt-BR"):
            assert len(draw(picture, section.result.tables[picture.table], language).data) > 0
    for finding in section.result.findings:
        assert finding.message.text("pt-BR") != finding.message.text("en")
    assert "Robustez local" in report.to_html("pt-BR")
    assert iso.audit(data, checks="local_robustness").document.sections[0].outcome == "not_applicable"
