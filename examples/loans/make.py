"""Two classes: loans granted or refused by a lender with known biases, and a model that learnt from its decisions."""

from pathlib import Path

import narwhals as nw
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomia.data.synthetic import credit
from isonomia.models import save_model

PLACE = Path(__file__).parent / "out"
FEATURES = credit(100).dataset.features
TEXTS = ["sex", "ethnicity", "education", "marital_status", "housing"]

PLACE.mkdir(exist_ok=True)
for name, rows, seed in (("train", 4000, 1), ("applications", 3000, 2), ("last_year", 3000, 3)):
    frame = nw.from_native(credit(rows, seed=seed).frame).select([*FEATURES, "decision"])  # of the library at hand
    frame.write_csv(PLACE / f"{name}.csv")
    if name == "train":
        prepare = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), TEXTS), remainder=StandardScaler()
        )
        model = make_pipeline(prepare, HistGradientBoostingClassifier(max_iter=40, random_state=0))
        model.fit(frame.select(FEATURES).to_native(), frame["decision"].to_numpy())
        save_model(model, PLACE / "model.skops")
