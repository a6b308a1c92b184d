"""Contestants of the tests: one that knows the truth, one that guesses, and three that misbehave."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from isonomia.benchmark import Answer, Claim, Contestant


def _perfect(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    return Answer(claims=tuple(Claim(rows=truth.rows, sign=truth.sign, p=0.001) for truth in scene.truths))


def _guess(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    rng = np.random.default_rng(seed)
    n = len(scene.fresh)
    shares = rng.uniform(0.01, 0.3, 20)
    return Answer(claims=tuple(Claim(rows=rng.random(n) < share, sign=int(rng.choice([-1, 1]))) for share in shares))


def _crash(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    raise RuntimeError("this method is broken")


def _die(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    os._exit(7)


def _hang(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    time.sleep(600)
    return Answer()


def _hog(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    kept = []
    for _ in range(20):
        kept.append(np.ones(4_000_000))
        time.sleep(0.05)
    time.sleep(600)
    return Answer(metrics={"n": len(kept)})


def _slow(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    time.sleep(0.15)
    return _perfect(scene, budget, seed, who)


def _tunable(scene: Any, budget: Any, seed: int, who: Contestant) -> Answer:
    return _perfect(scene, budget, seed, who) if who.options.get("level") == 2 else Answer()


def _made(name: str, ask: Any) -> Contestant:
    return Contestant(id=f"tests.benchmark.own_methods:{name}", purpose=name, finds="subgroups", ask=ask)


PERFECT, GUESS, CRASH = _made("PERFECT", _perfect), _made("GUESS", _guess), _made("CRASH", _crash)
DIE, HANG, HOG, SLOW = _made("DIE", _die), _made("HANG", _hang), _made("HOG", _hog), _made("SLOW", _slow)
TUNABLE = Contestant(
    id="tests.benchmark.own_methods:TUNABLE", purpose="", finds="subgroups", ask=_tunable, method="tunable"
)
