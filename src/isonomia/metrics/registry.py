"""What a metric is: a frozen description of what it needs, which way is better, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import SpecError, close_to
from isonomia.evidence import Format
from isonomia.languages import Message, take_texts
from isonomia.models import Surface, SurfaceKind
from isonomia.parameters import Entry, Several
from isonomia.registry import Registry
from isonomia.typing import Floats

#: The value of a metric from (truth, weights or None), for predictions that were put in order before.
Prepared = Callable[[NDArray[Any], Floats | None], float]
#: What prepared metrics of the same predictions share: the order of the rows.
Shared = dict[str, Any]
#: How a metric is computed: from a confusion table, from weighted sums of row quantities, from the ordered rows, or by
#: a function of the user's.
Family = Literal["counts", "means", "ranks", "functions"]


@dataclass(frozen=True)
class Metric:
    """One measure of predictions against labels (or of predictions alone).

    Attributes
    ----------
    id, purpose, title
        The name in code and specs, one line on what it says, the heading in a report.
    aliases : mapping of str to Message
        Second names of the same metric, each with its heading: "tpr" is "recall".
    order : int
        The position in lists; metrics with the same number stand as they were added.
    tasks : tuple of "binary", "multiclass", "regression"
    surface : tuple of "label", "probability", "score", "continuous"
        Any one of these will do; the first that the surface has is used.
    family : "counts", "means", "ranks" or "functions"
        Which of the functions below compute it.
    higher_is_better : bool or None
        The direction; None for a descriptive metric (a selection rate).
    range : (float, float)
        The values it can take.
    undefined : Message
        Why the value can be missing although the metric applies.
    format : Format
        How a report writes it.
    needs_labels : bool
        False where predictions alone are enough.
    min_samples : int
        Fewest rows it takes.
    both_classes : bool
        Every class must occur in the labels.
    references : tuple of str
    from_counts : callable, family "counts"
        A confusion table of weighted counts, shape (..., R, K) = [true, predicted], to values of shape (...), NaN
        where undefined. Binary: K = 2 and code 1 is the positive class; R = 1 where there are no labels.
    of_margins : bool, family "counts"
        Whether `from_counts` (and `rate`) take `Margins` in place of a table, which is all they depend on: their
        derivatives take 3 K questions instead of K x K.
    rate : callable, family "counts"
        Where the metric is a simple proportion: the same table to (numerator, denominator). It is linear in the
        table, so a table of squared weights gives the effective size.
    odds : callable, family "counts"
        Where the metric is the odds p / (1 - p) of a proportion p: the table to (numerator, denominator) of p.
    quantities : callable, family "means"
        (truth, surface) to row quantities, shape (n, Q).
    from_sums : callable, family "means"
        (sum of weights (...), weighted sums of the quantities (..., Q)) to values (...), NaN where undefined.
    proportion : bool, family "means"
        The one quantity is 0 or 1 on every row, so its mean is a proportion.
    from_rows : callable, family "ranks" or "functions"
        (truth, surface, weights or None) to (value, standard error or None); raises NotApplicable with the reason.
        Takes ``counts`` too, where rows stand for several: how often each of them counts.
    ends : callable, family "ranks"
        (truth, surface, weights or None), and ``counts``, to the intervals of the value at any level, where a standard
        error alone does not give them.
    prepared : callable, family "ranks"
        A surface, and a dictionary that all metrics of this surface share, to a quick function (truth, weights or
        None) -> value, NaN where undefined: rows are put in order once, for many metrics, labels and weights.
    influence : callable, family "ranks"
        (truth, surface, weights or None) to (value, influence of each row on it).
    function : callable, family "functions"
        (y_true, y_pred), with ``sample_weight`` or scores too, to a number; see `own_metric`.
    weighted : bool
        Whether it can be computed where rows have weights.
    base : str
        For a metric of one class against the rest: the id of the metric it is made of.
    favourable : bool or None
        For a metric of one class against the rest: whether the class is a favourable one; None where nobody said.
    interval : str
        Family "ranks": how its interval is made, as an `Estimate` names it. Family "functions": "rows" or "bootstrap"
        (see `own_metric`).
    caution : callable, family "counts"
        A confusion table (R, K) to what a reader of the value has to know about it, or None.

    `truth` is class codes over `surface.classes` (classification) or floats (regression), None without labels.
    """

    id: str
    purpose: str
    title: Message
    tasks: tuple[Task, ...]
    surface: tuple[SurfaceKind, ...]
    family: Family
    higher_is_better: bool | None
    range: tuple[float, float]
    undefined: Message
    format: Format = "pct"
    needs_labels: bool = True
    min_samples: int = 1
    both_classes: bool = False
    references: tuple[str, ...] = ()
    aliases: Mapping[str, Message] = field(default_factory=dict)
    order: int = 0
    from_counts: Callable[[Any], Floats] | None = None
    of_margins: bool = False
    rate: Callable[[Any], tuple[Floats, Floats]] | None = None
    odds: Callable[[NDArray[Any]], tuple[Floats, Floats]] | None = None
    quantities: Callable[[NDArray[Any] | None, Surface], Floats] | None = None
    from_sums: Callable[[NDArray[Any], NDArray[Any]], Floats] | None = None
    proportion: bool = False
    from_rows: Callable[..., tuple[float, float | None]] | None = None
    ends: Callable[..., Any] | None = None
    prepared: Callable[[Surface, Shared], Prepared] | None = None
    influence: Callable[[NDArray[Any], Surface, Floats | None], tuple[float, Floats]] | None = None
    function: Callable[..., Any] | None = None
    interval: str = ""
    weighted: bool = True
    base: str = ""
    favourable: bool | None = None
    caution: Callable[[NDArray[Any]], Message | None] | None = None

    def __post_init__(self) -> None:
        take_texts(self, "title", "undefined", "aliases")
        needed = {
            "counts": self.from_counts is not None,
            "means": self.quantities is not None and self.from_sums is not None,
            "ranks": self.from_rows is not None,
            "functions": self.function is not None,
        }
        if not needed[self.family]:
            raise SpecError(f"The metric '{self.id}' of family '{self.family}' lacks the functions that compute it.")

    @property
    def base_id(self) -> str:
        """Its id; for one class against the rest that of the metric it is made of."""
        return self.base or self.id

    @property
    def adds_up(self) -> bool:
        """Whether it is a function of sums over rows, so that sets of rows can be added and taken away."""
        return self.family in ("counts", "means")

    @property
    def of_decisions(self) -> bool:
        """Whether it follows from a confusion table alone."""
        return self.family == "counts"

    @property
    def direction(self) -> Literal["higher", "lower", "none"]:
        """Which way is better, as a word."""
        return "none" if self.higher_is_better is None else "higher" if self.higher_is_better else "lower"

    def worse_by(self, value: float, base: float) -> float:
        """How much worse a value is than a base one (negative: better); 0 change for a descriptive metric.

        >>> from isonomia.metrics import METRICS
        >>> METRICS["mae"].worse_by(1.5, 1.0), METRICS["accuracy"].worse_by(0.75, 1.0)
        (0.5, 0.25)
        """
        if self.higher_is_better is None:
            return 0.0
        return base - value if self.higher_is_better else value - base


class MetricRegistry(Registry[Metric]):
    """Metrics by their ids. A second name finds the same metric, under that name; lists have every metric once.

    >>> from isonomia.metrics import METRICS
    >>> METRICS["tpr"].id, METRICS["tpr"].rate is METRICS["recall"].rate, "tpr" in METRICS.ids()
    ('tpr', True, False)
    """

    def __init__(self) -> None:
        super().__init__("metric", package="isonomia.metrics", order=lambda entry: entry.order)
        self._aliases: dict[str, Metric] = {}

    def _put(self, entry: Metric) -> None:
        """Its id and its second names must be new."""
        for name in (entry.id, *entry.aliases):
            if name in self._aliases or name in self._entries:
                raise SpecError(f"The metric '{name}' is already registered. Choose another id.")
        every = {entry.id: entry.title, **entry.aliases}
        for alias, title in entry.aliases.items():
            others = {name: heading for name, heading in every.items() if name != alias}
            self._aliases[alias] = replace(entry, id=alias, title=title, aliases=others)
        super()._put(entry)

    def __getitem__(self, entry_id: str | Metric) -> Metric:
        entry_id = entry_id.id if isinstance(entry_id, Metric) else entry_id
        if entry_id in self:
            return self._aliases.get(entry_id) or super().__getitem__(entry_id)
        raise SpecError(f"Unknown metric {entry_id!r}.{close_to(entry_id, self.names())}")

    def __contains__(self, entry_id: object) -> bool:
        self._load_own()
        return entry_id in self._aliases or super().__contains__(entry_id)

    def names(self) -> tuple[str, ...]:
        """All ids and second names."""
        return (*self.ids(), *self._aliases)

    def titles(self) -> dict[str, Message]:
        """The heading of each name."""
        return {name: self[name].title for name in self.names()}


#: Every metric by its id; another package adds its own through the entry point group ``isonomia.metrics``.
METRICS = MetricRegistry()
#: An option that names a metric, and one that names one or several.
METRIC_NAME = Entry(METRICS)
METRIC_NAMES = Several(METRIC_NAME, 1, single=True)
