"""Build of a model for a board: quantize, plan, emit, simulate, verify, synthesize, and make the bitstream."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

from systoliq.failed import FailedError
from systoliq.sim.cache import content_key
from systoliq.sim.choice import SimulatorChoice

from ..board.description import Board
from ..board.exchange_of import exchange_of
from ..board.flow import check_tools, make_bitstream, synthesize_for_board
from ..design import Design
from ..errors import InputError, TooLargeError
from ..explore.code_key import code_key
from ..files import json_bytes, write_file
from ..package import make_package
from ..package.drawing import drawing_of
from ..package.output import write_output
from ..progress import Stages
from ..quantize.calibration import Samples, samples_for
from ..quantize.float_model import FloatModel, is_float_model, open_float_model
from ..quantize.quantizer import calibration_of, quantize_model
from ..samples import hit_share
from .board_fit import board_fit, boards_by_size, lut_sites
from .images import Images, golden_outputs, images_of
from .kept import KeptSteps
from .source import content_of
from .verification import check_package

__all__ = ["STEPS", "Build", "Finished", "RefusedPackageError", "Wanted"]

STEPS = ("quantize", "plan", "emit", "simulate", "verify", "synthesize", "bitstream")
"""The steps in their order."""

PACKAGE, BITSTREAM, SAMPLES = "package", "bitstream", "samples.npz"
_IMAGES = 16
_NARROW = 4  # bits of weights


class RefusedPackageError(FailedError):
    """The package does not match its certificate, or its hardware differs from golden."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Parameters of a build.

    Parameters
    ----------
    source
        preset, layer file, network file, or model; a float model is quantized first.
    data
        archive with inputs, and optionally labels: calibration and images to simulate.
    until
        the last of `STEPS` to do.
    images
        images to simulate. Default: 16, or all if there are fewer.
    settings
        options that make the design, ready for JSON.
    """

    source: str
    board: Board
    out: Path
    data: Path | None = None
    until: str = STEPS[-1]
    images: int | None = None
    simulator: SimulatorChoice = "auto"
    calibration: str = "minmax"
    weight_bits: int = 8
    power_of_two: bool = False
    calibrate_with: int | None = None
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    mhz: float | None = None
    baud: int = 115200
    seed: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    replace: bool = False


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A step that is done: its figures, its time, and whether it was kept from an earlier build."""

    step: str
    figures: Mapping[str, Any]
    seconds: float
    kept: bool


@dataclass(kw_only=True)
class Build:
    """A build on its way.

    `make_design` returns the design of a SOURCE for the board with a name, `record` notes what was made for
    `systoliq board run`, and `tell` is called after each step.
    """

    wanted: Wanted
    make_design: Callable[[str, str], Design]
    record: Callable[[str, Design], None] = lambda source, design: None
    tell: Callable[[Finished], None] = lambda step: None
    stages: Stages = field(default_factory=Stages)
    done: dict[str, Finished] = field(default_factory=dict)
    failure: tuple[str, str] | None = None
    _kept: KeptSteps = field(init=False)
    _design_key: str = ""

    def run(self) -> None:
        """Do all steps up to `Wanted.until`; a step whose inputs and files are unchanged is kept.

        Raises InputError for bad input, and FailedError if a tool fails, outputs differ or the part is too small.
        """
        wanted = self.wanted
        if wanted.until not in STEPS:
            raise InputError(f"until must be one of {', '.join(STEPS)}, not {wanted.until!r}")
        if STEPS.index(wanted.until) >= STEPS.index("synthesize"):
            check_tools(wanted.board)
        if wanted.source in ("array", "engine"):
            raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {wanted.source}")
        self._kept = KeptSteps.open(wanted.out, Path(wanted.source).name, replace=wanted.replace)
        _ = self.float_model, self.samples  # bad input is refused before anything is made
        for step in STEPS[: STEPS.index(wanted.until) + 1]:
            if step == "quantize" and self.float_model is None:
                continue
            self._run(step)

    # what the steps share

    @functools.cached_property
    def float_model(self) -> FloatModel | None:
        """The float model that the source is, None if it is something else."""
        wanted = self.wanted
        return open_float_model(Path(wanted.source), wanted.shapes) if is_float_model(wanted.source) else None

    @functools.cached_property
    def samples(self) -> Samples | None:
        """Samples of the float model."""
        if self.float_model is None:
            return None
        return samples_for(self.float_model, self.wanted.data)

    @property
    def source(self) -> str:
        """The source of the hardware: the original source, or the quantized model."""
        return self.wanted.source if self.float_model is None else str(self.wanted.out / self.quantized_file)

    @property
    def quantized_file(self) -> str:
        """Name of the quantized model's file."""
        return f"{Path(self.wanted.source).stem}_int8.onnx"

    @functools.cached_property
    def design(self) -> Design:
        """The design, with its plan."""
        board = self.wanted.board
        try:
            return self.make_design(self.source, board.name)
        except TooLargeError as error:
            raise TooLargeError(f"{error}; {self._other_boards(board)}{self._narrower(board)}") from error

    def _advice(self) -> str:
        """Return the options to change if the part is too small although its plan fitted."""
        turns, room = [], lut_sites(self.wanted.board)
        if self.float_model is not None:
            turns += ["--power-of-two"] if not self.wanted.power_of_two else []
            turns += [f"--weight-bits {_NARROW}"] if self.wanted.weight_bits > _NARROW else []
        larger = [each for each in boards_by_size() if lut_sites(each) > room and self._fits(each)]
        if larger:
            turns.append(f"a larger board ({', '.join(each.name for each in larger)})")
        return ", ".join([*turns, "fewer --multipliers, or a lower --throughput"])

    def _other_boards(self, board: Board) -> str:
        """Return which boards other than `board` a plan fits, smallest first, and which have no estimates."""
        found = {each.name: self._fits(each) for each in boards_by_size() if each is not board}
        fits, unknown = ([name for name, each in found.items() if each is value] for value in (True, None))
        text = f"the boards that it fits: {', '.join(fits)}" if fits else "it fits no other board"
        left = f"; not known before synthesis: {', '.join(unknown)}" if unknown else ""
        return f"by the same estimates, {text}{left}"

    def _narrower(self, board: Board) -> str:
        """Return whether a float model with weights of 4 bits fits `board`; "" if that cannot be selected."""
        model, samples, wanted = self.float_model, self.samples, self.wanted
        if model is None or samples is None or wanted.weight_bits == _NARROW:
            return ""
        with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
            path = Path(folder) / self.quantized_file
            path.write_bytes(
                quantize_model(model, samples, weight_bits=_NARROW, power_of_two=wanted.power_of_two).content
            )
            fits = board_fit(board, lambda: self.make_design(str(path), board.name)).fits
        return f"; with --weight-bits {_NARROW}, {'a plan fits' if fits else 'no plan is known to fit'} {board.name}"

    def _fits(self, board: Board) -> bool | None:
        """Return whether a plan fits this board; see `BoardFit.fits`."""
        return board_fit(board, lambda: self.make_design(self.source, board.name)).fits

    @functools.cached_property
    def all_images(self) -> Images:
        """All images that there are."""
        return images_of(self.wanted.source, self.design, self.wanted.data, self.samples)

    @functools.cached_property
    def images(self) -> Images:
        """Images to simulate."""
        wanted, found = self.wanted, self.all_images
        if wanted.images is not None and not 1 <= wanted.images <= found.count:
            raise InputError(f"images must be 1 to {found.count}, the images of {found.origin}, not {wanted.images}")
        return found.first(wanted.images or _IMAGES)

    # the steps

    def _run(self, step: str) -> None:
        key, files, make = getattr(self, f"_{step}")()
        began = time.monotonic()
        with self.stages.stage(step) as detail:
            try:
                figures, kept = self._kept.run(step, key, files, lambda: make(detail))
            except (TooLargeError, FailedError) as error:
                self.failure = step, str(error)
                self._kept.save()  # with the report that says so, the directory is a build's
                raise
        self.done[step] = Finished(step=step, figures=figures, seconds=time.monotonic() - began, kept=kept)
        self.tell(self.done[step])

    def _quantize(self) -> Any:
        wanted, model, samples = self.wanted, self.float_model, self.samples
        assert model is not None  # noqa: S101 - else the step is left out
        assert samples is not None  # noqa: S101 - likewise
        asked = (
            wanted.calibration,
            str(wanted.weight_bits),
            str(wanted.calibrate_with),
            str(wanted.power_of_two),
            str(dict(wanted.shapes)),
        )
        key = content_key(_code(), content_of(wanted.source), content_of(wanted.data), *asked)

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            made = quantize_model(
                model, samples, calibration=wanted.calibration, weight_bits=wanted.weight_bits,
                power_of_two=wanted.power_of_two, calibration_samples=wanted.calibrate_with,
                name=Path(self.quantized_file).stem, progress=detail,
            )  # fmt: skip
            wanted.out.mkdir(parents=True, exist_ok=True)
            write_file(wanted.out / self.quantized_file, made.content)
            self._kept.save()
            partition = f"systoliq partition {wanted.out / self.quantized_file} --out DIR"
            made.check_hardware(wanted.source, f". Change the model, or build its largest part: {partition}")
            accuracy = None if made.accuracy is None else made.accuracy.as_json()
            return {"calibration": made.calibration, "random": made.random, "accuracy": accuracy,
                    "hardware": made.hardware.whole}  # fmt: skip

        return key, [self.quantized_file], make

    def _plan(self) -> Any:
        settings = json_bytes(dict(self.wanted.settings))
        self._design_key = content_key(_code(), content_of(self.source), self.wanted.board.name, settings)

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            design, _ = self.design, self.images  # data that do not fit are refused here
            calibration = calibration_of(Path(self.source)) if self.source.endswith(".onnx") else None
            return {
                "name": design.name, "kind": design.kind, "choices": list(design.choices), "notes": list(design.notes),
                "stages": list(design.stages), "calibration": calibration, "drawing": list(drawing_of(design)),
                "cost": [] if design.image_cost is None else design.image_cost.rows(),
            }  # fmt: skip

        return self._design_key, [], make

    def _emit(self) -> Any:
        def make(_: Callable[[str], None]) -> dict[str, Any]:
            package = make_package(self.design)
            write_output(self.wanted.out / PACKAGE, package.files, replace=True)
            return {"files": len(package.files), "bytes": sum(map(len, package.files.values()))}

        return self._design_key, [PACKAGE], make

    def _simulate(self) -> Any:
        wanted = self.wanted
        content = (content_of(wanted.data), str(wanted.images), wanted.simulator)
        key = content_key(self._design_key, *content)

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            images = self.images
            run = self.design.simulate(**images.operands, simulator=wanted.simulator, progress=detail)
            run.check()
            one = self.design.simulate(**images.first(1).operands, simulator=wanted.simulator, progress=detail)
            exchange = exchange_of(self.design, **images.first(1).operands)
            write_file(wanted.out / SAMPLES, images.archive())
            return {
                "images": images.count, "origin": images.origin, "simulator": run.report["simulator"],
                **self._accuracy(images, run.y),
                "outputs": run.report["outputs"], "cycles": run.report["cycles"],
                "latency_cycles": one.report["cycles"], "model_latency_cycles": self.design.cycles(1),
                "line_bytes": len(exchange.requests[0]) + exchange.answer_bytes, "macs": run.report["macs"],
            }  # fmt: skip

        return key, [SAMPLES], make

    def _accuracy(self, images: Images, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the `accuracy` of the simulated images, whose outputs are `y`, and that of golden on all images where
        no quantized model was compared with its float model; None without labels.
        """
        every = self.all_images
        if images.labels is None or every.labels is None:
            return {"accuracy": None, "golden": None}
        path, golden = self.wanted.data or Path(images.origin), None
        if self.float_model is None:
            share = hit_share(path, every.labels, golden_outputs(self.design, every))
            golden = {"accuracy": share, "samples": every.count}
        return {"accuracy": hit_share(path, images.labels, y), "golden": golden}

    def _verify(self) -> Any:
        folder = self.wanted.out / PACKAGE
        digests = [content_of(path) for path in sorted(folder.iterdir()) if path.is_file()]

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            found = check_package(folder, progress=detail)
            if found.reasons:
                raise RefusedPackageError(f"{folder}: verify refuses the package: {'; '.join(found.reasons)}")
            return {"summary": found.summary(), "boundary": [each.as_json() for each in found.boundary]}

        return content_key(_code(), *digests), [], make

    def _synthesize(self) -> Any:
        wanted = self.wanted

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            sizes = synthesize_for_board(
                self.design, wanted.board, mhz=wanted.mhz, baud=wanted.baud, advice=self._advice,
                progress=detail,
            )  # fmt: skip
            return {"sizes": {kind: list(pair) for kind, pair in sizes.items()}}

        return content_key(self._design_key, str(wanted.mhz), str(wanted.baud)), [], make

    def _bitstream(self) -> Any:
        wanted = self.wanted

        def make(detail: Callable[[str], None]) -> dict[str, Any]:
            made = make_bitstream(
                self.design, wanted.board, mhz=wanted.mhz, baud=wanted.baud, seed=wanted.seed, advice=self._advice,
                progress=detail,
            )  # fmt: skip
            write_output(wanted.out / BITSTREAM, made.files, replace=True)
            self.record(self.source, self.design)
            return {**made.report.as_json(), "rows": made.report.rows()}

        return content_key(self._design_key, str(wanted.mhz), str(wanted.baud), str(wanted.seed)), [BITSTREAM], make


def _code() -> str:
    """Return the key of the code that all steps run."""
    return code_key("systoliq.accelerate.build")
