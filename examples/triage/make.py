"""Several classes: how urgent a clinic takes its patients to be; older women are not taken seriously enough."""

from pathlib import Path

import narwhals as nw
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomia.data.synthetic import Outcome, generate
from isonomia.models import save_model

PLACE = Path(__file__).parent / "out"
SCHEMA = {
    "columns": {
        "sex": {"categories": {"female": 0.52, "male": 0.48}},
        "age": {"normal": {"mean": 48, "sd": 18, "low": 18, "high": 95, "whole": True}},
        "arrival": {"categories": {"on foot": 0.7, "ambulance": 0.3}},
        "pain": {"uniform": {"low": 0, "high": 10}},
        "temperature": {"normal": {"mean": 37.2, "sd": 0.8}},
        "pulse": {"normal": {"mean": 85, "sd": 15, "whole": True}},
    },
    "correlation": [("temperature", "pulse", 0.4), ("age", "arrival", 0.2)],
    "protected": {"sex": None, "age": [60]},
}
URGENCY = Outcome(
    kind="multiclass",
    target="urgency",
    labels=("wait", "soon", "now"),
    weights={"pain": 1.2, "temperature": 0.8, "pulse": 0.8, "arrival": {"on foot": -0.4, "ambulance": 0.9}},
)
PAIRS = [{"a": {"sex": "female", "age": (60, None)}, "b": {"sex": "male", "age": (60, None)}, "bias": -1.5}]


def patients(rows: int, seed: int):
    made = generate(SCHEMA, pairs=PAIRS, n_samples=0, n_background=rows, outcome=URGENCY, seed=seed)
    return nw.from_native(made.frame).select([*SCHEMA["columns"], "urgency"])  # of the library at hand


PLACE.mkdir(exist_ok=True)
train, test = patients(4000, 1), patients(3000, 2)
train.write_csv(PLACE / "train.csv")
test.write_csv(PLACE / "patients.csv")
prepare = make_column_transformer((OneHotEncoder(), ["sex", "arrival"]), remainder=StandardScaler())
model = make_pipeline(prepare, LogisticRegression(max_iter=500))
model.fit(train.drop("urgency").to_native(), train["urgency"].to_numpy())
save_model(model, PLACE / "model.skops")
