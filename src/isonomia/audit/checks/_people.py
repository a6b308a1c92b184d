"""The people behind the name of a group in a table."""

from __future__ import annotations

from collections.abc import Mapping

from isonomia.fairness.groups.grouping import form_groups
from isonomia.subject import Subject


def people_by_name(subject: Subject) -> Mapping[str, Mapping[str, str]]:
    """Groups of all attributes and their intersections: what a table calls them, and their columns and values."""
    if not subject.attributes:
        return {}
    return {group.name: group.texts for group in form_groups(subject.attributes, by="all").groups}
