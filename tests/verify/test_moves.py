"""`systoliq verify` of moves: the place of every element, from the indices in the Verilog."""

from __future__ import annotations

import json

import numpy as np
import pytest

from systoliq.golden.network import Chain, Gather, Reshape, Transpose
from systoliq.hw.network.operators import operator_of
from systoliq.verify import verify_package
from systoliq.verify.model import picks

from ..hw.network import small_networks as small
from .emitted_networks import emitted
from .forging import reasons_against

MOVES = {  # of an image [4, 4, 6], in order, with lanes
    "swapped channels": (Chain((Gather(1, (2, 1, 0, 3)),)), 2),
    "some channels": (Gather(1, (3, 1)), 2),
    "twice": (Gather(1, (0, 1, 1, 0)), 2),
    "crop": (Gather(2, (1, 2)), 4),
    "turned": (Chain((Transpose((0, 1, 3, 2)),)), 4),
    "depth to space": (
        Chain((Reshape((2, 2, 1, 6, 2)), Transpose((0, 3, 4, 1, 5, 2)), Reshape((1, 12, 4)))), 1,
    ),
}  # fmt: skip


def moved(moves):
    net = small.Builder((4, 4, 6))
    for movement, _ in moves:
        net.move(movement)
    return net.network()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    net = moved(MOVES.values())
    parallelism = {node.name: (lanes, 1) for node, (_, lanes) in zip(net.nodes, MOVES.values(), strict=True)}
    return emitted(net, tmp_path_factory.mktemp("package"), parallelism=parallelism), net


def test_the_place_of_every_element_is_certified(package):
    directory, net = package
    assert all(operator_of(node).is_stage for node in net.nodes)
    report = verify_package(directory)
    assert report.passed, report.reasons
    assert not any(stage.tested for stage in report.stages)
    certificate = json.loads((directory / "certificate.json").read_text())
    assert [stage["lanes"] for stage in certificate["stages"]] == [lanes for _, lanes in MOVES.values()]
    assert certificate["verdict"] == "exact"


def test_places_are_those_of_numpy():
    """Elements of an image, marked by their place in the stream, are moved as ONNX moves them."""
    tensor = {"shape": [1, 4, 2, 3]}
    streamed = np.arange(24).reshape(1, 2, 3, 4).transpose(0, 3, 1, 2)  # channels last in the stream
    chain = [
        {"is": "Reshape", "shape": [2, 2, 2, 3]},
        {"is": "Transpose", "perm": [0, 2, 1, 3, 4]},
        {"is": "Reshape", "shape": [4, 2, 3]},
    ]
    cases = [
        ({"is": "Gather", "axis": 3, "indices": [2, 0]}, streamed[:, :, :, [2, 0]]),
        ({"is": "Nearest", "rows": [0, 0, 1], "columns": [1]}, streamed[:, :, [0, 0, 1]][:, :, :, [1]]),
        ({"is": "Chain", "movements": chain}, streamed[:, [0, 2, 1, 3]]),
    ]
    for movement, wanted in cases:
        node = {"name": "m", "inputs": [tensor], "output": {"shape": list(wanted.shape)}, "movement": movement}
        assert picks(node).tolist() == wanted.transpose(0, 2, 3, 1).reshape(-1).tolist()


FORGERIES = {  # a pattern whose group 1 is replaced, by what (None: another last digit), and why it is refused
    "an index": (r"_s5_move5_indices\(.*?memory\[3\] = \d+'h(\w+);", None, "are others"),
    "a lane": (r"_s0_move0\(.*?assign \w+ = read_data >> \{ 1'h0, (lane_0_1)", "lane_1_1", "are others"),
    "where beats are written": (r"_s5_move5\(.*?\.write_address\(\{ write_slot, (put) \}\)", "~put", "are others"),
    "what is written": (
        r"_s4_move4\(.*?\.write_data\((i__payload\[31:0\])\)", "~i__payload[31:0]", "are others"),
    "which block is read": (
        r"_s5_move5\(.*?\.read_address\(\{ (slot_\d), word \}\)", "~slot_1", "something else than elements"),
    "the end of an image": (r"_s5_move5\(.*?assign _\d+ = _\d+ ([&]) beat_last;", "|", "ends images at other beats"),
    "beats of a block": (r"_s3_move3\(.*?assign _\d+ = put == \d+'h(\w+);", None, ""),
    "a byte that is changed": (
        r"_s5_move5\(.*?\.i__payload\(\{ last_\d, i__payload_\w+data( )\}\)", " ^ 8'h80 ", "are others"),
    "a lost credit": (r"_s5_move5\(.*?assign _\d+ = rst \? 1'h0 : (done);", "1'h0", "beats instead of"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", FORGERIES)
def test_refuses_other_places(what, package, tmp_path):
    pattern, new, reason = FORGERIES[what]
    reasons = reasons_against(package[0], tmp_path, pattern, new)
    assert any("(Move): " in text and reason in text for text in reasons), reasons


@pytest.fixture(scope="module")
def in_cells(tmp_path_factory):
    """A package of ECP5, whose move has 512 indices, in a memory cell."""
    net = small.Builder((4, 8, 16))
    net.move(Chain((Transpose((0, 1, 3, 2)),)))
    folder = tmp_path_factory.mktemp("cells")
    return emitted(net.network(), folder, "ecp5", parallelism={net.nodes[0].name: (1, 1)})


def test_an_order_in_a_memory_cell_is_certified(in_cells):
    report = verify_package(in_cells)
    assert report.passed, report.reasons
    assert not any(stage.tested for stage in report.stages)


CELL_FORGERIES = {
    "an index": (r"\.INITVAL_00\(320'h[0-9a-f]*(\w)\)", None, "are others"),
    "no output register": (r'\.INITVAL_3F\(.*?\.REGMODE_A\("(OUTREG)"\)', "NOREG", "are others"),
    "a word that stays": (r"\.INITVAL_3F\(.*?\.CEA\((1'h1)\)", "address[0]", "_indices: a DP16KD has CEA tied to"),
}


@pytest.mark.parametrize("what", CELL_FORGERIES)
def test_refuses_another_memory_cell(what, in_cells, tmp_path):
    pattern, new, reason = CELL_FORGERIES[what]
    reasons = reasons_against(in_cells, tmp_path, pattern, new)
    assert any(reason in text for text in reasons), reasons
