"""People by arithmetic, so that every library reads the same numbers; see tests/mitigation/test_after_peers.py."""

import numpy as np


def crowd(n=600):
    """Scores, outcomes and two groups."""
    i = np.arange(n)
    u, v = (i * 0.6180339887498949) % 1, (i * 0.7548776662466927) % 1
    group = (i % 3 == 0).astype(int)
    score = 0.1 + 0.6 * u + 0.25 * group * u
    return score, (v < score).astype(int), group


def numbers(score, group):
    """Predicted numbers that differ between the groups."""
    return 10 * score + 3 * group * score + group


def miscalibrated(part):
    """12,000 people whose probabilities are off in two of six combinations of sex and race; another part, others."""
    i = np.arange(12_000) + 12_000 * part
    u, v = (i * 0.6180339887498949) % 1, (i * 0.7548776662466927) % 1
    sex, race, p = i % 2, (i // 2) % 3, 0.1 + 0.8 * u
    true = np.clip(p + 0.15 * ((sex == 1) & (race == 2)) - 0.1 * ((sex == 0) & (race == 0)), 0.01, 0.99)
    return p, (v < true).astype(int), sex, race
