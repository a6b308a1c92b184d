"""The command line: every command is a thin door to what Python offers."""

from __future__ import annotations

from isonomia.cli.app import main

__all__ = ["main"]
