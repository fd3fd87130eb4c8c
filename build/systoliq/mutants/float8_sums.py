"""Mutants of a float8 requantizer, for all sums that a layer can reach: decided by SAT, as there are too many to try.

A requantizer has no state, only registers between its stages. With these as nets, it is a circuit from a sum to a
result. The original and the mutant get each column's constants, and ABC proves that they agree on every sum in its
range, with any flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..verify.checks import derivation
from ..verify.float8_layer import Float8Derivation
from ..verify.package import read_certificate
from ..verify.report import noted
from .environment import modules_of, ports_of
from .equivalence import never

__all__ = ["is_in_requantizer", "same_results"]

_ROOT = "_float8_requantizer"
_MUTANT = "systoliq_mutant_"
_REGISTER = re.compile(r"^(  (?:output )?)reg (.*?)(?: = [^,;\n]*)?([,;]?)$", re.M)
_NEXT = re.compile(r"^  always @\(posedge clk\)\n    (\w+) <= (.*);$", re.M)
_TOP = "systoliq_sums"


def is_in_requantizer(modules: Sequence[str]) -> bool:
    """True if the first of `modules`, each of which contains the previous one, is part of a float8 requantizer."""
    return any(module.endswith(_ROOT) for module in modules)


def same_results(package: Path, meanings: Sequence[str], folder: Path, *, seconds: int) -> bool:
    """True if it is proven that every sum of every column of the layer in `package` gives the same result in each of
    the texts `meanings` as in its Verilog; `seconds` is the limit for a column. Files go to `folder`.
    """
    with noted([]):
        claimed = read_certificate(package)
        layer = derivation(package, claimed, claimed["name"])
        if isinstance(layer, Float8Derivation):
            original = (package / layer.verilog).read_text()
            questions = [question for text in meanings for question in _questions(original, text, claimed, layer)]
            return all(never(each, _TOP, folder, seconds=seconds) for each in questions)
    return False


def _questions(original: str, mutant: str, claimed: dict[str, Any], layer: Float8Derivation) -> Iterator[str]:
    """Verilog of a module for each different column, whose output is 1 if both differ for a sum."""
    root = next(name for name in modules_of(original) if name.endswith(_ROOT))
    both = [_stateless(_part(text, root, prefix)) for text, prefix in ((original, ""), (mutant, _MUTANT))]
    bits = layer.hardware.sum_bits - layer.flag_bits
    columns = {
        (column.multiplier, column.exponent, *said["accumulators"])
        for column, said in zip(layer.columns, claimed["columns"], strict=True)
    }
    for column in sorted(columns):
        yield "\n".join([*both, *_around(original, root, column, bits)])


def _part(text: str, root: str, prefix: str) -> str:
    """The module `root` and those in it, with another beginning of their names."""
    bodies = modules_of(text)
    wanted, found = [root], {}
    while wanted:
        name = wanted.pop()
        found[name] = bodies[name]
        wanted += [each for each in bodies if each not in found and re.search(rf"^  {each} ", bodies[name], re.M)]
    return re.sub(rf"^(module|) *\b({'|'.join(found)})\b", rf"\1  {prefix}\2", "\n".join(found.values()), flags=re.M)


def _stateless(text: str) -> str:
    """A pipeline with nets for its registers."""
    return _NEXT.sub(r"  assign \1 = \2;", _REGISTER.sub(r"\1wire \2\3", text))


def _around(text: str, root: str, column: tuple[int, int, int, int], bits: int) -> Iterator[str]:
    """A module in which `root` and its mutant get a sum of the `column`: its multiplier, exponent, least and most."""
    multiplier, exponent, least, most = column
    given = {"multiplier": multiplier, "exponent": exponent}
    ports = ports_of(text, root)
    inputs = [port for port in ports if port.is_input and port.name not in given]
    output = next(port for port in ports if not port.is_input)
    yield f"module {_TOP}({', '.join(port.declared for port in inputs)}, output wire wrong);"
    yield f"  wire signed [{bits - 1}:0] sum = acc[{bits - 1}:0];"
    for name in ("", _MUTANT):
        yield f"  wire {output.range}{name}result;"
        connections = [
            f".{port.name}({_literal(given[port.name], port.width) if port.name in given else port.name})"
            for port in ports
            if port.is_input
        ]
        yield f"  {name}{root} {name}one ({', '.join(connections)}, .{output.name}({name}result));"
    in_range = f"sum >= $signed({_literal(least, bits)}) && sum <= $signed({_literal(most, bits)})"
    yield f"  assign wrong = {in_range} && result != {_MUTANT}result;"
    yield "endmodule"


def _literal(value: int, bits: int) -> str:
    return f"{bits}'h{value % (1 << bits):x}"
