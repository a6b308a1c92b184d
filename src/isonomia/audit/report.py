"""What an audit returns: findings, results and verdict, and a document that can be shown and saved."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia.audit.exit_codes import FailOn, exit_code, failing
from isonomia.audit.report_parts import Findings, Part, part_frame
from isonomia.audit.verdicts.following import unfounded
from isonomia.errors import AuditFailed, DataError, NotApplicable, SpecError, kind_of
from isonomia.evidence import Fold, Result
from isonomia.keeping import Keeper, opened
from isonomia.parameters import unknown_name
from isonomia.policies import Policy
from isonomia.report import (
    Document,
    Extent,
    Form,
    Section,
    Verdict,
    content_hash,
    dumps,
    from_json,
    save,
    to_html,
    to_json,
    to_markdown,
    to_pdf,
)

#: A report larger than this is refused.
MAX_BYTES = 256 << 20


def read_record(path: str | os.PathLike[str]) -> Any:
    """What a ``report.json`` holds, or the one in a folder; nothing of it is believed yet."""
    file = Path(path).expanduser()
    file = file / "report.json" if file.is_dir() else file
    if not file.is_file():
        raise DataError(f"There is no report at {str(path)!r}; give a report.json, or the folder it is in.")
    if file.stat().st_size > MAX_BYTES:
        raise DataError(f"{str(file)!r} is larger than {MAX_BYTES:,} bytes; it is not a report of Isonomia.")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{str(file)!r} is not JSON ({error}); give the report.json of an audit.") from None


def unverified(record: Mapping[str, Any]) -> Report:
    """The report of a record, whatever its hash and its verdict are worth."""
    report = Report(from_json(record))
    try:
        _ = report.policy
    except ValueError as error:
        raise DataError(f"The report is damaged ({kind_of(error)}). Run the audit again.") from None
    return report


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of an audit.

    Attributes
    ----------
    document : Document
        Everything the report shows.

    Examples
    --------
    >>> import isonomia as iso
    >>> data = iso.Dataset({"sex": ["F", "M"] * 50, "y": [0, 1] * 50, "p": [0, 1] * 50}, target="y", protected=["sex"],
    ...                    prediction="p")
    >>> report = iso.audit(data, policy="eeoc", seed=0)
    >>> report.verdict.outcome, report.exit_code
    ('exceeds', 1)
    >>> report["group_fairness"].table["selection_rate"].tolist()
    [0.0, 1.0]
    """

    document: Document

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """The report that `save` wrote: a ``report.json``, or the folder it is in.

        Warns where the file was changed after it was written, or its verdict does not follow from its figures.
        """
        return cls.from_dict(read_record(path))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Report:
        """The report that `to_dict` wrote. Warns as `load` does."""
        report = unverified(record)
        title = str(report.document.title)
        if "sha256" not in record:
            warnings.warn(f"The report {title!r} has no hash: nothing shows that it was not changed.", stacklevel=2)
        elif record["sha256"] != content_hash(record):
            warnings.warn(
                f"The report {title!r} was changed after it was written: its hash is not that of its content.",
                stacklevel=2,
            )
        if doubted := unfounded(report.document, report.policy):
            warnings.warn(
                f"The verdict of the report {title!r} does not follow from its figures: {', '.join(doubted)}.",
                stacklevel=2,
            )
        return report

    @property
    def policy(self) -> Policy | None:
        """The policy that the subject was compared with."""
        given = self.document.policy
        return None if given is None else Policy.model_validate(given)

    @property
    def language(self) -> str:
        """The language it is shown in unless another is requested."""
        return self.document.language

    @property
    def verdict(self) -> Verdict | None:
        """What the policy says; None where no policy was given."""
        return self.document.verdict

    @property
    def findings(self) -> Findings:
        """Findings of all checks, the worst first."""
        return Findings(self.document.findings)

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The same findings, those about the same people, columns or aspect of the model together; the worst first."""
        return self.document.folds

    @property
    def exit_code(self) -> int:
        """0 meets the policy, 1 exceeds it, 3 not enough evidence, 4 nothing was evaluated, 5 a check failed."""
        return exit_code(self.document, self.policy)

    def check(self, fail_on: FailOn = "verdict") -> None:
        """Do nothing where the audit ends well; else raise `AuditFailed`, for tests and pipelines.

        Parameters
        ----------
        fail_on : "verdict", "critical" or "warning"
            What counts, as in `exit_code`.

        Raises
        ------
        AuditFailed
            An `AssertionError` that lists the criteria that are not met, the findings that count and failed checks.
        SpecError
            Where the verdict counts and the audit had no policy.
        """
        if self.verdict is None and fail_on == "verdict":
            raise SpecError(
                "The report has no verdict to check: audit with a policy, as in audit(data, policy='eeoc'), or pass "
                "fail_on='critical'."
            )
        code = exit_code(self.document, self.policy, fail_on)
        if not code:
            return
        criteria = () if self.verdict is None else self.verdict.criteria
        broken = [one for one in criteria if not one.passes]
        worst = sorted(broken, key=lambda one: one.outcome != "exceeds")
        lines = [f"{one.key}: {(one.sentence or one.name)!s}" for one in worst]
        lines += [self._line(fold) for fold in self.folds if fold.severity in failing(fail_on)]
        lines += [f"check {one.code} failed: {one.reason}" for one in self.document.sections if one.outcome == "failed"]
        headline = "No policy" if self.verdict is None else f"Policy {self.verdict.policy}: {self.verdict.outcome}"
        raise AuditFailed(f"{headline} (exit code {code}).\n" + "\n".join(f"  - {line}" for line in lines))

    def to_frame(self, part: Part = "findings") -> Any:
        """A part of the report as a frame, pandas where it is installed, else Polars, else PyArrow.

        Parameters
        ----------
        part : "findings", "entries" or "criteria"
            Every finding, the entries that the report shows them in, or the lines of the policy.
        """
        return part_frame(self.document, part)

    def __len__(self) -> int:
        return len(self.document.sections)

    def __iter__(self) -> Iterator[Section]:
        return iter(self.document.sections)

    def keys(self) -> tuple[str, ...]:
        """The codes of the checks, which ``report[code]`` takes."""
        return tuple(section.code for section in self.document.sections)

    def __getitem__(self, code: str) -> Result:
        section = self.document[code]
        if section.result is None:
            if section.outcome == "not_applicable":
                raise NotApplicable(f"the check '{code}' did not apply: {section.reason}")
            raise SpecError(f"The check '{code}' has no result: {section.reason}")
        return section.result

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-safe values, in the shape of its schema."""
        return to_json(self.document)

    def to_html(self, language: str | None = None, *, page: bool = True, extent: Extent = "whole") -> str:
        """The report as one self-contained page; with ``page=False`` as a static fragment of another page.

        With ``extent="first_page"`` it is what a board reads and signs: one sheet of A4 paper; with "short" the
        findings and the criteria of the policy follow.
        """
        return to_html(self.document, language or self.language, page=page, extent=extent)

    def to_pdf(self, language: str | None = None, *, extent: Extent = "short") -> bytes:
        """The report as a PDF on A4 paper, printed by Chromium: the first page, the findings and the criteria.

        With ``extent="whole"`` the annex follows, with everything that was measured.
        """
        return to_pdf(self.document, language or self.language, extent=extent)

    def to_markdown(self, language: str | None = None) -> str:
        """The report as Markdown."""
        return to_markdown(self.document, language or self.language)

    def to_json(self) -> str:
        """The report as JSON text, as in report.json; `load` and `from_dict` read it."""
        return dumps(self.document)

    def plot(self, check: str | None = None, language: str | None = None) -> Any:
        """The Plotly figures of a check, or of all checks that have pictures.

        Parameters
        ----------
        check : str, optional
            The code of a check, as in ``report[code]``; then what `Result.plot` gives.
        language : "en" or "pt-BR", optional

        Returns
        -------
        plotly.graph_objects.Figure or dict of them
            Without a check: a mapping of codes of checks to their figures.
        """
        chosen = language or self.language
        if check is not None:
            return self[check].plot(language=chosen)
        drawn = [one for one in self.document.sections if one.result is not None and one.result.pictures]
        if not drawn:
            raise NotApplicable("no check of the report has pictures")
        return {one.code: self[one.code].plot(language=chosen) for one in drawn}

    def save(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        formats: Sequence[Form] | None = None,
        language: str | None = None,
        store: Keeper | str | os.PathLike[str] | None = None,
        analysis: str | None = None,
    ) -> dict[str, Path]:
        """Write the report into a file or a folder, keep it in a store, or both.

        Parameters
        ----------
        path : path, optional
            The suffix decides: a file that ends in ``.html``, ``.json``, ``.md`` or ``.pdf``, else a folder.
        formats : sequence of "html", "json", "md", "summary", "pdf", "annex", optional
            Of a folder: report.html, report.json and report.md, unless others are named. "summary" is the first page
            alone, for a mail or one sheet of paper, also as one file: ``save("mail.html", formats=["summary"])``; "pdf"
            is the short report printed by Chromium, "annex" the same with everything that was measured.
        language : "en" or "pt-BR", optional
        store : Store or address, optional
            Where the report is kept as a run of `analysis` (see `isonomia.store.open`). What is kept and written has a
            section on what changed since the last run.
        analysis : str, optional
            What the run belongs to, such as "loans"; needed with a store.

        Returns
        -------
        dict of Path
            Where each form was written.
        """
        if (store is None) != (analysis is None):
            raise SpecError("Keeping a report needs both store= (its address) and analysis= (a name such as 'loans').")
        if path is None and store is None:
            raise SpecError("Name the file or folder to write the report to, or the store to keep it in.")
        report = self
        if store is not None and analysis is not None:
            keeper = opened(store)
            report = keeper.continued(self, analysis=analysis)
            keeper.keep(report, analysis=analysis)
        if path is None:
            return {}
        return save(report.document, path, formats=formats, language=language or self.language)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"'Report' object has no attribute {name!r}")
            raise unknown_name("Report", "Report", name, dir(Report))

    def __repr__(self) -> str:
        outcome = "no policy" if self.verdict is None else f"{self.verdict.policy}: {self.verdict.outcome}"
        worst = "".join(f"\n  {self._line(fold)}" for fold in self.folds[:5])
        return f"Report({outcome}; {len(self.findings)} findings){worst}"

    @staticmethod
    def _line(fold: Fold) -> str:
        others = f" (and {len(fold.others)} more about the same)" if fold.others else ""
        return f"{fold.severity}: {fold.first.message}{others}"

    def _repr_html_(self) -> str:
        return self.document._repr_html_()
