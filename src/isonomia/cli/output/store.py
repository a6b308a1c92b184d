"""Keeping what a command found in a store: `--store URL --analysis NAME`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isonomia.cli.output.screen import Screen
from isonomia.errors import SpecError
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.audit import Report
    from isonomia.store import Store


@dataclass(frozen=True)
class Keeping:
    """An open store, and the analysis that runs belong to."""

    store: Store
    analysis: str

    def keep(self, report: Report, screen: Screen) -> Report:
        """Keep a report; returns it with what changed since the last run. Alerts go to stderr, a line of JSON each."""
        continued = self.store.continued(report, analysis=self.analysis)
        self._report_run(self.store.keep(continued, analysis=self.analysis), screen)
        return continued

    def keep_result(self, result: Any, screen: Screen) -> None:
        """Keep a result that is not an audit."""
        self._report_run(self.store.keep(result, analysis=self.analysis), screen)

    def _report_run(self, run: Any, screen: Screen) -> None:
        for alert in self.store.alerts(self.analysis, run=run.id):
            screen.remark(json.dumps({"alert": alert.to_dict()}))
        screen.say(msg("Kept as run {id} of {analysis}.", id=run.id, analysis=self.analysis))


def chosen_store(address: str | None, analysis: str | None) -> Keeping | None:
    """The store and the analysis that a command names; None where nothing is to be kept."""
    if analysis is None:
        if address is not None:
            raise SpecError("Name what the run belongs to: --analysis NAME, such as --analysis loans.")
        return None
    return Keeping(open_store(address), check_name(analysis))


def open_store(address: str | None) -> Store:
    """The store that a command names, or the environment variable ISONOMIA_STORE."""
    from isonomia.store import open as opened

    return opened(address)


def check_name(analysis: str) -> str:
    """The name of an analysis, refused before any work is done where it cannot be one."""
    from isonomia.store.keys import check_slug

    return check_slug(analysis)
