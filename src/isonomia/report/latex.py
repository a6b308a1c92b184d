"""Tables as LaTeX in the style of booktabs."""

from __future__ import annotations

import re

from isonomia.evidence import Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_PATTERN = re.compile("|".join(map(re.escape, _SPECIAL)))


def escaped(text: str) -> str:
    r"""A text that LaTeX shows as it is, on one line.

    >>> print(escaped("50% of A_1 & B"))
    50\% of A\_1 \& B
    """
    return _PATTERN.sub(lambda found: _SPECIAL[found[0]], " ".join(text.split()))


def to_latex(table: Table, language: str = "en") -> str:
    r"""A table with its intervals, numbers right-aligned; needs the package booktabs.

    >>> from isonomia.evidence import Column
    >>> print(to_latex(Table((Column("sex", ["F"]), Column("rate", [0.5], format="pct")))))
    \begin{tabular}{lr}
    \toprule
    sex & rate \\
    \midrule
    F & 50.0\% \\
    \bottomrule
    \end{tabular}
    """
    sides = "".join("l" if column.format in (None, "text") else "r" for column in table.columns)
    head = " & ".join(escaped(column.heading(language)) for column in table.columns)
    body = [
        " & ".join(escaped(column.text(row, language)) for column in table.columns) + r" \\"
        for row in range(len(table))
    ]
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head + r" \\", r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])
