"""Modules of version 0.1 that are gone, with what to import instead."""

from __future__ import annotations

__all__ = ["MOVED"]

_MODULES = {
    "array_testbench": "build.design.array.testbench",
    "bare_loop": "build.benchmarks.bare_loop",
    "bench": "build.benchmarks.sections",
    "bench_engine": "build.design.engine.workloads or systoliq.build.benchmarks.engine",
    "certificate": "build.design.layer.certificate",
    "choose": "build.design.choose",
    "design.engine.registers": "build.design.engine.register_map",
    "digits": "build.design.digits",
    "engine_options": "build.design.engine.configuration",
    "engine_package": "api.EngineDesign",
    "engine_program": "build.design.engine.program",
    "engine_sidecar": "build.design.engine.describe",
    "engine_stimulus": "build.design.engine.stimulus",
    "engine_testbench": "build.design.engine.testbench",
    "explore.command": "build.cli.explore",
    "forms": "build.benchmarks.requantizers",
    "judge": "build.demo.judge",
    "layer_testbench": "build.design.layer.testbench",
    "onnx_import": "build.onnx",
    "options": "api.Hardware",
    "output": "build.package.output",
    "package_parts": "build.package.package or systoliq.build.files",
    "picture": "build.demo.picture",
    "plain_grid": "build.benchmarks.plain_grid",
    "prove.__main__": "build.cli.prove",
    "prove.catalog.engine": "build.prove.catalog",
    "prove.catalog.handover": "build.prove.catalog",
    "registers": "build.design.engine.register_map",
    "shell": "build.cli.shell",
    "sidecar": "build.package.sidecar or systoliq.build.generator",
    "simulate": "api.Design or systoliq.build.files",
    "simulate_engine": "build.design.engine.simulate",
    "simulated": "build.design.simulated",
    "sources": "build.design.sources",
    "stimulus": "build.design.layer.stimulus or systoliq.build.design.array.stimulus",
    "synth.bench": "build.benchmarks.area",
    "synth.command": "build.cli.synth",
    "testbench": "build.design.testbench.frame",
    "testbench_streams": "build.design.testbench.streams",
    "testbench_text": "build.design.testbench.text",
    "waivers": "build.package.waivers",
}

MOVED = {f"systoliq.build.{old}": f"systoliq.{new}" for old, new in _MODULES.items()}
"""Full names. A package that is gone stands for its modules: importing one of them imports the package first."""
