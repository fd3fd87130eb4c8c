"""`systoliq layers` beside `systoliq emit`: what is read, and whether hardware takes it, for the same reasons."""

from __future__ import annotations

import numpy as np
import pytest

from ..onnx.network.networks import Builder, branches, quantized
from ..onnx.network.oracle import write

CONSTANTS = {
    "s": np.float32(0.02), "t": np.float32(0.5), "z": np.int8(0),
    "w": np.arange(-18, 18, dtype=np.int8).reshape(4, 1, 3, 3),
    "v": np.arange(-8, 8, dtype=np.int8).reshape(4, 4, 1, 1),
    "groups": np.array([1, 2, 2, 4, 4]), "back": np.array([1, 4, 4, 4]),
}  # fmt: skip
CONV = """a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z) fw = DequantizeLinear(w, s, z)
    h = Conv(fa, fw) b = QuantizeLinear(h, t, z) fb = DequantizeLinear(b, t, z)"""
NEXT = """fv = DequantizeLinear(v, s, z) k = Conv(%s, fv) d = QuantizeLinear(k, t, z) y = DequantizeLinear(d, t, z)"""
SHUFFLE = """r = Reshape(fb, groups) p = Transpose<perm = [0, 2, 1, 3, 4]>(r) q = Reshape(p, back)"""

# ends and nodes, and the reasons against hardware
WRITTEN = {
    "two outputs": (
        "(float[1, 1, 6, 6] x) => (float[1, 4, 4, 4] y, float[1, 4, 4, 4] fb)", f"{CONV} {NEXT % 'fb'}",
        [],
    ),
    "shuffled channels": (
        "(float[1, 1, 6, 6] x) => (float[1, 4, 4, 4] y)", f"{CONV} {SHUFFLE} {NEXT % 'q'}",
        [],
    ),
    "all is well": ("(float[1, 1, 6, 6] x) => (float[1, 4, 4, 4] y)", f"{CONV} {NEXT % 'fb'}", []),
}  # fmt: skip


def check(call, path, reasons, folder):
    """`layers` has `reasons`; `emit` refuses the model with the first of them, or takes it where there are none."""
    result = call("layers", path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    (title,) = (line for line in lines if line.startswith("as a network: "))
    assert "100.0 % of all" in title
    assert title.endswith("; hardware does not take it, see the end:" if reasons else "; hardware takes it:")
    assert (" are read, " in title) == bool(reasons)
    assert [line.removeprefix("no hardware: ") for line in lines if line.startswith("no hardware")] == reasons
    emitted = call("emit", path, "--out", folder / "out")
    assert emitted.exit_code == (2 if reasons else 0), emitted.output
    assert not reasons or reasons[0] in emitted.stderr
    assert result.stderr == ""


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("ends", "nodes", "reasons"), WRITTEN.values(), ids=WRITTEN)
def test_hardware(ends, nodes, reasons, call, tmp_path):
    path = write(tmp_path / "model.onnx", f"g {ends} {{ {nodes} }}", CONSTANTS)
    check(call, path, reasons, tmp_path)


@pytest.mark.slow
def test_a_stage_without_hardware(call, tmp_path):
    path = quantized(tmp_path, branches())
    (pool,) = (node.name for node in branches().nodes if node.op_type == "AveragePool")
    reason = (
        f"node '{pool}': all windows must count the same number of pixels, not 9 to 36: count_include_pad must be 1 "
        "where there are pads, and ceil_mode 0"
    )
    check(call, path, [reason], tmp_path)


def test_all_stages_without_hardware_have_a_line(call, tmp_path):
    """The error of `emit` has the first alone."""
    net = Builder([1, 3, 12, 12])
    net.conv(3, 4, (3, 3))
    net.relu()
    pools = []
    for _ in range(2):
        net.add("AveragePool", kernel_shape=[6, 6], pads=[3, 3, 2, 2])
        pools.append(net.nodes[-1].name)
    net.conv(4, 4, (1, 1))
    result = call("layers", quantized(tmp_path, net))
    lines = [line for line in result.stdout.splitlines() if line.startswith("no hardware: ")]
    assert [line.split("'")[1] for line in lines] == pools


def test_moves_alone(call, tmp_path):
    text = """g (float[1, 4] x) => (float[1, 2, 2] y) { a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)
        f = Reshape(fa, to) b = QuantizeLinear(f, s, z) y = DequantizeLinear(b, s, z) }"""
    path = write(tmp_path / "model.onnx", text, CONSTANTS | {"to": np.array([1, 2, 2])})
    lines = call("layers", path).stdout.splitlines()
    assert lines[-1] == "no hardware: a network must have an operator other than moves"
