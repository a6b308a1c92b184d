"""Tree ensembles: exact values from the trees themselves, without asking the model."""

from __future__ import annotations

from isonomia.errors import NotApplicable
from isonomia.explain.explainer import EXPLAINERS, Case, Explainer, Problem, Values
from isonomia.explain.trees.model import read_tree_model, tree_model
from isonomia.explain.trees.rescaled import rescaled_values
from isonomia.explain.trees.values import path_values, tree_values
from isonomia.languages import msg


def _refuses(case: Case) -> str | None:
    try:
        read_tree_model(case.space, case.output)
    except NotApplicable as error:
        return error.reason
    return None


def _run(problem: Problem) -> Values:
    model = tree_model(problem.space, problem.output, problem.background)
    rows, background = model.rows(problem.rows), model.rows(problem.background)
    values = rescaled_values if model.rescales else tree_values
    raw = values(model.trees, rows, background, model.player, background_weights=problem.weights)
    base = problem.weights @ problem.space.ask(problem.background)
    return Values(values=model.values(raw)[:, problem.wanted], base=base)


def _run_paths(problem: Problem) -> Values:
    model = tree_model(problem.space, problem.output, problem.rows)
    raw, base = path_values(model.trees, model.rows(problem.rows), model.player)
    note = msg("Absent columns follow the training rows down the trees; the background is not used.")
    return Values(
        values=model.values(raw)[:, problem.wanted], base=base @ model.weights + model.constant, notes=(note,)
    )


EXPLAINERS.add(
    Explainer(
        id="trees",
        purpose="tree ensembles: every leaf's share of the value, for any number of background rows",
        exact_for="the probability of a forest, the log odds of boosted trees, the number of a regression",
        outputs=("probability", "log_odds", "rescaled", "score", "number"),
        run=_run,
        refuses=_refuses,
        order=10,
        reference="Lundberg et al. (2020); Nadel and Wettenstein (2025)",
    ),
    Explainer(
        id="tree_paths",
        purpose="tree ensembles, where absent columns follow the training rows down the trees (no background)",
        exact_for="the probability of a forest, the log odds of boosted trees, the number of a regression",
        outputs=("probability", "log_odds", "score", "number"),
        run=_run_paths,
        pairwise=False,
        refuses=_refuses,
        reference="Lundberg et al. (2020)",
    ),
)
