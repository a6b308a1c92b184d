"""What once made people give up or misled them, and what shows that it is gone.

`GONE` maps each friction, and each hostile input that once fell through, to the tests or pages that show it gone; a
test here checks that they exist. The tests below are for those that no other test is about.
"""

from __future__ import annotations

import ast
import datetime as dt
import gzip
import re
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import isonomia as iso

ROOT = Path(__file__).parents[1]
GONE = {
    # the report
    "The verdict says neither who, nor what, nor how much": (
        "tests/audit/test_verdict_sentences.py::test_the_verdict_names_people_figure_interval_and_limit",
    ),
    "The breach of the policy comes fourth, below slices of other columns": (
        "tests/audit/test_entries.py::test_a_standard_audit_of_adult_reads_as_at_most_eight_entries",
        "tests/audit/test_broken_rules.py::test_every_group_that_breaks_a_rule_is_ranked_with_it",
    ),
    "An assessment or a score contradicts the verdict": (
        "tests/report/test_first_page.py::test_the_verdict_alone_says_how_it_is",
        "tests/report/test_real_reports.py::test_documented_is_not_passed",
        "tests/test_frictions.py::test_nothing_on_the_page_softens_a_breach",
    ),
    "One number has two answers, in the policy and in the suite": (
        "tests/audit/test_rule_kinds.py::test_the_suite_and_the_policy_give_one_answer_about_one_number",
    ),
    "A converter prints empty charts": (
        "tests/report/test_real_reports.py::test_paper_holds_the_pictures",
        "tests/report/test_browser.py::test_without_scripts_everything_is_there",
    ),
    "Green 'passed' where no threshold exists": (
        "tests/report/test_page.py::test_nothing_that_was_only_measured_is_said_to_have_passed",
    ),
    "There is no page for the board": ("tests/report/test_real_reports.py::test_the_first_page_is_one_sheet",),
    "28 pages to sign": ("tests/report/test_real_reports.py::test_the_short_report_is_short",),
    "'selected' and ethnicity=Black instead of the words of the file": (
        "tests/audit/test_verdict_sentences.py::test_labels_of_the_file_are_spoken",
        "tests/report/test_first_page.py::test_a_real_audit_reads_in_short_sentences_without_code",
    ),
    "On a phone every figure lies outside of the screen": (
        "tests/report/test_browser.py::test_rows_are_cards_on_a_phone",
    ),
    # files
    "The command line cannot read Latin-1": (
        "tests/cli/test_files_of_offices.py::test_a_brazilian_export_becomes_a_portuguese_report",
        "tests/cli/test_files_of_offices.py::test_options_reach_the_reader",
    ),
    "Numbers with a decimal comma become categories without a word": (
        "tests/data/test_files_as_people_have_them.py::test_encoding_and_decimal_comma_are_found_and_stated",
    ),
    "Excel is refused": ("tests/cli/test_files_of_offices.py::test_the_same_rows_in_excel_give_the_same_figures",),
    "Age without bands gives 42 groups": (
        "tests/data/test_files_as_people_have_them.py::test_numbers_without_bands_get_the_same_bands_at_every_door",
        "tests/test_frictions.py::test_an_age_without_bands_makes_few_groups",
    ),
    # Python and notebooks
    "Results have no picture in a notebook": (
        "tests/audit/test_fragments.py::test_figures_and_frames_of_a_result",
        "tests/report/test_browser.py::test_a_fragment_shows_its_pictures_without_scripts",
        "tests/test_frictions.py::test_a_result_shows_a_picture_in_its_cell",
    ),
    "Findings and verdicts print as walls of dataclasses": (
        "tests/test_python_doors.py::test_findings_and_verdict_read_as_sentences",
    ),
    "Own metric functions are impossible": ("tests/test_python_doors.py::test_own_metric_functions_as_in_fairlearn",),
    "Some functions take arrays, others data and a model": (
        "tests/test_python_doors.py::test_every_function_takes_data_and_a_model",
        "tests/test_python_doors.py::test_functions_of_outcomes_take_arrays",
    ),
    # the gate
    "The format of a policy is written down nowhere": (
        "docs/policies.md",
        "tests/cli/test_policies_command.py::test_the_template_is_a_policy_that_the_schema_accepts",
    ),
    "Rules hold for all attributes alike, none is about a check": (
        "tests/audit/test_rule_kinds.py::test_a_rule_of_one_attribute_leaves_the_others_alone",
        "tests/audit/test_rule_kinds.py::test_a_figure_of_a_check_is_decided_by_an_interval_for_all_rules",
    ),
    "Without a policy the exit code is 0 whatever is found": (
        "tests/cli/test_gate.py::test_findings_fail_a_run_without_a_policy_where_they_are_asked_to",
    ),
    "The log of a gate does not say what failed": (
        "tests/cli/test_gate.py::test_the_log_names_the_criteria_that_failed_first",
        "tests/test_python_doors.py::test_check_raises_what_failed",
    ),
    "compare does not compare gaps, ratios and criteria": (
        "tests/audit/test_comparison.py::test_a_worse_release_is_named_with_its_criteria_and_gaps",
        "tests/audit/test_comparison.py::test_a_tolerance_allows_what_is_within_it",
        "tests/audit/test_comparison.py::test_markdown_page_junit_and_json_say_the_same",
    ),
    # numbers
    "No shipped policy applies to predicted numbers": (
        "tests/policies/test_policies.py::test_every_shipped_policy_through_the_three_tasks",
    ),
    "A gap of mean predictions comes first, although the true means differ as much": (
        "tests/test_frictions.py::test_errors_come_before_means_that_follow_the_truth",
    ),
    # everywhere
    "There are no guides, no API pages and no tutorial": (
        "docs/README.md",
        "docs/api.md",
        "docs/tutorial.md",
        "docs/guide-python.md",
        "docs/guide-files.md",
        "tests/test_notebook.py::test_what_cells_end_with_shows_itself",
    ),
    "There is no -h, no completion, no list of checks and policies": (
        "tests/cli/test_exits.py::test_version_and_help",
        "tests/cli/test_files_of_offices.py::test_completion_is_offered",
        "tests/cli/test_listings.py::test_a_check_is_described_with_its_options",
        "tests/cli/test_policies_command.py::test_the_list_names_kind_and_status",
    ),
    "Errors of the command line name keywords of Python": (
        "tests/cli/test_files_of_offices.py::test_errors_name_options",
    ),
    # hostile inputs
    "A compressed bomb takes all memory": (
        "tests/audit/test_awkward_frames.py::test_a_packed_file_that_grows_too_much_is_refused",
        "tests/test_frictions.py::test_a_bomb_takes_no_memory",
    ),
    "IndexError: several classes, two rows, three attributes": (
        "tests/audit/test_awkward_frames.py::test_several_classes_two_rows_three_attributes",
    ),
    "InvalidOperationError: durations": ("tests/audit/test_awkward_frames.py::test_durations_are_numbers_of_seconds",),
    "ArrowInvalid: integers beyond 2^53": (
        "tests/audit/test_awkward_frames.py::test_whole_numbers_beyond_what_a_float_holds",
        "tests/test_frictions.py::test_identifiers_beyond_floats_are_left_out_and_stated",
    ),
    "LinAlgError: extreme numbers": ("tests/audit/test_awkward_frames.py::test_numbers_whose_powers_overflow",),
    "ValueError: 60 rows with weights and scores": (
        "tests/test_frictions.py::test_sixty_rows_with_weights_and_scores",
    ),
    "One column with infinite values makes whole checks fail": (
        "tests/audit/test_awkward_frames.py::test_columns_with_infinite_numbers_are_left_out_of_searches",
    ),
    "SpecError about a reference that the audit chose itself": (
        "tests/test_frictions.py::test_a_reference_that_the_audit_chose_exists",
    ),
    "4 GB for a search of subgroups over 1,000,000 rows x 200 columns": (
        "benchmarks/wide_search.py",
        "tests/data/test_packed.py::test_what_is_handed_out_is_what_the_file_contains",
    ),
    "Files are written in place": (
        "tests/cli/test_whole_outputs.py::test_a_killed_command_leaves_whole_files_or_none",
        "tests/cli/test_whole_outputs.py::test_a_full_disk_leaves_no_half_file",
    ),
}


@pytest.mark.parametrize("friction", GONE)
def test_what_shows_it_gone_exists(friction: str) -> None:
    for shown in GONE[friction]:
        path, _, name = shown.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not name or name in {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}, shown


def test_errors_come_before_means_that_follow_the_truth() -> None:
    rng = np.random.default_rng(0)
    young = rng.random(3000) < 0.3
    expected = np.where(young, 8.6, 18.9)
    frame = {"age": np.where(young, "young", "old"), "wage": expected + rng.normal(0, 3, 3000)}
    fair = expected + rng.normal(0, 0.5, 3000)
    fine, worse = (
        iso.audit(frame | {"p": p}, target="wage", prediction="p", protected=["age"], policy="engineering-regression")
        for p in (fair, fair - 1.5 * young)
    )
    assert {finding.severity for finding in fine.findings} == {"notice"}
    (means,) = [finding for finding in fine.findings if finding.metric == "mean_prediction"]
    assert "the true means are 8.7" in means.message.text()
    first = worse.findings[0]
    assert (first.metric, first.severity, dict(first.who)) == ("mean_error", "critical", {"age": "young"})
    assert first.advice is not None


def test_sixty_rows_with_weights_and_scores() -> None:
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=60), "sex": rng.choice(["F", "M"], 60), "y": rng.integers(0, 2, 60)}
    frame = pl.DataFrame(rows | {"w": rng.uniform(0.5, 3, 60), "score": rng.random(60).round(1)})
    report = iso.audit(frame, target="y", score="score", weight="w", protected=["sex"], checks="full", n_boot=50)
    assert [section.code for section in report if section.outcome == "failed"] == []


@pytest.mark.parametrize("kind", ["duration", "float"])
def test_a_reference_that_the_audit_chose_exists(kind: str) -> None:
    rng = np.random.default_rng(0)
    values = [None, *(dt.timedelta(hours=h) for h in (1, 2))] if kind == "duration" else [None, 0.5, 1.25]
    frame = pl.DataFrame({"a0": [values[i % 3] for i in range(90)], "y": rng.integers(0, 2, 90)})
    report = iso.audit(
        frame.with_columns(p=pl.col("y")), target="y", prediction="p", protected=["a0"], checks="full", n_boot=50
    )
    assert [section.code for section in report if section.outcome == "failed"] == []


def test_nothing_on_the_page_softens_a_breach() -> None:
    """A breach between two of three groups: whatever the average gap is, no sentence calls it small."""
    rates = {"White": 885, "Asian": 880, "Black": 600}
    rows = [(name, int(row < hits)) for name, hits in rates.items() for row in range(1000)]
    frame = {"race": [name for name, _ in rows], "loan": [loan for _, loan in rows]}
    report = iso.audit(frame, prediction="loan", protected=["race"], policy="eeoc", n_boot=50)
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"
    soft = {"en": r"(are|largely) (very )?(small|alike)", "pt-BR": r"são (muito )?(pequenas|semelhantes)"}
    for language, pattern in soft.items():
        said = report["fairness_suite"].to_html(language, page=False) + report.to_html(language, extent="first_page")
        assert re.search(pattern, said) is None


def test_an_age_without_bands_makes_few_groups() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 60, 2000)
    frame = {"age": age, "hired": (rng.random(2000) < 0.3 + (age > 40) * 0.2).astype(int)}
    report = iso.audit(frame, prediction="hired", protected=["age"], n_boot=50)
    groups = set(report["group_fairness"].tables["by_group"]["group"].values)
    assert 2 <= len(groups) <= 4
    assert len(report.findings) <= 2 * len(groups)
    assert "its groups are" in report.to_html()


def test_a_result_shows_a_picture_in_its_cell() -> None:
    rng = np.random.default_rng(0)
    y, sex = rng.integers(0, 2, 400), rng.choice(["F", "M"], 400)
    result = iso.fairness.group_metrics(y, rng.integers(0, 2, 400), sensitive_features=sex)
    shown = result._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    assert "<caption" in shown
    assert result.plot(next(iter(result.drawings))).to_plotly_json()["data"]


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    """300 MB of one line in 300 kB: refused after 256 MiB on disk, with a few MB of memory."""
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as file:
        file.write(b"a,b\n")
        for _ in range(300):
            file.write(b"0,0\n" * 250_000)
    tracemalloc.start()
    try:
        with pytest.raises(iso.DataError, match="once unpacked"):
            iso.read(bomb)
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


def test_identifiers_beyond_floats_are_left_out_and_stated() -> None:
    pa = pytest.importorskip("pyarrow")
    numbers = [2**60 + 7 * i % 1009 + 1009 * i for i in range(300)]
    table = pa.table({"account": numbers, "sex": ["F", "M"] * 150, "y": [0, 1, 1] * 100, "p": [0, 1] * 150})
    data = iso.Dataset(table, target="y", prediction="p", protected=["sex"])
    assert data.identifiers == ("account",)
    assert "account" not in data.searchable
    assert any("account looks like an identifier" in str(note) for note in data.notes)
