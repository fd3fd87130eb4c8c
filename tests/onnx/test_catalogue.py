"""The catalogue of operators against the schemas of onnx and onnxruntime, the documentation and the source."""

from __future__ import annotations

import ast
import re

import pytest
from onnx import defs
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime

from systoliq.onnx.catalogue import CATALOGUE
from systoliq.onnx.operator import Operator, Operators

from ..conftest import ROOT

SCHEMAS = {(schema.domain, schema.name): schema for schema in onnxruntime.get_all_operator_schema()}
SECTIONS = {section for row in CATALOGUE for section in row.sections}
FREE = ("DynamicQuantizeLSTM", "MatMulBnb4", "TransposeMatMul")  # not in each release of onnxruntime
WORDS = {"x": "[ax]", "a": "[ax]", "b": "[bw]", "bias": "b|c|bias"}


def section_of(page: str) -> str:
    """The text below a heading of a page of docs, up to the next heading of the same rank."""
    file, _, anchor = page.partition("#")
    parts = re.split(r"^(#+) (.*)$", (ROOT / "docs" / file).read_text(), flags=re.MULTILINE)
    found = [
        (rank, place)
        for place, (rank, title) in enumerate(zip(parts[1::3], parts[2::3], strict=True))
        if re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") == anchor
    ]
    assert len(found) == 1, f"{page} is not a heading of the documentation"
    return parts[3 * found[0][1] + 3]


def rows_of(page: str) -> str:
    """The first column of the table of a section."""
    return "\n".join(line.split("|")[1] for line in section_of(page).splitlines() if line.startswith("|"))


def test_the_documentation_names_each_operator_that_is_read():
    texts = {page: section_of(page) for page in SECTIONS}
    missing = [
        f"{row.name} in {page}"
        for row in CATALOGUE
        for page in row.sections
        if not re.search(rf"\b{row.name}\b", texts[page])
    ]
    assert not missing


@pytest.mark.parametrize("page", sorted(SECTIONS))
def test_each_operator_in_a_table_of_the_documentation_is_read(page):
    read = {row.name for row in CATALOGUE if page in row.sections}
    known = {name for _, name in SCHEMAS} | {schema.name for schema in defs.get_all_schemas()}
    named = {word for word in re.findall(r"\w+", rows_of(page)) if word in known}
    assert named, page
    assert named <= read


def test_operators_and_their_inputs_are_those_of_the_schemas():
    for row in CATALOGUE:
        schema = SCHEMAS.get((row.domain, row.name))
        if schema is None and defs.has(row.name):  # beyond onnxruntime's opset, or its com.microsoft.QLinearMatMul
            schema = defs.get_schema(row.name)
        if schema is None:
            assert row.name in FREE or not row.sections, f"{row.domain} {row.name}"
            continue
        names = [each.name.lower() for each in schema.inputs]
        assert len(row.inputs) <= len(names), row.name
        if row.domain == "com.microsoft" and row.sections:
            assert row.least == schema.min_input, row.name
        for role, name in zip(row.inputs, names, strict=False):
            operand, _, part = role.partition("_")
            assert name.endswith(part), f"{row.name}: {role} and {name}"
            if operand in WORDS and not part:
                assert re.fullmatch(WORDS[operand], name), f"{row.name}: {role} and {name}"


def test_operators_have_one_row_each():
    with pytest.raises(ValueError, match="operators must have one row each, not two of Relu"):
        Operators([Operator("Relu"), Operator("Relu")])


def test_no_other_file_has_a_table_of_operators():
    """By their names: four operators that are products, quantized or pools, in one list, are a second catalogue."""
    names = {row.name for row in CATALOGUE if row.is_product or row.inputs or "Pool" in row.name}
    for part in ("onnx", "inference", "partition"):
        for path in sorted((ROOT / "build/systoliq" / part).rglob("*.py")):
            if path.name == "catalogue.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                    given = [*(node.keys if isinstance(node, ast.Dict) else node.elts)]
                    held = {each.value for each in given if isinstance(each, ast.Constant)}
                    assert len(held & names) < 4, f"{path}:{node.lineno}"
