"""NetworkSession: InferenceSession's call with the network on hardware, equal to onnxruntime bit for bit."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.api import InputError, NetworkOptions, NetworkSession
from systoliq.board.linked import fingerprint
from systoliq.board.simulated import simulated_board
from systoliq.design import NetworkDesign
from systoliq.errors import LinkError
from systoliq.onnx import read_network
from systoliq.package import write_package

from ..onnx.network.networks import Builder, autoencoder, ds_cnn, images, quantized
from ..onnx.network.oracle import session

SMALL = (12, 4, 6)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """An autoencoder with an open batch."""
    return quantized(tmp_path_factory.mktemp("small"), autoencoder(SMALL))


@pytest.fixture(scope="module")
def package(small, tmp_path_factory):
    """A package of the whole model, with other options than the default ones."""
    design = NetworkDesign(read_network(small), NetworkOptions(multipliers=6))
    return write_package(design, tmp_path_factory.mktemp("package") / "out" / "package")


def same(found, right):
    assert [array.dtype for array in found] == [array.dtype for array in right]
    for one, other in zip(found, right, strict=True):
        np.testing.assert_array_equal(one.view(f"u{one.itemsize}"), other.view(f"u{other.itemsize}"))


def left(net: Builder) -> Builder:
    """`net` with a norm behind it, which the host computes."""
    net.add("LpNormalization", axis=1)
    return net


@pytest.mark.parametrize("net", [autoencoder(), left(ds_cnn())], ids=["whole", "with a host's part"])
def test_outputs_are_those_of_the_model(net, tmp_path):
    path, x = quantized(tmp_path, net), images(net.shape, 3, 4)
    right = session(onnx.load(path))
    with NetworkSession(path, on="golden") as hardware:
        for name in ("get_inputs", "get_outputs"):
            found, wanted = getattr(hardware, name)(), getattr(right, name)()
            assert [(e.name, e.shape, e.type) for e in found] == [(e.name, e.shape, e.type) for e in wanted]
        found = hardware.run(None, {"x": x})
    one_by_one = [right.run(None, {"x": image[None]}) for image in x]
    same(found, [np.concatenate(arrays) for arrays in zip(*one_by_one, strict=True)])
    report = hardware.report.check()
    assert (report.on, report.images, report.measured, report.compared) == ("golden", 3, False, 0)
    assert sum(end.elements for end in report.outputs.values()) == sum(array.size for array in found)


@pytest.mark.simulator
def test_the_verilog_of_a_package(small, package, tmp_path):
    """Of its options, and with a profile whose cycles are those of the run."""
    x = images([1, SMALL[0]], 5, 4)
    hardware = NetworkSession(small, package=package.parent, on="icarus", stalls=0.2)
    found = hardware.run([hardware.get_outputs()[0].name], {"x": x})
    same(found, session(onnx.load(small)).run(None, {"x": x}))
    report = hardware.report.check()
    assert (report.on, report.images, report.measured) == ("icarus", 5, True)
    assert report.compared > 5 * SMALL[-1]
    assert all(stage.busy + stage.waiting == report.cycles for stage in report.stages)
    assert hardware.design.plan.multipliers <= 6
    assert {stage.name for stage in report.stages} == {stage.node.name for stage in hardware.design.plan.stages}
    assert len(repr(hardware)) <= 300
    assert len(repr(report)) <= 200


@pytest.mark.slow
@pytest.mark.simulator
def test_a_board(small, package, tmp_path):
    """The one that has the package's design, and no other."""
    x = images([1, SMALL[0]], 3, 4)
    design = NetworkDesign(read_network(small), NetworkOptions(multipliers=6))
    with simulated_board(design) as port:
        with NetworkSession(small, package=package, on=port) as hardware:
            assert fingerprint(hardware.design) == fingerprint(design)
            same(hardware.run(None, {"x": x}), session(onnx.load(small)).run(None, {"x": x}))
            report = hardware.report.check()
            assert (report.on, report.compared, report.measured) == (port, 3 * SMALL[-1], False)
        with pytest.raises(LinkError, match=r"^the board must hold the design with fingerprint "):
            NetworkSession(small, on=port)


def test_differences_are_reported(small, monkeypatch):
    """A result that is another than golden's and onnxruntime's."""
    golden = type(NetworkSession(small, on="golden").design.network).golden

    def wrong(self, inputs):
        found = golden(self, inputs)
        end = self.outputs[0].name
        return found | {end: found[end] ^ np.array([1] + [0] * (found[end].shape[1] - 1), np.int8)}

    monkeypatch.setattr("systoliq.golden.network.Network.golden", wrong)
    hardware = NetworkSession(small, on="golden")
    hardware.run(None, {"x": images([1, SMALL[0]], 2, 4)})
    assert not hardware.report.passed
    assert hardware.report.onnxruntime_mismatches == 2
    assert hardware.report.facts()["differences"] == hardware.report.mismatches
    with pytest.raises(Exception, match="differ from onnxruntime"):
        hardware.report.check()


@pytest.mark.slow
def test_what_is_refused(small, package, tmp_path):
    other = quantized(tmp_path, autoencoder((12, 5, 6)))
    for arguments, text in [
        ({"model": other, "package": package}, r"package .* must be of the network from .* of this model"),
        (
            {"model": other, "package": tmp_path},
            "package must be a directory of systoliq emit or build; .* has no NAME",
        ),
        ({"model": other, "package": tmp_path / "none"}, "package must be a directory of systoliq emit or build; "),
        (
            {"model": small, "package": package, "hardware": NetworkOptions()},
            "hardware and package cannot both be given",
        ),
        ({"model": small, "on": "verilater"}, "on must be verilator, .*, not 'verilater': did you mean verilator?"),
        ({"model": small, "on": "/dev/none"}, "port must be a serial port; /dev/none does not exist"),
        ({"model": tmp_path}, "must be a model or a directory of systoliq partition"),
    ]:
        with pytest.raises(InputError, match=text):
            NetworkSession(**arguments)
    hardware = NetworkSession(small, on="golden")
    with pytest.raises(RuntimeError, match="there is no report before the first run"):
        _ = hardware.report
    x = images([1, SMALL[0]], 2, 4)
    for names, feed, text in [
        (["nothing"], {"x": x}, "outputs must be among .*, not 'nothing'"),
        (None, {}, "inputs must hold 'x', and have nothing"),
        (None, {"x": x[:0]}, "x must have a multiple of 1 images, not 0"),
        (None, {"x": x[:, :3]}, "x must have the shape"),
        (None, {"x": x.astype(np.float64)}, "x must be of float32, not of float64"),
    ]:
        with pytest.raises(InputError, match=text):
            hardware.run(names, feed)
