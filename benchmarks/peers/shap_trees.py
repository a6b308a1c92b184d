"""Interventional Shapley values of trees by shap or woodelf; fitting and building the explainer are not timed."""

import numpy as np
from driver import answer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

MODELS = {
    "boosting": lambda trees: GradientBoostingClassifier(n_estimators=trees, random_state=0),
    "forest": lambda trees: RandomForestClassifier(trees, max_depth=8, random_state=0),
    "full forest": lambda trees: RandomForestClassifier(trees, random_state=0),
}


def prepare(frame, options):
    columns = frame.drop(columns=["y", "part"])
    fitted = (frame["part"] == "train").to_numpy()
    model = MODELS[options["model"]](options["trees"]).fit(columns[fitted].to_numpy(), frame.loc[fitted, "y"])
    people = columns[(frame["part"] == "people").to_numpy()][: options["rows"]]
    background = columns[(frame["part"] == "background").to_numpy()][: options["background"]]
    if options["library"] == "woodelf":
        from woodelf import WoodelfExplainer

        explainer = WoodelfExplainer(model, background, feature_perturbation="interventional")
        # woodelf explains class 0 of a scikit-learn forest
        sign = -1.0 if options["model"] != "boosting" else 1.0
        return lambda: sign * np.asarray(explainer.shap_values(people, verbose=False))
    import shap

    # shap takes a sample of 100 background rows unless it is told not to
    masker = shap.maskers.Independent(background.to_numpy(), max_samples=len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    return lambda: np.asarray(explainer.shap_values(people.to_numpy(), check_additivity=False))


def work(prepared):
    return prepared()


def values(result):
    found = result[:, :, -1] if result.ndim == 3 else result
    named = {f"mean{index}": value for index, value in enumerate(found.mean(axis=0))}
    some = found[:: max(1, len(found) // 20)]
    return named | {f"{i},{j}": some[i, j] for i in range(len(some)) for j in range(some.shape[1])}


answer("shap", prepare=prepare, work=work, values=values)
