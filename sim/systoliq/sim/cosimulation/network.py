"""Cosimulation of a whole network: every integer tensor of the hardware, compared with golden's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Tensor
from systoliq.hw import emit_verilog
from systoliq.hw.axi import AxiPipeline, axi_bits
from systoliq.hw.cells import models_verilog
from systoliq.hw.network.assembly import Assembly
from systoliq.hw.packing import Words, from_words, image_words

from ..choice import SimulatorChoice, chosen
from ..exchange import Beats, BenchOutcome, BenchRun
from ..harness import Ports, Tap
from ..simulated import Compared, Simulated
from .simulate import simulate

__all__ = [
    "NETWORK_TOP",
    "Netlist",
    "beat_bits",
    "beat_lanes",
    "cosimulate_network",
    "network_verilog",
]

NETWORK_TOP = "network"


class Netlist(str):
    """Verilog of a network without the names of its stages."""

    __slots__ = ()


def network_verilog(assembly: Assembly) -> str:
    """The Verilog that `cosimulate_network` runs: the network's, and the models of its vendor cells."""
    pipeline = assembly.pipeline
    top = AxiPipeline(pipeline, image_beats=assembly.image_beats)
    return emit_verilog(top, NETWORK_TOP) + models_verilog(*assembly.cells)


def cosimulate_network(
    assembly: Assembly,
    inputs: Mapping[str, npt.ArrayLike],
    *,
    simulator: SimulatorChoice = "auto",
    stalls: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Run images through the Verilog of a network and compare every tensor with golden's.

    Parameters
    ----------
    inputs
        as for `Network.golden`.
    stalls
        probabilities of a pause in a cycle, of the source of images and of the receiver of results.
    verilog
        text to simulate instead of the emitted one; its top is called `network`. Of a `Netlist`, only the outputs are
        compared.
    """
    pipeline, network = assembly.pipeline, assembly.net
    golden = network.golden(inputs)
    expected = {name: tensor.raster(golden[tensor.name]) for name, tensor in assembly.tensors.items()}
    count = len(expected[pipeline.inputs[0].name])
    run = _run(assembly, expected, stalls, seed)
    names = () if isinstance(verilog, Netlist) else (joint.name for joint in pipeline.joints)
    made = [name for name in names if name in assembly.tensors]
    taps = [
        Tap(net=f"pipeline.{pipeline.tap(name)}", bits=beat_bits(assembly, name), file=f"tap_{index}.bin")
        for index, name in enumerate(made)
    ]
    ports = Ports(
        inputs={letter: axi_bits(beat_bits(assembly, name)) for letter, name in assembly.inputs.items()},
        outputs={letter: axi_bits(beat_bits(assembly, name)) for letter, name in assembly.outputs.items()},
    )
    text = network_verilog(assembly) if verilog is None else verilog
    used = chosen(simulator, assembly.image_cycles * (count + 1), waves)
    (outcome,), log = simulate(text, ports, NETWORK_TOP, [(run, True)], used, waves=waves, progress=progress, taps=taps)
    results = {
        name: _read(_tapped(log.parent / tap.file, tap.bits), tap.bits, assembly.tensors[name], expected[name])
        for tap, name in zip(taps, made, strict=True)
    }
    if isinstance(verilog, Netlist):
        came = (outcome.words, *(beats.words for beats in outcome.more_outputs))
        for words, name in zip(came, assembly.outputs.values(), strict=True):
            results[name] = _read(words, beat_bits(assembly, name), assembly.tensors[name], expected[name])
    return Simulated.of(
        outcome,
        results,
        _violations(assembly, run, outcome),
        simulator=used,
        macs=network.multiply_accumulates * count,
        macs_per_cycle=assembly.multipliers,
        log=log,
    ).with_facts(images=count)


def _run(
    assembly: Assembly, expected: Mapping[str, npt.NDArray[Any]], stalls: tuple[float, float], seed: int
) -> BenchRun:
    """The beats of all images and of their results."""
    given, wanted = (
        [_beats(assembly, expected[name], name) for name in names.values()]
        for names in (assembly.inputs, assembly.outputs)
    )
    count = len(expected[assembly.pipeline.inputs[0].name])
    unstalled = assembly.image_cycles * (count + len(assembly.nodes))
    return BenchRun(
        a=given[0].words,
        a_last=given[0].last,
        b=np.zeros((0, 0), np.uint8),
        expected=wanted[0].words,
        expected_last=wanted[0].last,
        mask=np.full(wanted[0].words.shape, 0xFF, np.uint8),
        stalls=np.array(stalls),
        resets=np.zeros(0, np.int64),
        seed=seed,
        limit=int(4 * unstalled / ((1 - stalls[0]) * (1 - stalls[1]))) + 10_000,
        more_inputs=tuple(given[1:]),
        more_expected=tuple(wanted[1:]),
    )


def _beats(assembly: Assembly, elements: npt.NDArray[Any], name: str) -> Beats:
    """`elements` as beats of the stream `name`."""
    return Beats(*image_words(elements, beat_lanes(assembly, name), assembly.tensors[name].format.bits))


def _violations(assembly: Assembly, run: BenchRun, outcome: BenchOutcome) -> Iterator[str]:
    """Beats too many or too few at the end of each output, or wrong ones."""
    wanted = (Beats(run.expected, run.expected_last), *run.more_expected)
    came = (Beats(outcome.words, outcome.last), *outcome.more_outputs)
    for letter, right, found in zip(assembly.outputs, wanted, came, strict=True):
        of_which = f" of m_axis_{letter}" if len(wanted) > 1 else ""
        if len(found.words) != len(right.words):
            yield f"{len(found.words)} beats{of_which} came, not {len(right.words)}"
        elif wrong := int(((found.words != right.words).any(axis=1) | (found.last != right.last)).sum()):
            yield f"{wrong} beats of m_axis_{letter} differ in data or last"


def beat_bits(assembly: Assembly, name: str) -> int:
    """Bits of a beat of the stream `name`, those that fill it up to whole bytes at an edge not among them."""
    return assembly.tensors[name].format.bits * beat_lanes(assembly, name)


def beat_lanes(assembly: Assembly, name: str) -> int:
    """Elements in a beat of the stream from a stage, or of an input stream."""
    for inlet in assembly.pipeline.inputs:
        if inlet.name == name:
            return inlet.lanes
    joint = next(joint for joint in assembly.pipeline.joints if joint.name == name)
    lanes: int = joint.component.o.payload.data.shape().length
    return lanes


def _tapped(file: Path, bits: int) -> Words:
    """The beats of a tap, each filled up by at least a bit, as the harness does."""
    padded = 4 * (bits // 32 + 1)
    data = np.fromfile(file, np.uint8) if file.exists() else np.zeros(0, np.uint8)
    return data[: len(data) // padded * padded].reshape(-1, padded)


def _read(words: Words, bits: int, tensor: Tensor, expected: npt.NDArray[Any]) -> Compared:
    """Beats of `bits` as elements; those that are too many are left out."""
    each = tensor.format.bits
    elements = from_words(words, each, bits // each, signed=tensor.format.signed).reshape(-1)[: expected.size]
    streamed = np.zeros(expected.size, expected.dtype)
    there = np.zeros(expected.size, bool)
    streamed[: len(elements)], there[: len(elements)] = elements, True
    found = streamed.reshape(expected.shape)
    return Compared(
        found=found,
        expected=expected,
        there=there.reshape(expected.shape),
        of=f"tensor {tensor.name!r}, ",
        place="image {}, pixel {}, channel {}",
        tensor=np.ascontiguousarray(tensor.unraster(found)),
    )
