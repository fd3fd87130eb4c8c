"""Forgeries of order, flow and time in a network, without regeneration: refused, or named in the boundary.

The forger knows the format: the certificate, the archives and all digests are right for what is forged.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil

import pytest

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import network_arrays
from systoliq.verify import tagged_images, verify_package
from systoliq.verify.model import Model
from systoliq.verify.one_layer import read_modules
from systoliq.verify.order import Order
from systoliq.verify.package import read_arrays

from ..hw.network import small_networks as small
from .emitted_networks import emitted
from .forging import reasons_against
from .sealing import change, seal


@pytest.fixture(scope="module")
def package(residual):
    return residual


@pytest.fixture(scope="module")
def boundary(package):
    report = verify_package(package)
    assert report.passed, report.reasons
    return {each.result: each for each in report.boundary}


def basis(boundary, beginning):
    (found,) = [each.basis for result, each in boundary.items() if result.startswith(beginning)]
    return found


def test_windows_of_a_convolution_that_adds_its_other_input(tmp_path):
    """Its certificate has an array and no shape."""
    net = small.Builder((2, 4, 4), seed=5)
    image = net.x
    net.residual(net.convolution(2, (3, 3), pads=(1, 1, 1, 1)), of=image, pads=(1, 1, 1, 1))
    report = verify_package(emitted(net.network(), tmp_path, "portable"))
    assert report.passed, report.reasons


def test_what_is_known_of_a_small_network(boundary):
    for beginning, wanted in (
        ("every valid, ready, last, address and write enable", "derived"),
        ("window buffers, FIFOs, forks, gearboxes, moves", "derived"),
        ("arrays multiply, add and copy data", "derived"),
        ("products of the arrays for all operands", "evaluated"),
        ("order of elements on every stream between stages", "evaluated"),
        ("order of elements for ever at full rate", "evaluated"),
        ("widths of the adders of arrays", "evaluated"),
        ("sums of the arrays", "evaluated"),
        ("reset from 2 arbitrary states", "evaluated"),
        ("all results with a random schedule of valid and ready, and with a receiver", "evaluated"),
        ("order and results for every schedule of valid and ready", "tested"),
        ("reset from every state", "tested"),
        ("every instance with a reset has rst itself", "derived"),
        ("each stream between stages joins one block to one other", "derived"),
        ("error is 1 from two cycles after a tlast that does not end an image", "evaluated"),
    ):
        assert basis(boundary, beginning) == wanted, beginning


WINDOW, ADDED = r"_s0_convolution0_window\(.*?", "stage addition2 (Addition): "
BOMB = "reg [19:0] bomb = 20'h00000; always @(posedge clk) bomb <= bomb + 20'h00001;"
# A pattern whose group 1 is replaced, by what (None: another last digit), and why it is refused.
REFUSED = {
    "padding": (WINDOW + r"flags_2\[1\] \? 16'h80(80) : read_data;", "81", "stage convolution0 "),
    "address of a window": (WINDOW + r"procmux_\w+ = \w+ \? \(\*[^*]*\*\) 4'h(7) : 4'h2;", "6", "stage convolution0 "),
    "address of weights": (
        r"_s1_convolution1_sequencer\(.*?assign \w+ = address == 3'h(7);", "6", "stage convolution1 "),
    "order of a gearbox": (
        r"_gearbox_1_to_4_of_8\(.*?assign o__payload = (\{ last, held \});", "{ last, held[7:0], held[31:8] }",
        "stage convolution1 "),
    "wiring of a lane": (r"_s0_convolution0_window\(.*?\.write_data\(i__payload\[(15:0)\]\)", "16:1", ""),
    "a FIFO that loses room": (r"_fifo_128x9\(.*?assign room_next = fetched (\|) _\d+;", "&", "and no more in"),
    "a FIFO that counts twice": (r"_fifo_64x9\(.*?assign _\d+ = newest \+ 1'h(1);", "0", ADDED),
    "an overrun": (r"_fifo_64x9\(.*?assign came = i__valid & (i__ready);", "1'h1", "after a receiver that waited"),
    "a reset of a pointer that is missing": (
        r"_fifo_64x9\(.*?assign \w+ = (rst \? 6'h00 :) \w+;", "1'h0 ? 6'h00 :", "after a reset from an"),
    "a reset of a place that is missing": (
        WINDOW + r"assign \w+ = (rst \? 4'hf :) \w+;", "1'h0 ? 4'hf :", "after a reset from an arbitrary state"),
    "a stall on one byte": (
        r"_fifo_64x9\(.*?assign came = i__valid & (i__ready);", "i__ready & (i__payload[7:0] != 8'h42)",
        "m_axis_y_tlast depends on data"),
    "a Trojan on a pair of bytes in a window": (
        WINDOW + r"flags_2\[1\] \? 16'h8080 : (read_data);",
        "read_data == 16'h4217 ? 16'h0000 : read_data", "must be moved data, and is computed from it"),
    "a Trojan on a pair of bytes in a multiplier": (
        r"_s0_convolution0_multiplier_8x8\(.*?assign _1 = (\$signed\(a_1\) \* \$signed\(b_1\));",
        "{ a_1, b_1 } == 16'h4217 ? $signed(16'h0000) : $signed(a_1) * $signed(b_1)", "does not give the products"),
    "a time bomb that inverts": (
        WINDOW + r"(assign \w+ = flags_2\[1\] \? 16'h8080 : read_data)",
        lambda found: f"{BOMB}{found} ^ {{ 16{{ & bomb }} }}",
        "must be moved data, and is computed from it"),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("what", REFUSED)
def test_refused_without_regeneration(what, package, tmp_path):
    pattern, new, reason = REFUSED[what]
    reasons = reasons_against(package, tmp_path, pattern, new)
    assert any(reason in text for text in reasons), reasons


def test_an_adder_of_fewer_bits_is_refused(package, tmp_path):
    """Two bits less, which no sum of the random images needs."""
    directory = shutil.copytree(package, tmp_path / "net")
    change(
        directory / "net.v",
        r"_s1_convolution1_mac\(.*?(assign _\d+ = \$signed\(sum_1_0\) \+ \$signed\(sum_1_1\);)",
        lambda found: (
            f"wire [15:0] less; {re.sub(r'_[0-9]+ =', 'less =', found, count=1)} {found[:10]} = $signed(less);"
        ),
    )
    assert [each for each in reasons_of(directory) if "images that steer its sums" in each]


@pytest.fixture(scope="module")
def of_cells(tmp_path_factory):
    """A package whose arrays and requantizers are cells of ECP5."""
    return emitted(small.residual(), tmp_path_factory.mktemp("package"), "ecp5")


@pytest.mark.sampled(99)
@pytest.mark.parametrize("reset", ["1'h0", "~rst", "rst & i__valid"])
def test_another_reset_of_one_instance_is_refused(reset, of_cells, tmp_path):
    forgery = r"_pipeline\(.*?  net_fork\w+ (\w+ \([^;]*\.rst\(rst)\)", lambda old: old[:-3] + reset
    reason = reason_of(of_cells, forgery, tmp_path)
    assert re.search(r"module net_pipeline: fork_\w+ must be reset by rst alone", reason), reason


def test_a_net_of_the_name_of_the_reset_is_refused(of_cells, tmp_path):
    """A stage without a reset, in which rst is a constant."""
    directory = shutil.copytree(of_cells, tmp_path / "net")
    path, stage, port = directory / "net.v", "net_s0_convolution0", "  input wire rst,\n"
    constant = "  wire rst;\n  assign rst = 1'h0;\n"
    change(path, rf"module {stage}\(\n.*?({port}.*?\);\n)", lambda old: old.removeprefix(port) + constant)
    change(path, rf"  {stage} \w+ \([^;]*(,\n    \.rst\(rst\))", lambda _: "")
    assert any(f"module {stage}: window must be reset by rst alone" in text for text in reasons_of(directory))


def test_blocks_without_a_proof_are_counted(boundary):
    details = [
        each.detail
        for result, each in boundary.items()
        if result.startswith(("order and results for every", "reset from e"))
    ]
    blocks = "6 FIFOs, 1 fork, 1 gearbox, 1 replay buffer, 9 skid buffers, 3 window buffers"
    kinds = f"systoliq prove proves, at small sizes, the kinds of {blocks}"
    assert details == [f"{kinds}; without a proof: 6 other instances with streams"] * 2


def test_order_and_sums_are_shown_for_cells_too(tmp_path):
    net = small.Builder((2, 3, 3))
    net.convolution(2, (2, 2))
    reasons = []
    found = {each.result: each for each in order_of(emitted(net.network(), tmp_path, "ecp5")).grounds(reasons)}
    assert not reasons
    assert basis(found, "order of elements on every stream between stages") == "evaluated"
    assert any("padding, strides and dilations of 1 window buffer: for all data" in result for result in found)
    assert basis(found, "order of elements for ever at full rate") == "evaluated"
    for beginning in ("products of the arrays", "widths of the adders", "sums of the arrays", "reset from 2 arbitrary"):
        assert basis(found, beginning) == "evaluated"
    assert basis(found, "arrays multiply, add and copy data") == "tested"  # what cells that add do is not derived


@pytest.fixture
def no_tags(monkeypatch):
    monkeypatch.setattr(tagged_images, "_MOST_WORK", 0)
    monkeypatch.setattr(Order, "_sums", lambda *_: ())  # which come after the windows
    monkeypatch.setattr(Order, "_images", lambda *_: ())


def test_window_buffers_are_evaluated_where_the_network_is_too_large(of_cells, no_tags):
    reasons = []
    found = {each.result: each for each in order_of(of_cells).grounds(reasons)}
    assert not reasons
    assert basis(found, "windows, padding, strides and dilations of 3 of 3 window buffers") == "evaluated"
    for result in ("order of elements on every stream between stages", "order of elements for ever at full rate"):
        assert basis(found, result) == "tested"


@pytest.mark.sampled(99)
@pytest.mark.parametrize("what", ["padding", "address of a window"])
def test_other_windows_are_refused_where_the_network_is_too_large(what, of_cells, no_tags, tmp_path):
    assert "stage convolution0 (Convolution): its window buffer gives " in reason_of(of_cells, REFUSED[what], tmp_path)


def order_of(package):
    """What is known of the order in a package, without its other checks."""
    claimed = json.loads((package / "certificate.json").read_text())
    arrays = read_arrays(package / "net_network.npz")
    return Order(
        directory=package,
        name="net",
        claimed=claimed,
        modules=read_modules(package, "net.v"),
        model=Model.of(arrays, "net_network.npz"),
        arrays=read_arrays(package / "net_stages.npz"),
        progress=lambda _: None,
    )


def reasons_of(package):
    """Why the order in a package is refused."""
    reasons = []
    list(order_of(package).grounds(reasons))
    return reasons


def reason_of(package, forgery, folder):
    """Why the order in a package with this forgery is refused."""
    directory = shutil.copytree(package, folder / "net")
    change(directory / "net.v", *forgery[:2])
    return next(iter(reasons_of(directory)), "")


TAGS = {  # of a package of cells: what is replaced, by what, and why it is refused
    "order of a gearbox": REFUSED["order of a gearbox"],
    "a FIFO that counts twice": REFUSED["a FIFO that counts twice"],
    "a FIFO that loses room": (REFUSED["a FIFO that loses room"][0], "&", " beats, and no more in"),
    "wiring of a lane": (REFUSED["wiring of a lane"][0], "16:1", "convolution0 (Convolution): its window buffer has"),
    "a beat that a fork gives twice": (
        r"_fork_2_of_9\(.*?assign procmux_\w+ = i__valid \? (_\d+) : done\[1\]", "1'h0", "(Addition): its input has "),
    "a beat that a fork loses": (
        r"_fork_2_of_9\(.*?assign i__ready = (&) took", "|", " beats, and no more in "),
    "a skid buffer that forgets": (
        r"net_skid_buffer_9\(.*?assign \w+ = keeps \? (kept) : i__payload;\n  assign \w+ = \w+ \? o__p", "i__payload",
        "(Addition): its input has "),
    "a skid buffer that offers what is gone": (
        r"net_skid_buffer_9\(.*?assign \w+ = \w+ \? o__payload : (\w+);", "kept", " has "),
    "a last in the padding": (
        r"_s0_convolution0_window\(.*?\.i__payload\(\{ flags_2\[(0)\], ", "1",
        "its window buffer has another last"),
    "a kernel without an end": (
        r"_s1_convolution1_window\(.*?assign \w+ = \w+ \? (_\w+) : round_2_last;", "round_2_last", "its window buffer"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", TAGS)
def test_refused_by_tags(what, of_cells, tmp_path):
    forgery = TAGS[what]
    assert forgery[2] in reason_of(of_cells, forgery, tmp_path) != ""


SUMS = {
    "a sum that is not cleared": (r"_s1_convolution1_sequencer\(.*?assign first = take & (first_\d+);", "1'h0"),
    "results in another order": (r"_s1_convolution1_result_buffer\(.*?assign \w+ = newest_0 \+ 1'h(1);", "0"),
    "weights of another time": (r"_s1_convolution1_weights_1 weights_1 \(\s*\.address\((\w+)\)", "address"),
    "constants of another column": (r"_s1_convolution1_lane_0\(.*?constants \([^;]*?\.index\((\w+)\)", "2'h0"),
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("cells", ["package", "of_cells"])
@pytest.mark.parametrize("what", SUMS)
def test_refused_by_images(what, cells, request, tmp_path):
    assert reason_of(request.getfixturevalue(cells), SUMS[what], tmp_path).startswith("net.v: stage convolution")


CELL_SUMS = {
    "a carry that is lost": (r"_s1_convolution1_mac\(.*?CCU2C #\(.*?CCU2C #\(\s*\.INIT0\(16'h(\w+)\)", None),
    "a register too few": (r'_s0_convolution0_multiplier_8x8\(.*?(\.REG_OUTPUT_CLK\("CLK0"\),)', ""),
}


@pytest.mark.sampled(99)
@pytest.mark.parametrize("what", CELL_SUMS)
def test_other_cells_are_refused_by_images(what, of_cells, tmp_path):
    assert reason_of(of_cells, CELL_SUMS[what], tmp_path).startswith("net.v: ")


BOMBS = {  # the module, what is replaced in it, and by what
    "stops a FIFO": ("_fifo_64x9", r"assign came = (i__valid) & i__ready;", "i__valid & ~(& bomb)"),
    "clears sums": ("_s1_convolution1_mac", r"assign \w+ = (clear) \?", "clear | (& bomb)"),
}


@pytest.mark.slow  # test_more_forgeries.py names a Trojan
@pytest.mark.parametrize("where", BOMBS)
def test_a_time_bomb_is_named(where, package, monkeypatch, tmp_path):
    monkeypatch.setattr(tagged_images, "_MOST_SEARCHED", 2_000_000)
    module, pattern, new = BOMBS[where]
    directory = shutil.copytree(package, tmp_path / "net")
    change(directory / "net.v", rf"{module}\(.*?;\n()  (?:assign|always)", f"{BOMB}\n")
    change(directory / "net.v", rf"{module}\(.*?{pattern}", new)
    reasons = []
    found = {each.result: each for each in order_of(directory).grounds(reasons)}
    assert not reasons
    (ever,) = [each for result, each in found.items() if result.startswith("order of elements for ever")]
    assert ever.basis == "tested"
    assert ".bomb" in ever.detail


def test_operands_in_each_others_place_are_refused(package, tmp_path):
    """Also if the certificate says so."""
    directory = shutil.copytree(package, tmp_path / "net")
    text = (directory / "net.v").read_text()
    begin = text.index("net_s2_addition2 s2_addition2 (")
    end = text.index(");", begin)
    text = (
        text[:begin]
        + text[begin:end].replace(".i_0__", ".<").replace(".i_1__", ".i_0__").replace(".<", ".i_1__")
        + text[end:]
    )
    (directory / "net.v").write_text(text)
    certificate = json.loads((directory / "certificate.json").read_text())
    certificate["stages"][2]["takes"].reverse()
    (directory / "certificate.json").write_text(json.dumps(certificate))
    assert any("stage addition2 (Addition): beat " in text for text in reasons_of(directory))


def test_a_package_of_other_weights_is_refused(package, tmp_path):
    """All of it is right, but the network that it says it is of."""
    net = small.residual()
    first, *rest = net.nodes
    b = first.layer.b.copy()
    b[[0, 1]] = b[[1, 0]]
    nodes = (dataclasses.replace(first, layer=dataclasses.replace(first.layer, b=b)), *rest)
    directory = shutil.copytree(package, tmp_path / "net")
    (directory / "net_network.npz").write_bytes(npz_bytes(network_arrays(dataclasses.replace(net, nodes=nodes))))
    assert any("stage convolution0 (Convolution): beat " in text for text in reasons_of(directory))


NAMED = {  # what is replaced, by what, and what no longer stands
    "a Trojan on a pair of bytes beside a multiplier": (
        r"_s0_convolution0_mac\(.*?assign \w+ = (clear) \?", "clear | ({ a[7:0], b[7:0] } == 16'h4217)",
        "arrays multiply, add and copy data"),
    "a time bomb that pads": (
        WINDOW + r"(assign \w+ = flags_2\[1\]) \? 16'h8080",
        lambda found: f"{BOMB}{found} | (& bomb)", "order of elements for ever at full rate"),
}  # fmt: skip


@pytest.mark.slow  # test_more_forgeries.py names similar forgeries
@pytest.mark.parametrize("what", NAMED)
def test_named_without_regeneration(what, package, boundary, tmp_path):
    """What rests on regeneration alone is not said to be shown."""
    pattern, new, named = NAMED[what]
    directory = shutil.copytree(package, tmp_path / "net")
    change(directory / "net.v", pattern, new)
    seal(directory)
    report = verify_package(directory)
    found = {each.result: each for each in report.boundary}
    assert report.passed, report.reasons
    assert basis(boundary, named) != "tested"
    assert basis(found, named) == "tested"
