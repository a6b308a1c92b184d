"""Shapley values of small models by shap and woodelf, for tests that must not need either: prints JSON.

Run in the environment of ``requirements-shap.txt``; what it prints is ``tests/explain/reference_values.json``:
``.venv-peers-shap/bin/python benchmarks/peers/reference_values.py > tests/explain/reference_values.json``
"""

import json
import warnings
from importlib.metadata import version

import numpy as np
import shap
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from woodelf import WoodelfExplainer

TRAIN, PEOPLE, BACKGROUND, COLUMNS = 120, 6, 15, 5


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, size=(TRAIN, COLUMNS)).astype(float)
    truth = (rows[:, 0] + rows[:, 1] * (rows[:, 2] > 4) - rows[:, 3] / 2 + rng.normal(size=TRAIN) > 5).astype(int)
    people, background = rows[:PEOPLE], rows[-BACKGROUND:]
    forest = RandomForestClassifier(6, max_depth=4, random_state=0).fit(rows, truth)
    boosting = GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=0).fit(rows, truth)

    def by_shap(model, output="raw"):
        explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional", model_output=output)
        return last(explainer.shap_values(people, check_additivity=False))

    def by_woodelf(model, sign):
        import pandas as pd

        names = [f"x{at}" for at in range(COLUMNS)]
        table, given = pd.DataFrame(people, columns=names), pd.DataFrame(background, columns=names)
        explainer = WoodelfExplainer(model, given, feature_perturbation="interventional")
        return sign * np.asarray(explainer.shap_values(table, verbose=False))

    cases = {
        "shap, forest, probability": by_shap(forest),
        "shap, boosting, log odds": by_shap(boosting),
        "shap, boosting, rescaled": by_shap(boosting, "probability"),
        "shap, forest, paths": last(
            shap.TreeExplainer(forest, feature_perturbation="tree_path_dependent").shap_values(people)
        ),
        "woodelf, forest, probability": by_woodelf(forest, -1.0),  # it explains class 0 of a forest
        "woodelf, boosting, log odds": by_woodelf(boosting, 1.0),
    }
    made = {
        "made_with": {name: version(name) for name in ("shap", "woodelf_explainer", "scikit-learn", "numpy")},
        "made_by": "benchmarks/peers/reference_values.py",
        "rows": rows.tolist(),
        "truth": truth.tolist(),
        "people": PEOPLE,
        "background": BACKGROUND,
        "probability": {
            "forest": forest.predict_proba(people)[:, 1].tolist(),
            "boosting": boosting.predict_proba(people)[:, 1].tolist(),
        },
        "values": {name: np.asarray(one).tolist() for name, one in cases.items()},
    }
    print(json.dumps(made))


def last(values):
    """The values of class 1."""
    found = np.asarray(values)
    return found[:, :, -1] if found.ndim == 3 else found


main()
