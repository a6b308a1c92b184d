"""Mixtures of cuts: the linear program over the vertices of the groups' ROC hulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.counting import sum_by
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.mitigation.after.cuts import Cuts
from isonomia.typing import Floats, Indices

#: How much more the mixture may cost so that fewer people are left to chance, as a share of the rows.
SLACK = 1e-9
#: A share below this is rounding.
NEGLIGIBLE = 1e-9


def best_mixture(cuts: Cuts, rates: Sequence[Floats], cost: Floats, width: float) -> tuple[Indices, Floats]:
    """Shares of the cuts of each group at the smallest expected cost, with each rate's gap at most `width`.

    Over vertices v of the groups' ROC hulls: minimise sum_g sum_v l_gv cost_gv subject to l >= 0, sum_v l_gv = 1 and
    low_r <= sum_v l_gv r_gv <= low_r + width for every rate r. Among the solutions of smallest cost the second
    program takes the one whose cuts lie closest together (sum l_gv n_gv^2), which leaves the fewest to chance.

    Parameters
    ----------
    rates : (N,) arrays, linear in the counts of a group

    Returns
    -------
    vertices, shares : indices of cuts and their shares, group after group; unused ones are left out
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    solve: Any = linprog  # its stubs know no sparse matrices beside bounds that are open
    vertices = np.flatnonzero(cuts.hull())
    owner = cuts.owner[vertices]
    n, G = vertices.size, cuts.n_groups
    selected = (cuts.tp + cuts.fp)[vertices]
    member = csr_array((np.ones(n), (owner, np.arange(n))), shape=(G, n))
    lows = len(rates)
    above: list[Any] = []
    below: list[Any] = []
    for number, rate in enumerate(rates):
        weighted = csr_array((rate[vertices], (owner, np.arange(n))), shape=(G, n))
        low = csr_array((np.ones(G), (np.arange(G), np.full(G, number))), shape=(G, lows))
        above.append(hstack([weighted, -low]))
        below.append(hstack([-weighted, low]))
    limits = [np.full(G, float(width))] * lows + [np.zeros(G)] * lows
    equal: Any = hstack([member, csr_array((G, lows))])
    c = np.concatenate([cost[vertices], np.zeros(lows)])
    bounds: Any = [(0.0, 1.0)] * n + [(None, None)] * lows
    upper, at_most = _stacked([*above, *below]), np.concatenate(limits)
    first = solve(c, upper, at_most, equal, np.ones(G), bounds, method="highs")
    if first.status != 0:
        raise NotApplicable(msg("no mixture of thresholds meets these limits"))
    total = float(cuts.positives.sum() + cuts.negatives.sum())
    spread = np.concatenate(
        [(selected / np.maximum(1.0, (cuts.positives + cuts.negatives)[owner])) ** 2, np.zeros(lows)]
    )
    again = solve(
        spread,
        _stacked([upper, csr_array(c[None, :])]),
        np.append(at_most, first.fun + SLACK * max(total, 1.0)),
        equal,
        np.ones(G),
        bounds,
        method="highs",
    )
    shares = (again if again.status == 0 else first).x[:n]
    used = shares > NEGLIGIBLE
    shares = shares[used] / sum_by(owner[used], shares[used], G)[owner[used]]
    return vertices[used], shares


def _stacked(parts: Sequence[Any]) -> Any:
    from scipy.sparse import vstack

    return vstack(parts, format="csr")
