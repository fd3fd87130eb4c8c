"""Shapes and types of every tensor between operators of com.microsoft, against the arrays that onnxruntime computes."""

from __future__ import annotations

import onnx
import pytest

from systoliq.onnx.graph import Graph
from systoliq.onnx.model_file import read_model

from .network.networks import NETWORKS, images, quantized
from .network.oracle import session


@pytest.mark.parametrize("name", NETWORKS)
def test_shapes_of_operators_of_com_microsoft(name, tmp_path):
    builder = NETWORKS[name]()
    path = quantized(tmp_path, builder, types="u8s8", form="QOperator")
    model = onnx.load(path)
    assert any(node.domain == "com.microsoft" for node in model.graph.node)
    del model.graph.value_info[:]
    onnx.save(model, path)
    read = read_model(path)
    graph = Graph(read, tmp_path)
    names = [output for node in read.graph.node for output in node.output]
    shown = onnx.load(path)
    have = {info.name for info in shown.graph.output}
    for each in names:
        if each not in have:
            shown.graph.output.append(onnx.helper.make_empty_tensor_value_info(each))
    x = images([1, *builder.shape[1:]], 1, 3)
    for each, found in zip(names, session(shown).run(names, {"x": x}), strict=True):
        stated = graph.shape(each)
        assert stated is not None, each
        assert all(size in (None, "N") or size == have for size, have in zip(stated, found.shape, strict=True)), each
        assert graph.type_of(each) == found.dtype
