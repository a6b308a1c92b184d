"""All methods of discovery on the same data and model, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from isonomia.data import backend_of
from isonomia.discovery.method import METHODS
from isonomia.discovery.pairs import find_pairs
from isonomia.discovery.result import SearchResult
from isonomia.discovery.subgroups import find_subgroups
from isonomia.errors import Cancelled, IsonomiaError, NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Column, Result, Table
from isonomia.languages import error_message, msg
from isonomia.languages.naming import as_text
from isonomia.parameters import SEED, Choice, Entry, Number, Several, validated
from isonomia.subject import Subject

Kind = Literal["pairs", "subgroups"]


@validated(
    kind=Choice(("pairs", "subgroups")),
    methods=Several(Entry(METHODS)).or_none("for all"),
    max_seconds=Number(above=0).or_none("for no limit"),
    seed=SEED,
)
def compare_methods(
    data: Any,
    model: Any = None,
    *,
    kind: Kind = "pairs",
    methods: Sequence[str] | None = None,
    max_seconds: float | None = 60.0,
    seed: int = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> Result:
    """What each method of discovery finds on the same data and model, one row per method.

    Parameters
    ----------
    data, model
        As `find_pairs` and `find_subgroups` take them.
    kind : "pairs" or "subgroups"
        What is searched for.
    methods : sequence of str or Method, optional
        Only these methods of `METHODS`; all of the kind by default.
    max_seconds : float, optional
        The time limit of each method.
    seed : int
        Of every search.
    progress : callable or Progress, optional
    **options
        Options that `find_pairs` or `find_subgroups` has itself: ``max_tests=1000``, ``k=3``.

    Returns
    -------
    Result
        Its table ``methods`` (`.table` as a frame) has the columns ``method``, ``found``, ``tested``, ``share_found``,
        ``model_rows``, ``seconds`` and ``reason``: why a method that does not apply was not run. Timings apart, the
        same seed gives the same table.

    Examples
    --------
    >>> people = {"sex": ["F", "M"] * 30, "skill": [i % 20 for i in range(60)], "y": [i % 2 for i in range(60)]}
    >>> def hire(frame):
    ...     skill, man = frame["skill"].to_numpy(), (frame["sex"] == "M").to_numpy()
    ...     return (skill + 3 * man > 10).astype(int)
    >>> found = compare_methods(people, hire, methods=["observed", "aequitas"], protected=["sex"], max_tests=100)
    >>> list(found.table["method"]), all(found.table["found"] > 0)
    (['aequitas', 'observed'], True)
    """
    entries = [entry for entry in METHODS.where(finds=kind) if methods is None or entry.id in methods]
    if not entries or (methods is not None and len(entries) < len(set(methods))):
        known = METHODS.where(finds=kind).ids()
        unknown = [name for name in methods or () if name not in known]
        raise SpecError(
            f"`methods` must name methods that find {kind}; got {unknown[0]!r}.{close_to(unknown[0], known)}"
            if unknown
            else f"`methods` must name at least one method that finds {kind}: {', '.join(known)}."
        )
    find = find_pairs if kind == "pairs" else find_subgroups
    events = Progress.of(progress)
    rows = []
    with events.stage("methods", msg("Comparing methods"), total=len(entries)) as stage:
        for entry in stage.over(entries):
            try:
                found = find(
                    data, model, method=entry.id, max_seconds=max_seconds, seed=seed, progress=events, **options
                )
            except Cancelled:
                raise
            except IsonomiaError as error:
                rows.append({"method": entry.id, "reason": as_text(error_message(error))})
            else:
                rows.append({"method": entry.id, **_figures(found)})
    if all("reason" in row for row in rows):
        raise NotApplicable(f"no method applies; {rows[0]['method']}: {rows[0]['reason']}")
    return _shown(rows, kind, backend_of(data.dataset if isinstance(data, Subject) else getattr(data, "frame", data)))


def _figures(found: SearchResult) -> dict[str, Any]:
    metrics = found.metrics
    return {
        "found": metrics["DSN"],
        "tested": metrics["TSN"],
        "share_found": metrics["SUR"],
        "model_rows": metrics["n_model_rows"],
        "seconds": metrics["total_time"],
    }


_COLUMNS = (
    Column("method", format="text", title=msg("Method")),
    Column("found", format="int", title=msg("Found")),
    Column("tested", format="int", title=msg("Tested")),
    Column("share_found", format="pct", title=msg("Found of those tested")),
    Column("model_rows", format="int", title=msg("Rows sent to the model")),
    Column("seconds", format="num", title=msg("Seconds")),
    Column("reason", format="text", title=msg("Why it was not run")),
)


def _shown(rows: Sequence[dict[str, Any]], kind: Kind, backend: Any) -> Result:
    title = msg("Methods that find pairs") if kind == "pairs" else msg("Methods that find subgroups")
    rows = [{column.name: row.get(column.name) for column in _COLUMNS} for row in rows]
    table = Table.from_rows(rows, _COLUMNS, title=title, backend=backend)
    return Result(f"compare_methods.{kind}", title, {"methods": table})
