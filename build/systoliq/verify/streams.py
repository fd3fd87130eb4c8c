"""Streams between the stages of a network, followed in the Verilog: each stage, and whose results it takes.

Between stages are buffers that carry beats unchanged (skid buffers, forks, FIFOs) or at another width (gearboxes). Only
their connections are read, not their function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .evaluate import Scope
from .expression import Concat, Name, UnreadableError
from .modules import Instance, Module

__all__ = ["INPUT", "Streams"]

INPUT = "s_axis_a"
_BETWEEN = r"(skid_buffer_\d+|fork_\d+_of_\d+|fifo_\d+x\d+|gearbox_\d+_to_\d+_of_\d+)"
_SIGNALS = ("payload", "valid", "ready")


class Streams:
    """The streams of the network `name` of these modules.

    `stages`: for each stage's module, the modules whose results it takes, in the order of its inputs, or `INPUT`;
    `output`: the module whose results are the network's.
    """

    def __init__(self, modules: Mapping[str, Module], name: str) -> None:
        self._check_ends(Scope(modules, name), name)
        self._module = modules[f"{name}_pipeline"]
        targets = [assignment.target for assignment in self._module.followed]
        parts = [part for target in targets for part in (target.parts if isinstance(target, Concat) else (target,))]
        self._assigned = {part.name for part in parts if isinstance(part, Name)}
        self._given: dict[str, tuple[Instance, str]] = {}
        placed = self._module.instances.values()
        for instance in placed:
            for port in instance.ports:
                if re.fullmatch(r"o(_\d+)?__payload", port):
                    self._given[self._net(instance, port)] = (instance, port.removesuffix("__payload"))
        between = re.compile(rf"{re.escape(name)}_{_BETWEEN}")
        self._between = {each.name for each in placed if between.fullmatch(each.kind)}
        self.stages: dict[str, list[str]] = {}
        for instance in placed:
            if instance.name in self._between:
                continue
            if instance.kind in self.stages:
                raise UnreadableError(f"module {instance.kind} is placed twice")
            self.stages[instance.kind] = [self._source(instance, port) for port in self._inputs(instance)]
        self.output = self._giver({what: f"o__{what}" for what in _SIGNALS}, "the output")

    @staticmethod
    def _check_ends(top: Scope, name: str) -> None:
        """The pipeline must stand between the ports of the top."""
        placed = top.module.instances.get("pipeline")
        if placed is None or placed.kind != f"{name}_pipeline":
            raise UnreadableError(f"module {name} has no {name}_pipeline")
        width = top.port_width("pipeline", "i__payload") - 1  # the rest fills tdata up to whole bytes
        for last, data in ((0, (1 << width) - 2), (1, 1)):
            given = top.again({"s_axis_a_tdata": data, "s_axis_a_tlast": last})
            if given.port("pipeline", "i__payload") != last << width | data:
                raise UnreadableError(f"module {name}: s_axis_a does not enter the pipeline as it is")
        net = top.connected("pipeline", "o__payload")
        width = top.port_width("pipeline", "o__payload") - 1
        for last, data in ((0, (1 << width) - 2), (1, 1)):
            given = top.again({net: last << width | data})
            if (given.value("m_axis_y_tdata"), given.value("m_axis_y_tlast")) != (data, last):
                raise UnreadableError(f"module {name}: m_axis_y is not what the pipeline gives")

    def _inputs(self, instance: Instance) -> list[str]:
        found = [port for port in instance.ports if re.fullmatch(r"i(_\d+)?__payload", port)]
        return [port.removesuffix("__payload") for port in sorted(found)]

    def _source(self, instance: Instance, port: str) -> str:
        """The stage whose results come to a port, past all that is between."""
        nets = {what: self._net(instance, f"{port}__{what}") for what in _SIGNALS}
        return self._giver(nets, f"{instance.name}.{port}")

    def _giver(self, nets: Mapping[str, str], taker: str) -> str:
        for _ in self._module.instances:
            if nets == {what: f"i__{what}" for what in _SIGNALS}:
                return INPUT
            if nets["payload"] not in self._given:
                raise UnreadableError(f"module {self._module.name}: nobody gives {nets['payload']} to {taker}")
            instance, port = self._given[nets["payload"]]
            if any(self._net(instance, f"{port}__{what}") != nets[what] for what in _SIGNALS):
                raise UnreadableError(f"module {self._module.name}: the stream to {taker} comes from two places")
            if instance.name not in self._between:
                return instance.kind
            nets = {what: self._net(instance, f"i__{what}") for what in _SIGNALS}
        raise UnreadableError(f"module {self._module.name}: the stream to {taker} comes from nowhere")

    def _net(self, instance: Instance, port: str) -> str:
        net = instance.ports.get(port)
        if not isinstance(net, Name) or net.low is not None or net.name in self._assigned:
            raise UnreadableError(f"module {self._module.name}: {instance.name}.{port} is no net of its own")
        return net.name
