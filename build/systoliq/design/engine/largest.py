"""The largest engine for a part: the array, lanes and buffers that fit it and meet its clock.

part -> candidates (powers of two) -> those whose cells fit -> most products, deepest array, most lanes
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from systoliq.hw.cells import family
from systoliq.hw.engine import EngineConfig

from ...errors import InputError

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["LANES_LIMIT", "SIZES", "check_multipliers", "engine_cost", "is_known", "largest", "reason"]

LANES_LIMIT = 4  # of those that are chosen: each has a multiplier of 32 x 24 bits
SIZES = ("rows", "cols", "depth", "lanes")
"""Options of an array: with any of them, nothing is chosen."""
_DEPTH = 8
_COUNTED = {"dsp": "multipliers", "lut_sites": "LUT sites", "ram": "memory blocks"}


@dataclass(frozen=True, kw_only=True)
class _Cost:
    """Cells that an engine takes of a part, at most: of netlists, which `tests/design/engine/test_largest.py` counts.

    Parameters
    ----------
    mhz
        that the choice must meet.
    products
        the most products a cycle that were placed and met `mhz`; more were placed and missed it, or do not fit.
    lane, besides
        multipliers, LUT sites and memory blocks of a lane, and of what there is once.
    element, product
        LUT sites of an element of the array, and of a product.
    memory
        bits of a word that a memory block holds, by the words that it holds then.
    masters, vector
        LUT sites and memory blocks of masters, and of a vector unit, for each byte of the bus; None where no part of
        the family has room.
    pairs, rows
        multipliers, LUT sites and memory blocks of the vector unit's parts for products of two tensors and for rows.
    sizes
        of buffers and tables, where the defaults of `EngineConfig` do not fit.
    """

    mhz: int
    products: int
    lane: tuple[int, int, int]
    besides: tuple[int, int, int]
    element: int
    product: int
    memory: Mapping[int, int]
    masters: tuple[float, float] | None = None
    vector: tuple[float, float] = (0, 0)
    pairs: tuple[int, int, int] = (0, 0, 0)
    rows: tuple[int, int, int] = (0, 0, 0)
    sizes: Mapping[str, int] = field(default_factory=dict)


_COSTS = {
    "ecp5": _Cost(
        mhz=125, products=128, lane=(4, 1500, 9), besides=(1, 2000, 4), element=60, product=30,
        memory={512: 36, 1024: 18, 2048: 9, 4096: 4, 8192: 2, 16384: 1}, masters=(1200, 2.25), vector=(260, 2),
        pairs=(2, 500, 1), rows=(16, 3500, 10),
    ),
    "ice40": _Cost(
        mhz=24, products=8, lane=(4, 1800, 10), besides=(0, 2500, 4), element=100, product=60,
        memory={256: 16, 512: 8, 1024: 4, 2048: 2},
        sizes={"a_words": 64, "b_words": 256, "max_columns": 64, "max_rows": 64},
    ),
}  # fmt: skip
"""By the set of cells."""


def largest(part: Target, bus: int | None, asked: Mapping[str, Any]) -> EngineConfig:
    """The largest engine of integers for `part`, with masters of `bus` bits, and with the fields in `asked`.

    Rows, columns, depth and lanes are powers of two, as streams and channels are: the most products, then the deepest
    array, which takes the fewest LUTs, then the most lanes. Raises InputError if no engine fits, with what is short.
    """
    cost, short = _COSTS[part.cells], ""
    for sizes in _candidates(cost, bus):
        config = EngineConfig(**{**cost.sizes, **asked, **dict(zip(SIZES, sizes, strict=True))}, cells=part.cells)
        short = _short(config, bus, part)
        if not short:
            return config
    raise InputError(
        f"target must have room for an engine{f' with a bus of {bus} bits' if bus else ''}, not {part.name}: {short}; "
        f"choose a larger target{', or omit bus' if bus else ''}"
    )


def reason(config: EngineConfig, bus: int | None, part: Target) -> str:
    """One line: what was chosen for `part`, and why it is the largest."""
    cost, taken = _COSTS[part.cells], engine_cost(config, None)
    lanes = f"{config.lanes} lane{'s' * (config.lanes > 1)}"
    return (
        f"engine for {part.name}: {config.rows} x {config.cols} x {config.depth}, {lanes}, {config.macs_per_cycle} "
        f"products a cycle in {taken['dsp']} of {part.capacity['dsp']} multipliers: the largest in powers of two that "
        f"fits and{', with streams,' if bus else ''} meets {cost.mhz} MHz (docs/engine.md)"
    )


def is_known(part: Target, cells: str) -> bool:
    """True if the sizes of an engine of these cells on `part` are known."""
    return part.family == family(cells) and cells in _COSTS


def check_multipliers(config: EngineConfig, part: Target) -> None:
    """Raise InputError if an engine of these sizes takes more multipliers than `part` has."""
    taken, room = engine_cost(config, None)["dsp"], part.capacity["dsp"]
    if taken > room:
        raise InputError(
            f"rows, cols, depth and lanes must fit the {room} multipliers of {part.name}, but {config.rows} x "
            f"{config.cols} x {config.depth} with {config.lanes} lanes takes {taken}; without them, the largest engine "
            f"that fits is chosen"
        )


def engine_cost(config: EngineConfig, bus: int | None) -> dict[str, int]:
    """Multipliers, and upper bounds of LUT sites and memory blocks, by the keys of a part's capacity."""
    from systoliq.hw.mac import multipliers_of  # with Amaranth, which the options of commands do not need

    cost = _COSTS[config.cells]
    elements = config.rows * config.cols
    dsp, luts, ram = (once + each * config.lanes for once, each in zip(cost.besides, cost.lane, strict=True))
    dsp += elements * multipliers_of(config.cells, config.depth)
    luts += cost.element * elements + cost.product * config.macs_per_cycle
    for part in (cost.pairs if config.vector else None, cost.rows if config.row_length else None):
        if part is not None:
            dsp, luts, ram = (count + more for count, more in zip((dsp, luts, ram), part, strict=True))
    for words, bytes_of_word in (
        (config.a_words, config.rows * config.depth),
        (config.b_words, config.cols * config.depth),
    ):
        ram += _blocks(cost.memory, words, 8 * bytes_of_word)
    if bus is not None and cost.masters is not None:
        for sites, blocks in (cost.masters, cost.vector) if config.vector else (cost.masters,):
            luts, ram = luts + math.ceil(sites * bus / 8), ram + math.ceil(blocks * bus / 8)
    return {"dsp": dsp, "lut_sites": luts, "ram": ram}


def _candidates(cost: _Cost, bus: int | None) -> Iterator[tuple[int, int, int, int]]:
    """Rows, columns, depth and lanes, in the order of choice."""
    powers = [1 << power for power in range(cost.products.bit_length())]
    found = [
        (rows, cols, depth, lanes)
        for rows, cols, depth, lanes in itertools.product(powers, repeat=4)
        if rows * cols * depth <= cost.products
        and rows <= cols <= 2 * rows  # nearly square: each operand is used as often as possible
        and depth <= min(_DEPTH, (bus or 8 * _DEPTH) // 8)
        and lanes <= min(LANES_LIMIT, cols)
    ]
    yield from sorted(found, key=lambda sizes: (-sizes[0] * sizes[1] * sizes[2], -sizes[2], -sizes[3]))


def _short(config: EngineConfig, bus: int | None, part: Target) -> str:
    """The cells of which `part` has too few, for an error; empty if `config` fits."""
    if bus is not None and _COSTS[config.cells].masters is None:
        return "its masters alone are larger than the part"
    taken = engine_cost(config, bus)
    return ", ".join(
        f"the smallest takes {count} {_COUNTED[key]} of {part.capacity[key]}"
        for key, count in taken.items()
        if count > part.capacity[key]
    )


def _blocks(memory: Mapping[int, int], words: int, bits: int) -> int:
    """Memory blocks for `words` of `bits`, in the shape that takes the fewest."""
    return min(-(-words // depth) * -(-bits // width) for depth, width in memory.items())
