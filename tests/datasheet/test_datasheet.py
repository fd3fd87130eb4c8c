"""Datasheets: facts of the sidecar, a diagram of a real run, worked beats of golden vectors; errors write nothing."""

from __future__ import annotations

import html
import json
import re
import shutil
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.api import (
    ArrayDesign,
    ArrayOptions,
    EngineDesign,
    InputError,
    LayerDesign,
    LayerOptions,
    MatMulLayer,
    NetworkDesign,
    write_package,
)
from systoliq.cli.main import cli
from systoliq.datasheet.beats import worked_beats
from systoliq.datasheet.diagram import shown_cycles, wave_json
from systoliq.datasheet.latency import latency_start, stated_latency
from systoliq.datasheet.make import make_datasheet
from systoliq.datasheet.pdf import pdf_of
from systoliq.datasheet.trace import Trace, traced
from systoliq.design import DmaEngineDesign
from systoliq.hw.engine import EngineConfig
from systoliq.package.forms.block import Block, Interface, Port
from systoliq.signoff.files import package_files

from ..hw.network.small_networks import Builder

pytestmark = pytest.mark.simulator
SMALL = EngineConfig(rows=2, cols=2, depth=1, lanes=1, a_words=16, b_words=32, max_columns=16, max_rows=8)


def layer():
    rng = np.random.default_rng(5)
    return MatMulLayer(
        name="fc",
        b=rng.integers(-128, 128, (5, 3)).astype(np.int8),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(3),
        b_scale=rng.uniform(0.001, 0.02, 3).astype(np.float32),
        b_zero_point=np.zeros(3, np.int8),
        y_scale=np.float32(0.01),
        y_zero_point=np.int8(-5),
        bias=rng.integers(-99, 99, 3).astype(np.int32),
    )


def network():
    net = Builder((2, 3, 2))
    net.table()
    return net.network()


DESIGNS = {
    "layer": lambda: LayerDesign(layer(), LayerOptions(rows=2, cols=2, depth=2), name="fc"),
    "network": lambda: NetworkDesign(network(), name="net"),
    "array": lambda: ArrayDesign(ArrayOptions(rows=2, cols=2)),
    "engine": lambda: EngineDesign(SMALL),
    "dma_engine": lambda: DmaEngineDesign(SMALL, bus=32),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasheet")
    made = {}

    def package(kind):
        if kind not in made:
            made[kind] = write_package(DESIGNS[kind](), folder / kind)
        return made[kind]

    return package


def datasheet(*arguments):
    return CliRunner().invoke(cli, ["datasheet", *map(str, arguments)])


@pytest.mark.sampled(99)
@pytest.mark.parametrize("kind", DESIGNS)
def test_a_datasheet_has_every_port_and_file_of_the_sidecar(packages, tmp_path, kind):
    result = datasheet(packages(kind), "--out", tmp_path / "d.html")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "d.html").read_text()
    sidecar = package_files(packages(kind)).sidecar
    for value in (*(port["name"] for port in sidecar["ports"]), *sidecar["files"], sidecar["latency"]["from"]):
        assert f"<td>{html.escape(value)}</td>" in text
    assert ("<svg" in text) == (kind != "dma_engine")
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert ElementTree.fromstring(drawing) is not None
    for register in sidecar.get("registers", {"registers": ()})["registers"]:
        assert f"<td>{register['name']}</td>" in text


@pytest.mark.sampled(99)
@pytest.mark.parametrize("kind", [kind for kind in DESIGNS if kind != "dma_engine"])
def test_the_trace_has_the_stated_latency(packages, kind):
    files = package_files(packages(kind))
    trace = traced(files, 60)
    assert trace.first_result - latency_start(files.sidecar, trace) == stated_latency(files.sidecar)


def test_worked_beats_are_those_of_the_golden_vectors(packages):
    files = package_files(packages("layer"))
    a, y = worked_beats(Block(files.sidecar), traced(files, 60))
    with np.load(files.directory / "fc_vectors.npz") as vectors:
        rows, results = vectors["a"], vectors["y"]
    assert [int(value) for *_, value in a.elements[:2]] == rows[0, :2].tolist()  # the first batch has one row of 2
    assert [bits for _, bits, *_ in a.elements] == ["7:0", "15:8", "23:16", "31:24"]
    assert int(y.elements[0][-1]) == results[0, 0]


def test_a_latency_that_the_verilog_does_not_have_is_refused(packages, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(packages("layer"), copy)
    sidecar = json.loads((copy / "fc.json").read_text())
    sidecar["latency"]["cycles"] += 1
    (copy / "fc.json").write_text(json.dumps(sidecar))
    result = datasheet(copy, "--out", tmp_path / "d.html")
    assert result.exit_code == 2
    assert re.search(r"fc\.json must state the latency of fc\.v, \d+ cycles, not \d+", result.output)
    assert not (tmp_path / "d.html").exists()


@pytest.mark.filterwarnings("ignore:HarfBuzz-Subset will be required")
def test_a_pdf(packages, tmp_path):
    try:
        pdf_of("")
    except InputError as error:
        pytest.skip(str(error))
    result = datasheet(packages("layer"), "--out", tmp_path / "d.pdf")
    assert result.exit_code == 0, result.output
    content = (tmp_path / "d.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    objects = b"".join(zlib.decompress(each) for each in streams if each[:1] == b"x")
    assert (content + objects).count(b"/MediaBox") > 2, "some pages"


def test_a_pdf_without_the_systems_library_is_refused_before_anything_runs(packages, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise OSError("cannot load library 'libpango-1.0-0'")

    monkeypatch.setattr("systoliq.datasheet.pdf.need", missing)
    monkeypatch.setattr("systoliq.datasheet.make.make_datasheet", None)
    result = datasheet(packages("layer"), "--out", tmp_path / "d.pdf")
    assert result.exit_code == 2
    assert "weasyprint needs Pango: apt-get install libpango-1.0-0 libpangoft2-1.0-0" in result.output
    assert not (tmp_path / "d.pdf").exists()


def test_without_icarus_the_page_says_why_it_has_no_diagram(packages, monkeypatch):
    from systoliq.sim.tools import ToolError

    def missing(tool):
        raise ToolError("Icarus is missing: apt-get install iverilog")

    monkeypatch.setattr("systoliq.signoff.icarus.require", missing)
    text = make_datasheet(packages("layer"))
    assert "No timing diagram: Icarus is missing: apt-get install iverilog." in text
    assert "<svg" not in text


@pytest.mark.slow
def test_resources_are_those_of_place_and_route(packages, tmp_path):
    pytest.importorskip("pyosys")
    result = datasheet(packages("layer"), "--out", tmp_path / "d.html", "--target", "ecp5-25k")
    assert result.exit_code == 0, result.output
    heads, row = re.findall(r"<tr>(<th>part</th><th>LUT.*?)</tr><tr>(.*?)</tr>", (tmp_path / "d.html").read_text())[0]
    found = dict(zip(re.findall("<th>(.*?)</th>", heads), re.findall("<td>(.*?)</td>", row), strict=True))
    assert (found["part"], found["seeds"]) == ("ecp5-25k", "3")
    assert 2 * 2 * 2 <= int(found["multiplier cells"]) <= 28  # the array has 8, the part 28
    assert 200 < int(found["LUT sites"].replace(",", "")) < 24288
    assert 30 < float(found["MHz"]) < 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/none", "--out", "{tmp}/d.html"], "DIR must be a directory that systoliq emit wrote"),
        (["{tmp}", "--out", "{array}/../d.html"], "must hold one package"),
        (["{array}", "--out", "{array}/d.html"], "--out must be in another folder than DIR"),
        (["{array}", "--out", "{tmp}/d.html", "--target", "ecp5-85k"], "must be used with the package of a layer"),
        (["{array}", "--out", "{tmp}/d.html", "--target", "ecp6"], "ecp6"),
        (["{array}", "--out", "{tmp}/d.docx"], "--out must end in .html or .pdf, not 'd.docx'"),
    ],
)
def test_wrong_arguments_are_one_line_and_write_nothing(packages, tmp_path, arguments, message):
    before = sorted(packages("array").iterdir())
    result = datasheet(*(each.format(tmp=tmp_path, array=packages("array")) for each in arguments))
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "d.html").exists()
    assert sorted(packages("array").iterdir()) == before


def port(name, width=1, direction="input"):
    return Port(name=name, direction=direction, width=width, meaning="")


def test_the_diagram_shows_events_and_leaves_out_what_lies_between():
    ports = {name: port(name) for name in ("rst", "s_axis_a_tvalid", "s_axis_a_tready", "m_axis_y_tvalid")}
    ports |= {"m_axis_y_tready": port("m_axis_y_tready"), "s_axis_a_tdata": port("s_axis_a_tdata", 64)}
    signals = {
        role: {
            each.upper(): ports[f"{role}_{each}"] for each in ("tdata", "tvalid", "tready") if f"{role}_{each}" in ports
        }
        for role in ("s_axis_a", "m_axis_y")
    }
    streams = (
        Interface(name="s_axis_a", protocol="axi4-stream", role="slave", signals=signals["s_axis_a"]),
        Interface(name="m_axis_y", protocol="axi4-stream", role="master", signals=signals["m_axis_y"]),
    )
    cycles = 30
    values = dict.fromkeys(ports, [1] * cycles) | {
        "rst": [1, 1] + [0] * (cycles - 2),
        "s_axis_a_tvalid": [None, 1, 0, 1] + [0] * (cycles - 4),
        "s_axis_a_tdata": [0x0123456789ABCDEF] * cycles,
        "m_axis_y_tvalid": [0] * 20 + [1] * (cycles - 20),
    }
    trace = Trace(ports=tuple(ports.values()), streams=streams, reset="rst", values=values)
    assert (trace.released, trace.first_result, trace.taken(streams[0])) == (2, 20, [3])
    assert shown_cycles(trace, 3) == [1, 2, 3, 4, 5, 6, 19, 20, 21, 22, 23]
    drawn = wave_json(trace, 3)
    rows = {each["name"]: each for each in drawn["signal"] if each}
    assert rows["cycle"]["data"] == ["-1", "0", "1", "2", "3", "16", "17", "18", "19", "20"]
    assert rows["rst"]["wave"] == "10....|....."
    assert rows["s_axis_a_tvalid"]["wave"] == "x010..|....."
    assert rows["s_axis_a_tdata"] == {"name": "s_axis_a_tdata", "wave": "xx=xxx|xxxxx", "data": ["..abcdef"]}
    assert rows["m_axis_y_tvalid"]["wave"] == "x0....|.1..."
    assert drawn["edge"] == ["a~>b 17 cycles"]
    assert rows["s_axis_a_tvalid"]["node"][2] == "a"
    assert rows["m_axis_y_tvalid"]["node"][8] == "b"
