"""Shapley values of any model: what each column adds to each person's prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from isonomia.errors import BudgetError, NotApplicable
from isonomia.events import ProgressLike
from isonomia.explain.explainer import EXPLAINERS, Case, Explainer, Problem, Values
from isonomia.explain.outputs import OUTPUTS, Output
from isonomia.explain.players import By
from isonomia.explain.prepare import Part, Prepared, prepare
from isonomia.explain.result import ShapleyValues
from isonomia.parameters import NAMES, SEED, Anything, Choice, Integer, Keyed, defaults_of, validated
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats, Indices

#: Rows that a model may be asked about where the caller does not say.
MAX_MODEL_ROWS = 2_000_000


@validated(
    method=Choice(lambda: ("auto", *EXPLAINERS.ids())),
    output=Choice(OUTPUTS),
    columns=NAMES.or_none("for all"),
    by=Choice(("columns", "encoded")),
    clusters=Integer(1).or_none("for no summary"),
    max_background=Integer(1).or_none("for the method's own"),
    max_model_rows=Integer(1),
    options=Keyed(Anything("the method's own option")).or_none(),
    seed=SEED,
)
def shapley(
    data: Any,
    model: Any = None,
    *,
    method: str = "auto",
    output: Output = "probability",
    background: Any = "data",
    rows: Any = None,
    columns: Sequence[str] | None = None,
    label: Any = None,
    by: By = "columns",
    clusters: int | None = None,
    max_background: int | None = None,
    max_model_rows: int = MAX_MODEL_ROWS,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> ShapleyValues:
    """Shapley values: what each column adds to each row's prediction, over the mean of the background.

    phi_j(x) = sum over coalitions S without j of |S|! (M - |S| - 1)! / M! (v(S + j) - v(S)), where v(S) is the mean
    output over background rows b of a row with the columns S of x and the other columns of b ("interventional"). The
    values of a row and the base add up to its prediction.

    Parameters
    ----------
    data : Dataset, frame or Subject
        The rows, as `Subject.of` reads them.
    model : model
        Who predicts. Anything that `Model.of` takes.
    method : str
        "auto" takes the first that fits: exact for trees, exact for linear models (log odds), every coalition where
        `max_model_rows` allows it, else sampling. `EXPLAINERS` lists them.
    output : "probability", "log_odds", "rescaled", "decision" or "score"
        What is explained. A regression is explained as its predicted number. "rescaled" (trees) are log odds scaled to
        probabilities, as the package shap does it.
    background : "data", "other_group", Dataset or frame
        The rows that absent columns take their values from: all rows; for each row those of the other groups of the
        first protected attribute; or rows of their own.
    rows : int or array, optional
        The number of rows to explain, which are drawn by `seed`; or their positions (or a mask) among those with a
        known target; by default all.
    columns : sequence of str, optional
        The columns whose values are wanted; by default all that the model takes.
    label : optional
        The class explained: by default the positive one of two, all of several.
    by : "columns" or "encoded"
        Whether the columns of the dataset are explained (one-hot columns belong together), or every encoded column.
    clusters : int, optional
        Summarise the background by that many centres of k-means, each coordinate moved to the nearest value seen.
    max_background : int, optional
        Draw a sample of so many background rows where there are more; by default up to the method.
    max_model_rows : int
        How many rows the model may be asked about.
    options : mapping, optional
        The method's own options.
    seed : int
        Of everything random.
    progress : callable or Progress, optional
        Receives events; can end the work.
    **given
        How to read the data, see `isonomia.subject.Reading`.

    Returns
    -------
    ShapleyValues
        Values, base and prediction per row; standard errors where values are sampled; `table` shows mean |phi|.

    References
    ----------
    Lundberg and Lee, A unified approach to interpreting model predictions, 2017; Janzing et al., Feature relevance
    quantification in explainable AI: a causal problem, 2020.

    Examples
    --------
    >>> import isonomia as iso
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]])
    >>> data = iso.Dataset({"a": X[:, 0], "b": X[:, 1], "y": [0, 0, 1, 1]}, target="y")
    >>> found = shapley(data, iso.Model.of(LogisticRegression().fit(X, [0, 0, 1, 1]), features=["a", "b"]))
    >>> found.method, found.values.shape, found.additivity < 1e-12
    ('enumeration', (4, 2), True)
    """
    subject = Subject.of(data, model, progress=progress, **given)
    prepared = prepare(subject, output=output, background=background, rows=rows, label=label, by=by, seed=seed)
    space = prepared.space
    explainer = choose(method, prepared.case(clusters or max_background, max_model_rows))
    wanted = np.arange(len(space.players)) if columns is None else space.players.indices(columns)
    settings = defaults_of(explainer.parameters) | explainer.read(options or {}, path="options.")
    parts = list(prepared.parts(clusters=clusters, limit=max_background or explainer.max_background, seed=seed))
    found = []
    for part in parts:
        people, of_person = np.unique(prepared.located[part.rows], axis=0, return_inverse=True)
        problem = Problem(
            space=space,
            rows=people,
            background=part.background,
            weights=part.weights,
            wanted=wanted,
            output=prepared.output,
            max_model_rows=max_model_rows // len(parts),
            seed=seed,
            progress=subject.progress,
            options=settings,
        )
        found.append((part, explainer.run(problem), space.ask(people), of_person.ravel()))
    return _assembled(prepared, explainer, wanted, found)


def choose(method: str, case: Case) -> Explainer:
    """The explainer of that name, or the first that fits; an error says why none does."""
    if method != "auto":
        explainer = EXPLAINERS[method]
        if reason := explainer.reason(case):
            raise NotApplicable(f"the method '{method}' does not apply: {reason}")
        return explainer
    for explainer in EXPLAINERS:
        limit = explainer.max_background or case.background
        sized = replace(case, background=min(case.background, limit))
        fits = explainer.order is not None and explainer.reason(sized) is None
        if fits and explainer.cost(sized) <= case.max_model_rows:
            return explainer
    raise BudgetError(
        f"No method explains {case.rows:,} rows within {case.max_model_rows:,} model rows. Explain fewer rows, or "
        "allow more with `max_model_rows`."
    )


def _assembled(
    prepared: Prepared, explainer: Explainer, wanted: Indices, found: list[tuple[Part, Values, Floats, Indices]]
) -> ShapleyValues:
    """The values of all parts in the order of the rows asked for."""
    space = prepared.space
    n, k = len(prepared.chosen), space.width
    cube, base, prediction = np.empty((n, len(wanted), k)), np.empty((n, k)), np.empty((n, k))
    error = np.zeros_like(cube) if any(values.error is not None for _, values, _, _ in found) else None
    index = np.argsort(prepared.chosen, kind="stable")
    for part, values, answer, of_person in found:
        at = index[np.searchsorted(prepared.chosen[index], part.rows)]
        cube[at], base[at], prediction[at] = values.values[of_person], values.base, answer[of_person]
        if error is not None and values.error is not None:
            error[at] = values.error[of_person]
    whole = len(wanted) == len(space.players)
    names = prepared.subject.surface.classes
    return ShapleyValues(
        columns=tuple(space.players.names[one] for one in wanted),
        classes=tuple(names[one] for one in prepared.classes) if names else (),
        values=cube[:, :, 0] if k == 1 else cube,
        base=base[:, 0] if k == 1 else base,
        prediction=prediction[:, 0] if k == 1 else prediction,
        error=error if error is None or k > 1 else error[:, :, 0],
        additivity=float(np.abs(base + cube.sum(axis=1) - prediction).max()) if whole else None,
        method=explainer.id,
        output=prepared.output,
        model_rows=space.model_rows,
        rows=prepared.chosen,
        weights=prepared.weights[prepared.chosen],
        features=_numbers(prepared, wanted),
        backend=prepared.subject.backend,
        level=prepared.subject.settings.level,
        notes=tuple(note for part, values, _, _ in found for note in (*part.notes, *values.notes)),
    )


def _numbers(prepared: Prepared, wanted: Indices) -> Floats:
    """The rows' values (n, M) of players that are one number each; NaN for the others."""
    kinds, players = prepared.subject.known.kinds, prepared.space.players
    out = np.full((len(prepared.chosen), len(wanted)), np.nan)
    for index, player in enumerate(wanted):
        own = np.flatnonzero(players.owner == player)
        if len(own) == 1 and kinds.get(players.names[player], "numeric") in ("numeric", "integer", "boolean"):
            out[:, index] = prepared.located[prepared.chosen, own[0]]
    return out
