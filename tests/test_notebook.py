"""The notebook of examples: its cells run, and what is stored below them is what they show.

Run this file to run the notebook and store what its cells show (the text and the HTML of each result, as Jupyter does).
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebooks" / "first_audit.ipynb"
MAX_BYTES = 500_000


def run(notebook: dict[str, Any]) -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
    """What each cell shows, run one after the other in a fresh namespace, and the variables at the end."""
    variables: dict[str, Any] = {}
    shown = [
        _run("".join(cell["source"]), variables, number) if cell["cell_type"] == "code" else []
        for number, cell in enumerate(notebook["cells"])
    ]
    return shown, variables


def _run(text: str, variables: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell; the value of its last line is shown, as a notebook shows it."""
    body = ast.parse(text).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), f"cell {number}", "exec"), variables)
    if not isinstance(last, ast.Expr):
        return []
    value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), variables)
    if value is None:
        return []
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return [{"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}]


def words(outputs: list[dict[str, Any]]) -> str:
    """The text of what a cell shows, without markup."""
    text = "".join("".join(one["data"].get("text/html", one["data"]["text/plain"])) for one in outputs)
    bare = re.sub(r"<(style|script|svg).*?</\1>", " ", text, flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", bare).split())


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ran(
    stored: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = run(stored)
    assert (folder / "out" / "invitations" / "report.html").is_file()
    return found


def test_what_cells_end_with_shows_itself(ran: Any) -> None:
    shown, _ = ran
    pages = ["".join(one["data"]["text/html"]) for outputs in shown for one in outputs if "text/html" in one["data"]]
    assert len(pages) >= 5
    assert not any("<script" in page for page in pages)


def test_outputs_are_stored_small_and_without_this_machine(stored: dict[str, Any]) -> None:
    assert NOTEBOOK.stat().st_size < MAX_BYTES
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/(home|tmp|work|Users|usr|root)/|[A-Z]:\\\\", text)
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert sum(bool(cell["outputs"]) for cell in code) >= 7


def test_stored_figures_are_those_of_the_cells(stored: dict[str, Any], ran: Any) -> None:
    """Worked out with pandas from the notebook's own people and model; after a change run this file."""
    _, made = ran
    pages = {"".join(cell["source"]).splitlines()[-1]: words(cell.get("outputs", [])) for cell in stored["cells"]}
    test, columns, model = made["test"], made["columns"], made["model"]
    invited = pd.Series(model.predict(test[columns]) == "yes", index=test.index)
    by_sex, by_region = (invited.groupby(test[name]).mean() for name in ("sex", "region"))
    for page in ("report", "again.verdict"):
        assert (
            f"Of people with region south, {by_region['south']:.0%} are invited; of people with region north, "
            f"{by_region['north']:.0%}: a ratio of {by_region['south'] / by_region['north']:.2f}."
        ) in pages[page]
    assert f"{by_sex['woman']:.0%} and {by_sex['man']:.0%}" in pages["report.findings"]
    for rate in invited.groupby([test["sex"], test["region"]]).mean():
        assert f"{rate:.1%} [" in pages["rates"]
    assert f"{made['pairs'].values['share'].value:.0%} of possible people" in pages["pairs"]
    chances = pd.Series(model.predict_proba(test[columns])[:, 1], index=test.index).groupby(test["sex"]).mean()
    assert f"{100 * (chances['man'] - chances['woman']):.0f} points lower for women" in pages["gap"]
    for gap in made["fixes"].table["gap"]:
        assert f"{gap:.4f} [" in pages["fixes"]


def write() -> None:
    """Run the notebook in a folder of its own and store what its cells show."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shown, _ = run(notebook)
        os.chdir("/")
    count = 0
    for cell, outputs in zip(notebook["cells"], shown, strict=True):
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = [{**one, "execution_count": count} for one in outputs]
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{NOTEBOOK.name}: {NOTEBOOK.stat().st_size:,} bytes\n")
