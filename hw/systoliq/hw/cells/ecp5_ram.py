"""ECP5: block RAM with its output register, which synthesis tools leave out.

Sources: Lattice TN1264 (memory usage guide, now FPGA-TN-02204); Yosys' brams_map_16kd.v for the pins of each width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value

from systoliq.golden.words import to_integers

__all__ = ["ROM_WIDTHS", "WIDTHS", "dp16kd", "dp16kd_rom"]

WIDTHS = {16384: 1, 8192: 2, 4096: 4, 2048: 9, 1024: 18}  # of a cell, by its depth
ROM_WIDTHS = {**WIDTHS, 512: 36}
"""The same of a cell that is only read: then both ports read, 18 bits each."""

_ADDRESS_BITS = 14


def dp16kd(
    m: Module, *, write: Value, write_address: Value, data: Value, read: Value, read_address: Value, show: Value
) -> Value:
    """The word at ``read_address`` of the last ``read``, as the cell knew it a cycle ago where there was ``show`` then.

    One cell: ``data`` has up to `WIDTHS`' bits for the depth that the addresses span. A word that is written in the
    cycle in which it is read is unknown. The instance is ``m.submodules.cell``.
    """
    width = WIDTHS[_cell_depth(1 << len(write_address))]
    written = {
        "i_WEA": write,
        **_address("A", write_address, width),
        **{f"i_DIA{i}": data[i] if i < len(data) else 0 for i in range(18)},
    }
    cell, word = _cell(width, read=read, show=show, read_address=read_address, rest=written)
    m.submodules.cell = cell
    return word[: len(data)]


def dp16kd_rom(m: Module, bits: npt.NDArray[np.uint8], *, address: Value, depth: int, name: str) -> Value:
    """The word at ``address``, two cycles later, of ``bits`` [words, width], the lowest first; words that are not given
    are unknown.

    As many cells of ``depth`` words, ``m.submodules[f"{name}_0"]`` and on, as the width needs: `ROM_WIDTHS` says how
    many bits each holds. Address bits beyond ``depth`` are left out.
    """
    width = bits.shape[1]
    each = ROM_WIDTHS[depth]
    address = address[: (depth - 1).bit_length()]
    padded = np.pad(bits, ((0, 0), (0, -width % each)))
    parts = []
    for index, low in enumerate(range(0, width, each)):
        held = padded[:, low : low + each]
        cell, word = _both_ports(held, address) if depth not in WIDTHS else _one_port(held, address)
        m.submodules[f"{name}_{index}"] = cell
        parts.append(word[: min(each, width - low)])
    return Cat(parts)


def _one_port(bits: npt.NDArray[np.uint8], address: Value) -> tuple[Instance, Value]:
    width = bits.shape[1]
    nothing = {"i_WEA": 0, **_address("A", Const(0, 1), width), **{f"i_DIA{i}": 0 for i in range(18)}}
    return _cell(width, read=Const(1), show=Const(1), read_address=address, rest=nothing | initial_values(bits))


def _both_ports(bits: npt.NDArray[np.uint8], address: Value) -> tuple[Instance, Value]:
    """A cell whose ports read the halves of words of 36 bits: A from its lower half, B from its upper."""
    half = 1 << len(address)
    low, high = bits[:, :18], bits[:, 18:]
    held = np.concatenate([np.pad(low, ((0, half - len(low)), (0, 0))), high])
    word = Signal(18, name="low_word")
    rest = {
        "i_WEA": 0,
        **_address("A", Cat(address, Const(0, 1)), 18),
        **{f"i_DIA{i}": 0 for i in range(18)},
        **{f"o_DOA{i}": word[i] for i in range(18)},
    }
    read_address = Cat(address, Const(1, 1))
    cell, upper = _cell(
        18, read=Const(1), show=Const(1), read_address=read_address, rest=rest | initial_values(held), second=True
    )
    return cell, Cat(word, upper)


def initial_values(bits: npt.NDArray[np.uint8]) -> dict[str, Const]:
    """Parameters of a cell that make it hold words of these ``bits`` [words, width], the lowest first, from address 0.

    The memory is bytes of 9 bits, whose last bit words of less than 9 do without. A parameter holds 32 of them, two by
    two in 20 bits.
    """
    byte = 9 if bits.shape[1] >= 9 else 8
    held = _rows(bits, byte)
    pairs = _rows(np.pad(held, ((0, 0), (0, 9 - byte))), 18)
    parameters = np.packbits(_rows(np.pad(pairs, ((0, 0), (0, 2))), 320), axis=1, bitorder="little")
    return {f"p_INITVAL_{i:02X}": Const(value, 320) for i, value in enumerate(to_integers(parameters))}


def _rows(bits: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint8]:
    """``bits`` in rows of ``size``, the last filled up with zeros."""
    return np.pad(bits.ravel(), (0, -bits.size % size)).reshape(-1, size)


def _cell_depth(words: int) -> int:
    return max(1 << (words - 1).bit_length(), min(WIDTHS))


def _address(port: str, value: Value, width: int) -> dict[str, Value | int]:
    """Pins of a port's address; for words of 18 bits, the two lowest pins are the byte enables."""
    low = (width - 1).bit_length() if width < 9 else 3 + width // 18
    enables = range(2 if width == 18 else 0)
    return {
        f"i_AD{port}{i}": value[i - low] if low <= i < low + len(value) else int(i in enables)
        for i in range(_ADDRESS_BITS)
    }


def _cell(
    width: int, *, read: Value, show: Value, read_address: Value, rest: dict[str, Any], second: bool = False
) -> tuple[Instance, Signal]:
    """A cell whose port B reads words of ``width`` bits, with ``rest`` as its other pins and parameters; its word.

    ``second``: port A reads, too, and shows its word as B does.
    """
    word = Signal(width)
    cell = Instance(
        "DP16KD",
        p_DATA_WIDTH_A=width,
        p_DATA_WIDTH_B=width,
        p_REGMODE_A="OUTREG" if second else "NOREG",
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
        i_RSTA=0,
        i_CLKB=ClockSignal(),
        i_CEB=read,
        i_OCEB=show,
        i_WEB=0,
        i_RSTB=0,
        **{f"i_CS{port}{i}": 0 for port in "AB" for i in range(3)},
        **_address("B", read_address, width),
        **{f"o_DOB{i}": word[i] for i in range(width)},
        **rest,
    )
    return cell, word
