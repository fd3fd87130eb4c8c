"""Network files: what is read is the network that was written; anything else ends in one line that names the file."""

from __future__ import annotations

import dataclasses
import json
import random
import zipfile

import numpy as np
import pytest

from systoliq.golden.limits import NETWORK_DESCRIPTION, TENSOR_ELEMENTS
from systoliq.golden.network import load_network, network_arrays
from systoliq.golden.network.network_file import is_network_file

from ...hw.network import small_networks as small
from ...hw.network import stage_bench as bench


def everything():
    """Every kind of node and movement, a constant among the inputs."""
    net = small.Builder((2, 4, 4))
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1), groups=2)
    net.add(
        trunk, net.last.replace(name="c", shape=(1, 4, 1, 1), value=np.array([[[[1]], [[2]], [[-3]], [[0]]]], "i1"))
    )
    net.multiply(trunk, net.table())
    net.concat(net.last, trunk)
    net.maximum((2, 2))
    net.windowed_average((2, 2))
    net.resize(2, 1)
    net.transpose(0, 1, 3, 2)
    net.average()
    net.flatten()
    net.dense(3)
    return net.network()


NETWORKS = small.NETWORKS | {"everything": everything}


def saved(path, arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_read_was_written(name, tmp_path):
    net = NETWORKS[name]()
    arrays = network_arrays(net)
    again = load_network(saved(tmp_path / "net.npz", arrays))
    for key, array in network_arrays(again).items():
        np.testing.assert_array_equal(array, arrays.pop(key), strict=True)
    assert not arrays
    assert [type(node) for node in again.nodes] == [type(node) for node in net.nodes]
    x = {tensor.name: bench.integers(tensor, 3, random.Random("images")) for tensor in net.inputs}
    for key, array in net.golden(x).items():
        np.testing.assert_array_equal(again.golden(x)[key], array, strict=True)


def test_kinds_in_words_and_nodes_that_are_themselves_alone():
    nodes = everything().nodes
    kinds = [
        "depthwise convolution 3 x 3, 2 -> 4", "addition", "table", "multiplication", "concatenation of 2",
        "maximum of 2 x 2", "average of 2 x 2, in float32", "nearest pixels", "transpose", "average of all 8 pixels",
        "reshape", "dense 8 -> 3",
    ]  # fmt: skip
    assert [node.kind for node in nodes] == kinds
    assert NETWORKS["separable"]().nodes[0].kind == "convolution 3 x 2 / 2 x 1, 3 -> 4"
    assert NETWORKS["joined"]().nodes[3].kind == "convolution 3 x 3, 4 -> 2 in 2 groups"
    for node in nodes:
        assert dataclasses.replace(node) != node


def test_an_array_is_named_by_its_place():
    net = everything()
    arrays = network_arrays(net)
    assert arrays["nodes/0/layer/b"] is net.nodes[0].layer.b
    assert arrays["nodes/1/inputs/1/value"] is net.nodes[1].inputs[1].value
    assert arrays["nodes/2/entries"] is net.nodes[2].entries
    described = json.loads(arrays["description"].item())
    assert described["nodes"][0]["layer"]["b"] == {"array": "nodes/0/layer/b"}
    assert described["nodes"][0]["window"]["pads"] == [1, 1, 1, 1]


def changed(arrays, change):
    """The arrays with another description."""
    described = json.loads(arrays["description"].item())
    return arrays | {"description": np.array(json.dumps(change(described) or described).encode())}


def giant_tensor(described):
    described["sources"][0]["tensor"]["shape"] = [1, 1 << 40]


def giant_picture(described):
    """A quarter of a tera of pixels, of rows and columns that are named."""
    move = next(node for node in described["nodes"] if node["is"] == "Move")
    move["movement"].update(rows=[0] * (1 << 19), columns=[0] * (1 << 19))


BROKEN = {
    "no description": (lambda arrays: {key: arrays[key] for key in arrays if key != "description"}, "KeyError"),
    "numbers": (lambda arrays: arrays | {"description": np.arange(4)}, "description must have at most"),
    "too long": (
        lambda arrays: arrays | {"description": np.array(b"[" * (NETWORK_DESCRIPTION + 1))},
        f"description must have at most {NETWORK_DESCRIPTION} bytes, not {NETWORK_DESCRIPTION + 1}",
    ),
    "deep": (lambda arrays: arrays | {"description": np.array(b"[" * 200_000)}, "RecursionError"),
    "no JSON": (lambda arrays: arrays | {"description": np.array(b"network")}, "JSONDecodeError"),
    "a list": (lambda arrays: changed(arrays, lambda described: [described]), "not tuple"),
    "a class that is none": (lambda arrays: changed(arrays, lambda _: {"is": "Path"}), "KeyError: 'Path'"),
    "no class": (lambda arrays: changed(arrays, lambda _: {"name": "net"}), "KeyError: 'is'"),
    "another field": (lambda arrays: changed(arrays, lambda each: each | {"more": 1}), "'more'"),
    "an array that is not there": (
        lambda arrays: {key: arrays[key] for key in arrays if key != "nodes/0/layer/b"}, "nodes/0/layer/b",
    ),
    "text for an array": (lambda arrays: arrays | {"nodes/0/layer/b": np.array("b")}, "must describe a network"),
    "a giant tensor": (lambda arrays: changed(arrays, giant_tensor), f"at most {TENSOR_ELEMENTS} elements"),
    "a giant picture": (lambda arrays: changed(arrays, giant_picture), f"at most {TENSOR_ELEMENTS} elements"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_describes_no_network_is_refused(what, tmp_path):
    change, reason = BROKEN[what]
    path = saved(tmp_path / "net.npz", change(network_arrays(everything())))
    with pytest.raises(ValueError, match="net.npz: must describe a network") as caught:
        load_network(path)
    assert reason in str(caught.value)


def places(said, place=()):
    """Every place in a description."""
    yield place
    for key, each in said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ():
        yield from places(each, (*place, key))


def test_any_change_of_a_description_ends_in_a_network_or_one_line(tmp_path):
    """500 of them: something else in one place."""
    arrays, rng = network_arrays(everything()), random.Random("changes")
    text = arrays["description"].item()
    found = list(places(json.loads(text)))[1:]
    other = (None, -1, 0, 1 << 70, 0.5, "", "int8", [], [1], {}, {"is": "Window"}, {"float32": "nan"}, {"array": "x"})
    refused = 0
    for _ in range(500):
        described = json.loads(text)
        *way, last = rng.choice(found)
        holder = described
        for key in way:
            holder = holder[key]
        holder[last] = rng.choice(other)
        path = saved(tmp_path / "net.npz", arrays | {"description": np.array(json.dumps(described).encode())})
        try:
            load_network(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: must describe a network")  # noqa: PT017 - either is right
            refused += 1
    assert refused > 300


def test_what_says_that_it_describes_a_network(tmp_path):
    """An archive with a description; nothing else, whatever it is."""
    np.savez(tmp_path / "other.npz", b=np.zeros(3))
    (tmp_path / "text.npz").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "network.npz", "w") as archive:
        archive.writestr("description.npy", b"")
    found = {name: is_network_file(tmp_path / name) for name in ("network.npz", "other.npz", "text.npz", "none.npz")}
    assert found == {"network.npz": True, "other.npz": False, "text.npz": False, "none.npz": False}
    assert not is_network_file(tmp_path)
