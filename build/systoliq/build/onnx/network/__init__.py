"""Whole models as networks: every node read, in QDQ form and on integers, with a verdict on each.

    model.onnx  --network-->  Reader walks the nodes: values --handlers--> values  -->  golden's Network, verdicts

`sums`, `pairs`, `functions`, `pools` and `moves` hold the handlers of their operators; `quantizers` those of Q and DQ.
"""

from .network import Reading, network_of, read_network, read_nodes
from .verdict import Fate, Verdict

__all__ = ["Fate", "Reading", "Verdict", "network_of", "read_network", "read_nodes"]
