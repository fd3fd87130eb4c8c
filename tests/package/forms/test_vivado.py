"""The Tcl for Vivado, run by a Tcl interpreter in which Vivado's commands record what they are given."""

from __future__ import annotations

import json
import re

import pytest

from ..kinds import KINDS
from .written import RESERVED, written

tkinter = pytest.importorskip("tkinter", reason="apt-get install python3-tk")

# Objects are names with their owner; a property is kept by object and name.
VIVADO = """
proc record {words} { lappend ::calls $words }
proc create_project {args} { record [list create_project {*}$args] }
proc add_files {args} { record [list add_files {*}$args] }
proc current_fileset {} { return sources_1 }
proc update_compile_order {args} {}
proc get_parts {} { return {part_a part_b part_c} }
proc get_property {name object} {
  if {$name eq "family"} { return [dict get {part_a Artix7 part_b artix7 part_c zynquplus} $object] }
  if {$name eq "name"} { return [lindex $object end] }
  error "no property $name"
}
proc set_property {name value object} { dict set ::properties $object $name $value }
namespace eval ipx {
  proc package_project {args} { ::record [list package_project {*}$args] }
  proc current_core {} { return core }
  proc get_bus_interfaces {args} { return {{guessed s_axis} {guessed clock}} }
  proc get_memory_maps {args} { return {{guessed map}} }
  proc remove_bus_interface {name core} { ::record [list removed $name] }
  proc remove_memory_map {name core} { ::record [list removed $name] }
  proc add_bus_interface {name core} { return [::made bus $name] }
  proc add_port_map {logical bus} { return [::made port $bus $logical] }
  proc add_bus_parameter {name bus} { return [::made parameter $bus $name] }
  proc add_memory_map {name core} { return [::made map $name] }
  proc add_address_block {name map} { return [::made block $map $name] }
  foreach name {create_xgui_files update_checksums check_integrity save_core} {
    proc $name {core} "::record $name"
  }
}
proc made {args} {
  if {[dict exists $::properties $args]} { error "twice: $args" }
  dict set ::properties $args {}
  return $args
}
proc close_project {} { record close_project }
set calls {}
set properties {}
"""


def packaged(folder, name, *arguments):
    """Calls of the script's commands, and properties by object, as Vivado would get them."""
    tcl = tkinter.Tcl()
    tcl.wantobjects(False)  # strings, as Tcl has them
    tcl.eval(VIVADO)
    tcl.setvar("argc", len(arguments))
    tcl.setvar("argv", arguments)
    tcl.call("source", str(folder / f"{name}_vivado.tcl"))
    calls = [tcl.splitlist(call) for call in tcl.splitlist(tcl.getvar("calls"))]
    flat = tcl.splitlist(tcl.getvar("properties"))
    properties = {}
    for key, values in zip(flat[::2], flat[1::2], strict=True):
        items = tcl.splitlist(values)
        properties[flattened(tcl, key)] = dict(zip(items[::2], map(str, items[1::2]), strict=True))
    return calls, properties


def flattened(tcl, key):
    """The name of an object: its kind, owner's name and its own."""
    kind, *rest = tcl.splitlist(key)
    if kind not in ("port", "parameter", "block"):
        return (kind, *rest)
    owner, own = rest
    return (kind, tcl.splitlist(owner)[-1], own)


@pytest.mark.parametrize("kind", KINDS)
def test_interfaces_clock_and_reset(kind, tmp_path):
    name, folder = written(kind, tmp_path)
    calls, found = packaged(folder, name)
    ports = {each["name"]: each for each in json.loads((folder / f"{name}.json").read_text())["ports"]}
    buses = [key[1] for key in found if key[0] == "bus"]
    streams = [bus for bus in buses if re.match("[sm]_axis_", bus)]
    assert streams == {"layer": ["s_axis_a", "m_axis_y"], "array": ["s_axis_a", "s_axis_b"],
                       "engine": ["s_axis_a", "s_axis_b", "m_axis_y"], "dma_engine": []}[kind]  # fmt: skip
    mapped = {}
    for (what, *of), properties in found.items():
        if what == "port":
            mapped.setdefault(of[0], {})[of[1]] = properties["physical_name"]
    for bus in streams:
        assert found["bus", bus] == {
            "abstraction_type_vlnv": "xilinx.com:interface:axis_rtl:1.0",
            "bus_type_vlnv": "xilinx.com:interface:axis:1.0",
            "interface_mode": "slave" if bus.startswith("s") else "master",
        }
        assert mapped[bus] == {port.rpartition("_")[2].upper(): port for port in ports if port.startswith(f"{bus}_")}
    control = ["s_axi_ctrl"] if "engine" in kind else []
    masters = [f"m_axi_{name}" for name in ("a", "b", "y", "list")] if kind == "dma_engine" else []
    for bus in masters:
        assert found["bus", bus] == {
            "abstraction_type_vlnv": "xilinx.com:interface:aximm_rtl:1.0",
            "bus_type_vlnv": "xilinx.com:interface:aximm:1.0",
            "interface_mode": "master",
        }
        assert mapped[bus] == {port.rpartition("_")[2].upper(): port for port in ports if port.startswith(f"{bus}_")}
    assert mapped["clk"] == {"CLK": "clk"}
    assert mapped["rst"] == {"RST": "rst"}
    assert found["bus", "clk"]["bus_type_vlnv"] == "xilinx.com:signal:clock:1.0"
    assert found["parameter", "clk", "ASSOCIATED_BUSIF"] == {"value": ":".join([*control, *streams, *masters])}
    assert found["parameter", "clk", "ASSOCIATED_RESET"] == {"value": "rst"}
    assert found["parameter", "rst", "POLARITY"] == {"value": "ACTIVE_HIGH"}
    others = {"error"} if kind == "layer" else {"sums", "sums_valid"} if kind == "array" else set()
    every = [port for of in mapped.values() for port in of.values()]
    assert sorted(every) == sorted(set(ports) - others), "each port is in one interface, but those of no bus"
    assert ("removed", "s_axis") in calls
    assert [call[0] for call in calls][-5:] == [
        "create_xgui_files", "update_checksums", "check_integrity", "save_core", "close_project",
    ]  # fmt: skip


def test_registers_and_interrupt_of_an_engine(tmp_path):
    name, folder = written("engine", tmp_path)
    _, found = packaged(folder, name)
    assert found["bus", "s_axi_ctrl"] == {
        "abstraction_type_vlnv": "xilinx.com:interface:aximm_rtl:1.0",
        "bus_type_vlnv": "xilinx.com:interface:aximm:1.0",
        "interface_mode": "slave",
        "slave_memory_map_ref": "s_axi_ctrl",
    }
    assert found["parameter", "s_axi_ctrl", "PROTOCOL"] == {"value": "AXI4LITE"}
    assert found["block", "s_axi_ctrl", "registers"] == {"usage": "register", "range": "2097152", "width": "32"}
    assert found["port", "irq", "INTERRUPT"] == {"physical_name": "irq"}
    assert found["parameter", "irq", "SENSITIVITY"] == {"value": "LEVEL_HIGH"}


def test_files_and_folder(tmp_path):
    from systoliq.package import write_package

    from ..big import FILES, big_design

    write_package(big_design(), tmp_path / "with spaces")
    calls, found = packaged(tmp_path / "with spaces", "big", str(tmp_path / "elsewhere"))
    added = [call[-1] for call in calls if call[0] == "add_files"]
    assert added == [str(tmp_path / "with spaces" / file) for file in ("big.v", *FILES)]
    (package,) = (call for call in calls if call[0] == "package_project")
    assert package[1:3] == ("-root_dir", str(tmp_path / "elsewhere"))
    assert found["core",]["supported_families"] == "artix7 Production zynquplus Production"
    assert found["sources_1",]["top"] == "big"


@pytest.mark.parametrize("cells", ["dsp48e2", "dsp48e2-pair"])
def test_models_stay_out(cells, tmp_path):
    name, folder = written("layer", tmp_path, cells)
    calls, _ = packaged(folder, name)
    assert [call[-1] for call in calls if call[0] == "add_files"] == [str(folder / f"{name}.v")]
    assert (folder / f"{name}_models.v").is_file()


@pytest.mark.parametrize("name", RESERVED)
def test_words_of_tcl_are_names_all_the_same(name, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    _, found = packaged(folder, name)
    assert found["core",]["name"] == name
