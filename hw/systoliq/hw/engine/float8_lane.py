"""A float8 engine lane: rounds exact sums, times a scale, to codes, with constants from a table."""

from __future__ import annotations

from amaranth.hdl import Module, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8_requantization import EXPONENTS

from ..block_ram import BlockRam
from ..delay import delay
from ..float8_requantizer import Float8Requantizer, Float8RequantizerConfig, exponent_offset
from ..hierarchy import place
from ..selection import select, select_cycles
from .config import EngineConfig
from .drain_control import lane_step

__all__ = ["Float8EngineLane"]


class Float8EngineLane(wiring.Component):
    """``y`` = the code nearest to a sum times ``multiplier * 2^exponent``, of one column after the other.

    In the cycle of a ``step`` the lane reads ``sums[step.step]``; ``step_next`` is the step for the lane to the right,
    ``interval`` cycles later. ``y`` comes ``latency`` cycles after the step. The column table has the constants of
    every positive and finite float32 scale; exponents are values of `exponents_of`.
    """

    kind = "lane"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._choosing = select_cycles(config.interval) if config.interval > 1 else 0
        self.requantizer = Float8Requantizer(_requantizer_config(config))
        step = lane_step(config, "step", "entry")
        constants = {name: getattr(self.requantizer, name).shape() for name in self.requantizer.constants}
        super().__init__(
            {
                "step": In(step),
                "step_next": Out(step),
                "sums": In(data.ArrayLayout(signed(config.array.word_bits), config.interval)),
                "column_write": In(1),
                "column_address": In(range(config.table_words)),
                "column_value": In(data.StructLayout(constants)),
                "y": Out(8),
            }
        )

    @property
    def latency(self) -> int:
        """[Choice of the column;] requantizer."""
        return self._choosing + self.requantizer.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, requantizer = self._config, self.requantizer
        table = BlockRam(self.column_value.shape(), depth=config.table_words, cells=config.cells)
        m.submodules.requantizer = place(requantizer, platform)
        m.submodules.table = place(table, platform)
        sums = [self.sums[column] for column in range(config.interval)]
        m.d.comb += [
            table.write.eq(self.column_write),
            table.write_address.eq(self.column_address),
            table.write_data.eq(self.column_value),
            table.read.eq(1),
            table.read_address.eq(delay(m, self.step.entry, self._choosing, name="entry")),
            requantizer.acc.eq(select(m, sums, self.step.step) if self._choosing else sums[0]),
            *(getattr(requantizer, name).eq(table.read_data[name]) for name in requantizer.constants),
            self.y.eq(requantizer.y),
            self.step_next.eq(delay(m, Value.cast(self.step), config.interval, name="step")),
        ]
        return m


def _requantizer_config(config: EngineConfig) -> Float8RequantizerConfig:
    """The requantizer below the array of a float8 engine, for every positive and finite scale."""
    array, (_, _, output) = config.array, config.float8_formats
    offset = exponent_offset(array, output)
    return Float8RequantizerConfig(
        sum_bits=array.accumulator_bits,
        flag_bits=array.flag_bits,
        min_exponent=min(EXPONENTS) + offset,
        max_exponent=max(EXPONENTS) + offset,
        output=output,
        cells=config.cells,
    )
