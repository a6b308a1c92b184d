"""What an audit returns: findings, results and verdict, and a document that can be shown and saved."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isonomia.audit.verdict import exit_code
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.evidence import Finding, Fold, Result
from isonomia.policies import Policy
from isonomia.report import Document, Form, Verdict, from_json, save, to_html, to_json, to_markdown

#: A report larger than this is refused.
MAX_BYTES = 256 << 20


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
        """The report that `save` wrote: a ``report.json``, or the folder it is in."""
        file = Path(path).expanduser()
        file = file / "report.json" if file.is_dir() else file
        if not file.is_file():
            raise DataError(f"There is no report at {str(path)!r}; give a report.json, or the folder it is in.")
        if file.stat().st_size > MAX_BYTES:
            raise DataError(f"{str(file)!r} is larger than {MAX_BYTES:,} bytes; that is not a report of Isonomia.")
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"{str(file)!r} is not JSON ({error}); give the report.json of an audit.") from None
        return cls.from_dict(record)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Report:
        """The report that `to_dict` wrote; also one of schema version 1."""
        return cls(from_json(record))

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
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all checks, the worst first."""
        return self.document.findings

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The same findings, those about the same people, columns or aspect of the model together; the worst first."""
        return self.document.folds

    @property
    def exit_code(self) -> int:
        """0 meets the policy, 1 exceeds it, 3 not enough evidence, 4 nothing was evaluated, 5 a check failed."""
        return exit_code(self.document, self.policy)

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

    def to_html(self, language: str | None = None, *, page: bool = True) -> str:
        """The report as one self-contained page; with ``page=False`` as a static fragment of another page."""
        return to_html(self.document, language or self.language, page=page)

    def to_markdown(self, language: str | None = None) -> str:
        """The report as Markdown."""
        return to_markdown(self.document, language or self.language)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        formats: Sequence[Form] = ("html", "json", "md"),
        language: str | None = None,
    ) -> dict[str, Path]:
        """Write report.html, report.json and report.md into a folder."""
        return save(self.document, folder, formats=formats, language=language or self.language)

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
