"""The comment at the head of an emitted file: short lines, no date, and what a reader looks for."""

from __future__ import annotations

import json

import pytest

from systoliq.package import make_package

from .kinds import KINDS, small


@pytest.mark.sampled(99)
@pytest.mark.parametrize("cells", ["portable", "ecp5"])
@pytest.mark.parametrize("kind", KINDS)
def test_head(kind: str, cells: str) -> None:
    package = make_package(small(kind, cells))
    name, text = package.design.name, package.files[f"{package.design.name}.v"].decode()
    head, _, rest = text.partition("\n\n")
    lines = head.splitlines()
    assert rest == package.design.verilog
    assert all(line == "//" or (line.startswith("// ") and len(line) <= 120) for line in lines)
    assert lines[0].startswith(f"// {name}: ")
    said = " ".join(line.removeprefix("//").strip() for line in lines)
    for expected in (f"{kind}, cells={cells}", "rows=2, cols=2,", "Written by systoliq 0", "No rights are claimed"):
        assert expected in said
    for stream in ("A: ", "B: ") if kind != "layer" else ("A: ", "Y: "):
        assert f" {stream}" in said
    models = f"{name}_models.v "
    assert f"iverilog -g2005 -o t {name}.v {models if cells != 'portable' else ''}{name}_tb.v && vvp t" in said
    assert (f"{name}_models.v" in package.files) == (cells != "portable")
    assert ("systoliq verify DIR" in said) == (kind == "layer")
    assert ("rounding=near-tie" in said) == (kind == "layer")
    packing = json.loads(package.files[f"{name}.json"])["packing"]
    assert all(value["layout"] in said for value in packing.values() if isinstance(value, dict))
