"""Comparison of a deployed model with the model that it was made from, both run by onnxruntime."""

from __future__ import annotations

from pathlib import Path

from systoliq.golden.archive import read_arrays

from ..errors import naming
from ..inference.report import OutputReport, differing
from ..onnx.runtime import Session
from ..partition import Partition
from ..samples import check_labels
from .feed import batches_of
from .operator import hardware_errors, register_hardware

__all__ = ["compare_models"]


def compare_models(partition: Partition, model: bytes, path: Path) -> dict[str, OutputReport]:
    """Return a comparison of each output of `model`, as `model_hw` makes it, with onnxruntime's for the whole model of
    `partition`, on the inputs in the archive `path`.

    Raises InputError for inputs that do not fit, and where the hardware fails.
    """
    arrays = read_arrays(path)
    whole = Session(partition.whole.SerializeToString(), "the model")
    deployed = Session(model, "model_hw.onnx", options=register_hardware())
    if "labels" not in {each.name for each in whole.inputs}:
        check_labels(path, arrays.pop("labels", None), arrays.values())
    names = [each.name for each in whole.outputs]
    elements, mismatches = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    with naming(path):
        batches = batches_of(whole.inputs, arrays)
    for batch in batches:
        right = whole.run(names, batch)
        with hardware_errors():
            found = deployed.run(names, batch)
        for name in names:
            elements[name] += right[name].size
            mismatches[name] += differing(found[name], right[name])
    return {name: OutputReport(elements=elements[name], mismatches=mismatches[name]) for name in names}
