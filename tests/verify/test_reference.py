"""The second definition of a network, in `systoliq.verify`, compared with golden's."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.network import network_arrays
from systoliq.verify.model import Model
from systoliq.verify.reference import Reference, UncomputedError, tensor_format

from ..hw.network import small_networks as small


def concatenated(net):
    """Gives the tables of concatenations as the package does, by golden."""
    tables = {}
    for node in net.nodes:
        for index, table in enumerate(getattr(node, "tables", ())):
            x = node.inputs[index]
            tables[node.name, index] = x.codes if table is None else table
    return lambda node, index: tables[node, index]


ONE_INPUT = [name for name, make in small.NETWORKS.items() if len(make().inputs) == 1]  # as the evaluator takes


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ONE_INPUT)
def test_every_tensor_is_golden_s(name):
    net = small.NETWORKS[name]()
    model = Model.of(network_arrays(net), name)
    reference = Reference(model, concatenated(net))
    (source,) = model.sources
    low, high = tensor_format(source)
    rng = np.random.default_rng(3)
    for _ in range(2):
        x = rng.integers(low, high + 1, source["shape"])
        golden = net.golden({source["name"]: x.astype(net.sources[0].tensor.format.dtype)})
        found = reference.tensors({source["name"]: x})
        assert {node.output.name for node in net.nodes} <= found.keys()
        for tensor, values in found.items():
            assert (values == golden[tensor]).all(), tensor


def test_an_operator_without_a_second_definition_is_named():
    net = small.residual()
    model = Model.of(network_arrays(net), "net")
    other = {name: {**node, "is": "Other"} for name, node in model.nodes.items()}
    reference = Reference(Model(other, model.arrays, model.sources, model.outputs), concatenated(net))
    with pytest.raises(UncomputedError, match="the operator Other has no second definition"):
        reference.tensors({"x": np.zeros((1, 2, 5, 4), np.int64)})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"output": {"shape": [1, 4, 1 << 20, 1 << 20]}}, "is too large"),
        ({"window": {"kernel": [1 << 12, 1 << 12]}}, "are too many"),
        ({"window": {"pads": [1 << 20, 0, 0, 0]}}, "padding is negative, or 256 or more"),
    ],
)
def test_a_hostile_description_takes_no_memory(change, named):
    net = small.residual()
    model = Model.of(network_arrays(net), "net")
    first = dict(model.nodes["convolution0"])
    for key, fields in change.items():
        first[key] = {**first[key], **fields}
    hostile = Model({"convolution0": first}, model.arrays, model.sources, model.outputs)
    with pytest.raises(UncomputedError, match=named):
        Reference(hostile, concatenated(net)).tensors({"x": np.zeros((1, 2, 5, 4), np.int64)})
