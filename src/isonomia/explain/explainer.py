"""What an explainer is: the problem it gets, the values it returns, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from isonomia.events import Progress
from isonomia.explain.outputs import Output
from isonomia.explain.players import Players
from isonomia.explain.space import Space
from isonomia.languages import Message
from isonomia.parameters import Parameter, read_options
from isonomia.registry import Registry
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What an explainer gets.

    Attributes
    ----------
    space : Space
        What coordinates mean and the model as a function of them: ``space.ask(rows)`` gives (n, K) outputs and counts
        the rows; ``space.estimator`` with ``space.inputs(rows)`` is for methods that look inside the model.
    rows : (n, D) array
        The distinct rows to explain, as coordinates.
    background : (m, D) array
        The distinct rows that absent players take their values from.
    weights : (m,) array
        Their shares, which sum to 1.
    wanted : array of int
        The players whose values are returned.
    output : str
        What is explained. For "rescaled", `space.ask` gives the probability.
    max_model_rows : int
        How many rows the model may be asked about.
    seed : int
    progress : Progress
        Receives events; ``progress.check()`` ends cancelled work.
    options : mapping
        The explainer's own parameters, all of them.
    """

    space: Space
    rows: Floats
    background: Floats
    weights: Floats
    wanted: Indices
    output: Output
    max_model_rows: int
    seed: int
    progress: Progress = field(default_factory=Progress)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def players(self) -> Players:
        """The players."""
        return self.space.players

    @property
    def width(self) -> int:
        """Outputs per row (K)."""
        return self.space.width


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """What an explainer returns.

    Attributes
    ----------
    values : (n, wanted, K) array
        What each player adds to the output of each row.
    base : (K,) array
        The output without any player: the mean over the background.
    error : (n, wanted, K) array or None
        Standard errors of sampled values; None where values are exact.
    notes : tuple of Message
        What a reader has to know.
    """

    values: Floats
    base: Floats
    error: Floats | None = None
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """What is known before the background is read: enough to say whether an explainer fits, and what it costs."""

    space: Space
    output: Output
    rows: int
    background: int
    max_model_rows: int


@dataclass(frozen=True, kw_only=True)
class Explainer:
    """A way to compute Shapley values.

    Attributes
    ----------
    id, purpose : str
        Its name and one line on what it does.
    exact_for : str
        What its values are exact for ("" where they are sampled).
    outputs : tuple of str
        What it can explain.
    run : callable
        `Problem` -> `Values`.
    refuses : callable
        `Case` -> the reason why it does not fit, or None.
    cost : callable
        `Case` -> how many rows it asks the model about at most; "auto" skips it where that is beyond the budget.
    order : int or None
        Its turn when the method is "auto": the first that fits is taken; None for one that is only taken by name.
    max_background : int or None
        Background rows beyond which a sample is drawn; None for no limit.
    pairwise : bool
        Whether values are means over background rows of phi(x; b) with phi(x; b) = -phi(b; x).
    shares_draws : bool
        Whether rows share what is drawn at random, so that their errors go together.
    parameters : tuple of Parameter
        Its own options.
    reference : str
        The publication.
    """

    id: str
    purpose: str
    run: Callable[[Problem], Values]
    refuses: Callable[[Case], str | None]
    outputs: tuple[Output, ...]
    exact_for: str = ""
    cost: Callable[[Case], int] = lambda case: 0
    order: int | None = None
    max_background: int | None = None
    pairwise: bool = True
    shares_draws: bool = False
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""

    def read(self, options: Mapping[str, Any], *, path: str = "") -> dict[str, Any]:
        """The options given as plain values, or everything that is wrong with them; `path` is put before names."""
        return read_options(self.parameters, options, owner=f"The method '{self.id}'", path=path)

    def reason(self, case: Case) -> str | None:
        """Why it cannot explain this, or None."""
        if case.output not in self.outputs:
            return f"it explains output={', '.join(map(repr, self.outputs))}, not {case.output!r}"
        return self.refuses(case)


#: All explainers; another package adds its own through the entry point group ``isonomia.explainers``.
EXPLAINERS: Registry[Explainer] = Registry(
    "explainer", word="method", package="isonomia.explain.methods", order=lambda entry: (entry.order or 99, entry.id)
)
