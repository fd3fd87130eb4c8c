"""The SystemRDL of an engine: systemrdl-compiler takes it, PeakRDL exports it, and it is the register map."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
import systemrdl
from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_ipxact import IPXACTExporter

from systoliq.api import EngineDesign, write_package
from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.engine import EngineConfig, lane_slots

from .written import RESERVED

CONFIGS = {
    "two lanes": EngineConfig(rows=2, cols=2, lanes=2),
    "three lanes": EngineConfig(rows=2, cols=6, lanes=3, max_columns=16),
    "weight-stationary": EngineConfig(rows=4, cols=2, lanes=1, dataflow="weight-stationary"),
    "float8": EngineConfig(rows=2, cols=2, lanes=2, a=E4M3FN, b=E5M2, y=E4M3FN),
}
ACCESS = {"rw": (True, True), "ro": (True, False), "wo": (False, True)}


def compiled(path):
    """The top of the file at `path`."""
    compiler = systemrdl.RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate().top


@pytest.fixture(params=CONFIGS)
def engine(request, tmp_path):
    design = EngineDesign(CONFIGS[request.param])
    write_package(design, tmp_path / "package")
    return design, tmp_path / "package/engine.rdl"


def test_it_is_the_register_map(engine):
    design, path = engine
    top, registers = compiled(path), design.top.map
    found = {node.inst_name: node for node in top.registers()}
    assert {name: node.absolute_address for name, node in found.items()} == {
        each.name: each.offset for each in registers.registers
    }
    constants = design.top.constants()
    for register in registers.registers:
        node = found[register.name]
        assert (node.has_sw_readable, node.has_sw_writable) == ACCESS[register.access]
        fields = {each.inst_name: each for each in node.fields()}
        assert {name: (each.low, each.width) for name, each in fields.items()} == {
            each.name: (each.lsb, each.bits) for each in register.fields
        }
        for name, each in fields.items():
            wanted = constants.get((register.name, name), 0 if register.access == "rw" else None)
            assert each.get_property("reset") == wanted
    codes = found["STATUS"].get_child_by_name("error").get_property("encode")
    assert {each.name: each.value for each in codes} == {
        "NONE": 0, **{name: code for name, (code, _) in registers.errors.items()}
    }  # fmt: skip


def test_tables_lie_where_the_driver_writes(engine):
    design, path = engine
    top, config = compiled(path), design.config
    for table in design.top.map.tables:
        for word in table.words:
            if table is design.top.map.row_table:
                wanted = [table.base + m * table.stride + word.offset for m in range(config.max_rows)]
            else:
                columns = np.arange(config.table_words * config.lanes)
                entries = columns // config.lanes * lane_slots(config) + columns % config.lanes
                wanted = (table.base + entries * table.stride + word.offset).tolist()
            found = [
                node.absolute_address
                for node in top.descendants(unroll=True)
                if isinstance(node, systemrdl.node.RegNode)
                and node.inst_name == word.name
                and node.get_path().startswith(f"engine_registers.{table.name}[")
            ]
            assert found == wanted


@pytest.mark.sampled(2)
def test_peakrdl_exports_it(engine, tmp_path):
    design, path = engine
    top = compiled(path)
    IPXACTExporter().export(top, str(tmp_path / "engine.xml"))
    text = (tmp_path / "engine.xml").read_text()
    for register in design.top.map.registers:
        assert f"<ipxact:name>{register.name}</ipxact:name>" in text
    assert all(f"<ipxact:name>{table.name}</ipxact:name>" in text for table in design.top.map.tables)
    CHeaderExporter().export(top, str(tmp_path / "engine.h"))
    header = (tmp_path / "engine.h").read_text()
    assert re.search(r"\bENGINE_REGISTERS__STATUS__BUSY_bm 0x1\b", header, re.IGNORECASE)
    if not shutil.which("gcc"):
        pytest.skip("no gcc: apt-get install gcc")
    (tmp_path / "main.c").write_text(
        "#include <stddef.h>\n"
        '#include "engine.h"\n'
        '_Static_assert(offsetof(engine_registers_t, STATUS) == 0x18, "STATUS");\n'
        '_Static_assert(offsetof(engine_registers_t, COLUMN_TABLE) == 0x100000, "COLUMN_TABLE");\n'
    )
    subprocess.run(["gcc", "-std=c11", "-fsyntax-only", "main.c"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", RESERVED)
def test_words_of_systemrdl_are_names_all_the_same(name, tmp_path):
    from systoliq.package import make_package

    design = EngineDesign(CONFIGS["two lanes"], name=name)
    text = make_package(design).files[f"{name}.rdl"] if name == RESERVED[0] else rdl_of(design)
    (tmp_path / "a.rdl").write_bytes(text)
    assert compiled(tmp_path / "a.rdl").inst_name == f"{name}_registers"


def rdl_of(design):
    """The file without the Verilog, which takes longer."""
    from systoliq.package.forms.block import Block
    from systoliq.package.forms.system_rdl import system_rdl
    from systoliq.package.sidecar import sidecar

    return system_rdl(Block(sidecar(design, {}))).encode()


@pytest.mark.sampled(2)
def test_a_wrong_word_is_found(engine):
    _, path = engine
    path.write_text(path.read_text().replace("sw = rw;", "sw = any;", 1))
    with pytest.raises(systemrdl.RDLCompileError):
        compiled(path)
