"""The form for tools that read IP-XACT: a component of IEEE 1685-2014, with buses, ports, registers and files."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from .block import LIBRARY, VENDOR, VERSION, Block, Interface, Port
from .ipxact_element import NAMESPACE, Element, add
from .ipxact_registers import add_memory_map

__all__ = ["ipxact_component"]

_BUSES = {"axi4-stream": ("AXI4Stream", "r0p0_1"), "axi4-lite": ("AXI4-Lite", "r0p0_0"), "axi4": ("AXI4", "r0p0_0")}
_SIGNAL_OF_THE_CLOCK = "ACLK"
_VIEW = "rtl"
_RTL, _SIMULATION = "rtl", "simulation"


def ipxact_component(block: Block) -> str:
    """The text of the XML file. Buses are of Arm's AMBA 4 catalog; the clock belongs to each.

    Its reset is active high, and AMBA's ARESETn is not: it is a port alone.
    """
    root = Element("ipxact:component", {"xmlns:ipxact": NAMESPACE})
    for name, text in (("vendor", VENDOR), ("library", LIBRARY), ("name", block.name), ("version", VERSION)):
        add(root, name, text)
    buses = add(root, "busInterfaces")
    for interface in block.interfaces:
        _bus(buses, interface, block)
    if block.control:
        address = block.control.signals["AWADDR"]
        add_memory_map(root, block.control.name, address.width, block.sidecar["registers"])
    _model(add(root, "model"), block)
    _files(add(root, "fileSets"), block)
    add(root, "description", f"systoliq {block.kind}: {block.computes}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _bus(parent: Element, interface: Interface, block: Block) -> None:
    bus = add(parent, "busInterface")
    add(bus, "name", interface.name)
    name, version = _BUSES[interface.protocol]
    catalog = {"vendor": "amba.com", "library": "AMBA4", "version": version}
    add(bus, "busType", attributes={**catalog, "name": name})
    abstraction = add(add(bus, "abstractionTypes"), "abstractionType")
    add(abstraction, "abstractionRef", attributes={**catalog, "name": f"{name}_rtl"})
    maps = add(abstraction, "portMaps")
    signals = {_SIGNAL_OF_THE_CLOCK: block.clock, **{logical: port.name for logical, port in interface.signals.items()}}
    for logical, physical in signals.items():
        each = add(maps, "portMap")
        add(add(each, "logicalPort"), "name", logical)
        add(add(each, "physicalPort"), "name", physical)
    role = add(bus, interface.role)
    if interface is block.control:
        add(role, "memoryMapRef", attributes={"memoryMapRef": interface.name})


def _model(model: Element, block: Block) -> None:
    view = add(add(model, "views"), "view")
    add(view, "name", _VIEW)
    add(view, "componentInstantiationRef", _VIEW)
    instantiation = add(add(model, "instantiations"), "componentInstantiation")
    add(instantiation, "name", _VIEW)
    add(instantiation, "language", "Verilog")
    add(instantiation, "moduleName", block.name)
    add(add(instantiation, "fileSetRef"), "localName", _RTL)
    _ports(add(model, "ports"), block.ports)


def _ports(parent: Element, ports: Iterable[Port]) -> None:
    for port in ports:
        each = add(parent, "port")
        add(each, "name", port.name)
        add(each, "description", port.meaning)
        wire = add(each, "wire")
        add(wire, "direction", {"input": "in", "output": "out"}[port.direction])
        if port.width > 1:
            vector = add(add(wire, "vectors"), "vector")
            add(vector, "left", port.width - 1)
            add(vector, "right", 0)


def _files(parent: Element, block: Block) -> None:
    """The files for synthesis, and the files for simulation only."""
    verilog, other = "verilogSource", "user"  # 1685-2014 has no name for Verilog-2005
    sets = {
        _RTL: [(block.rtl, verilog), *((file, other) for file in block.memories)],
        _SIMULATION: [(file, verilog) for file in (*block.models, f"{block.testbench}.v")],
    }
    for name, files in sets.items():
        group = add(parent, "fileSet")
        add(group, "name", name)
        for file, kind in files:
            each = add(group, "file")
            add(each, "name", file)
            add(each, "fileType", kind, {"user": "memoryContents"} if kind == other else None)
