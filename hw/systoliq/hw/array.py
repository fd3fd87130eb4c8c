"""The systolic array: columns of processing elements and the control that travels with A."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .config import ArrayConfig
from .delay import delay
from .direct_drain import DirectDrain
from .hierarchy import place
from .mac import Mac, operand_layout, together
from .processing_element import ProcessingElement
from .skew import Skew

__all__ = ["ArrayColumn", "SystolicArray"]


class ArrayColumn(wiring.Component):
    """``rows`` processing elements, one below the other: A and control enter at the left, B above; sums leave below,
    all parts of each at once.

    Elements of two columns make two columns of the array (see `ProcessingElement`).

    Operands and control of all rows stand side by side in one word each, row 0 in the lowest bits; ``insert`` begins
    with row 1. A ``direct`` column has neither ``capture`` nor ``insert``, but a `DirectDrain` and its ``row``.
    Emission takes time for each named field and each bit between blocks: hence plain words, and columns, which pass on
    operands, where rows would pass on sums. ``ones`` and ``broadcast``: see `SystolicArray`; ``first``: it is column 0.
    """

    def __init__(
        self,
        config: ArrayConfig,
        *,
        direct: bool = False,
        ones: bool = False,
        broadcast: bool = False,
        first: bool = False,
    ) -> None:
        self.config = config
        self._direct = direct
        self._broadcast = broadcast
        # of row 0, of the rows below
        self._sums: tuple[str | None, str | None] = ("b", None) if ones else (None, None)
        if ones and first:
            self._sums = ("a", "a")
        self.kind = "column_of_row_sums" if ones and first else "column"
        self._sideways = {"a": config.rows * config.depth * config.a.bits, "clear": config.rows}
        if not direct:
            self._sideways["capture"] = config.rows
            if config.rows > 1:
                self._sideways["insert"] = config.rows - 1
        ports = {name: In(bits) for name, bits in self._sideways.items()}
        ports |= {f"{name}_next": Out(bits) for name, bits in self._sideways.items()}
        ports |= {
            "b": In(operand_layout(config.b, config.depth * Mac.columns_of(config))),
            "sum": Out(signed(config.word_bits * Mac.columns_of(config))),
        }
        if direct:
            ports |= {"row": In(range(config.rows)), "row_next": Out(range(config.rows))}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        b = self.b
        drain = None
        sums = []
        onward: dict[str, list[Value]] = {name: [] for name in self._sideways}
        for row in range(self.config.rows):
            pe = ProcessingElement(
                self.config, top=row == 0, direct=self._direct, sums=self._sums[row > 0], broadcast=self._broadcast
            )
            m.submodules[f"pe_{row}"] = place(pe, platform)
            for name in self._sideways:
                if name == "insert" and row == 0:
                    continue
                here, there = (Value.cast(getattr(pe, port)) for port in (name, f"{name}_next"))
                m.d.comb += here.eq(getattr(self, name).word_select(len(onward[name]), len(here)))
                onward[name].append(there)
            m.d.comb += pe.b.eq(b)
            b = pe.b_next
            if self._direct:
                sums.append(pe.sum)
                continue
            if drain is not None:
                m.d.comb += pe.drain.eq(drain)
            drain = pe.drain_next
        m.d.comb += [getattr(self, f"{name}_next").eq(Cat(values)) for name, values in onward.items()]
        if self._direct:
            direct = DirectDrain(self.config)
            m.submodules.drain = place(direct, platform)
            m.d.comb += [
                Value.cast(direct.sums).eq(Cat(sums)),
                direct.row.eq(self.row),
                self.row_next.eq(direct.row_next),
            ]
            drain = direct.sum
        m.d.comb += self.sum.eq(together(m, drain, Mac.parts_of(self.config), name="sum"))
        return m


class SystolicArray(wiring.Component):
    """An output-stationary array with overlapping drain; a fixed-latency pipeline without stall. Reset ends all tiles.

    Operands arrive skewed: what row 0 and column 0 see in cycle t, row r sees in ``t + r`` and column c in ``t + c``
    (see `Skew`). ``first`` and ``last`` mark the first and last beat of a tile, in step with row 0; a cycle without a
    beat carries ``a = 0`` and neither mark. Beats of a tile may be any number of cycles apart, and the last beats of
    two tiles must be at least ``rows * interval`` cycles apart.

    ``sums[c]`` shows the sum of row r, column c in cycle ``t + latency + r * interval + c``, where t is the cycle of
    the ``last`` beat. With one row it stays until the next tile's sum of that column; else for that one cycle.

    With ``ones``, all ``a`` of row 0 and all ``b`` of column 0 must be ones: row 0 then returns the sums of B's columns
    and column 0 the sums of A's rows, in `OperandSum.BITS` bits, without multipliers. (Cells that serve two columns use
    multipliers nevertheless.)

    With ``broadcast``, operands arrive without skew and reach all elements in the same cycle; the timing of ``sums`` is
    the same. This takes fewer registers and `drain_cycles_of` cycles from one ``last`` beat to the next.
    """

    def __init__(self, config: ArrayConfig, *, interval: int = 1, ones: bool = False, broadcast: bool = False) -> None:
        self.config = config
        self._broadcast = broadcast
        self.interval = interval
        self._direct = interval == 1 and config.rows > 1 and not broadcast
        self._ones = ones and Mac.columns_of(config) == 1
        self.kind = "array"
        super().__init__(
            {
                "a": In(data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)),
                "b": In(data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)),
                "first": In(1),
                "last": In(1),
                "sums": Out(data.ArrayLayout(signed(config.word_bits), config.cols)),
            }
        )

    @staticmethod
    def drain_cycles_of(config: ArrayConfig, interval: int, *, broadcast: bool = False) -> int:
        """Return the least number of cycles from one tile's ``last`` beat to the next one's.

        With ``broadcast``, all shadow registers are overwritten in the same cycle: not before the drain chain has taken
        the last row of the last column. With one row, they are the outputs themselves, which takes a cycle more.
        """
        if broadcast:
            taken = (config.rows - 1) * (interval + 1) + config.cols - (config.rows > 1)
            return max(config.rows * interval, taken)
        return config.rows * interval

    @property
    def latency(self) -> int:
        """Cycles from the ``last`` beat to the sum of row 0, column 0 at the bottom: MAC, way down, its last part."""
        down = DirectDrain.latency_of(self.config) if self._direct else 1 + (self.config.rows - 1)
        return Mac.latency_of(self.config) + down + Mac.spread_of(self.config)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operands = {name: self._depth_skewed(m, name, platform) for name in ("a", "b")}
        clear = self._token(m, self.first, Mac.clear_delay_of(self.config), "clear")
        left = {"a": Cat(operands["a"]), "clear": self._of_rows(m, clear, int(not self._broadcast), "clear")}
        left |= self._row(m) if self._direct else self._capture_and_insert(m)
        bits, step = self.config.word_bits, Mac.columns_of(self.config)
        for col in range(0, self.config.cols, step):
            column = ArrayColumn(
                self.config, direct=self._direct, ones=self._ones, broadcast=self._broadcast, first=col == 0
            )
            m.submodules[f"column_{col}"] = place(column, platform)
            m.d.comb += [getattr(column, name).eq(value) for name, value in left.items()]
            m.d.comb += Value.cast(column.b).eq(Cat(operands["b"][col : col + step]))
            for i in range(min(step, self.config.cols - col)):  # the second sum leaves below with the first
                total = column.sum if step == 1 else column.sum[i * bits : (i + 1) * bits]
                m.d.comb += self.sums[col + i].eq(delay(m, total, i, name=f"sum_{col + i}"))
            left = {name: getattr(column, f"{name}_next") for name in left}
        return m

    def _row(self, m: Module) -> dict[str, Value]:
        """The row whose sum is whole in column 0."""
        row = Signal(range(self.config.rows), reset_less=True)
        whole = self._token(m, self.last, Mac.latency_of(self.config) - 1, "whole")
        m.d.sync += row.eq(Mux(whole, 0, row + 1))
        return {"row": row}

    def _capture_and_insert(self, m: Module) -> dict[str, Value]:
        """Control of column 0's shadow registers and drain chain, of all rows."""
        capture = self._token(m, self.last, Mac.latency_of(self.config), "capture")
        tokens = {"capture": self._of_rows(m, capture, int(not self._broadcast), "capture")}
        if self.config.rows > 1:
            tokens["insert"] = self._of_rows(m, capture, 1 + self.interval, "insert")[1:]
        return tokens

    def _of_rows(self, m: Module, token: Value, cycles: int, name: str) -> Value:
        """The token of each row, each delayed by ``cycles`` from the row above."""
        tokens = [token]
        for row in range(1, self.config.rows):
            tokens.append(self._token(m, tokens[-1], cycles, f"{name}_row_{row}"))
        return Cat(tokens)

    @staticmethod
    def _token(m: Module, token: Value, cycles: int, name: str) -> Value:
        """A token that reset forgets: one of a tile before it would put a row's sum where a later tile's passes."""
        return delay(m, token, cycles, name=name, reset_less=False)

    def _depth_skewed(self, m: Module, name: str, platform: object) -> list[Value]:
        """Each lane of ``a`` or ``b``; operands are skewed if the form of the cells requires it (`Mac.skew_of`)."""
        word = getattr(self, name)
        lanes = [Value.cast(word[i]) for i in range(word.shape().length)]
        if self.config.depth == 1 or not Mac.skew_of(self.config):
            return lanes
        for i, lane in enumerate(lanes):
            skew = Skew(word.shape().elem_shape, kind=f"skew_depth_{name}")
            m.submodules[f"skew_{name}_{i}"] = place(skew, platform)
            m.d.comb += Value.cast(skew.word).eq(lane)
            lanes[i] = Value.cast(skew.out)
        return lanes
