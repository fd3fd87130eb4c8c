"""The network of `systoliq demo`: all test images through a convolutional network in RTL, every tensor compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.simulated import Simulated

from ..design.digits import Digits
from ..design.digits_cnn import FLOAT_MODEL, INT8_MODEL, digits_cnn
from ..design.network import NetworkDesign
from ..onnx.judge import onnxruntime_run
from ..package import write_package
from ..progress import Stages

__all__ = ["run_network_demo"]


def run_network_demo(
    out: Path, digits: Digits, simulator: SimulatorChoice, stages: Stages
) -> tuple[NetworkDesign, dict[str, Any]]:
    """The network of the preset digits-cnn, with its package written into `out`, and its measurements."""
    network, origin = digits_cnn()
    with stages.stage("write the Verilog package of a convolutional network"):
        design = NetworkDesign(network, origin=origin)
        write_package(design, out / design.name)
    images = {"image": digits.images[:, None].astype(np.float32)}
    with stages.stage(f"run all {len(digits.images)} test images through the network's hardware") as detail:
        run = design.simulate(images, simulator=simulator, progress=detail)
    with stages.stage("compare with onnxruntime"):
        scores = {path: onnxruntime_run(path.read_bytes(), images) for path in (FLOAT_MODEL, INT8_MODEL)}
    return design, _report(design, digits, run, scores)


def _report(
    design: NetworkDesign, digits: Digits, run: Simulated, scores: dict[Path, npt.NDArray[Any]]
) -> dict[str, Any]:
    (tensor,) = design.network.outputs
    rtl = tensor.dequantize(run.y)
    differing = int(np.count_nonzero(rtl != scores[INT8_MODEL]))
    return {
        "accuracy": {
            "float": digits.accuracy(scores[FLOAT_MODEL]),
            "int8_onnxruntime": digits.accuracy(scores[INT8_MODEL]),
            "rtl": digits.accuracy(rtl),
        },
        "outputs": run.report["outputs"],
        "golden_mismatches": run.report["mismatches"],
        "scores": int(rtl.size),
        "onnxruntime_mismatches": differing,
        "image_cycles": run.report["image_cycles"],
        "utilization": run.report["utilization"],
        "passed": run.passed and not differing,
        "run": run.report,
    }
