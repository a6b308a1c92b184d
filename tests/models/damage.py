"""A program that damages a model file in seeded ways and opens each, run in a process that may crash.

    python damage.py FILE COUNT

For each file it writes lines with the seed: first ``opened``, then ``ok`` (a model that predicts), ``refused`` (an
error of ours) or the raw error. A seed below 0 is no damage.
"""

from __future__ import annotations

import io
import random
import re
import sys
import tempfile
import warnings
import zipfile
from itertools import pairwise
from pathlib import Path

EXTREMES = ("1000000", "-1", "-2147483648", "2147483647", "0", "1", "99999999999", "3", "1e30", "nan", "")


def flipped(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes overwritten, put in, repeated or cut off."""
    out = bytearray(data)
    kind, at = rng.randrange(5), rng.randrange(len(out))
    if kind == 0:
        for _ in range(rng.randint(1, 16)):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        out = out[:at]
    elif kind == 2:
        for _ in range(rng.randint(1, 16)):
            out[rng.randrange(len(out))] = rng.choice([0, 0xFF, 0x7F, 0x80, rng.randrange(256)])
    elif kind == 3:
        out[at : at + 8] = bytes(rng.choice([0, 255]) for _ in out[at : at + 8])
    else:
        out[at : at + 60] = out[at : at + 60] * rng.choice([0, 2])
    return bytes(out)


def renumbered(text: str, rng: random.Random) -> str:
    """One or two numbers replaced by extreme ones; LightGBM's sizes of trees are put right, to reach what is inside."""
    for _ in range(rng.randint(1, 2)):
        start, stop = rng.choice([found.span() for found in re.finditer(r"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?", text)])
        text = text[:start] + rng.choice(EXTREMES) + text[stop:]
    bounds = [found.start() for found in re.finditer(r"^(?:Tree=|end of trees)", text, re.MULTILINE)]
    sizes = " ".join(str(stop - start) for start, stop in pairwise(bounds))
    return re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, count=1, flags=re.MULTILINE)


def rezipped(data: bytes, rng: random.Random) -> bytes:
    """One part of an archive damaged, its checksum put right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(sorted(parts))
    start = 128 if parts[chosen].startswith(b"\x93NUMPY") and rng.random() < 0.8 else 0
    body = parts[chosen][start:]
    changed = flipped(body, rng) if body else body
    if start:  # the length stays, so that more than the header is looked at
        changed = changed[: len(body)].ljust(len(body), b"\xff")
    parts[chosen] = parts[chosen][:start] + changed
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def damaged(data: bytes, suffix: str, seed: int) -> bytes:
    """The file with the damage of a seed."""
    rng = random.Random(seed)
    if suffix == ".skops":
        return rezipped(data, rng)
    if suffix in (".json", ".txt") and seed % 4:
        return renumbered(data.decode(), rng).encode()
    return flipped(data, rng)


def main(path: Path, count: int) -> None:
    """Open the file as it is, and with each damage."""
    import numpy as np
    import pandas as pd

    from isonomia import IsonomiaError, load_model

    warnings.simplefilter("ignore")
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({f"x{index}": rng.normal(size=40) for index in range(4)})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"model{path.suffix}"
        for seed in range(-1, count):
            file.write_bytes(data if seed < 0 else damaged(data, path.suffix, seed))
            print(f"\n{seed} opened", flush=True)
            try:
                load_model(file).predict_frame(rows)
                print(f"\n{seed} ok", flush=True)
            except IsonomiaError:
                print(f"\n{seed} refused", flush=True)
            except BaseException as error:
                print(f"\n{seed} {type(error).__name__}: {error!s:.200}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
