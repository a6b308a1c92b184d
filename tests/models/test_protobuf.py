"""A look into ONNX bytes, against the reference implementation and against nonsense."""

from __future__ import annotations

import contextlib

import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from isonomia import ModelError
from isonomia.models._protobuf import look_into_onnx


def model(labels: list[str] | list[int]) -> onnx.ModelProto:
    key = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"
    node = helper.make_node(
        "LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", coefficients=[0.5, 1.5], **{key: labels}
    )
    rows = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 1])
    out = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2])
    weights = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    return helper.make_model(helper.make_graph([node], "g", [rows], [out], [weights]))


@given(
    st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1)
)
def test_class_labels_are_read(labels):
    look = look_into_onnx(model(labels).SerializeToString(), name="m")
    assert look.has_graph
    assert not look.external
    assert look.classes == [tuple(labels)]


@given(st.binary(max_size=200))
@example(b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x3b")
def test_nonsense_is_an_error_or_no_model(content):
    with contextlib.suppress(ModelError):
        assert look_into_onnx(content, name="m").classes == []


@given(
    ints=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    floats=st.lists(st.floats(width=32), min_size=1, max_size=30),
)
def test_data_outside_is_seen_behind_long_lists(ints, floats):
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    tensor.data_location = TensorProto.EXTERNAL
    for value in (ints, floats):
        attribute = helper.make_attribute("nodes_values", value)
        attribute.t.CopyFrom(tensor)  # an attribute that says it is a list, and is more
        proto = model(["a", "b"])
        proto.graph.node[0].attribute.append(attribute)
        assert look_into_onnx(proto.SerializeToString(), name="m").external


def test_nesting_is_bounded():
    graph = b""
    for _ in range(100):  # a graph in an attribute of a node of a graph ...
        attribute = b"\x32" + _sized(graph)
        node = b"\x2a" + _sized(attribute)
        graph = b"\x0a" + _sized(node)
    with pytest.raises(ModelError, match="nested too deeply"):
        look_into_onnx(b"\x3a" + _sized(graph), name="m")


def _sized(message: bytes) -> bytes:
    size, out = len(message), b""
    while size >= 0x80:
        out += bytes([size & 0x7F | 0x80])
        size >>= 7
    return out + bytes([size]) + message
