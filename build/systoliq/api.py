"""The Python interface in one import: designs from layers, models and presets, and what is made of them.

>>> from systoliq.api import Design, Hardware, MatMulLayer, read_onnx
>>> design = Design(layer, Hardware(depth=4, requantizer="auto", cells="ecp5"))
>>> design.simulate(a).check()
>>> design.synthesize("ecp5-85k").fmax_mhz
>>> design.write("out/fc")
"""

from __future__ import annotations

from systoliq.build.design import (
    ArrayDesign,
    Design,
    EngineDesign,
    Hardware,
    LayerDesign,
    SelfFedEngineDesign,
    Simulated,
    open_source,
)
from systoliq.build.errors import InputError, MissingPackageError
from systoliq.build.inference import CompiledModel, EngineSession, compile_onnx
from systoliq.build.onnx import Product, read_network, read_onnx, read_products
from systoliq.build.synth import SynthReport
from systoliq.build.verify import verify_package
from systoliq.golden import matmul_integer, qlinear_matmul
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.hw.engine import EngineConfig
from systoliq.sim import SimulationError, ToolError
from systoliq.sim.engine import Engine

__all__ = [
    "ArrayDesign",
    "CompiledModel",
    "Design",
    "Engine",
    "EngineConfig",
    "EngineDesign",
    "EngineSession",
    "Hardware",
    "InputError",
    "LayerDesign",
    "MatMulLayer",
    "MissingPackageError",
    "Network",
    "Product",
    "SelfFedEngineDesign",
    "Simulated",
    "SimulationError",
    "SynthReport",
    "ToolError",
    "compile_onnx",
    "matmul_integer",
    "open_source",
    "qlinear_matmul",
    "read_network",
    "read_onnx",
    "read_products",
    "verify_package",
]
