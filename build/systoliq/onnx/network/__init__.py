"""Whole models as networks: every node read, in QDQ form and on integers, with a verdict on each.

    model.onnx  --network-->  Reader walks the nodes: values --handlers--> values  -->  golden's Network, verdicts

`sums`, `pairs`, `functions`, `pools`, `moves` and `activations` (Q and DQ) hold the handlers of their operators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
