"""A model format is one entry: loading, listing and the spec take it from the registry."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit.spec import read_spec
from isonomia.audit.spec_schema import spec_schema
from isonomia.errors import ModelError, SpecError, UntrustedError
from isonomia.models import MODEL_FORMATS, ModelFormat, load_model, save_model


@pytest.fixture
def cutoff_format(monkeypatch):
    """A format of files that hold "cut", and a number: 1 above it."""
    monkeypatch.setattr(MODEL_FORMATS, "_entries", {one.id: one for one in MODEL_FORMATS})

    def load(content: bytes, *, name: str):
        limit = float(content.removeprefix(b"cut"))
        return lambda rows: (rows["x"] > limit).astype(int)

    entry = ModelFormat(
        id="cutoff",
        title="Cut-off",
        purpose="one number",
        suffixes=(".cut",),
        load=load,
        starts=lambda content: content.startswith(b"cut"),
    )
    return MODEL_FORMATS.add(entry)


def test_every_suffix_belongs_to_one_format() -> None:
    suffixes = [suffix for one in MODEL_FORMATS for suffix in one.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)


def test_what_runs_code_says_what_to_do_instead() -> None:
    assert {one.id for one in MODEL_FORMATS if one.trust} == {"pickle", "torch"}
    assert all(bool(one.trust) == bool(one.instead) for one in MODEL_FORMATS)


@pytest.mark.usefixtures("cutoff_format")
def test_a_new_format_is_one_entry(tmp_path) -> None:
    (tmp_path / "model.cut").write_bytes(b"cut2.5")
    model = load_model(tmp_path / "model.cut", features=["x"], task="binary", output="label")
    assert model.format == "cutoff"
    assert list(model.predict_frame(pd.DataFrame({"x": [1, 2, 3, 4]}))) == [0, 0, 1, 1]
    assert "cutoff" in spec_schema()["$defs"]["ModelSpec"]["properties"]["format"]["anyOf"][0]["enum"]
    spec = {"dataset": {"path": "a.csv", "target": "y"}, "model": {"path": "m", "format": "cutoff"}}
    assert read_spec(spec).model.format == "cutoff"
    (tmp_path / "model.json").write_bytes(b"cut2.5")
    with pytest.raises(ModelError, match=r"named as XGBoost .*begins like Cut-off \(\.cut\)"):
        load_model(tmp_path / "model.json")
    (tmp_path / "other.cut").write_bytes(pickle.dumps({}))
    with pytest.raises(UntrustedError, match="first bytes are those of a pickle"):
        load_model(tmp_path / "other.cut")


def test_a_format_that_does_not_exist() -> None:
    spec = {"dataset": {"path": "a.csv", "target": "y"}, "model": {"path": "m", "format": "onx"}}
    with pytest.raises(SpecError, match=r"`model\.format` must be one of .*Did you mean 'onnx'"):
        read_spec(spec)
    with pytest.raises(iso.SpecError, match="Did you mean 'onnx'"):
        load_model("m", format="onx")


def test_models_are_saved_in_formats_that_can_be_written(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"Cannot save 'm\.onnx': models are saved as skops \(\.skops\)"):
        save_model(object(), tmp_path / "m.onnx")
