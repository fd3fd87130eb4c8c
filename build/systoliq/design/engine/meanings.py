"""Meanings of an engine's ports."""

from __future__ import annotations

__all__ = ["MEANINGS"]

_WRITE_ADDRESS, _WRITE, _ANSWER = "AXI4-Lite, address of a write", "AXI4-Lite, data of a write", "AXI4-Lite, its answer"
_READ_ADDRESS, _READ = "AXI4-Lite, address of a read", "AXI4-Lite, what was read"

MEANINGS = {
    "rst": "synchronous reset, active high; the contents of the tables may be lost",
    **{
        f"s_axi_ctrl_{channel}{signal}": f"{title}: {text}"
        for channel, title, signals in (
            ("aw", _WRITE_ADDRESS, {"addr": "in bytes, a multiple of 4, see registers.md", "prot": "not looked at"}),
            ("w", _WRITE, {"data": "see registers.md", "strb": "must be all ones"}),
            ("b", _ANSWER, {"resp": "OKAY, or SLVERR where there is no such register"}),
            ("ar", _READ_ADDRESS, {"addr": "in bytes, a multiple of 4, see registers.md", "prot": "not looked at"}),
            ("r", _READ, {"data": "see registers.md", "resp": "OKAY, or SLVERR where there is no such register"}),
        )
        for signal, text in (signals | {"valid": "it is offered", "ready": "it is taken"}).items()
    },
    "s_axis_a_tlast": "the last word of A of a job",
    "s_axis_b_tlast": "the last word of B of a job",
    "s_axis_b_tready": "the beat of B is taken",
    "m_axis_y_tkeep": "bytes of tdata that count, always the lowest",
    "m_axis_y_tlast": "the last beat of a job",
    "irq": "interrupt, active high, for what the register INTERRUPT names",
}
