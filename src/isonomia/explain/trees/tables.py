"""Shapley values of one leaf as a table over the bit masks of the explained row.

For a row with mask a, a background row with mask c and a leaf of value 1 whose path tests d players, the hybrid of both
reaches the leaf for the coalition S where a has every bit of S and c every other bit. With u = |a and not c| and
v = |c and not a|, the pair counts only where ``a | c`` is full (then u = d - |c| and v = d - |a|), and

    phi_j =  (u-1)! v! / (u+v)!  where only a has bit j,
    phi_j = -u! (v-1)! / (u+v)!  where only c has bit j, else 0.

The interaction of the lead player (bit 0) with player j (the Shapley interaction index) is, with m = u + v - 1,

    (u-2)! v! / m!  where only a has both bits,  u! (v-2)! / m!  where only c has both,
    -(u-1)! (v-1)! / m!  where a has one of them and c the other, else 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from isonomia.explain.trees.paths import Masks
from isonomia.typing import Floats, Indices

#: Paths with at most this many players have a constant matrix from counts to tables.
MATRIX_SIZE = 8
#: Paths with more players have no table over all masks.
TABLE_SIZE = 12


def bits(masks: Masks, size: int) -> Floats:
    """The bits (..., size) of masks as numbers 0 and 1."""
    shifts = np.arange(size, dtype=masks.dtype)
    return ((masks[..., None] >> shifts) & masks.dtype.type(1)).astype(float)


class PairWeights:
    """The weights of pairs of masks, by code of the explained mask a and of the background's mask c.

    A code is the number of zero bits and, with a lead player, its bit. A player whose bit only a has gets
    ``base[a, c] * gain[c]``, one whose bit only c has ``base[a, c] * loss[a]``.
    """

    def __init__(self, size: int, *, lead: bool) -> None:
        self.size, self.lead = size, lead
        zeros = np.arange(size + 1.0)
        v, u = zeros[:, None], zeros[None, :]
        base = np.exp(gammaln(u + 1) + gammaln(v + 1) - gammaln(u + v + 1))
        if not lead:
            self.base, self.gain, self.loss = base, _over(1.0, zeros), _over(-1.0, zeros)
            return
        none = np.zeros_like(base)
        # rows: lead bit of a off, on; columns: lead bit of c off, on
        self.base = np.block([[none, base * (u + v) * _over(1.0, v)], [base * (u + v) * _over(1.0, u), none]])
        self.gain = np.concatenate([_over(1.0, zeros - 1), _over(-1.0, zeros)])
        self.loss = np.concatenate([_over(1.0, zeros - 1), _over(-1.0, zeros)])

    def codes(self, masks: Masks) -> Indices:
        """The code of each mask."""
        zeros = self.size - np.bitwise_count(masks).astype(np.intp)
        return zeros + (self.size + 1) * (masks & masks.dtype.type(1)).astype(np.intp) if self.lead else zeros


def _over(number: float, counts: Floats) -> Floats:
    """``number / counts``; 0 where the count is not positive, since then no player has the weight."""
    return np.where(counts > 0, number / np.where(counts > 0, counts, 1.0), 0.0)


def table_matrix(size: int, *, lead: bool) -> Floats:
    """The matrix (2^d, 2^d d) from a leaf's counts of background masks to its table (mask, player)."""
    masks = np.arange(1 << size, dtype=np.uint32)
    weights, on = PairWeights(size, lead=lead), bits(np.arange(1 << size, dtype=np.uint32), size)
    code = weights.codes(masks)
    valid = (masks[:, None] | masks[None, :]) == (1 << size) - 1
    base = weights.base[code[:, None], code] * valid
    table = (base * weights.gain[code])[:, :, None] * (on[:, None, :] * (1 - on[None, :, :]))
    table += (base * weights.loss[code][:, None])[:, :, None] * (1 - on[:, None, :])
    if lead:
        table[:, :, 0] = 0.0
    return np.ascontiguousarray(table.transpose(1, 0, 2)).reshape(1 << size, -1)


def integrated_tables(counts: Floats, size: int, *, lead: bool) -> Floats:
    """Tables (L, 2^d, d) from counts (L, 2^d) of background masks by Owen's integral.

    ``phi_j = integral over t of the gain of player j from a coalition that has every other player with probability t``.
    With G(a) the sum over c of counts times the product over bits k of K[a_k, c_k], K = [[0, 1 - t], [t, 1]], the gain
    is -G / (1 - t) where bit j of a is off and (G - G_off / (1 - t)) / t where it is on. The integrand is a polynomial
    of degree d - 1: ceil(d / 2) Gauss-Legendre points are exact.
    """
    nodes, shares = np.polynomial.legendre.leggauss((size + 1) // 2)
    table = np.zeros((size, *counts.shape))
    for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        sums = counts
        for bit in range(size):
            sums = _along(sums, bit, 0.0, 1.0 - t, t, 1.0)
        if lead:
            sums = _gain(sums, 0, t)
        for bit in range(1 if lead else 0, size):
            table[bit] += share * _gain(sums, bit, t)
    return np.moveaxis(table, 0, -1)


def _along(x: Floats, bit: int, off_off: float, off_on: float, on_off: float, on_on: float) -> Floats:
    """A 2 x 2 matrix applied along one bit of the last axis."""
    pairs = x.reshape(len(x), -1, 2, 1 << bit)
    out = np.empty_like(pairs)
    np.multiply(pairs[:, :, 1], off_on, out=out[:, :, 0])
    np.multiply(pairs[:, :, 0], on_off, out=out[:, :, 1])
    if off_off:
        out[:, :, 0] += off_off * pairs[:, :, 0]
    out[:, :, 1] += pairs[:, :, 1] if on_on == 1.0 else on_on * pairs[:, :, 1]
    return out.reshape(x.shape)


def _gain(sums: Floats, bit: int, t: float) -> Floats:
    return _along(sums, bit, -1.0 / (1.0 - t), 0.0, -1.0 / ((1.0 - t) * t), 1.0 / t)


def widen(tables: Floats, columns: Indices, width: int) -> Floats:
    """Tables (K, R, N, d) with the entries of each row moved to its columns (N, d), as (K, R, N, width)."""
    out = np.zeros((*tables.shape[:2], len(columns) * width))
    index = columns + np.arange(0, len(columns) * width, width)[:, None]
    for pair in np.ndindex(*tables.shape[:2]):
        out[pair][index] = tables[pair]
    return out.reshape(*tables.shape[:3], width)
