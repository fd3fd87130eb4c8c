"""Networks with several inputs and outputs: the order in which streams move, FIFOs at the ports, what is refused."""

from __future__ import annotations

import pytest

from systoliq.hw.network.assembly import PORT_BITS

from . import small_networks as small
from . import stage_bench as bench
from .faults import shallow

IMAGES = 3


def run(assembly, net, **more):
    given, expected = small.traffic(assembly, net, IMAGES, 4)
    phase = {"given": given, "wanted": {port: len(words) for port, words in expected.items()}, "limit": 20_000}
    assert bench.Bench(assembly.pipeline, seed=5).simulate(phase | more) == expected


def beats(words):
    """Ports and the beats of an image."""
    return [(port, len(each) // IMAGES) for port, each in words.items()]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "last"), [(name, last) for name in ("headed", "crossed") for last in (0, 1)])
def test_image_by_image(name, last):
    """A host that moves an image of one stream after the other, in any order, stops nothing."""
    net = small.NETWORKS[name](seed=last)
    assembly = small.assembled(net, small.drawn_parallelism(net, last))
    given, expected = small.traffic(assembly, net, IMAGES, 4)
    inputs, outputs = beats(given), beats(expected)
    run(assembly, net, turns=[inputs[last:] + inputs[:last], outputs[last:] + outputs[:last]], comes=0.8, goes=0.8)


@pytest.mark.slow
def test_inputs_that_come_at_any_time():
    """Inputs that wait for each other's whole images need room before the joins: with less, nothing moves."""
    net = small.crossed()
    assembly = small.assembled(net)
    run(assembly, net, comes=0.2, goes=0.9)
    given, expected = small.traffic(assembly, net, IMAGES, 4)
    pipeline = shallow(assembly.pipeline)
    phase = {"given": given, "wanted": {port: len(words) for port, words in expected.items()}, "limit": 1500}
    with pytest.raises(bench.StuckError):
        bench.Bench(pipeline).simulate(phase)


def test_fifos_at_ports():
    """Of an image, or of as much of it as a memory block holds; none where there is one port."""
    net = small.Builder((2, 40, 40))
    net.table()
    pipeline = small.assembled(net.network(net.last, net.convolution(3, (40, 40)))).pipeline
    assert [each.waiting for each in (*pipeline.inputs, *pipeline.outputs)] == [0, 1024, 4]
    assert pipeline.outputs[0].waiting * (8 + 1) <= PORT_BITS < pipeline.outputs[0].waiting * (8 + 1) * 2
    assert [each.words for each in pipeline.buffers] == [
        "the window buffer of s1_convolution1", "the FIFO at o_0", "the FIFO at o_1",
    ]  # fmt: skip


def test_one_stream_as_two_outputs():
    """An output in two shapes, and one that leaves twice."""
    net = small.Builder((3, 1, 1))
    whole = net.table()
    flat = net.flatten()
    run(small.assembled(net.network(whole, flat)), net.network(whole, flat))


@pytest.mark.parametrize(("made", "text"), [
    (lambda net: net.network(net.table(), net.x), "output 'x' must be made by a stage, and is an input, moved at most"),
    (lambda net: (net.input((1, 2, 2)), net.last is None, setattr(net, "last", net.x), net.table(), net.network())[-1],
     "input 'x1' must be taken by a stage, and is not: leave it out of the model"),
])  # fmt: skip
def test_refused(made, text):
    with pytest.raises(ValueError, match=text):
        small.assembled(made(small.Builder((2, 2, 2))))
