"""Writes ``docs/pictures.md``: every kind of picture with its options."""

import sys

from isonomia.report.figures import reference

sys.stdout.write(reference())
