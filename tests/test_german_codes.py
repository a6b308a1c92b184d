"""What is made of the German credit data in the package is what the published experiments used, to the last row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.german_codes import adf_codes, naive_bayes_codes, study_matrices
from tests.public_files import PublicFiles


def test_the_codes_of_the_discovery_experiments(shared_data: PublicFiles) -> None:
    folder = shared_data / "methods"
    pd.testing.assert_frame_equal(adf_codes(), pd.read_csv(folder / "credit_codes.csv.gz"), check_dtype=False)
    pd.testing.assert_frame_equal(naive_bayes_codes(), pd.read_csv(folder / "nb_german.csv.gz"), check_dtype=False)


@pytest.mark.parametrize("name", ["test", "train", "train_usd0", "train_usd-1"])
def test_the_matrices_of_the_study(name: str, shared_data: PublicFiles) -> None:
    released = pd.read_csv(shared_data / "study" / f"german_{name}.csv.gz")
    made = study_matrices()[name]
    assert list(made) == list(released)
    assert np.abs(made.to_numpy(float) - released.to_numpy(float)).max() < 1e-14


def test_the_parts_of_the_study_are_a_split() -> None:
    parts = {name: set(map(tuple, matrix.to_numpy())) for name, matrix in study_matrices().items()}
    assert [len(matrix) for matrix in study_matrices().values()] == [200, 800, 700, 519]
    assert not parts["test"] & parts["train"]
    assert parts["train_usd-1"] | parts["train_usd0"] <= parts["train"]
