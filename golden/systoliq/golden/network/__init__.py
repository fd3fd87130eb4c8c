"""Whole networks of integer operators: every tensor equals onnxruntime's fused graph, bit for bit.

    Source: integers of the graph's inputs -> Node, Node, ... -> outputs          Network.golden(inputs)
    Network  ->  an archive of arrays  ->  Network                     network_arrays(network), load_network(path)

There is one file for each family of operators. `Tensor` defines the values of integers, `Window` their positions.
"""

from .addition import Addition
from .concatenation import Concatenation
from .convolution import Convolution
from .dense import Dense
from .linear import Blend, LinearResize
from .moves import Chain, Gather, Move, Nearest, Reshape, Transpose
from .multiplication import Multiplication
from .network import Network, Source
from .network_file import is_network_file, load_network, network_arrays
from .node import Node
from .normalization import LayerNormalization
from .pools import MaxPool, WholeAverage, WindowedAverage
from .product import MatrixProduct
from .real_pair import RealPair
from .residual import ResidualSum
from .softmax import Softmax
from .table import Table
from .tensor import Tensor
from .window import Window

__all__ = [
    "Addition",
    "Blend",
    "Chain",
    "Concatenation",
    "Convolution",
    "Dense",
    "Gather",
    "LayerNormalization",
    "LinearResize",
    "MatrixProduct",
    "MaxPool",
    "Move",
    "Multiplication",
    "Nearest",
    "Network",
    "Node",
    "RealPair",
    "Reshape",
    "ResidualSum",
    "Softmax",
    "Source",
    "Table",
    "Tensor",
    "Transpose",
    "WholeAverage",
    "Window",
    "WindowedAverage",
    "is_network_file",
    "load_network",
    "network_arrays",
]
