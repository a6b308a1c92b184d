"""Where texts of errors come from besides the errors themselves, and the words in them that no language translates."""

from __future__ import annotations

import re

#: Arguments that become part of an error's text, by the name of what takes them: their indices and keywords.
PARTS: dict[str, tuple[int | str, ...]] = {
    "Unfit": (0, "sentence"),
    "refuse": (1, 3, "expected", "more"),
    "refusal": (1, 3),
    "require": ("purpose",),
    "Text": (0, "words"),
    "Anything": (0, "words"),
    "Made": (1, "words"),
    "Choice": (1, "hint", "what"),
    "Integer": ("hint",),
    "Number": ("hint",),
    "or_none": (0, "meaning"),
    "Registry": (0, "word"),
    "ModelFormat": ("trust", "instead"),
    "read_options": ("owner",),
    "_end": (0,),
    "without_answer": (2, "reason"),
    "problems_of": (0, 1),
    "validated": (2,),
    "gathered": (0,),
    "problems.append": (0,),
    "pairs.append": (0,),
    "problems.extend": (0,),
    "failures.append": (0,),
}
#: Those whose argument may be a single word of a sentence.
WORDS = ("Registry", "Text", "Anything", "Made")
#: Methods whose answer becomes part of an error's text.
ANSWERS = ("expected", "_problem", "reason", "why_not", "why", "__str__")
#: A word of a program, not of a sentence: a keyword, an id, a name of a column. It stands in a text as it is.
IDENTIFIER = re.compile(r"[\w.]*[_=]\S*")

#: Names of classes, packages, options and metrics, which are the same in every language.
NAMES = frozenset(
    [
        "AGE",
        "Adversarial",
        "Arrow",
        "Massage",
        "Minimax",
        "ONNX",
        "Parameters",
        "Parquet",
        "Reduce",
        "Resample",
        "Reweigh",
        "accuracy",
        "arrow",
        "boosting",
        "catboost",
        "excel",
        "fpr",
        "little",
        "mae",
        "mitigate",
        "onnx",
        "pandas",
        "paper",
        "polars",
        "postgres",
        "store",
        "torch",
        "tpr",
        "transport",
        "`load_model`",
        "`sample_weight`",
    ]
)
#: Texts without a word of their own, in which another text of ours stands.
FRAMES = (
    "{first}; {rest}",
    "`{where}`: {problem}",
    "`{location}` {requirement}.",
    "{name}: {problem}",
    "{problem}: '{filename}'.",
)
#: Formats of Python as messages have them.
FORMS = {",": "int", ",d": "int", ",.0f": "int", ".1%": "pct"}
