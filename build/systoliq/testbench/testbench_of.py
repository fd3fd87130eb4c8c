"""The testbench of a design of any kind."""

from __future__ import annotations

from functools import singledispatch

from ..design.array.design import ArrayDesign
from ..design.design import Design
from ..design.dma_engine.design import DmaEngineDesign
from ..design.engine.design import EngineDesign
from ..design.layer.design import LayerDesign
from ..design.network.design import NetworkDesign
from .array.testbench import array_testbench
from .dma_engine.testbench import dma_engine_testbench
from .engine.testbench import engine_testbench
from .layer.testbench import layer_testbench
from .network.testbench import network_testbench

__all__ = ["testbench_of"]


@singledispatch
def testbench_of(design: Design) -> str:
    """Return plain Verilog of the self-checking testbench `<name>_tb` of `design`."""
    raise TypeError(f"design must be a Design with a testbench, not {type(design).__name__}")


testbench_of.register(ArrayDesign, array_testbench)
testbench_of.register(LayerDesign, layer_testbench)
testbench_of.register(NetworkDesign, network_testbench)
testbench_of.register(EngineDesign, engine_testbench)
testbench_of.register(DmaEngineDesign, dma_engine_testbench)
