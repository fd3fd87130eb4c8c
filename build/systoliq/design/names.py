"""Names of Verilog modules."""

from __future__ import annotations

import re

from ..errors import InputError, expect

__all__ = ["NAME_LIMIT", "RESERVED", "module_name"]

# The keywords of Verilog and SystemVerilog (IEEE 1800-2017, table B.1): a module cannot have their names.
_KEYWORDS = """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind
    bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config
    const constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist
    do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface
    endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event
    eventually expect export extends extern final first_match for force foreach forever fork forkjoin function
    generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir
    include initial inout input inside instance int integer interconnect interface intersect join join_any join_none
    large let liblist library local localparam logic longint macromodule matches medium modport module nand negedge
    nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
    posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect
    pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release repeat
    restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared
    sequence shortint shortreal showcancelled signed small soft solve specify specparam static string strong strong0
    strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0
    unsigned until until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while
    wildcard wire with within wor xnor xor
"""
# What Icarus Verilog also reads as a keyword, what Verilator keeps for itself, and the module that makes traces.
_OF_TOOLS = ("bool", "wreal", "TOP", "systoliq_waves")
_PORTS = ("clk", "rst")  # of every module: Verilator takes no module with the name of a port of its own
RESERVED = frozenset((*_KEYWORDS.split(), *_OF_TOOLS, *_PORTS))
"""Words that no module may be called."""

NAME_LIMIT = 100
"""Characters of a module's name, which file names begin with."""


def module_name(given: str | None, default: str) -> str:
    """The name that was asked for, which must be a plain Verilog identifier, or `default` made into one."""
    expect("name", given, str, type(None))
    if given is not None and _identifier(given) != given:
        raise InputError(f"name must be a Verilog identifier of letters, digits and _, and no keyword, not {given!r}")
    if given is not None and len(given) > NAME_LIMIT:
        raise InputError(f"name must have at most {NAME_LIMIT} characters, not {len(given)}")
    return _identifier(default)[:NAME_LIMIT] if given is None else given


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if re.match(r"[A-Za-z]", plain) and plain not in RESERVED else f"layer_{plain}"
