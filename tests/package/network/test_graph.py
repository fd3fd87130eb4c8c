"""Graph of a network's stages: a box for each end and stage, a line for each tensor, residual ones beside the boxes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from systoliq.api import NetworkDesign
from systoliq.package.network.graph import _lanes, graph_svg

from ...hw.network import small_networks as small
from ...hw.network.small_networks import Builder

SVG = "{http://www.w3.org/2000/svg}"


def two_inputs():
    net = Builder((2, 2, 2))
    net.add(net.x, net.input((2, 2, 2)))
    return net.network()


def drawn(net):
    """Texts of the boxes from top to bottom, and for each line whether it runs beside them."""
    drawing = graph_svg(NetworkDesign(net)).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    root = ElementTree.fromstring(drawing)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    return texts, ["H" in path.get("d") for path in root.iter(f"{SVG}path")]


def test_a_residual_network():
    texts, beside = drawn(small.residual())  # two convolutions, addition, pool, a reshape that is no stage, dense
    assert [text.partition(":")[0] for text in texts] == [
        "s_axis_a", "convolution0", "convolution1", "addition2", "maxpool3", "dense5", "m_axis_y",
    ]  # fmt: skip
    assert beside.count(True) == 1
    assert beside.count(False) == 6


def test_two_inputs():
    texts, beside = drawn(two_inputs())
    assert [text.partition(":")[0] for text in texts] == ["s_axis_a0", "s_axis_a1", "addition0", "m_axis_y"]
    assert sorted(beside) == [False, False, True]


@pytest.mark.parametrize(
    "edges", [[(0, 2), (2, 4)], [(0, 9), (1, 3), (2, 8), (3, 5)], [(0, 3), (0, 5), (1, 4)], [(1, 3), (1, 3)]], ids=str
)
def test_lines_beside_the_boxes_do_not_overlap(edges):
    lanes = _lanes(edges)
    assert set(lanes) == set(edges)
    for one in lanes:
        for other in lanes:
            if one != other and lanes[one] == lanes[other]:
                assert one[1] <= other[0] or other[1] <= one[0]
    assert max(lanes.values()) < len(set(edges))
