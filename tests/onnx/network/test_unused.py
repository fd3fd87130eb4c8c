"""Nodes whose results no output needs, as an exporter that removes nothing leaves them."""

from __future__ import annotations

import numpy as np

from systoliq.design.network.reasons import reasons_against
from systoliq.onnx import Model, read_network

from ...zoo.architectures import Net
from .networks import images, quantized
from .oracle import check, write


def test_a_branch_that_nothing_takes_is_left_out(tmp_path):
    """A skip connection of the last block, such as WaveNet's, and a convolution behind it."""
    net = Net(3, 6, 6).conv2(4).relu2()
    start = net.here
    net.conv2(4).relu2()
    body = net.here
    net.plus(start[0]).conv2(5)
    net.at(body).conv2(2, 1)
    path = quantized(tmp_path, net)
    reading = Model.open(path).reading
    network = reading.checked()
    assert len(network.nodes) == 3
    x = images(net.shape, 4, 1)
    assert check(path, network, {"x": x})[0] >= 4 * sum(np.prod(node.output.shape) for node in network.nodes)
    assert reasons_against(network) == ()
    unused = [verdict for verdict in reading.verdicts if verdict.text == "nothing, as no output needs it"]
    assert {verdict.operator for verdict in unused} == {"Add", "Conv"}


def test_an_input_that_the_host_takes_too(tmp_path):
    """A denoiser subtracts its result from its own input, both behind the last integers: the input is the host's."""
    text = """g (float[1, 3, 6, 7] x) => (float[n] y) { a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)
        t = Abs(fa) b = QuantizeLinear(t, s, z) fb = DequantizeLinear(b, s, z) y = Sub(fa, fb) }"""
    path = write(tmp_path / "model.onnx", text, {"s": np.float32(0.03), "z": np.int8(3)})
    network = read_network(path)
    assert [tensor.name for tensor in network.outputs] == ["b"]
    assert reasons_against(network) == ()
