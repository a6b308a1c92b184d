"""What equipy and MCGrad make of people by arithmetic, for the tests: tests/mitigation/matching_values.json.

Run in their environment, from the project's root:

    .venv-peers-matching/bin/python benchmarks/peers/matching_values.py > tests/mitigation/matching_values.json
"""

import json
import logging
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from crowd import crowd, miscalibrated, numbers  # noqa: E402
from equipy.fairness import FairWasserstein  # noqa: E402
from mcgrad.methods import MCGrad  # noqa: E402

SHOWN = 12


def equipy():
    """The first numbers after matching, whole and half of the way."""
    score, _, group = crowd()
    given, who = numbers(score, group), pd.DataFrame({"group": group})
    fix = FairWasserstein(sigma=1e-9)
    fix.fit(given, who)
    whole, half = (np.asarray(fix.transform(given, who, epsilon=left)).ravel() for left in (0, 0.5))
    return {"whole": whole[:SHOWN].tolist(), "half": half[:SHOWN].tolist()}


def mcgrad(part):
    """Fitted on the first half of a part by sex and race: Brier score and largest mean residual among the second."""
    p, y, sex, race = miscalibrated(part)
    frame = pd.DataFrame({"p": p, "y": y, "sex": sex.astype(str), "race": race.astype(str)})
    fitted, judged = frame[:6000], frame[6000:]
    names = ["sex", "race"]
    fix = MCGrad()
    fix.fit(fitted, "p", "y", categorical_feature_column_names=names)
    said = np.asarray(fix.predict(judged, "p", categorical_feature_column_names=names))
    return {"before": figures(judged, judged["p"].to_numpy()), "after": figures(judged, said)}


def figures(people, said):
    left = people["y"].to_numpy() - said
    means = pd.Series(left).groupby([people["sex"].to_numpy(), people["race"].to_numpy()]).mean()
    return [float(np.mean(left**2)), float(means.abs().max())]


if __name__ == "__main__":
    parts = {str(part): mcgrad(part) for part in range(1, 6)}
    made_by = f"equipy {version('equipy')}, MCGrad {version('mcgrad')}"
    print(json.dumps({"made_by": made_by, "equipy": equipy(), "mcgrad": parts}))
