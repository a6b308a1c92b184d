"""deepchecks: its worst segment of one or two features, given predictions."""

from deepchecks.tabular import Dataset
from deepchecks.tabular.checks import WeakSegmentsPerformance
from driver import answer


def prepare(frame, options):
    for name in options["categories"]:
        frame[name] = frame[name].astype(str)
    score = frame.pop("p").to_numpy()
    data = Dataset(frame, label="y", cat_features=options["categories"])
    return data, score, frame.shape[1] - 1


def work(prepared):
    data, score, n_features = prepared
    check = WeakSegmentsPerformance(n_top_features=n_features, n_samples=len(score))
    table = score[:, None] * [-1, 1] + [1, 0]
    return check.run(data, y_pred=(score > 0.5).astype(int), y_proba=table, model_classes=[0, 1])


def values(result):
    worst = result.value["weak_segments_list"].iloc[0]
    found = {"accuracy": worst["Accuracy Score"]}
    for place in (1, 2):
        feature, span = worst[f"Feature{place}"], worst[f"Feature{place} Range"]
        if not feature:
            continue
        if isinstance(span, tuple):
            found |= {f"{feature} from": max(span[0], -1e300), f"{feature} to": min(span[1], 1e300)}
        else:
            found |= {f"{feature} = {value}": 1.0 for value in span}
    return found


answer("deepchecks", prepare=prepare, work=work, values=values)
