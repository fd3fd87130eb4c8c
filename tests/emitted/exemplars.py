"""Exemplars: designs of every kind, set of cells and format, small, whose hardware is on record in emitted.json.

python -m tests.emitted.exemplars    # writes the record anew, and names what has changed

Weights and scales are made of integers alone, so that every machine makes the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from amaranth.lib import wiring

from systoliq.design import ArrayOptions, DmaEngineDesign, EngineDesign, LayerDesign, LayerOptions
from systoliq.design.array import ArrayDesign
from systoliq.golden import Float8Format, IntFormat, MatMulLayer
from systoliq.golden.network import Network
from systoliq.hw.axi import AxiPipeline
from systoliq.hw.cells import CELLS
from systoliq.hw.dma.dma_engine import DmaEngine
from systoliq.hw.engine import EngineConfig
from systoliq.hw.hierarchy import Emission, mark_used
from systoliq.hw.link import Linked
from systoliq.hw.link.status_led import StatusLed
from systoliq.hw.soc import Soc, SocConfig

from ..hw.network.small_networks import NETWORKS, Builder, assembled, drawn_parallelism

__all__ = ["EXEMPLARS", "RECORD", "digest", "recorded", "tools"]

RECORD = Path(__file__).with_name("emitted.json")
_SMALL = {"a_words": 16, "b_words": 32, "max_columns": 16, "max_rows": 8}


def _integers(form: IntFormat, *shape: int) -> np.ndarray:
    """Of all the format's range."""
    count = int(np.prod(shape))
    return (np.arange(count) * 7919 % (form.max - form.min + 1) + form.min).astype(form.dtype).reshape(shape)


def _layer(
    a: str = "uint8", b: str = "int8", y: str = "int8", k: int = 13, n: int = 7, **fields: object
) -> MatMulLayer:
    a_format, b_format, y_format = map(IntFormat.parse, (a, b, y))
    columns = np.arange(n)
    return MatMulLayer(
        **{
            "b": _integers(b_format, k, n),
            "b_zero_point": _integers(b_format, n) if n % 2 else np.zeros(1, b_format.dtype),
            "bias": (columns * 977 - 1500).astype(np.int32),
            "a_format": a_format,
            "b_format": b_format,
            "y_format": y_format,
            "a_zero_point": a_format.max // 3,
            "y_zero_point": y_format.max // 2,
            "a_scale": np.float32(1),
            "b_scale": ((columns + 3) / 4).astype(np.float32),
            "y_scale": np.float32(k * 2 ** (a_format.bits + b_format.bits - y_format.bits - 3)),
        }
        | fields
    )


def _sums(**fields: object) -> MatMulLayer:
    return MatMulLayer(
        b=_integers(IntFormat(8, True), 13, 7), b_zero_point=np.int8([3, -5, 0, 1, 2, 127, -128]), **fields
    )


def _format(text: str) -> Float8Format | IntFormat:
    return Float8Format.parse(text) if text.startswith("e") else IntFormat.parse(text)


def _float8_layer(a: str, b: str, y: str) -> MatMulLayer:
    codes = (np.arange(15, dtype=np.uint8) * 17 % 120).reshape(5, 3)
    formats = {f"{name}_format": _format(form) for name, form in zip("aby", (a, b, y), strict=True)}
    scale = np.float32([0.5, 3, 0.375])
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    return MatMulLayer(b=codes, **formats, **zeros, a_scale=np.float32(0.5), b_scale=scale, y_scale=np.float32(1))


def _of_layer(layer: MatMulLayer | None = None, **hardware: object) -> Callable[[], wiring.Component]:
    size = {"rows": 2, "cols": 4, "depth": 3}
    return lambda: LayerDesign(layer or _layer(), LayerOptions(**(size | hardware))).top


def _of_array(**hardware: object) -> Callable[[], wiring.Component]:
    return lambda: ArrayDesign(ArrayOptions(**({"rows": 2, "cols": 3, "depth": 2} | hardware))).top


def _of_engine(bus: int = 0, **fields: object) -> Callable[[], wiring.Component]:
    config = EngineConfig(**({"rows": 2, "cols": 4, "depth": 2, "lanes": 2, **_SMALL} | fields))
    return lambda: (DmaEngineDesign(config, bus=bus) if bus else EngineDesign(config)).top


def _constant() -> Network:
    net = Builder((2, 4, 4))
    trunk = net.convolution(4, (3, 3))
    net.add(trunk, trunk.replace(name="c", shape=(1, 4, 1, 1), value=np.int8([1, 2, -3, 0]).reshape(1, 4, 1, 1)))
    return net.network()


def _of_network(name: str, cells: str) -> Callable[[], wiring.Component]:
    def made() -> wiring.Component:
        network = (_constant if name == "constant" else NETWORKS[name])()
        made = assembled(network, drawn_parallelism(network, 1), cells=cells)
        return AxiPipeline(made.pipeline, image_beats=made.image_beats)

    return made


def _linked() -> wiring.Component:
    design = LayerDesign(_layer(), LayerOptions(rows=1, cols=2))
    linked = Linked(design.top, beats=design.unit_beats, identity=bytes(range(9)), cells="portable", timeout_bits=12)
    mark_used(linked)
    return linked


def _soc() -> wiring.Component:
    return Soc(SocConfig(engine=EngineConfig(rows=1, cols=2, lanes=2, **_SMALL), ram_kib=16, throttled=True))


_FLOAT8 = {name: Float8Format.parse(form) for name, form in zip("aby", ("e4m3fn", "e5m2", "e4m3fnuz"), strict=True)}

EXEMPLARS: dict[str, Callable[[], wiring.Component]] = {
    **{f"layer of {cells}": _of_layer(cells=cells) for cells in CELLS},
    **{
        f"layer by {name}": _of_layer(_layer("uint4", "int4", "int4", k=5), requantizer=name)
        for name in ("nearest", "floor", "auto")
    },
    "layer of few bits": _of_layer(_layer("int3", "uint4", "uint2")),
    "layer of many bits": _of_layer(_layer("int16", "uint12", "int16"), rows=1, cols=2),
    "layer of one element": _of_layer(_layer(k=1, n=1), rows=1, cols=1, depth=1),
    "layer of columns alone": _of_layer(_layer(k=5, n=12), rows=1, cols=12, depth=1),
    "layer of rows alone": _of_layer(_layer(k=40, n=2), rows=6, cols=1, depth=2),
    "layer of rough multipliers": _of_layer(requantizer="nearest", multiplier_bits=9),
    "layer of scales that are powers of two": _of_layer(_layer(b_scale=np.float32([1, 2, 4, 0.5, 1, 2, 8]))),
    "layer of noncanonical scales": _of_layer(_layer(b_scale=np.float32([1, -2, 4, 0.5, -1, 0, 8]))),
    "layer of large memories": _of_layer(_layer(k=300, n=9), rows=1, cols=2, depth=1),
    "layer of sums": _of_layer(_sums(a_format=IntFormat(8, False), a_zero_point=7)),
    "layer of run-time zero points": _of_layer(_sums(a_format=IntFormat(8, True))),
    "layer of e4m3fn": _of_layer(_float8_layer("e4m3fn", "e4m3fn", "e4m3fn"), rows=1, cols=2, depth=2),
    "layer of integers from float8": _of_layer(_float8_layer("e4m3fn", "e5m2", "uint8"), rows=1, cols=1, depth=2),
    "layer of e5m2": _of_layer(_float8_layer("e5m2", "e4m3fnuz", "e5m2fnuz"), rows=2, cols=1, depth=1),
    **{f"array of {cells}": _of_array(cells=cells, accumulator_bits=32) for cells in CELLS},
    "array of wide operands": _of_array(a_bits=16, b_bits=12, a_signed=False, accumulator_bits=40),
    "array of sums that wrap": _of_array(a_bits=4, b_bits=3, accumulator_bits=9, wrap=True),
    **{
        f"array of few bits of {cells}": _of_array(cells=cells, a_bits=4, b_bits=4, accumulator_bits=20, cols=4)
        for cells in ("ecp5-pair", "ice40", "dsp48e2-pair")
    },
    "array of ice40 of depth 1": _of_array(cells="ice40", depth=1, accumulator_bits=24),
    "array of float8": _of_array(a_format="e4m3fn", b_format="e5m2"),
    **{f"engine of {cells}": _of_engine(cells=cells) for cells in CELLS},
    **{
        f"weight-stationary engine of {cells}": _of_engine(cells=cells, dataflow="weight-stationary")
        for cells in ("portable", "ecp5", "ecp5-pair", "xilinx", "dsp48e2-pair")
    },
    "engine as it comes": lambda: EngineDesign(EngineConfig()).top,
    "DMA engine as it comes": lambda: DmaEngine(EngineConfig()),
    "engine of one element": _of_engine(rows=1, cols=1, depth=1, lanes=1),
    "engine with a lane for each column": _of_engine(rows=3, cols=3, depth=1, lanes=3),
    "engine with one lane": _of_engine(rows=1, cols=4, depth=2, lanes=1),
    "engine of float8": _of_engine(**_FLOAT8),
    "engine behind masters of 32 bits": _of_engine(32),
    "engine behind masters of 128 bits": _of_engine(128, rows=4, lanes=4),
    "engine of float8 behind masters": _of_engine(64, **_FLOAT8),
    "engine with a vector unit": _of_engine(64, vector=True),
    "engine with rows in the vector unit": _of_engine(64, vector=True, row_length=16),
    **{
        f"network {name} of {cells}": _of_network(name, cells)
        for name in (*NETWORKS, "constant")
        for cells in ("portable", "ecp5")
    },
    "link": _linked,
    "link's led": lambda: StatusLed(1000),
    "system": _soc,
}


def digest(name: str) -> str:
    """SHA-256 of the hardware: RTLIL, what it writes itself, contents of memories, and the order of the ports."""
    top = EXEMPLARS[name]()
    emission = Emission("top")
    found = hashlib.sha256(emission.rtlil(top, "top").encode())
    mark_used(top)
    for written in emission.written:
        found.update(written.verilog.encode())
        for file, content in sorted(written.files.items()):
            found.update(file.encode() + content)
    found.update(json.dumps(emission.ports).encode())
    return found.hexdigest()


def tools() -> dict[str, str]:
    """Versions of what the record depends on."""
    return {"amaranth": version("amaranth")}


def recorded() -> dict[str, dict[str, str]]:
    """`tools` and, by name, `digests`."""
    found: dict[str, dict[str, str]] = json.loads(RECORD.read_text())
    return found


def main() -> None:
    """Write the record."""
    before = recorded()["digests"] if RECORD.is_file() else {}
    digests = {name: digest(name) for name in EXEMPLARS}
    RECORD.write_text(json.dumps({"tools": tools(), "digests": digests}, indent=1) + "\n")
    changed = [name for name in EXEMPLARS if before.get(name) != digests[name]]
    sys.stdout.write("\n".join([*changed, f"{len(changed)} of {len(digests)} changed"]) + "\n")


if __name__ == "__main__":
    main()
