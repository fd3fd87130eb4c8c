"""Streams between the stages of a network, followed in the Verilog: each stage, and whose results it takes.

Between stages are buffers that carry beats unchanged (skid buffers, forks, FIFOs) or at another width (gearboxes). Only
their connections are read, not their function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .evaluate import Scope
from .expression import Concat, Name, UnreadableError
from .modules import Instance, Module

__all__ = ["BETWEEN", "INPUT", "Streams", "numbered_names"]

INPUT = "s_axis_a"
BETWEEN = {
    "skid buffer": r"skid_buffer_\d+",
    "fork": r"fork_\d+_of_\d+",
    "FIFO": r"fifo_\d+x\d+",
    "gearbox": r"gearbox_\d+_to_\d+_of_\d+",
}
"""The buffers between stages, by the ends of their modules' names."""

_SIGNALS = ("payload", "valid", "ready")


def _streams(ports: Iterable[str], letter: str) -> list[str]:
    """The streams called `letter`, or `letter` with a number, in their order."""
    found = [port.removesuffix("__payload") for port in ports if re.fullmatch(rf"{letter}(_\d+)?__payload", port)]
    return sorted(found, key=_place)


def _place(port: str) -> int:
    """The number at the end of a port's name, 0 without one."""
    return int(port.partition("_")[2] or 0)


def _numbers(ports: Sequence[str]) -> list[str]:
    """The endings of the names of the top's streams: none for one stream, else their places in the pipeline."""
    wanted = [""] if len(ports) == 1 else [str(index) for index in range(len(ports))]
    if [each.partition("_")[2] for each in ports] != wanted:
        raise UnreadableError(f"the pipeline's streams must be numbered from 0, not {', '.join(ports)}")
    return wanted


def numbered_names(name: str, count: int) -> list[str]:
    """The names of `count` instances: `name` for one, else `name` with a number."""
    return [name] if count == 1 else [f"{name}_{index}" for index in range(count)]


def _check_handshake(top: Scope, name: str, port: str, stream: str, to: str, back: str) -> None:
    """Raise UnreadableError if the port's signal `to` is not given to the pipeline, or `back` is not what it gives."""
    net = top.connected("pipeline", f"{port}__{back}")
    cases = ((0, 0), (0, 1), (1, 0), (1, 1))
    try:
        seen = [top.again({f"{stream}_t{to}": given, net: offered}) for given, offered in cases]
        found = [(each.port("pipeline", f"{port}__{to}"), each.value(f"{stream}_t{back}")) for each in seen]
    except UnreadableError:
        found = []
    if found != list(cases):
        raise UnreadableError(f"module {name}: t{to} and t{back} of {stream} must be the pipeline's as they are")


def _check_input(top: Scope, name: str, port: str, stream: str) -> None:
    """Raise UnreadableError if `stream` is not the one that the pipeline takes at `port`."""
    width = top.port_width("pipeline", f"{port}__payload") - 1  # the rest fills tdata up to whole bytes
    for last, data in ((0, (1 << width) - 2), (1, 1)):
        given = top.again({f"{stream}_tdata": data, f"{stream}_tlast": last})
        if given.port("pipeline", f"{port}__payload") != last << width | data:
            raise UnreadableError(f"module {name}: {stream} does not enter the pipeline as it is")
    _check_handshake(top, name, port, stream, "valid", "ready")


def _check_output(top: Scope, name: str, port: str, stream: str) -> None:
    """Raise UnreadableError if `stream` is not the one that the pipeline gives at `port`."""
    net = top.connected("pipeline", f"{port}__payload")
    width = top.port_width("pipeline", f"{port}__payload") - 1
    for last, data in ((0, (1 << width) - 2), (1, 1)):
        given = top.again({net: last << width | data})
        if (given.value(f"{stream}_tdata"), given.value(f"{stream}_tlast")) != (data, last):
            raise UnreadableError(f"module {name}: {stream} is not what the pipeline gives")
    _check_handshake(top, name, port, stream, "ready", "valid")


class Streams:
    """The streams of the network `name` of these modules.

    `stages`: for each stage's module, the modules whose results it takes, in the order of its inputs, or the input of
    the network (`INPUT`, or `INPUT` with a number); `outputs`: by letter, the modules whose results are the network's.
    """

    def __init__(self, modules: Mapping[str, Module], name: str) -> None:
        self._inputs_of_network, ends = self._ends(Scope(modules, name), name)
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
        between = re.compile(rf"{re.escape(name)}_({'|'.join(BETWEEN.values())})")
        self._between = {each.name for each in placed if between.fullmatch(each.kind)}
        self.stages: dict[str, list[str]] = {}
        for instance in placed:
            if instance.name in self._between:
                continue
            if instance.kind in self.stages:
                raise UnreadableError(f"module {instance.kind} is placed twice")
            self.stages[instance.kind] = [self._source(instance, port) for port in self._inputs(instance)]
        self.outputs = {
            letter: self._giver({what: f"{port}__{what}" for what in _SIGNALS}, f"the output {letter}")
            for letter, port in ends.items()
        }

    @staticmethod
    def _ends(top: Scope, name: str) -> tuple[dict[str, str], dict[str, str]]:
        """The pipeline's inputs with the top's names of them, and its outputs by the letters in the top's names.

        The pipeline must stand between the ports of the top.
        """
        placed = top.module.instances.get("pipeline")
        if placed is None or placed.kind != f"{name}_pipeline":
            raise UnreadableError(f"module {name} has no {name}_pipeline")
        inputs, outputs = (_streams(placed.ports, letter) for letter in "io")
        given = {port: INPUT + number for port, number in zip(inputs, _numbers(inputs), strict=True)}
        for port, stream in given.items():
            _check_input(top, name, port, stream)
        left = {f"y{number}": port for port, number in zip(outputs, _numbers(outputs), strict=True)}
        for letter, port in left.items():
            _check_output(top, name, port, f"m_axis_{letter}")
        return given, left

    def _inputs(self, instance: Instance) -> list[str]:
        found = [port for port in instance.ports if re.fullmatch(r"i(_\d+)?__payload", port)]
        return [port.removesuffix("__payload") for port in sorted(found)]

    def _source(self, instance: Instance, port: str) -> str:
        """The stage whose results come to a port, past all that is between."""
        nets = {what: self._net(instance, f"{port}__{what}") for what in _SIGNALS}
        return self._giver(nets, f"{instance.name}.{port}")

    def _giver(self, nets: Mapping[str, str], taker: str) -> str:
        for _ in self._module.instances:
            port = nets["payload"].removesuffix("__payload")
            if port in self._inputs_of_network and nets == {what: f"{port}__{what}" for what in _SIGNALS}:
                return self._inputs_of_network[port]
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
