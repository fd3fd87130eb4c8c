"""How many models of the zoo, and of the shared cases where they are there, become hardware whole.

python -m tests.zoo.shares                        # read, planned, and golden against onnxruntime
python -m tests.zoo.shares --verilog lenet resnet # also simulated with stalls and without, and verified; by name
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.design.network.reasons import reasons_against
from systoliq.golden.network import Network
from systoliq.golden.network.moves import Cast
from systoliq.onnx import Model
from systoliq.package import make_package
from systoliq.verify import verify_package

from ..onnx.network.networks import quantized
from ..onnx.network.oracle import ONE_IN, by_node
from .architectures import ARCHITECTURES, OPSETS

__all__ = ["NOT_CONVOLUTIONAL", "Outcome", "cases", "outcome_of", "verilog_fault", "zoo"]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases"
SATURATING = ("c01_softmax_u8",)
"""Cases of uint8 by int8 of all 8 bits: without VNNI, onnxruntime's sums saturate, and golden's do not."""
NOT_CONVOLUTIONAL = ("a_bert", "a_gru", "a_lstm", "a_vit")
"""Cases whose architecture has attention or recurrence."""

_IMAGES = 4
_MULTIPLIERS = 250


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a model: the reasons why it is not hardware whole, or the integers compared with onnxruntime's."""

    name: str
    reasons: tuple[str, ...] = ()
    compared: int = 0
    wrong: int = 0

    @property
    def whole(self) -> bool:
        """True if all of the model is one network that hardware takes."""
        return not self.reasons

    @property
    def right(self) -> bool:
        """True if no more integers differ than `ONE_IN` says, or onnxruntime's saturate."""
        return self.wrong * ONE_IN <= self.compared or self.name in SATURATING


def zoo(folder: Path) -> Iterator[tuple[str, Path]]:
    """The project's own architectures, quantized by channel into `folder`."""
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    try:
        for name, architecture in ARCHITECTURES.items():
            place = folder / name
            place.mkdir()
            yield name, quantized(place, architecture(), opset=OPSETS[name], per_channel=True)
    finally:
        logging.disable(logging.NOTSET)


def cases() -> Iterator[tuple[str, Path]]:
    """The shared cases and their zoo, if they are there."""
    for path in sorted(SHARED.rglob("*.onnx")):
        yield path.stem if path.parent.name == "zoo" else path.parent.name, path


def outcome_of(name: str, path: Path) -> Outcome:
    """Read and plan a model, and compare golden node by node with onnxruntime."""
    reading = Model.open(path).reading
    if reading.network is None:
        return Outcome(name=name, reasons=tuple(map(str, reading.problems)))
    if reasons := reasons_against(reading.network):
        return Outcome(name=name, reasons=reasons)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "model.onnx"
        copy.write_bytes(path.read_bytes())
        found = by_node(copy, reading.network, _images(reading.network))
    return Outcome(name=name, compared=sum(each.compared for each in found), wrong=sum(each.wrong for each in found))


def verilog_fault(network: Network, stalls: Sequence[float] = (0.0, 0.3)) -> str | None:
    """The first thing that is wrong in a simulation of `network`, its cycles, or its package; None if all is well."""
    design = NetworkDesign(network, NetworkOptions(multipliers=_MULTIPLIERS))
    images = {name: x[:2] for name, x in _images(network).items()}
    for each in stalls:
        run = design.simulate(inputs=images, stalls=each)
        if not run.passed:
            return f"{run.report['mismatches']} mismatches with stalls {each}"
        beats = [2 * count for count in design.assembly.image_beats]
        ends = [timed.cycles[-1] + 1 for timed in design.assembly.pipeline.timed(beats).values()]
        if not each and run.report["cycles"] != max(ends):
            return f"{run.report['cycles']} cycles, planned are {max(ends)}"
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package"
        make_package(design).write(package)
        return next(iter(verify_package(package).reasons), None)


def _images(network: Network) -> dict[str, np.ndarray]:
    """Random numbers that fill the range of each input's tensor."""
    rng = np.random.default_rng(1)
    images = {}
    for source in network.sources:
        tensor, shape = source.tensor, (_IMAGES, *source.shape[1:])
        integral = next((each.type_name for each in source.movements or () if isinstance(each, Cast)), None)
        if source.name == tensor.name or integral is not None:
            kind = np.iinfo(integral or tensor.format.dtype)
            images[source.name] = rng.integers(kind.min, kind.max + 1, shape, kind.dtype)
        else:
            low, high = tensor.dequantize(np.array([tensor.format.min, tensor.format.max]))
            images[source.name] = rng.uniform(low, high, shape).astype(np.float32)
    return images


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Exit status 1 if an integer or a simulation is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verilog", action="store_true", help="simulate and verify, too")
    parser.add_argument("names", nargs="*", help="models whose names contain one of these; default: all")
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, models in (("zoo of the tests", zoo(Path(folder))), ("shared cases", cases())):
            outcomes = []
            for name, path in models:
                if given.names and not any(each in name for each in given.names):
                    continue
                outcomes.append(outcome := outcome_of(name, path))
                faults += not outcome.right
                text = f"{outcome.wrong} of {outcome.compared} integers differ" if outcome.whole else outcome.reasons[0]
                if given.verilog and outcome.whole:
                    fault = verilog_fault(Model.open(path).reading.checked())
                    faults += fault is not None
                    text += f"; Verilog: {fault or 'equal, cycles as planned, verified'}"
                _say(f"{name}: {text}")
            whole = sum(each.whole for each in outcomes)
            _say(f"{title}: {whole} of {len(outcomes)} whole")
            plain = [each for each in outcomes if each.name.startswith("a_") and each.name not in NOT_CONVOLUTIONAL]
            if plain:
                _say(f"their CNNs: {sum(each.whole for each in plain)} of {len(plain)} whole")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
