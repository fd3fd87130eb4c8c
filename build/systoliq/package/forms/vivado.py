"""The form for Vivado: Tcl that packages the block as an IP with its interfaces, clock and reset."""

from __future__ import annotations

from collections.abc import Iterator

from .block import LIBRARY, VENDOR, VERSION, Block, Interface

__all__ = ["vivado_tcl"]

_HEAD = """\
# Packages {name} for Vivado's IP catalog:  vivado -mode batch -source {name}_vivado.tcl [-tclargs FOLDER]
# FOLDER is `ip` beside this file where none is given; add it to a project's ip_repo_paths.
# Written by systoliq, after the manual: no Vivado was at hand to try it.
set here [file dirname [file normalize [info script]]]
set folder [file join $here ip]
if {{$argc > 0}} {{ set folder [file normalize [lindex $argv 0]] }}

create_project -in_memory {name}_ip
foreach file {{{files}}} {{ add_files -norecurse [file join $here $file] }}
set_property top {name} [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir $folder -vendor {vendor} -library {library} -taxonomy /UserIP -import_files -force
set core [ipx::current_core]
set_property name {name} $core
set_property version {version} $core
set_property display_name {name} $core
set_property description {{systoliq {kind} {name}}} $core

# For the families of all parts that are installed, not for the project's alone.
set families {{}}
foreach part [get_parts] {{ dict set families [string tolower [get_property family $part]] Production }}
set_property supported_families $families $core

# What Vivado guessed from names gives way to what is known.
foreach bus [ipx::get_bus_interfaces -of_objects $core] {{ ipx::remove_bus_interface [get_property name $bus] $core }}
foreach map [ipx::get_memory_maps -of_objects $core] {{ ipx::remove_memory_map [get_property name $map] $core }}

proc add_bus {{core name type mode ports}} {{
  set bus [ipx::add_bus_interface $name $core]
  set_property abstraction_type_vlnv xilinx.com:${{type}}_rtl:1.0 $bus
  set_property bus_type_vlnv xilinx.com:${{type}}:1.0 $bus
  set_property interface_mode $mode $bus
  foreach {{logical physical}} $ports {{ set_property physical_name $physical [ipx::add_port_map $logical $bus] }}
  return $bus
}}
proc add_parameter {{bus name value}} {{ set_property value $value [ipx::add_bus_parameter $name $bus] }}
"""

_TAIL = """\
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project
"""

_TYPES = {"axi4-stream": "interface:axis", "axi4-lite": "interface:aximm", "axi4": "interface:aximm"}


def vivado_tcl(block: Block) -> str:
    """The text of the script."""
    head = _HEAD.format(
        name=block.name, kind=block.kind, files=" ".join([block.rtl, *block.memories]),
        vendor=VENDOR, library=LIBRARY, version=VERSION,
    )  # fmt: skip
    buses = (line for interface in block.interfaces for line in _bus(interface))
    return "\n".join([head, *buses, *_signals(block), "", _TAIL])


def _bus(interface: Interface) -> Iterator[str]:
    ports = " ".join(f"{logical} {port.name}" for logical, port in interface.signals.items())
    yield f"set bus [add_bus $core {interface.name} {_TYPES[interface.protocol]} {interface.role} {{{ports}}}]"
    if interface.protocol == "axi4-lite":
        yield "add_parameter $bus PROTOCOL AXI4LITE"
        yield f"set map [ipx::add_memory_map {interface.name} $core]"
        yield f"set_property slave_memory_map_ref {interface.name} $bus"
        yield "set registers [ipx::add_address_block registers $map]"
        yield "set_property usage register $registers"
        yield f"set_property range {1 << interface.signals['AWADDR'].width} $registers"
        yield f"set_property width {interface.signals['WDATA'].width} $registers"


def _signals(block: Block) -> Iterator[str]:
    """Clock, reset and interrupt. All interfaces are of the one clock and reset."""
    level = "HIGH" if block.reset_is_high else "LOW"
    yield f"set bus [add_bus $core {block.reset} signal:reset slave {{RST {block.reset}}}]"
    yield f"add_parameter $bus POLARITY ACTIVE_{level}"
    yield f"set bus [add_bus $core {block.clock} signal:clock slave {{CLK {block.clock}}}]"
    yield f"add_parameter $bus ASSOCIATED_BUSIF {':'.join(each.name for each in block.interfaces)}"
    yield f"add_parameter $bus ASSOCIATED_RESET {block.reset}"
    if block.interrupt:
        name = block.interrupt.name
        yield f"set bus [add_bus $core {name} signal:interrupt master {{INTERRUPT {name}}}]"
        yield "add_parameter $bus SENSITIVITY LEVEL_HIGH"
