"""Two classes: loans granted or refused by a lender with known biases, and a model that learnt from its decisions."""

from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from isonomia.data.synthetic import credit
from isonomia.models import save_model

PLACE = Path(__file__).parent / "out"
COLUMNS = [*credit(100).dataset.features, "decision"]

PLACE.mkdir(exist_ok=True)
for name, rows, seed in (("train", 4000, 1), ("applications", 3000, 2), ("last_year", 3000, 3)):
    frame = credit(rows, seed=seed).frame[COLUMNS]
    frame.to_csv(PLACE / f"{name}.csv", index=False)
    if name == "train":
        texts = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
            remainder="passthrough",
        )
        model = make_pipeline(texts, HistGradientBoostingClassifier(max_iter=40, random_state=0))
        save_model(model.fit(frame[COLUMNS[:-1]], frame["decision"]), PLACE / "model.skops")
