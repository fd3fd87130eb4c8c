"""The headers of a package's numbers: Python's is imported, C's is compiled, and both say what the sidecar says."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess

import pytest

from systoliq.package.forms.block import Block
from systoliq.package.forms.c_constants import c_constants

from ..kinds import KINDS
from .written import RESERVED, written


def imported(path):
    """The constants of the module at `path`."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if name.isupper()}


def compiled(folder, header, prefix, names, compiler="gcc"):
    """What a C program makes of macros: lists of numbers, by name; strings as they are."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}: apt-get install {compiler}")
    lines = [f'#include "{header}"', "#include <stdio.h>", "int main(void) {"]
    for name in names:
        if name in ("TOP", "KIND", "CELLS"):
            lines.append(f'  printf("{name} %s\\n", {prefix}_{name});')
            continue
        values = f"#ifdef {prefix}_{name}_COUNT\n  {{ static const double v[{prefix}_{name}_COUNT] = {prefix}_{name};"
        values += f' printf("{name} list"); for (int i = 0; i < {prefix}_{name}_COUNT; i++) printf(" %.17g", v[i]);'
        values += f' printf("\\n"); }}\n#else\n  printf("{name} %.17g\\n", (double){prefix}_{name});\n#endif'
        lines.append(values)
    source = folder / ("main.c" if compiler == "gcc" else "main.cpp")
    source.write_text("\n".join([*lines, "  return 0;", "}", ""]))
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "main", source.name]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout.splitlines()


def said_by(constants):
    """The lines that `compiled` should give for the constants of Python's header."""
    for name, value in constants.items():
        if isinstance(value, list):
            yield [name, "list", *map(float, value)]
        else:
            yield [name, value if isinstance(value, str) else float(value)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_say_the_same(kind, compiler, tmp_path):
    name, folder = written(kind, tmp_path)
    constants = imported(folder / f"{name}_constants.py")
    shutil.copy(folder / f"{name}_constants.h", tmp_path)
    lines = compiled(tmp_path, f"{name}_constants.h", name.upper(), constants, compiler)
    found = []
    for line in lines:
        key, *values = line.split(" ")
        plain = key in ("TOP", "KIND", "CELLS")
        found.append([key, *(value if plain or value == "list" else float(value) for value in values)])
    assert found == list(said_by(constants))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("kind", KINDS)
def test_they_say_what_the_sidecar_says(kind, tmp_path):
    name, folder = written(kind, tmp_path)
    sidecar = json.loads((folder / f"{name}.json").read_text())
    constants = imported(folder / f"{name}_constants.py")
    assert (constants["TOP"], constants["KIND"]) == (name, kind)
    assert {each["name"]: each["width"] for each in sidecar["ports"]} == {
        key.removesuffix("_WIDTH").lower(): value for key, value in constants.items() if key.endswith("_WIDTH")
    }
    assert constants["LATENCY_CYCLES"] == sidecar["latency"]["cycles"]
    if kind == "layer":
        assert constants["QUANTIZATION_MULTIPLIER"] == sidecar["quantization"]["multiplier"]
        assert constants["SHAPE_K"] == sidecar["shape"]["k"]


EDGE = [-(1 << 31), (1 << 31) - 1, 1 << 31, -(1 << 63), (1 << 64) - 1]


def test_integers_at_the_edges_of_c(tmp_path):
    sidecar = {
        "top": "edges", "kind": "layer", "cells": "portable", "computes": "", "ports": [], "edge": EDGE,
        "wide": 1 << 64, "tiny": 1e-30,
        "clocking": {"clock": "clk", "reset": "rst", "reset_kind": "synchronous, active high"},
    }  # fmt: skip
    header = c_constants(Block(sidecar))
    assert "EDGES_WIDE" not in header
    (tmp_path / "edges.h").write_text(header)
    lines = compiled(tmp_path, "edges.h", "EDGES", ["EDGE", "TINY"])
    assert lines[0].split()[2:] == [f"{float(value):.17g}" for value in EDGE]
    assert float(lines[1].split()[1]) == 1e-30


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", RESERVED)
def test_words_of_c_and_python_are_names_all_the_same(name, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    assert imported(folder / f"{name}_constants.py")["TOP"] == name
    assert compiled(folder, f"{name}_constants.h", name.upper(), ["TOP"]) == [f"TOP {name}"]
