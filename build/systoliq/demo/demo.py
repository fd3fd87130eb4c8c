"""`systoliq demo`: the main job on real input, from training to Verilog that was compared on every output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.simulated import Simulated

from ..design import LayerDesign, LayerOptions
from ..design.digits import Digits, train_digits
from ..errors import InputError
from ..files import json_bytes, write_file
from ..onnx.judge import onnxruntime_output
from ..package import write_package
from ..progress import Stages
from .network import run_network_demo
from .picture import draw

__all__ = ["ACCURACY", "DemoResult", "run_demo"]

ACCURACY = 0.95  # that the float classifiers and their hardware must be above


@dataclass(frozen=True, kw_only=True, eq=False)
class DemoResult:
    """Measurements of the demo; `passed` if nothing differs and the accuracies are high enough."""

    design: LayerDesign
    simulated: Simulated
    report: dict[str, Any]
    passed: bool
    files: tuple[Path, ...]


def run_demo(out: Path, hardware: LayerOptions, simulator: SimulatorChoice, stages: Stages) -> DemoResult:
    """Train, quantize, emit, simulate all test images with and without bias, compare with golden and onnxruntime.

    Then the same with the network of the preset digits-cnn, which was trained before.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: must be a directory, but it is a file")
    with stages.stage("train a linear classifier on scikit-learn's digits, quantize it to int8"):
        digits = train_digits()
    with stages.stage("write its Verilog package"):
        design = LayerDesign(digits.layer, hardware, origin=digits.origin)
        write_package(design, out / design.name)
    runs: dict[str, tuple[LayerDesign, str]] = {
        "with bias": (design, "QGemm"),
        "without bias": (
            LayerDesign(digits.layer.replace(bias=None), hardware, origin=digits.origin), "QLinearMatMul"
        ),
    }  # fmt: skip
    simulated: dict[str, Simulated] = {}
    comparisons = []
    for title, (variant, operator) in runs.items():
        with stages.stage(f"run all {len(digits.a)} test images through the hardware, {title}") as detail:
            simulated[title] = variant.simulate(digits.a, simulator=simulator, progress=detail)
        with stages.stage(f"compare with golden and with onnxruntime's {operator}"):
            comparisons.append(_compare(title, operator, variant, simulated[title], digits.a))
    main = simulated["with bias"]
    network_design, network = run_network_demo(out, digits, simulator, stages)
    report = {
        **_accuracies(digits, main.y),
        **_speed(main.report),
        "comparisons": comparisons,
        "runs": main.report,
        "network": network,
    }
    picture = out / "digits.png"
    with stages.stage("draw the picture"):
        draw(picture, digits, main.y)
    write_file(out / "report.json", json_bytes(report))
    differences = sum(c[key] for c in comparisons for key in ("golden_mismatches", "onnxruntime_mismatches"))
    accuracies = [each["accuracy"][key] for each in (report, network) for key in ("float", "rtl")]
    passed = (
        not differences
        and all(run.passed for run in simulated.values())
        and network["passed"]
        and min(accuracies) > ACCURACY
    )
    files = (out / design.name, out / network_design.name, picture, out / "report.json")
    return DemoResult(design=design, simulated=main, report=report, passed=passed, files=files)


def _compare(title: str, operator: str, design: LayerDesign, run: Simulated, a: npt.NDArray[np.int8]) -> dict[str, Any]:
    golden, judge = design.layer.golden(a), onnxruntime_output(design.layer, a)
    return {
        "run": title,
        "outputs": int(golden.size),
        "golden_mismatches": int(np.count_nonzero(run.y != golden)),
        "onnxruntime_operator": operator,
        "onnxruntime_mismatches": int(np.count_nonzero(run.y != judge)),
    }


def _accuracies(digits: Digits, y: npt.NDArray[Any]) -> dict[str, Any]:
    return {
        "images": len(digits.labels),
        "accuracy": {
            "float": digits.float_accuracy,
            "int8_golden": digits.accuracy(digits.layer.golden(digits.a)),
            "rtl": digits.accuracy(y),
        },
    }


def _speed(report: dict[str, Any]) -> dict[str, Any]:
    images = report["outputs"] // 10
    return {"cycles_per_image": round(report["cycles"] / images, 2), "utilization": report["utilization"]}
