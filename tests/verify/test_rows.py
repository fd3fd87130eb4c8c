"""`systoliq verify` of softmax, layer normalization and products of two tensors: forged ones are refused by stage."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from systoliq.golden.network import Network, Source
from systoliq.verify import verify_package

from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench
from .emitted_networks import emitted
from .sealing import change, seal


def shares_of_a_row():
    net = small.Builder((2, 4))
    net.softmax()
    return net.network()


def normalized():
    net = small.Builder((2, 3))
    net.normalize()
    return net.network()


def product():
    net = small.Builder((4, 3))
    net.matmul(net.x, net.input((3, 4)))
    return net.network()


NETWORKS = {"shares": shares_of_a_row, "normalized": normalized, "product": product, "products": product}
PARALLELISM = {"product": {"matrixproduct0": (1, 1)}, "products": {"matrixproduct0": (1, 3)}}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Packages of one stage each."""
    made = {}

    def package(name):
        if name not in made:
            made[name] = emitted(
                NETWORKS[name](), tmp_path_factory.mktemp("package"), parallelism=PARALLELISM.get(name)
            )
        return made[name]

    return package


# Network, pattern whose group 1 is replaced, what by (None: another last digit), why it is refused.
IN_VERILOG = {
    "distance of an element": (
        "shares", r"_s0_softmax0\(.*?\$signed\(greatest\) ([-]) \$signed\(element\)", "+",
        "distances are wrong, first that of "),
    "greatest element of a row": (
        "shares", r"_s0_softmax0_row_memory_4xs8\(.*?assign \w+ = \{ so_far[^;]*\} ([>]) ", "<",
        "results of whole rows are wrong"),
    "rounding of an addition of float32": (
        "shares", r"_s0_softmax0\(.*?assign \w+ = added\[2\] ([|]) added\[0\]", "&",
        "additions are wrong, first "),
    "rounding of a quotient": (
        "shares", r"_s0_softmax0\(.*?assign \w+ = halves_1\[1\] ([|]) more_1", "&",
        "net.v: the quotient "),
    "saturation of a quotient": (
        "shares", r"_s0_softmax0\(.*?assign \w+ = level > 8'h(ff)", "7f",
        "net.v: the quotient "),
    "digit of a quotient": (
        "shares", r"_s0_softmax0\(.*?assign fits = (~) difference", "",
        "steps of the division are wrong"),
    "steps of a division": (
        "shares", r"_s0_softmax0\(.*?assign _\d+ = dividing \? 4'h(a)", "9",
        "results of whole rows are wrong"),
    "unit of a sum": (
        "shares", r"_s0_softmax0\(.*? = total_exponent - \d'h(\w+);", None,
        "the divisor is not the sum"),
    "zero point of a product": (
        "product", r"_s0_matrixproduct0\(.*?\$signed\(element\) - \$signed\(8'h(\w+)\)", None,
        "of 65536 products are wrong, first "),
    "sum of products": (
        "product", r"_s0_matrixproduct0\(.*?first_product_\d \? 19'h00000 : (acc);", "19'h00000",
        "additions are wrong, first "),
    "elements of a sum": (
        "product", r"_s0_matrixproduct0\(.*?assign _\d+ = at \+ 3'h(4);", "3",
        "results of whole rows are wrong"),
    "zero point of one of several products": (
        "products", r"_s0_matrixproduct0\(.*?\$signed\(element_\d+\[15:8\]\) - \$signed\(8'h(\w+)\)", None,
        "of 65536 products are wrong, first "),
    "sum of several products": (
        "products", r"_s0_matrixproduct0\(.*? = \$signed\(product_sum_1_0\) ([+]) ", "-",
        "of 65536 products are wrong, first "),
    "bank of an element": (
        "products", r"_s0_matrixproduct0_rows\(.*?assign element = \{ (element_2, element_1), ",
        "element_1, element_2", "results of whole rows are wrong"),
    "bank that takes an element": (
        "products", r"_s0_matrixproduct0_matrix\(.*? = put_address \+ \d+'h(1);", "0",
        "results of whole rows are wrong"),
    "multiplier of a product": (
        "product", r"_s0_matrixproduct0\(.*?\.multiplier\(\d+'h(\w+)\)", None,
        "column.multiplier is "),
    "rounding of a product": (
        "product", r"_s0_matrixproduct0_requantizer\(.*?\$signed\(\{ zero_point, (up) \}\)", "1'h0",
        "the requantizer is not the form 'near-tie' at the sum "),
    "square of an element": (
        "normalized", r"_s0_layernormalization0_squares\(.*?memory\[3\] = \d+'h(\w+);", None,
        "net.v: the square of 3 is "),
    "gain and shift of a channel": (
        "normalized", r"_s0_layernormalization0_gains\(.*?memory\[1\] = \d+'h(\w+);", None,
        "net.v: the gain of channel 1 is "),
    "epsilon": (
        "normalized", r"_s0_layernormalization0\(.*?begins_1 \? \{ variance\[17:0\], \d+'h(\w+)", None,
        "net.v: radicand: 512 of 512 cases are wrong"),
    "epsilon in whole squares": (
        "normalized", r"_s0_layernormalization0\(.*?take \? 19'h0000(0) : sum_of_squares", "1",
        "net.v: beginning of sums: 512 of 512 cases are wrong"),
    "step of a root": (
        "normalized", r"_s0_layernormalization0\(.*?assign less = [^;]* (-) ", "+",
        "net.v: root: "),
    "dividend": (
        "normalized", r"_s0_layernormalization0\(.*?begins_2 \? 68'h00(8)", "4",
        "net.v: dividend: 512 of 512 cases are wrong"),
    "distance from the mean": (
        "normalized", r"_s0_layernormalization0\(.*?\$signed\(_\d+\) ([-]) \$signed\(total\)", "+",
        "net.v: distances: "),
    "bits of a normalized element": (
        "normalized", r"_s0_layernormalization0\(.*?\? product\[(35:10)\]", "34:9",
        "net.v: normalized element: "),
    "rounding of a normalized element": (
        "normalized", r"_s0_layernormalization0\(.*?assign _\d+ = sum\[42\] ([&]) ", "|",
        "net.v: the sum "),
    "steps of a square": (
        "normalized", r"_s0_layernormalization0\(.*?assign _\d+ = step == 4'h(a);", "9",
        "results of whole rows are wrong"),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("what", IN_VERILOG)
def test_refuses_other_verilog(what, packages, tmp_path):
    name, pattern, new, reason = IN_VERILOG[what]
    directory = shutil.copytree(packages(name), tmp_path / "net")
    change(directory / "net.v", pattern, new)
    seal(directory)
    report = verify_package(directory)
    assert any(text.startswith("stage ") and reason in text for text in report.reasons), report.reasons


@pytest.mark.parametrize(("word", "reason"), [(5, "the exponential 5 is "), (258, "the numerator 2 is ")])
def test_refuses_another_word_of_a_softmax(word, reason, packages, tmp_path):
    directory = shutil.copytree(packages("shares"), tmp_path / "net")
    (file,) = directory.glob("*exponentials.mem")
    lines = file.read_text().splitlines()
    lines[word] = f"{int(lines[word], 16) ^ 1:0{len(lines[word])}x}"
    file.write_text("\n".join(lines) + "\n", newline="")
    seal(directory)
    reasons = verify_package(directory).reasons
    assert any(reason in text for text in reasons), reasons


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NETWORKS)
def test_refuses_a_stronger_certificate(name, packages, tmp_path):
    """Nor may it claim other constants, or less."""
    for changes in ({"verdict": "exact" if not name.startswith("product") else "exact in part"}, {"verdict": "tested"}):
        directory = shutil.copytree(packages(name), tmp_path / changes["verdict"])
        path = directory / "certificate.json"
        content = json.loads(path.read_text())
        content["stages"][0].update(changes)
        path.write_text(json.dumps(content | changes))
        seal(directory)
        reasons = verify_package(directory).reasons
        assert any("certificate.json: verdict is" in text for text in reasons), reasons


LINES = {
    "shares": """
verified in part: stage softmax0 (Softmax): 512 words of the table, 2048 quotients, 7808 additions, 4096 steps of the \
division tried, 24 rows evaluated; tested: additions and divisions in other cases
""",
    "normalized": """
verified in part: stage layernormalization0 (LayerNormalization): 256 squares, 3 gains and shifts, steps of the \
rounding, 512 cases of each step tried, 12 rows evaluated; tested: sums, root, inverse and products in other cases
""",
    "products": """
verified: stage matrixproduct0 (MatrixProduct): 196608 products, 4096 additions and 195076 sums requantized, 8 rows \
evaluated
""",
    "product": """
verified: stage matrixproduct0 (MatrixProduct): 65536 products, 4096 additions and 512 sums requantized, 8 rows \
evaluated
""",
}


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", NETWORKS)
def test_the_command_says_what_is_certified_and_what_is_tested(name, packages, call):
    directory = packages(name)
    result = call("verify", directory, "--no-regenerate")
    assert result.exit_code == 0, result.output
    assert LINES[name].lstrip() in result.output, result.output
    in_part = not name.startswith("product")
    assert (": its only stage, in part\n" in result.output) == in_part
    verdict = json.loads((directory / "certificate.json").read_text())["verdict"]
    assert verdict == ("exact in part" if in_part else "exact")


@pytest.mark.sampled(20)
@pytest.mark.parametrize("cells", ["portable", "ecp5", "ice40", "gowin", "xilinx", "ecp5-lut"])
@pytest.mark.parametrize("make", [bench.softmax, bench.normalization, bench.product])
@pytest.mark.parametrize("seed", range(4))
def test_accepts_random_stages(seed, make, cells, tmp_path):
    node = make(random.Random(f"{seed} {cells}"))
    sources = tuple(Source(name=x.name, shape=x.shape, movements=(), tensor=x) for x in node.inputs)
    net = Network(name="small", sources=sources, nodes=(node,), outputs=(node.output,))
    report = verify_package(emitted(net, tmp_path, cells))
    assert report.passed, report.reasons
