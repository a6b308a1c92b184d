"""Would the prediction have been another, had the person belonged to another group?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.data import Dataset
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import ProgressLike
from isonomia.evidence import Estimate, Picture, Result
from isonomia.fairness.labels.proxies import carriers
from isonomia.fairness.people.causal_graph import MECHANISMS, CausalGraph, Mechanism, Mechanisms
from isonomia.fairness.people.counterfactual_rows import Altered, People, Route, ask
from isonomia.fairness.people.counterfactual_tables import (
    ROUTES,
    by_group_table,
    change_table,
    compared_table,
    row_table,
)
from isonomia.languages import Message, msg
from isonomia.parameters import NAMES, Anything, Boolean, Choice, Number, validated
from isonomia.subject import Subject, SubjectOptions

#: Columns that tell less than this share of an attribute are not taken for its proxies.
LEAST_INFORMATION = 0.01


@dataclass(frozen=True, repr=False)
class Counterfactual(Result):
    """What changes when protected attributes do.

    Attributes
    ----------
    uses : mapping
        For each attribute, whether the model's answers depend on it at all.
    rate, change : mapping of Estimate
        By route ("flip", "graph" or "proxies") and attribute, as ``"flip:sex"``: the share of people whose decision
        would change under some other value, and the mean size of the change over all other values. Signed changes
        stand in ``tables["changes"]``.
    """

    uses: Mapping[str, bool] = field(default_factory=dict)
    rate: Mapping[str, Estimate] = field(default_factory=dict)
    change: Mapping[str, Estimate] = field(default_factory=dict)


@validated(
    attributes=NAMES.or_none("for all"),
    graph=Anything("a causal graph: pairs of cause and effect").or_none(),
    mechanism=Choice(MECHANISMS),
    together=Boolean(),
    keep_valid=Boolean(),
    through_proxies=Boolean(),
    tolerance=Number(at_least=0),
)
def counterfactual(
    data: Any,
    model: Any = None,
    *,
    attributes: Sequence[str] | None = None,
    graph: Any = None,
    mechanism: Mechanism = "linear",
    together: bool = False,
    keep_valid: bool = True,
    through_proxies: bool = True,
    tolerance: float = 0.0,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Counterfactual:
    """Counterfactual fairness: other values of protected attributes, and what the model would then have predicted.

    Parameters
    ----------
    data : Dataset, frame or Subject
    model : Model, estimator or function
        None where `data` is a Subject, which has its model.
    attributes : sequence of str, optional
        Which protected attributes; all of the dataset's by default.
    graph : arrows, optional
        What causes what, as ``[("race", "LSAT"), ...]``. With it the effects of the attribute change too: abduction,
        action, prediction. Without it the attribute is flipped and everything else stays.
    mechanism : "linear" or "boosting"
        How effects follow from causes: linear with Gaussian noise, or boosted trees; residuals are added in both.
    together : bool
        Whether to change all attributes at once (every combination of their values) instead of one at a time.
    keep_valid : bool
        Whether counterfactual numbers are kept within the range seen, and whole where the column is whole.
    through_proxies : bool
        Whether to follow proxies; where the model does not depend on an attribute and there is no graph, the columns
        that predict it are taken for its effects, and a graph of arrows from it to them is answered instead.
    tolerance : float
        Smallest change of a number that counts as a change.
    progress : callable or Progress, optional
        Receives the events of the questions to the model; a `Progress` can cancel them.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`).

    Returns
    -------
    Counterfactual
        ``tables["changes"]``: a row for each route, attribute, own and other value; ``tables["by_group"]``: for each
        group how many would be decided differently under any other value; ``tables["rows"]``: the people most affected;
        with both routes ``tables["compared"]``: what the graph adds to the flip.

    Notes
    -----
    Changes are counterfactual - factual, of the favourable outcome's probability (or score, decision, number). The
    graph answer rests on the graph and on additive noise: neither can be tested with these data.

    References
    ----------
    M. Kusner et al. (2017), NeurIPS: Counterfactual fairness. J. Pearl (2009), Causality, ch. 7.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M"] * 50, "pay": [1.0, 3.0, 2.0, 4.0] * 25}, protected=["sex"], task="regression")
    >>> found = counterfactual(data, lambda frame: frame["pay"] + 0.5 * (frame["sex"] == "M"), graph=[("sex", "pay")])
    >>> [(str(r["route"]), r["from"], r["to"], round(r["change"], 3)) for r in found.tables["changes"].rows()]
    [('flip', 'F', 'M', 0.5), ('flip', 'M', 'F', -0.5), ('graph', 'F', 'M', 2.5), ('graph', 'M', 'F', -2.5)]
    """
    subject = Subject.of(data, model, progress=progress, **given)
    data, level, seed = subject.data, subject.settings.level, subject.settings.seed
    people = People.of(subject, _chosen(data, attributes), subject.progress)
    drawn = None if graph is None else CausalGraph.of(graph, data.columns)
    if drawn is not None:
        unknown = [name for name in people.names if name not in drawn.order]
        if len(unknown) == len(people.names):
            raise SpecError(
                f"`graph` has no arrow from {', '.join(map(repr, unknown))}; changing it would have no effect."
            )
    sets = [people.names] if together else [(name,) for name in people.names]
    answers: list[Altered] = []
    notes: list[Message] = [_SIGN]
    refused: list[NotApplicable] = []
    uses: dict[str, bool] = {}
    stage = people.progress.stage("attributes", msg("Changing protected attributes"), total=len(sets))
    for names in stage.over(sets):
        try:
            flipped = ask(people, names, "flip")
        except NotApplicable as reason:  # other attributes can still be changed
            refused.append(reason)
            notes.append(msg("{name} was not changed: {reason}.", name=" x ".join(names), reason=reason.message))
            continue
        answers.append(flipped)
        used = flipped.changes_anything
        uses |= dict.fromkeys(names, used)
        if drawn is not None:
            answers += _through(people, names, drawn, "graph", mechanism, keep_valid, seed, notes)
        if not used:
            notes.append(msg("The model's predictions do not depend on {name} itself.", name=" x ".join(names)))
            if drawn is None and through_proxies:
                answers += _by_proxies(people, names, mechanism, keep_valid, seed, notes)
    if not answers:
        raise refused[0]
    if not all(answer.signed for answer in answers):
        notes[0] = _UNSIGNED
    return _result(people, answers, notes, uses, tolerance, level)


_UNSIGNED = msg(
    "A change between several classes has no direction; its size is the total variation of their probabilities (1 "
    "where another class is decided, without probabilities)."
)
_SIGN = msg("Changes are the counterfactual prediction minus the prediction: above 0 the other value is favoured.")


def _through(
    people: People,
    names: tuple[str, ...],
    graph: CausalGraph,
    route: Route,
    mechanism: Mechanism,
    keep_valid: bool,
    seed: int,
    notes: list[Message],
) -> list[Altered]:
    inputs = set(people.inputs)
    reached = graph.descendants(names)
    needed = reached & (inputs | graph.ancestors(inputs & reached))
    if not needed:
        notes.append(msg("In the graph, {name} affects no column that the model uses.", name=" x ".join(names)))
        return []
    fitted = Mechanisms(people.data, graph, needed, mechanism=mechanism, seed=seed, categories=people.data.protected)
    return [ask(people, names, route, mechanisms=fitted, keep_valid=keep_valid)]


def _by_proxies(
    people: People, names: tuple[str, ...], mechanism: Mechanism, keep_valid: bool, seed: int, notes: list[Message]
) -> list[Altered]:
    """The columns that tell the attributes, taken for their effects."""
    edges = []
    for name in names:
        proxy_columns = carriers(
            people.data, name, [c for c in people.inputs if c not in people.data.protected], least=LEAST_INFORMATION
        )
        edges += [(name, column) for column in proxy_columns]
        if proxy_columns:
            notes.append(
                msg(
                    "Instead, the columns that predict {name} are taken as its effects: {columns}.",
                    name=name,
                    columns=", ".join(proxy_columns),
                )
            )
        else:
            notes.append(msg("No column the model uses predicts {name}, so there is no proxy.", name=name))
    if not edges:
        return []
    graph = CausalGraph.of(edges, people.data.columns)
    return _through(people, names, graph, "proxies", mechanism, keep_valid, seed, notes)


def _chosen(data: Dataset, attributes: Sequence[str] | None) -> tuple[str, ...]:
    if not data.protected:
        raise NotApplicable(msg("the data have no protected attribute"))
    if isinstance(attributes, str):
        attributes = [attributes]
    for name in attributes or ():
        if name not in data.protected:
            raise SpecError(
                f"`attributes` must name protected attributes; got {name!r}.{close_to(name, data.protected)}"
            )
    return tuple(attributes) if attributes else data.protected


def _result(
    people: People,
    answers: Sequence[Altered],
    notes: Sequence[Message],
    uses: Mapping[str, bool],
    tolerance: float,
    level: float,
) -> Counterfactual:
    weights, kind = people.data.weights, people.data.backend
    tables = {
        "changes": change_table(answers, weights, tolerance, level, kind),
        "by_group": by_group_table(answers, weights, tolerance, level, kind),
        "rows": row_table(answers, kind),
    }
    compared = compared_table(answers, weights, level, kind)
    if compared is not None:
        tables["compared"] = compared
    rate, change = {}, {}
    for answer in answers:
        key = f"{answer.route}:{' x '.join(answer.names)}"
        rate[key], change[key] = answer.overall(weights, tolerance, level)
    pictures = [
        Picture(
            "forest",
            "changes",
            msg("Mean change under another value, with intervals"),
            {"labels": ["from", "to"], "value": "change", "color": "route", "facet": "attribute", "reference": 0.0},
        ),
        Picture(
            "bars",
            "by_group",
            msg("People whose decision would change"),
            {"labels": "group", "value": "rate", "facet": "route"},
        ),
    ]
    if not np.isfinite(np.array(tables["changes"]["change"].values, dtype=float)).any():
        pictures = pictures[1:]
    values: dict[str, Any] = {f"rate[{key}]": value for key, value in rate.items()}
    values |= {f"change[{key}]": value for key, value in change.items() if value.value is not None}
    return Counterfactual(
        "counterfactual",
        msg("Counterfactual fairness"),
        tables,
        values,
        (),
        tuple(pictures),
        tuple(notes),
        uses,
        rate,
        change,
        titles={
            **{f"rate[{key}]": msg("decided differently ({route}, {name})", **_route_and_name(key)) for key in rate},
            **{
                f"change[{key}]": msg("mean size of change ({route}, {name})", **_route_and_name(key)) for key in change
            },
        },
    )


def _route_and_name(key: str) -> dict[str, Any]:
    """The parts of a key such as "flip:sex", in words."""
    route, _, name = key.partition(":")
    return {"route": ROUTES[route], "name": name}
