"""Entries of other packages: one that is broken is left out with a warning that names it, and everything else works."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.audit.check_registry import CHECKS
from isonomia.languages import error_text
from isonomia.metrics import METRICS

CHECK = """
from isonomia.audit.check_registry import Check
from isonomia.evidence import Result
from isonomia.languages import msg

def run(subject, **options):
    {body}

entry = Check(id="{id}", title=msg("Acme"), question=msg("Acme"), purpose="acme", run=run, within="quick")
"""
FINE = CHECK.format(body="return Result('acme', msg('Acme'))", id="acme")


@pytest.fixture(autouse=True)
def _registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Registries as new, and as they were after the test."""
    for registry in (CHECKS, METRICS):
        assert registry.ids()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "_loaded", False)
    yield
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Install a package of modules and entry points into a folder on the path, as pip would."""

    def install(points: str, **modules: str) -> Path:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        info = tmp_path / "acme-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(textwrap.dedent(points))
        monkeypatch.syspath_prepend(str(tmp_path))
        return tmp_path

    return install


def said() -> list[str]:
    """The warnings of the first use of the checks and of the second, which are none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "performance" in CHECKS.ids()
        first = [str(one.message) for one in caught]
        assert "performance" in CHECKS.ids()
        assert len(caught) == len(first)
    return first


def test_a_sound_check_of_another_package_is_run(installed: Callable[..., Path]) -> None:
    installed("[isonomia.checks]\nacme = acme_fine:entry\n", acme_fine=FINE)
    assert said() == []
    assert "acme" in CHECKS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 / 0", r"which is left out: ZeroDivisionError: division by zero \(at acme_broken:1\)"),
        ("raise SystemExit(3)", r"SystemExit: 3 \(at acme_broken:1\)"),
        ("import no_such_package", r"ModuleNotFoundError: No module named 'no_such_package' \(at acme_broken:1\)"),
        ("def broken(:", "SyntaxError"),
        ("", "AttributeError: module 'acme_broken' has no attribute 'entry'"),
        ("entry = 3", "'acme_broken:entry' is of type int, which is not an entry of this kind"),
        ("from isonomia.metrics import METRICS\nentry = METRICS['accuracy']", "is of type Metric, which is not"),
        (CHECK.format(body="pass", id="performance"), "The check 'performance' is already registered"),
    ],
)
def test_a_broken_one_is_left_out_and_named(text: str, says: str, installed: Callable[..., Path]) -> None:
    own = CHECKS["performance"]
    CHECKS._loaded = False
    installed(
        "[isonomia.checks]\nbroken = acme_broken:entry\nacme = acme_fine:entry\n", acme_broken=text, acme_fine=FINE
    )
    (warning,) = said()
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(warning)
    assert "The package 'acme' brings the check 'broken', which is left out" in warning
    assert "O pacote 'acme' traz" in error_text(warning, "pt-BR")
    assert "acme" in CHECKS, "the next one is loaded all the same"
    assert CHECKS["performance"] is own


def test_a_metric_under_a_name_that_is_taken(installed: Callable[..., Path]) -> None:
    text = "from dataclasses import replace\nfrom isonomia.metrics import METRICS\n"
    installed(
        "[isonomia.metrics]\nmine = acme_metric:entry\n",
        acme_metric=text + "entry = replace(METRICS['mae'], id='tpr', aliases={})",
    )
    with pytest.warns(UserWarning, match="The metric 'tpr' is already registered"):
        METRICS.ids()


def test_a_module_that_adds_its_entries_itself(installed: Callable[..., Path]) -> None:
    text = FINE + "\nfrom isonomia.audit.check_registry import CHECKS\nCHECKS.add(entry)\n"
    installed("[isonomia.checks]\nacme = acme_fine\n", acme_fine=text)
    assert said() == []
    assert "acme" in CHECKS


@pytest.mark.parametrize("body", ["1 / 0", "raise SystemExit(3)", "return {}"])
def test_a_check_of_another_package_that_fails_costs_itself(
    body: str, installed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISONOMIA_FAULTS")
    installed("[isonomia.checks]\nacme = acme_fine:entry\n", acme_fine=CHECK.format(body=body, id="acme"))
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"sex": ["F", "M"] * 60, "y": rng.integers(0, 2, 120), "p": rng.integers(0, 2, 120)}
    data = iso.Dataset(columns, target="y", protected=["sex"], prediction="p")
    report = iso.audit(data, checks="quick", n_boot=20)
    assert report.document["acme"].outcome == "failed"
    if body in ("1 / 0", "raise SystemExit(3)"):
        assert "(at acme_fine:7)" in str(report.document["acme"].reason)
    assert {section.outcome for section in report} >= {"failed", "passed"}
    assert report.exit_code == 5


def test_the_program_says_it_in_one_line(installed: Callable[..., Path]) -> None:
    folder = installed("[isonomia.checks]\nbroken = acme_broken:entry\n", acme_broken="1 / 0")
    source = str(Path(iso.__file__).parent.parent)
    ended = subprocess.run(
        [sys.executable, "-m", "isonomia.cli", "checks", "--lang", "pt-BR"],
        capture_output=True,
        env={"PYTHONPATH": f"{source}:{folder}", "PYTHONIOENCODING": "utf-8", "PATH": ""},
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0
    assert ended.stderr.count("\n") == 1
    assert "O pacote 'acme' traz um item que foi ignorado" in ended.stderr
    assert "ZeroDivisionError" in ended.stderr
