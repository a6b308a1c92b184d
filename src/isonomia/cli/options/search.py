"""What every search takes: its limits, the options of its method, where its result goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isonomia.cli.options.shared import AnalysisName, MaxSeconds, MethodOption, Reuse, Seed, StoreAddress, TableFile
from isonomia.cli.output.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from isonomia.discovery import SearchResult
    from isonomia.parameters import Parameter

    T = TypeVar("T", bound=SearchResult)


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options that all searches share."""

    max_seconds: MaxSeconds = None
    option: MethodOption = None
    out: TableFile = None
    store: StoreAddress = None
    analysis: AnalysisName = None
    reuse: Reuse = False
    seed: Seed = 0

    def run(
        self,
        screen: Screen,
        find: Callable[..., T],
        read_arguments: Callable[[], dict[str, Any]],
        parameters: Iterable[Parameter],
        *,
        keep: bool = True,
    ) -> T:
        """What `find` finds, with its progress on the screen, kept in the store and written to the file.

        It is given what `read_arguments` returns, and the options of its method. With `keep` False no
        store is opened.
        """
        from isonomia.cli.options.method import read_options
        from isonomia.cli.output.frames import check_writable, write_frame
        from isonomia.cli.output.progress_bar import ProgressBar
        from isonomia.cli.output.store import chosen_store
        from isonomia.errors import SpecError
        from isonomia.languages import msg

        if self.out is not None:
            check_writable(self.out)
        keeping = chosen_store(self.store, self.analysis) if keep else None
        with ProgressBar(screen, msg("Searching")) as progress:
            given = {
                **read_arguments(),
                "max_seconds": self.max_seconds,
                "store": None if keeping is None else keeping.store,
                "analysis": self.analysis,
                "reuse": self.reuse,
                "seed": self.seed,
                "progress": progress,
            }
            options = read_options(self.option, parameters)
            if twice := next((name for name in options if name in given), None):
                raise SpecError(f"`--option` is for options of the method; `{twice}` is one of the command itself.")
            result = find(**given, **options)
        if self.out is not None:
            write_frame(result.table, self.out)
        if screen.json:
            screen.data(result.to_dict())
        return result
