"""`isonomia audit`, `run` and `compare`: from a file to a verdict, with its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.report import schema

runner = CliRunner()


def people(path: Path, *, gap: float, n: int = 4000, seed: int = 0, odd: bool = False) -> Path:
    """Women and men, selected at rates that differ by a gap."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    race = rng.choice(["A", "<script>alert(1)</script>" if odd else "B"], n)
    age = rng.integers(18, 80, n)
    decision = (rng.random(n) < np.where(sex == "F", 0.5 - gap, 0.5)).astype(int)
    truth = np.where(rng.random(n) < 0.1, 1 - decision, decision)
    lines = [
        f"{s},{r},{a},{'yes' if t else 'no'},{'yes' if d else 'no'}"
        for s, r, a, t, d in zip(sex, race, age, truth, decision, strict=True)
    ]
    path.write_text("\n".join(["sex,race,age,hired,said", *lines]), encoding="utf-8")
    return path


ROLES = [
    "--target",
    "hired",
    "--positive",
    "yes",
    "--prediction",
    "said",
    "--protected",
    "sex",
    "--privileged",
    "sex=M",
]


@pytest.fixture(scope="module")
def unequal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people(tmp_path_factory.mktemp("data") / "unequal.csv", gap=0.3)


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people(tmp_path_factory.mktemp("data") / "equal.csv", gap=0.0, n=20_000)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, equal: Path, unequal: Path) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name, data in (("equal", equal), ("unequal", unequal)):
        runner.invoke(app, ["audit", str(data), *ROLES, "--policy", "eeoc", "--out", str(folder / name)])
    return folder / "equal", folder / "unequal"


def test_a_gap_exceeds_the_policy(unequal: Path) -> None:
    ended = runner.invoke(app, ["audit", str(unequal), *ROLES, "--policy", "eeoc"])
    assert ended.exit_code == 1, ended.stderr
    assert "four-fifths" in ended.stdout
    assert "--out" in ended.stdout


def test_no_gap_meets_it(equal: Path) -> None:
    ended = runner.invoke(app, ["audit", str(equal), *ROLES, "--policy", "eeoc"])
    assert ended.exit_code == 0, ended.output


def test_without_a_policy_there_is_no_verdict(unequal: Path) -> None:
    ended = runner.invoke(app, ["audit", str(unequal), *ROLES])
    assert ended.exit_code == 0, ended.stderr


def test_few_people_are_not_enough_evidence(tmp_path: Path) -> None:
    data = people(tmp_path / "few.csv", gap=0.05, n=120)
    ended = runner.invoke(app, ["audit", str(data), *ROLES, "--policy", "engineering"])
    assert ended.exit_code == 3, ended.output


def test_a_pdf_is_refused_before_the_work_begins(
    unequal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = runner.invoke(app, ["audit", str(unequal), *ROLES, "--pdf"])
    assert ended.exit_code == 2
    assert "name the folder with --out" in ended.output
    monkeypatch.setenv("ISONOMIA_CHROMIUM", str(tmp_path / "none"))
    ended = runner.invoke(app, ["audit", str(unequal), *ROLES, "--pdf", "--out", str(tmp_path / "out")])
    assert ended.exit_code == 2
    assert "ISONOMIA_CHROMIUM names" in " ".join(ended.output.split())
    assert not (tmp_path / "out").exists()


def test_a_pdf_is_written_beside_the_report(unequal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nfor each; do case $each in --print-to-pdf=*) echo %PDF > ${each#*=};; esac; done\n")
    browser.chmod(0o755)
    monkeypatch.setenv("ISONOMIA_CHROMIUM", str(browser))
    runner.invoke(app, ["audit", str(unequal), *ROLES, "--checks", "quick", "--pdf", "--out", str(tmp_path / "out")])
    assert (tmp_path / "out" / "report.pdf").read_text() == "%PDF\n"
    assert (tmp_path / "out" / "report.html").is_file()
    assert not (tmp_path / "out" / "report-with-annex.pdf").exists()
    runner.invoke(app, ["audit", str(unequal), *ROLES, "--checks", "quick", "--annex", "--out", str(tmp_path / "more")])
    assert (tmp_path / "more" / "report-with-annex.pdf").read_text() == "%PDF\n"
    assert not (tmp_path / "more" / "report.pdf").exists()


def test_a_summary_for_a_mail(tmp_path: Path) -> None:
    """One page below 100 kB, with the picture; nothing else is written, and no other kind of file is."""
    data, mail = people(tmp_path / "p.csv", gap=0.3), tmp_path / "mail" / "summary.html"
    ran = runner.invoke(
        app, ["audit", str(data), *ROLES, "--checks", "quick", "--policy", "eeoc", "--summary", str(mail)]
    )
    assert ran.exit_code == 1, ran.output
    page = mail.read_text(encoding="utf-8")
    assert len(page.encode()) < 100_000
    assert '<figure class="limits">' in page
    assert "<script" not in page
    assert [file.name for file in mail.parent.iterdir()] == ["summary.html"]
    refused = runner.invoke(app, ["audit", str(data), *ROLES, "--summary", str(tmp_path / "summary.pdf")])
    assert refused.exit_code == 2
    assert "name a file that ends in .html" in refused.output


def test_everything_is_written(unequal: Path, tmp_path: Path) -> None:
    out, junit = tmp_path / "out", tmp_path / "ci" / "junit.xml"
    ended = runner.invoke(
        app,
        [
            "audit",
            str(unequal),
            *ROLES,
            "--policy",
            "eeoc",
            "--out",
            str(out),
            "--junit",
            str(junit),
            "--lang",
            "pt-BR",
        ],
    )
    assert ended.exit_code == 1
    assert {path.name for path in out.iterdir()} == {"report.html", "report.json", "report.md"}
    assert 'lang="pt-BR"' in (out / "report.html").read_text(encoding="utf-8")
    assert "Relatório completo" in ended.stdout
    assert ET.parse(junit).getroot().find(".//failure") is not None


def test_json_is_the_report_and_nothing_else(unequal: Path) -> None:
    import jsonschema

    ended = runner.invoke(app, ["audit", str(unequal), *ROLES, "--policy", "eeoc", "--json"])
    record = json.loads(ended.stdout)
    jsonschema.validate(record, schema())
    assert record["verdict"]["outcome"] == "exceeds"
    assert ended.exit_code == 1


def test_the_same_seed_gives_the_same_json(unequal: Path) -> None:
    first, second = (
        json.loads(runner.invoke(app, ["audit", str(unequal), *ROLES, "--json", "--seed", "7"]).stdout) for _ in "ab"
    )
    for record in (first, second):
        record.pop("timings", None)
        record.pop("created", None)
        record.pop("sha256", None)
        for check in record["checks"].values():
            check.pop("seconds", None)
    assert first == second


def test_quiet_is_quiet(unequal: Path) -> None:
    ended = runner.invoke(app, ["audit", str(unequal), *ROLES, "--policy", "eeoc", "--quiet"])
    assert (ended.exit_code, ended.output) == (1, "")


def test_bands_and_chosen_checks(unequal: Path) -> None:
    ended = runner.invoke(
        app,
        [
            "audit",
            str(unequal),
            "--target",
            "hired",
            "--positive",
            "yes",
            "--prediction",
            "said",
            "--protected",
            "sex,age:25,60",
            "--privileged",
            "age=[25, 60)",
            "--checks",
            "group_fairness",
            "--json",
        ],
    )
    record = json.loads(ended.stdout)
    assert list(record["checks"]) == ["group_fairness"]
    assert "[25, 60)" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["DATA", "--protected", "gender"], "`--protected` must name a column of the data; got 'gender'"),
        (["DATA", "--protected", "sex", "--target", "hird"], "Did you mean 'hired'"),
        (["DATA", "--protected", "sex", "--target", "hired"], "`--positive` must say"),
        (["DATA", "--protected", "sex", "--target", "hired", "--positive", "yes"], "There are no predictions"),
        (["DATA", *ROLES, "--policy", "eoc"], "Did you mean 'eeoc'"),
        (["DATA", *ROLES, "--checks", "grup_fairness"], "group_fairness"),
        (["DATA", *ROLES, "--lang", "fr"], "Unknown language"),
        (["DATA", *ROLES, "--model", "model.pkl"], "model.pkl"),
        (["DATA", *ROLES, "--missing", "drop"], "drop"),
        (["DATA", *ROLES, "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_ends_with_2_and_a_reason(unequal: Path, arguments: list[str], said: str) -> None:
    ended = runner.invoke(app, ["audit", *(str(unequal) if part == "DATA" else part for part in arguments)])
    assert ended.exit_code == 2, ended.output
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_model_file_is_asked(tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression

    from isonomia.models import save_model

    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = (x[:, 0] + rng.normal(size=600) > 0).astype(int)
    import pandas as pd

    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    save_model(LogisticRegression().fit(frame, y), tmp_path / "model.skops")
    frame.assign(sex=rng.choice(["F", "M"], 600), y=y).to_csv(tmp_path / "data.csv", index=False)
    ended = runner.invoke(
        app,
        [
            "audit",
            str(tmp_path / "data.csv"),
            "--target",
            "y",
            "--protected",
            "sex",
            "--model",
            str(tmp_path / "model.skops"),
            "--json",
        ],
    )
    assert ended.exit_code == 0, ended.stderr
    assert json.loads(ended.stdout)["checks"]["performance"]["outcome"] in ("passed", "issue")


def test_hostile_values_reach_no_output_raw(tmp_path: Path) -> None:
    data = people(tmp_path / "odd.csv", gap=0.3, odd=True)
    ended = runner.invoke(
        app,
        [
            "audit",
            str(data),
            *ROLES,
            "--protected",
            "race",
            "--out",
            str(tmp_path / "out"),
            "--junit",
            str(tmp_path / "j.xml"),
        ],
    )
    assert ended.exit_code == 0, ended.output
    assert "<script>alert" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>" not in (tmp_path / "j.xml").read_text(encoding="utf-8")


def test_a_public_dataset_by_its_name(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / "compas.csv.gz").parent))
    ended = runner.invoke(app, ["audit", "compas", "--prediction", "high_risk", "--checks", "quick", "--json"])
    assert ended.exit_code == 0, ended.stderr
    assert json.loads(ended.stdout)["subject"]["protected"]


def test_a_spec_runs_as_the_options_do(unequal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        f"dataset: {unequal}\ntarget: hired\npositive: 'yes'\nprotected: [sex]\nprivileged: {{sex: M}}\n"
        f"prediction: said\npolicy: eeoc\nout: {tmp_path / 'report'}\n",
        encoding="utf-8",
    )
    ended = runner.invoke(app, ["run", str(spec), "--json", "--junit", str(tmp_path / "j.xml")])
    assert ended.exit_code == 1, ended.stderr
    assert json.loads(ended.stdout)["verdict"]["outcome"] == "exceeds"
    assert (tmp_path / "report" / "report.html").is_file()
    assert (tmp_path / "j.xml").is_file()


def test_a_misspelt_key_is_told_with_its_place(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"dataset": "x.csv", "protcted": ["sex"]}), encoding="utf-8")
    ended = runner.invoke(app, ["run", str(spec)])
    assert ended.exit_code == 2
    assert "protcted" in ended.stderr


def test_a_worse_model_is_seen(reports: tuple[Path, Path]) -> None:
    equal, unequal = reports
    worse = runner.invoke(app, ["compare", str(equal), str(unequal)])
    assert worse.exit_code == 1, worse.output
    assert "gaps got worse." in worse.stdout
    same = runner.invoke(app, ["compare", str(unequal), str(unequal / "report.json"), "--lang", "pt-BR"])
    assert same.exit_code == 0
    assert "Nada piorou" in same.stdout
    assert json.loads(runner.invoke(app, ["compare", str(equal), str(unequal), "--json"]).stdout)["worse"] is True


def test_what_is_no_report_is_told(tmp_path: Path, reports: tuple[Path, Path]) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    ended = runner.invoke(app, ["compare", str(tmp_path / "x.json"), str(reports[0])])
    assert ended.exit_code == 2
    assert "schema_version" in ended.stderr


def test_a_real_process_tells_the_verdict(unequal: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isonomia.cli", "audit", str(unequal), *ROLES, "--policy", "eeoc", "--quiet"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
