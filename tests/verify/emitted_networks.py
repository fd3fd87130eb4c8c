"""Packages of networks."""

from __future__ import annotations

import json

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.package import write_package


def emitted(net, folder, cells="portable", *, parallelism=None):
    """The package `net` of a network; `parallelism`: cols and depth of each stage."""
    plan = None
    if parallelism is not None:
        plan = folder / "plan.json"
        content = [{"node": name, "cols": cols, "depth": depth} for name, (cols, depth) in parallelism.items()]
        plan.write_text(json.dumps(content))
    write_package(NetworkDesign(net, NetworkOptions(cells=cells, plan=plan), name="net"), folder / "net")
    return folder / "net"
