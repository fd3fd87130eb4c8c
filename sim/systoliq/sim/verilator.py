"""Verilator: Verilog -> C++ -> one executable with cocotb's main.

Verilator's makefile is not used: it recompiles Verilator's own runtime (about 13 s) for each design, and the wheel's
was configured on another machine. Here the runtime's objects and a precompiled header are compiled once per compiler
and flags, and a small design compiles in about a second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cocotb_tools.config

from .cache import content_key, obtain
from .process import Reporter, call
from .tools import Tool, require

__all__ = ["build", "identity", "make_executable"]

# Kinds of blocks that become part of the block around them. Verilator does so by itself up to about 16 elements in a
# column; in longer ones the elements stay apart, and a 32x32 array runs at a sixth of the speed (`systoliq bench`).
INLINED = ("*_pe", "*_pe_top", "*_mac", "*_multiplier_*")
# Measured on a 32x32 array with elements apart: -O1 builds in 6.5 s and runs 26 000 cycles/s, -O2 8.9 s and 27 700,
# -O0 4.2 s and 9 000.
DESIGN_FLAGS = ("-O1",)
BENCH_FLAGS = DESIGN_FLAGS  # of a design with cocotb's main; the project's tests, whose runs are short, set -O0
RUNTIME_FLAGS = ("-O2",)
COMMON_FLAGS = ("-std=gnu++20", "-w")  # -w: compiler warnings about generated C++ are not useful
EXECUTABLE = "simulate"

_WAIVED = (
    "WIDTHEXPAND",  # Verilog extends operands to the width of their context by itself, and Yosys writes for that
)
_RUNTIME_HEADERS = ("verilated.h", "verilated_dpi.h", "verilated_vpi.h", "verilated_syms.h")
_SIMPLE_NAME = re.compile(r"[A-Za-z_]\w*")


def identity() -> tuple[str, ...]:
    """The dependencies of a build other than its sources."""
    return (
        require("verilator").identity,
        require("c++").identity,
        str(cocotb_tools.config.libs_dir),  # linked as the executable's run path
        " ".join((*COMMON_FLAGS, *DESIGN_FLAGS, *BENCH_FLAGS, *RUNTIME_FLAGS, *INLINED, *_WAIVED)),
    )


def build(folder: Path, sources: Sequence[Path], top: str, ports: Sequence[str], waves: bool, report: Reporter) -> None:
    """Make `folder`/simulate; warnings go to the reporter, and an error is a `SimulationError`."""
    control = folder / "public.vlt"
    control.write_text(_control(_public_ports(top, ports)))
    libraries = cocotb_tools.config.libs_dir
    make_executable(
        folder / EXECUTABLE,
        [control, *sources],
        top,
        main=cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp",
        optimization=BENCH_FLAGS,
        options=["--vpi", "--timescale", "1ns/1ps", *(["--trace"] if waves else [])],
        link=[f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcocotbvpi_verilator"],
        report=report,
    )
    control.unlink()


def make_executable(
    executable: Path,
    sources: Sequence[Path],
    top: str,
    *,
    main: Path,
    optimization: Sequence[str] = DESIGN_FLAGS,
    options: Sequence[str] = (),
    link: Sequence[str] = (),
    report: Reporter,
) -> None:
    """Verilate `sources` to class `Vtop` and link it with `main`, a C++ file, and what `link` names."""
    verilator, compiler = require("verilator"), require("c++")
    generated = executable.parent / "generated"
    command = [verilator.path, "--cc", "--prefix", "Vtop", "--top-module", top, "-Mdir", generated, *options]
    command += ["--quiet-stats"]
    command += ["-Wno-fatal", *(f"-Wno-{name}" for name in _WAIVED)]  # all other warnings are passed on
    inline = executable.parent / "inline.vlt"
    inline.write_text(_control([f'inline -module "{pattern}"' for pattern in INLINED]))
    report.stage("Verilator")
    call([*command, inline, *sources], report=report, environment=verilator.environment)

    inline.unlink()

    include = Path(verilator.environment["VERILATOR_ROOT"]) / "include"
    settings = _settings((generated / "Vtop_classes.mk").read_text())
    common = [*COMMON_FLAGS, "-DVERILATOR=1", f"-I{include}", f"-I{include / 'vltstd'}"]
    flags = [*common, *(f"-D{name}={settings.get(name, ['0'])[0]}" for name in _SWITCHES)]
    # The runtime reads no switch but SystemC's, so one copy of it serves designs with and without waves.
    runtime = _Runtime(compiler, verilator, include, [*common, *(f"-D{name}=0" for name in _SWITCHES)], report)

    chunks = _chunks(generated, main)
    names = [*settings["VM_GLOBAL_FAST"], *settings["VM_GLOBAL_SLOW"]]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        header = runtime.header([*optimization, *flags])
        jobs = [pool.submit(runtime.compiled, name) for name in names]
        report.stage("C++ compiler")
        objects = list(
            pool.map(
                lambda chunk: _compile(compiler, chunk, [*optimization, *flags, "-include", header], report),
                chunks,
            )
        )
        objects += [job.result() for job in jobs]
    report.stage("linker")
    call([compiler.path, "-o", executable, *objects, *link, "-pthread"], report=report)
    for path in generated.iterdir():
        path.unlink()
    generated.rmdir()


_SWITCHES = ("VM_COVERAGE", "VM_SC", "VM_TIMING", "VM_TRACE", "VM_TRACE_FST", "VM_TRACE_SAIF", "VM_TRACE_VCD")


def _control(lines: Iterable[str]) -> str:
    """A control file of Verilator."""
    return "\n".join(["`verilator_config", *lines, ""])


def _public_ports(top: str, ports: Iterable[str]) -> list[str]:
    """Let VPI see the top's ports: making every signal public costs minutes."""
    names = list(ports)
    if not all(_SIMPLE_NAME.fullmatch(name) for name in names):
        names = ["*"]  # Verilator spells escaped names in its own way
    return [f'public_flat_rw -module "{top}" -var "{name}"' for name in names]


def _settings(makefile: str) -> dict[str, list[str]]:
    """Read the `NAME = value` and `NAME += words` of a generated Vtop_classes.mk."""
    joined = makefile.replace("\\\n", " ")
    return {name: words.split() for name, words in re.findall(r"^(\w+) \+?=(.*)$", joined, re.MULTILINE)}


def _chunks(generated: Path, main: Path) -> list[Path]:
    """Join the generated files into one per processor, the first with the main program."""
    files = sorted(generated.glob("Vtop*.cpp"), key=lambda path: path.stat().st_size, reverse=True)
    size = sum(path.stat().st_size for path in files)
    count = max(1, min(os.cpu_count() or 1, size // 200_000))  # below that, reading headers again costs more
    groups: list[list[Path]] = [[] for _ in range(count)]
    weights = [0] * count
    for path in files:
        lightest = weights.index(min(weights))
        groups[lightest].append(path)
        weights[lightest] += path.stat().st_size
    groups[0].append(main)
    chunks = []
    for number, group in enumerate(groups):
        chunk = generated / f"chunk{number}.cpp"
        chunk.write_text("".join(f'#include "{path}"\n' for path in group))
        chunks.append(chunk)
    return chunks


def _compile(compiler: Tool, source: Path, flags: Sequence[str | Path], report: Reporter) -> Path:
    result = source.with_suffix(".o")
    call([compiler.path, *flags, f"-I{source.parent}", "-c", "-o", result, source], report=report)
    return result


class _Runtime:
    """Verilator's own C++ files, compiled once per compiler and flags."""

    def __init__(self, compiler: Tool, verilator: Tool, include: Path, flags: Sequence[str], report: Reporter) -> None:
        self._compiler = compiler
        self._include = include
        self._flags = list(flags)
        self._report = report
        self._key = (compiler.identity, verilator.identity, str(include), *flags)

    def compiled(self, name: str) -> Path:
        """Give the object file of one runtime source."""

        def make(folder: Path) -> None:
            self._report.stage(f"C++ compiler: Verilator's {name}.cpp, once for this machine")
            source = self._include / f"{name}.cpp"
            call(
                [self._compiler.path, *RUNTIME_FLAGS, *self._flags, "-c", "-o", folder / f"{name}.o", source],
                report=self._report,
            )

        return self._obtain(name, RUNTIME_FLAGS, make) / f"{name}.o"

    def header(self, flags: Sequence[str]) -> Path:
        """Give a header to put before files compiled with `flags`, precompiled where the compiler is GCC.

        GCC ignores a precompiled header that was made with other flags, and says so only with -Winvalid-pch.
        """

        def make(folder: Path) -> None:
            header = folder / "runtime.h"
            header.write_text("".join(f'#include "{name}"\n' for name in _RUNTIME_HEADERS))
            if "clang" not in self._compiler.version:  # clang wants another option; it works without
                self._report.stage("C++ compiler: Verilator's headers, once for this machine")
                command = [self._compiler.path, *flags, "-x", "c++-header"]
                call([*command, "-o", folder / "runtime.h.gch", header], report=self._report)

        return self._obtain("runtime.h", flags, make) / "runtime.h"

    def _obtain(self, name: str, flags: Iterable[str], make: Callable[[Path], None]) -> Path:
        folder, _ = obtain("runtime", content_key(name, *flags, *self._key), make)
        return folder
