"""Nothing can be taken out of a package, or emptied, that `verify` then does not refuse: with all digests made anew."""

from __future__ import annotations

import collections
import random

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, NetworkOptions, write_package
from systoliq.design.network import NetworkDesign
from systoliq.golden import E4M3FN
from systoliq.golden.network import network_arrays
from systoliq.package import regenerate

from ..hw.network import small_networks as small
from .deletions import changed, changes

pytestmark = pytest.mark.usefixtures("short_testbenches", "at_steps")
SAMPLE = {"key": 8, "emptied": 4, "member": 2, "file": 2}  # changes of a package that are tried in every run


def integers() -> LayerDesign:
    layer = MatMulLayer(
        b=np.array([[3, -4], [1, 2]], np.int8), b_scale=np.float32([0.01, 0.02]), b_zero_point=np.int8(0),
        a_scale=np.float32(0.5), a_zero_point=np.uint8(3), y_scale=np.float32(0.25), y_zero_point=np.int8(-1),
        bias=np.array([5, -6], np.int32),
    )  # fmt: skip
    # cols is what systoliq chooses by itself, and accumulator_bits a bound: neither may be left in the package unused
    return LayerDesign(layer, LayerOptions(rows=2, cols=2, accumulator_bits=24, requantizer="auto"), name="fc")


def float8() -> LayerDesign:
    codes = np.array([[0x38, 0xB8], [0x40, 0x30]], np.uint8).view(E4M3FN.dtype)
    point = np.zeros((), np.uint8).view(E4M3FN.dtype)
    scales = {f"{letter}_scale": np.float32(0.5) for letter in "aby"}
    points = {f"{letter}_zero_point": point for letter in "aby"}
    return LayerDesign(MatMulLayer(b=codes, **scales, **points), LayerOptions(cols=1), name="fc")


def sums() -> LayerDesign:
    layer = MatMulLayer(
        b=np.array([[3, -4], [1, 2]], np.int8), b_scale=np.float32([0.01, 0.02]), b_zero_point=np.int8(0),
        a_scale=np.float32(0.5), a_zero_point=np.uint8(3),
    )  # fmt: skip
    return LayerDesign(layer, LayerOptions(cols=1), name="fc")


def network() -> NetworkDesign:
    net = small.Builder((1, 2, 2))
    net.convolution(2)
    net.flatten()
    net.dense(2)
    return NetworkDesign(net.network(), NetworkOptions(multipliers=8), name="net")


OTHER_NETWORKS = ("description ('sources', 0, 'movements') None",)
"""Changes that give another network of the same hardware: its input must be integers, and its digest differs."""

KINDS = {"layer": integers, "float8": float8, "sums": sums, "network": network}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package of a kind, emitted once."""
    made = {}

    def package(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind) / "out"
            write_package(KINDS[kind](), made[kind])
        return made[kind]

    return package


@pytest.fixture
def quick(monkeypatch):
    """Write a package again once for each design that is described: equal ones have equal packages."""
    make, made = regenerate.make_package, {}

    def make_once(design):
        key = design_key(design)
        if key not in made:
            made[key] = make(design)
        return made[key]

    monkeypatch.setattr(regenerate, "make_package", make_once)


def design_key(design):
    if isinstance(design, NetworkDesign):
        arrays, more = network_arrays(design.network), (design.plan,)
    else:
        layer = design.layer
        arrays, more = layer.arrays(), (layer.a_format, layer.b_format, layer.y_format, design.requantization)
        more = (*more, design.host and design.host.facts)
    content = [(key, str(array.dtype), array.shape, array.tobytes()) for key, array in arrays.items()]
    return repr((design.name, design.hardware, more, content))


def whole(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def digest_of(result):
    (line,) = (line for line in result.output.splitlines() if line.startswith("network: sha256 "))
    return line


def accepted(kind, directory, some, call, folder):
    """Which of the changes `some` are accepted; each of the others ends in reasons or in "no package"."""
    assert call("verify", directory).exit_code == 0
    found = []
    for change in some:
        made = changed(directory, change, folder)
        if whole(made) == whole(directory):  # a digest, which was brought up to date again
            continue
        result = call("verify", made)
        assert "Traceback" not in result.output, (change, result.output)
        if result.exit_code == 0 and change.kind == "emptied" and change.what in OTHER_NETWORKS:
            assert digest_of(result) != digest_of(call("verify", directory))
        elif result.exit_code == 0:
            found.append((change.file, change.kind, change.what))
        else:
            assert result.exit_code in (1, 2)
            assert "refused: " in result.output or "error: " in result.output, result.output
            assert "verified: fc " not in result.output, (change, result.output)
            assert "compared: " not in result.output, (change, result.output)
    return found


@pytest.mark.slow
def test_an_input_that_must_be_integers_is_another_network(package, call, tmp_path, quick):
    some = [change for change in changes(package("network")) if change.what in OTHER_NETWORKS]
    assert [change.kind for change in some] == ["key", "emptied"]
    assert accepted("network", package("network"), some, call, tmp_path) == []


@pytest.mark.sampled(99)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_a_sample_can_be_taken_out(kind, package, call, tmp_path, quick):
    of_kind = collections.defaultdict(list)
    for change in changes(package(kind)):
        of_kind[change.kind].append(change)
    rng = random.Random(kind)
    some = [each for way, count in SAMPLE.items() for each in rng.sample(of_kind[way], count)]
    assert accepted(kind, package(kind), some, call, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_can_be_taken_out(kind, package, call, tmp_path, quick, record_property):
    """Every key, member and file deleted, and every key emptied in each way; where that takes long, every file and a
    third of the other changes.
    """
    rng, some = random.Random(kind), list(changes(package(kind)))
    if kind != "sums":
        some = [change for change in some if change.kind == "file" or rng.random() < 1 / 3]
    for way, count in collections.Counter(change.kind for change in some).items():
        record_property(way, count)
    assert accepted(kind, package(kind), some, call, tmp_path) == []
