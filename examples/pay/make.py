"""Numbers: monthly pay, predicted from qualifications that do not explain all of what women are paid less."""

from pathlib import Path

import narwhals as nw
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomia.data.synthetic import Outcome, generate
from isonomia.models import save_model

PLACE = Path(__file__).parent / "out"
SCHEMA = {
    "columns": {
        "gender": {"categories": {"woman": 0.48, "man": 0.52}},
        "education": {"categories": {"school": 0.4, "college": 0.4, "university": 0.2}},
        "sector": {"categories": {"care": 0.3, "trade": 0.4, "industry": 0.3}},
        "experience": {"uniform": {"low": 0, "high": 35}},
        "hours": {"normal": {"mean": 37, "sd": 6, "low": 10, "high": 60}},
    },
    "correlation": [("education", "hours", 0.2)],
    "protected": ["gender"],
}
PAY = Outcome(
    kind="regression",
    target="pay",
    weights={"experience": 1.0, "hours": 0.8, "education": {"school": -0.6, "college": 0.0, "university": 1.0}},
)
PAIRS = [{"a": {"gender": "woman", "sector": "industry"}, "b": {"gender": "man", "sector": "industry"}, "bias": -1.5}]


def people(rows: int, seed: int):
    made = generate(SCHEMA, pairs=PAIRS, n_samples=0, n_background=rows, outcome=PAY, aleatoric=0.4, seed=seed)
    frame = nw.from_native(made.frame).select([*SCHEMA["columns"], "pay"])  # of the library at hand
    return frame.with_columns((3200 + 800 * nw.col("pay")).round(2))


PLACE.mkdir(exist_ok=True)
train, test = people(4000, 1), people(3000, 2)
train.write_csv(PLACE / "train.csv")
test.write_csv(PLACE / "people.csv")
people(3000, 3).with_columns(nw.col("hours") - 3).write_csv(PLACE / "last_year.csv")
prepare = make_column_transformer((OneHotEncoder(), ["gender", "education", "sector"]), remainder=StandardScaler())
model = make_pipeline(prepare, Ridge())
model.fit(train.drop("pay").to_native(), train["pay"].to_numpy())
save_model(model, PLACE / "model.skops")
