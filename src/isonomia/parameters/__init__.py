"""Options as data: declared once, they validate values and write the spec's schema, the listings and the help.

A `Kind` says which values an option takes. A `Parameter` is a name, a kind, a default and one line of help. `validated`
puts kinds beside a function and checks its arguments before it runs; `parameters_of` gives them to what builds on the
function (a check, a method).
"""

from isonomia.parameters._compound import Either, Keyed, Several
from isonomia.parameters._declared import (
    Parameter,
    defaults_of,
    gathered,
    options_schema,
    parameters_of,
    read_options,
    validated,
)
from isonomia.parameters._kind import Kind, Maybe, Schema, Unfit, refuse
from isonomia.parameters._kinds import (
    Anything,
    Boolean,
    Choice,
    Entry,
    File,
    Integer,
    Made,
    Number,
    Text,
)
from isonomia.parameters.other_words import face, renamed, unknown_name

__all__ = [
    "ALPHA",
    "Anything",
    "Boolean",
    "Choice",
    "Either",
    "Entry",
    "File",
    "Integer",
    "Keyed",
    "Kind",
    "LEVEL",
    "MIN_PER_GROUP",
    "MISSING",
    "Made",
    "Maybe",
    "NAMES",
    "N_BOOT",
    "Number",
    "Parameter",
    "SEED",
    "Schema",
    "Several",
    "Text",
    "Unfit",
    "defaults_of",
    "face",
    "gathered",
    "options_schema",
    "parameters_of",
    "read_options",
    "refuse",
    "renamed",
    "unknown_name",
    "validated",
]

#: The start of everything random.
SEED = Integer(0)
#: Bootstrap samples of an interval.
N_BOOT = Integer(0)
#: Rows below which a group is small.
MIN_PER_GROUP = Integer(1)
#: The level of intervals.
LEVEL = Number(above=0, below=1, hint=", such as 0.95")
#: The level of tests.
ALPHA = Number(above=0, below=1)
#: What happens to rows with a missing protected value.
MISSING = Choice(("group", "exclude", "error"))
#: One name of a column, or several.
NAMES = Several(Text("the name of a column"), single=True)
