"""The masters' registers in docs: those of the hardware's description, and a header that compiles."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from systoliq.hw.dma.registers import BASE, dma_registers
from systoliq.package.dma_engine.dma_register_map import dma_c_header, dma_markdown

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize(("name", "make"), [("dma_registers.md", dma_markdown), ("systoliq_dma.h", dma_c_header)])
def test_docs_are_up_to_date(name, make):
    assert (DOCS / name).read_text() == make(), "run systoliq registers docs"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_header_says_what_the_hardware_has(tmp_path):
    checks = []
    for register in dma_registers(vector=True, rows=True):
        name = f"SYSTOLIQ_DMA_{register.name.removeprefix('DMA_')}"
        checks.append(f"{name} == 0x{BASE + register.offset:X}")
        for field in register.fields:
            of_field = f"{name}_{field.name.upper()}"
            checks += [f"{of_field}_SHIFT == {field.lsb}", f"{of_field}_MASK == 0x{field.mask:X}"]
    program = tmp_path / "check.c"
    program.write_text('#include "systoliq_dma.h"\nint main(void) { return !(' + " && ".join(checks) + "); }\n")
    binary = tmp_path / "check"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-I", DOCS, program, "-o", binary], check=True)
    assert subprocess.run([binary], check=False).returncode == 0
