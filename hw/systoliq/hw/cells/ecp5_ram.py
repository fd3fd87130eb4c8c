"""ECP5: block RAM with its output register, which synthesis tools leave out.

Sources: Lattice TN1264 (memory usage guide, now FPGA-TN-02204); Yosys' brams_map_16kd.v for the pins of each width.
"""

from __future__ import annotations

from amaranth.hdl import ClockSignal, Instance, Module, Signal, Value

__all__ = ["WIDTHS", "dp16kd"]

WIDTHS = {16384: 1, 8192: 2, 4096: 4, 2048: 9, 1024: 18}  # of a cell, by its depth
_ADDRESS_BITS = 14


def dp16kd(
    m: Module, *, write: Value, write_address: Value, data: Value, read: Value, read_address: Value, show: Value
) -> Value:
    """The word at ``read_address`` of the last ``read``, as the cell knew it a cycle ago where there was ``show`` then.

    One cell: ``data`` has up to `WIDTHS`' bits for the depth that the addresses span. A word that is written in the
    cycle in which it is read is unknown. The instance is ``m.submodules.cell``.
    """
    depth = max(1 << len(write_address), min(WIDTHS))
    width = WIDTHS[depth]
    low = _ADDRESS_BITS - (depth - 1).bit_length()
    word = Signal(width)
    enables = 3 if width == 18 else 0  # of the two bytes of a word

    def address(value: Value, port: str) -> dict[str, Value | int]:
        return {
            f"i_AD{port}{i}": value[i - low] if low <= i < low + len(value) else (enables >> i & 1 if i < 2 else 0)
            for i in range(_ADDRESS_BITS)
        }

    m.submodules.cell = Instance(
        "DP16KD",
        p_DATA_WIDTH_A=width,
        p_DATA_WIDTH_B=width,
        p_REGMODE_A="NOREG",
        p_REGMODE_B="OUTREG",
        p_RESETMODE="SYNC",
        p_ASYNC_RESET_RELEASE="SYNC",
        p_CSDECODE_A="0b000",
        p_CSDECODE_B="0b000",
        p_CLKAMUX="CLKA",
        p_CLKBMUX="CLKB",
        p_WRITEMODE_A="NORMAL",
        p_WRITEMODE_B="NORMAL",
        p_GSR="DISABLED",
        i_CLKA=ClockSignal(),
        i_CEA=1,
        i_OCEA=1,
        i_WEA=write,
        i_RSTA=0,
        i_CLKB=ClockSignal(),
        i_CEB=read,
        i_OCEB=show,
        i_WEB=0,
        i_RSTB=0,
        **{f"i_CS{port}{i}": 0 for port in "AB" for i in range(3)},
        **address(write_address, "A"),
        **address(read_address, "B"),
        **{f"i_DIA{i}": data[i] if i < len(data) else 0 for i in range(18)},
        **{f"o_DOB{i}": word[i] for i in range(width)},
    )
    return word[: len(data)]
