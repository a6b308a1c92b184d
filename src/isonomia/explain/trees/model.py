"""The trees of a model in a `Space`: rows as the trees see them, players of columns, outputs as sums of leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.outputs import Output
from isonomia.explain.space import Space
from isonomia.models import TreeEnsemble, read_trees, split_pipeline
from isonomia.typing import Floats, Indices

#: How far sums of leaves may be off the model's output: where the library adds in 32 bits, and in 64.
TOLERANCE = (1e-4, 1e-9)
#: Rows on which they are compared.
EXAMPLES = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeModel:
    """A model whose output is ``raw @ weights + constant`` of a tree ensemble ("rescaled": of its probability).

    Attributes
    ----------
    trees : TreeEnsemble
    space : Space
    output : str
    player : array of int
        The player of each column that the trees see.
    weights : (raw outputs, K) array
    constant : (K,) array
    """

    trees: TreeEnsemble
    space: Space
    output: Output
    player: Indices
    weights: Floats
    constant: Floats

    @property
    def rescales(self) -> bool:
        """Whether raw values still have to be rescaled to probabilities."""
        return self.output == "rescaled" and self.trees.link == "logistic"

    def rows(self, rows: Floats) -> Floats:
        """Rows of coordinates as the columns that the trees see."""
        try:
            return self.trees.encode(self.space.inputs(rows))
        except (ValueError, TypeError) as error:  # a table that only the model itself can read
            raise NotApplicable(f"the trees could not read the rows ({error})") from error

    def values(self, raw: Floats) -> Floats:
        """Values (n, M, K) of the output from those of the raw output (players that no tree tests may be missing)."""
        out = np.zeros((len(raw), len(self.space.players), self.weights.shape[1]))
        out[:, : raw.shape[1]] = raw @ self.weights
        return out


def read_tree_model(space: Space, output: Output) -> TreeModel:
    """The trees behind a space, with all outputs they have; `NotApplicable` where they do not give this output."""
    steps, last = split_pipeline(space.estimator)
    if steps:
        raise NotApplicable("the steps before the trees mix columns")
    trees = read_trees(last)
    weights, constant = _outputs(trees, output)
    source = np.arange(len(space.names)) if trees.source is None else trees.source
    player = space.players.owner[source]
    return TreeModel(trees=trees, space=space, output=output, player=player, weights=weights, constant=constant)


def tree_model(space: Space, output: Output, sample: Floats) -> TreeModel:
    """The trees behind a space with the outputs explained, after a comparison with the model on some rows."""
    found = read_tree_model(space, output)
    trees = found.trees
    some = sample[np.linspace(0, len(sample) - 1, min(EXAMPLES, len(sample))).astype(np.intp)]
    rows, answer = found.rows(some), space.ask(some)
    ours = (trees.predict(rows) if found.rescales else trees.raw(rows)) @ found.weights + found.constant
    off = np.abs(ours[:, :, None] - answer[:, None, :]).max(axis=0)
    chosen = off.argmin(axis=0)
    tolerance = TOLERANCE[trees.sum_dtype is np.float64] * max(1.0, float(np.abs(answer).max()))
    if (off.min(axis=0) > tolerance).any():
        raise NotApplicable("the sums of the trees' leaves are not the output of the model")
    return replace(found, weights=found.weights[:, chosen], constant=found.constant[chosen])


def _outputs(trees: TreeEnsemble, output: Output) -> tuple[Floats, Floats]:
    """The outputs of all classes as linear functions of the raw outputs."""
    width = trees.value.shape[1]
    sums = "probability" if trees.link == "identity" and trees.classifier else "number"
    sums = {"logistic": "log_odds", "softmax": "log_odds"}.get(trees.link, sums)
    if output == "rescaled" and sums == "log_odds" and width == 1:
        return np.array([[-1.0, 1.0]]), np.array([1.0, 0.0])
    same = {sums, "score"} if sums == "log_odds" else {sums, "rescaled"}
    if output not in same or trees.link == "exp":
        raise NotApplicable(f"the sums of the trees' leaves are its {sums.replace('_', ' ')}, not the {output}")
    if sums == "number":
        return np.eye(width), np.zeros(width)
    if width == 1:
        scale = trees.link_scale if output == "log_odds" else 1.0
        return scale * np.array([[-1.0, 1.0]]), np.array([1.0 if sums == "probability" else 0.0, 0.0])
    centre = 0.0 if sums == "probability" else 1.0 / width
    return np.eye(width) - centre, np.zeros(width)
