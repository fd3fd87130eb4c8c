"""certificate.json of a network: its stages in order, with what their layers' own certificates say; the report page."""

from __future__ import annotations

import json

import pytest

from systoliq.design.layer import LayerDesign
from systoliq.design.network import NetworkDesign
from systoliq.package import make_package
from systoliq.package.network.stages import claims_of

from ...hw.network import small_networks as small


@pytest.fixture(scope="module")
def package():
    return make_package(NetworkDesign(small.residual(), name="net"))


def test_stages_in_order_with_modules_and_what_they_take(package):
    stages = package.certificate["stages"]
    assert [(stage["node"], stage["operator"]) for stage in stages] == [
        ("convolution0", "Convolution"), ("convolution1", "Convolution"), ("addition2", "Addition"),
        ("maxpool3", "MaxPool"), ("dense5", "Dense"),
    ]  # fmt: skip
    first, second, third, fourth, last = (stage["module"] for stage in stages)
    assert [stage["takes"] for stage in stages] == [["s_axis_a"], [first], [second, first], [third], [fourth]]
    assert package.certificate["output"] == last
    text = package.files["net.v"].decode()
    assert all(f"\nmodule {stage['module']}(" in text for stage in stages)
    assert {stage["verdict"] for stage in stages} == {package.certificate["verdict"]} == {"exact"}


@pytest.mark.slow
def test_a_stage_says_what_its_layer_s_own_certificate_says(package):
    for stage, node in zip(package.certificate["stages"], package.design.network.nodes, strict=False):
        if stage["operator"] == "Convolution":
            alone = make_package(LayerDesign(node.layer)).certificate
            for key in ("shape", "zero_points", "noncanonical", "requantizer", "columns"):
                assert stage[key] == alone[key], (stage["node"], key)


def test_the_package_names_and_shows_it(package):
    described = json.loads(package.files["net.json"])["files"]
    assert described["certificate.json"] == "what is claimed about exactness: systoliq verify DIR checks it"
    assert "weights, scales, tables" in described["net_stages.npz"]
    assert "systoliq verify DIR" in package.files["net.v"].decode().partition("module")[0]
    page = package.files["report.html"].decode()
    steps = sum(column["steps"] for column in package.certificate["stages"][0]["columns"])
    for fact in (f"4 columns, {steps} steps", "65536 pairs"):
        assert f"<dt>certified</dt><dd>{fact}</dd>" in page
    assert page.count("<dt>tested</dt>") == len(package.certificate["stages"])


def test_coarser_requantizers_are_said_to_differ(package, tmp_path):
    """Of a network they cannot be asked for, so that every verdict is exact; a claim that differs shows on the page."""
    design = NetworkDesign(small.residual(), name="net")
    claims_of(design)[0]["verdict"] = "differs"
    pages = make_package(design)
    assert pages.certificate["verdict"] == "differs"
    assert "<dt>not exact</dt>" in pages.files["report.html"].decode()
