"""Partition of a model that is not one network: the largest part that is, and models of what comes before and after.

    model.onnx  --search-->  Part  --models-->  before.onnx, network.onnx, after.onnx  --play-->  outputs

`regions` finds the parts between two integer tensors of a graph.
"""

from .files import partition_files
from .play import Played, is_partition, play
from .search import Cause, Partition, partition_of

__all__ = ["Cause", "Partition", "Played", "is_partition", "partition_files", "partition_of", "play"]
