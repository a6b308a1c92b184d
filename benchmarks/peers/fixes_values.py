"""What AIF360 and holisticai make of people by arithmetic, for the tests: tests/mitigation/fixes_values.json.

Run in the peers' environment, from the project's root:

    .venv-peers/bin/python benchmarks/peers/fixes_values.py > tests/mitigation/fixes_values.json
"""

import json
import logging
import warnings
from importlib.metadata import distribution, version
from importlib.util import module_from_spec, spec_from_file_location

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from aif360.algorithms.postprocessing import CalibratedEqOddsPostprocessing  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from crowd import crowd, numbers  # noqa: E402

SHOWN = 12


def calibrated_odds(cost):
    """The shares that are mixed: of the unprivileged group 0, of the privileged group 1."""
    score, y, group = crowd()
    frame = pd.DataFrame({"group": group, "y": y}).astype(float)
    truth = BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["group"])
    scored = truth.copy(deepcopy=True)
    scored.scores = score[:, None]
    fix = CalibratedEqOddsPostprocessing([{"group": 0}], [{"group": 1}], cost_constraint=cost, seed=0)
    fix.fit(truth, scored)
    return [float(fix.unpriv_mix_rate), float(fix.priv_mix_rate)]


def matching():
    """The first numbers after holisticai's barycentre. Its package imports jax; this file of it does not."""
    place = "holisticai/bias/mitigation/postprocessing/wasserstein_barycenters/algorithm.py"
    spec = spec_from_file_location("barycentre", distribution("holisticai").locate_file(place))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    score, _, group = crowd()
    given, who = numbers(score, group), np.column_stack([group == 0, group == 1])
    fix = module.WassersteinBarycenterAlgorithm()
    fix.fit(given, who)
    return np.ravel(fix.transform(given, who))[:SHOWN].tolist()


if __name__ == "__main__":
    made_by = f"AIF360 {version('aif360')}, holisticai {version('holisticai')}"
    mixed = {cost: calibrated_odds(cost) for cost in ("fpr", "fnr", "weighted")}
    print(json.dumps({"made_by": made_by, "calibrated_odds": mixed, "holisticai": matching()}))
