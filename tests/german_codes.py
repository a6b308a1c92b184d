"""German credit as three published experiments coded it, made of the file in the package: exactly their tables.

The rows that each experiment used, in its order, are in `german_rows.json`; that the tables are theirs is tested where
their files are (`test_german_codes.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isonomia.data.catalog.local_files import SHIPPED

ROWS: dict[str, list[int]] = json.loads(Path(__file__).with_name("german_rows.json").read_text(encoding="utf-8"))
#: Columns of ADF's table, a to u.
_ADF = [
    "checking_status",
    "duration",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings_status",
    "employment",
    "installment_rate",
    "personal_status_sex",
    "other_debtors",
    "residence_since",
    "property",
    "age",
    "other_installment_plans",
    "housing",
    "existing_credits",
    "job",
    "num_dependents",
    "telephone",
    "foreign_worker",
    "credit_risk",
]
#: LearnFairNB: a column is 1 where ours has one of these values, or a number above one.
_BINARY: dict[str, tuple[str, Any]] = {
    "duration": ("duration", 12),
    "credit_amount": ("credit_amount", 2800),
    "age": ("age", 30),
    "maintenance": ("num_dependents", [1]),
    "telephone": ("telephone", ["A192"]),
    "foreign_worker": ("foreign_worker", ["A201"]),
    "loan_status": ("credit_risk", [1]),
    "checking_status": ("checking_status", ["A12", "A13"]),
    "credit_history": ("credit_history", ["A33", "A34"]),
    "purpose": ("purpose", ["A40", "A41", "A45", "A46", "A49"]),
    "saving_account": ("savings_status", ["A63", "A64"]),
    "employment": ("employment", ["A74", "A75"]),
    "income": ("installment_rate", [3, 4]),
    "sex": ("personal_status_sex", ["A92"]),
    "marital_status": ("personal_status_sex", ["A93"]),
    "guarantor": ("other_debtors", ["A103"]),
    "residence": ("residence_since", [3, 4]),
    "property": ("property", ["A121", "A122"]),
    "installation_plan": ("other_installment_plans", ["A143"]),
    "housing": ("housing", ["A152"]),
    "existing_credit": ("existing_credits", [2, 3, 4]),
    "job": ("job", ["A173", "A174"]),
}
#: The study of SHAP: names of its one-hot columns and of its numbers.
_ONE_HOT = {
    "sex": "personal_status_sex",
    "status_account": "checking_status",
    "credit_history": "credit_history",
    "purpose": "purpose",
    "savings_account": "savings_status",
    "employment_since": "employment",
    "other_debtors": "other_debtors",
    "property": "property",
    "installment_plans": "other_installment_plans",
    "housing": "housing",
    "job": "job",
    "telephone": "telephone",
    "foreign_worker": "foreign_worker",
}
_NUMBERS = {
    "credit_amount": "credit_amount",
    "duration_month": "duration",
    "installment_rate": "installment_rate",
    "number_credits_this_bank": "existing_credits",
    "people_liable_for": "num_dependents",
    "residence_since": "residence_since",
}


def german() -> pd.DataFrame:
    """The file in the package."""
    return pd.read_csv(SHIPPED / "german.csv.gz", keep_default_na=False)


def adf_codes() -> pd.DataFrame:
    """600 people as whole numbers: hundreds of an amount, tens of an age, the place of a code."""
    frame = german()
    coded = {}
    for letter, name in zip("abcdefghijklmnopqrstu", _ADF, strict=True):
        column = frame[name]
        if name == "credit_amount":
            coded[letter] = column // 100
        elif name == "age":
            coded[letter] = (column // 10).clip(upper=7)
        elif name in ("personal_status_sex", "credit_risk"):
            coded[letter] = (column == {"personal_status_sex": "A92", "credit_risk": 1}[name]).astype(int)
        elif name == "purpose":
            coded[letter] = column.str[2:].astype(int)
        elif column.dtype.kind in "iu":
            coded[letter] = column
        else:
            coded[letter] = column.str[-1].astype(int) - (name != "credit_history")
    return pd.DataFrame(coded).iloc[ROWS["adf"]].reset_index(drop=True)


def naive_bayes_codes() -> pd.DataFrame:
    """All 1,000 people, every column 0 or 1."""
    frame = german()
    return pd.DataFrame(
        {
            name: (frame[column].isin(ones) if isinstance(ones, list) else frame[column] > ones).astype(int)
            for name, (column, ones) in _BINARY.items()
        }
    )


def study_matrices() -> dict[str, pd.DataFrame]:
    """Training and test matrices and the two undersampled ones: one-hot columns, numbers by the training rows."""
    frame = german()
    train = frame.iloc[ROWS["study_train"]]
    columns: dict[str, Any] = {"age": (frame["age"] > 25).astype(float)}
    for name, column in _NUMBERS.items():
        columns[name] = (frame[column] - train[column].mean()) / np.std(train[column].to_numpy(float))
    columns["credit_risk"] = (frame["credit_risk"] == 1).astype(int)
    for name, column in _ONE_HOT.items():
        columns |= {f"{name}_{value}": (frame[column] == value).astype(float) for value in sorted(set(frame[column]))}
    whole = pd.DataFrame(columns)
    parts = {name.removeprefix("study_"): rows for name, rows in ROWS.items() if name.startswith("study_")}
    return {name: whole.iloc[rows].reset_index(drop=True) for name, rows in parts.items()}


def write_study_matrices(folder: Path) -> Path:
    """The matrices as the files that `read_released` looks for."""
    for name, matrix in study_matrices().items():
        matrix.to_csv(folder / f"german_{name}.csv.gz", index=False)
    return folder
