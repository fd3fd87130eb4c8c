"""Partition of a model that is not one network: the largest part that is, and models of what comes before and after.

    model.onnx  --search-->  Partition (before, network, after)  --files-->  a directory, and back

`regions` finds the parts between two integer tensors of a graph. `systoliq.deploy` runs a partition.
"""

from .files import is_partition, partition_files, read_partition
from .search import Cause, Partition, partition_of

__all__ = ["Cause", "Partition", "is_partition", "partition_files", "partition_of", "read_partition"]
