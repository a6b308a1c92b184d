"""How is it shown: figures, HTML, Markdown, JSON.

An audit builds a `Document`; everything here only shows it, and any `evidence.Result` or `evidence.Finding` in it.
"""

from isonomia.report.document import Criterion, Document, Section, Verdict

__all__ = ["Criterion", "Document", "Section", "Verdict"]
