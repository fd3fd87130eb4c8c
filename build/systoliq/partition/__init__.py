"""Partition of a model that is not one network: the largest part that is, and models of what comes before and after.

    model.onnx  --search-->  Part  --models-->  before.onnx, network.onnx, after.onnx  --play-->  outputs

`regions` finds the parts between two integer tensors of a graph.
"""


from .search import Cause, Partition, partition_of

__all__ = ["Cause", "Partition", "partition_of"]
