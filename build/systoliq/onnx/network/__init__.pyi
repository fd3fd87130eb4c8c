from .network import (
    Reading,
    network_of,
    read_network,
    read_nodes,
)
from .verdict import (
    Fate,
    Verdict,
)

__all__ = [
    "Fate",
    "Reading",
    "Verdict",
    "network_of",
    "read_network",
    "read_nodes",
]
