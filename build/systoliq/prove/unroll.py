"""Unrolling: copies of a netlist's SMT-LIB functions, one per clock cycle, each defined in terms of the previous one.

Yosys writes functions of an abstract state. Here every register of cycle t + 1 is *defined* as its next-state function
in cycle t, so the solver sees one expression over the first state and the inputs, and equal logic becomes equal terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .netlist import CELLS, TOP

__all__ = ["Unrolling"]

_DECLARE = re.compile(r"\(declare-fun (\|[^|]+\|) \(\|[^|]+\|\) (.+?)\)(?: ;.*)?$")
_DEFINE = re.compile(r"\(define-fun (\|[^|]+\|) \(\(state \|[^|]+\|\)\) (Bool|\(_ BitVec \d+\)) (.+)\)(?: ;.*)?$")
_NEXT = re.compile(r"\(= (.+) \((\|[^|]+\|) next_state\)\)(?: ;.*)?$")
_OF_STATE = re.compile(r"\((\|[^|]+\|) state\)")
_PORT = re.compile(r"^; yosys-smt2-(?:in|out)put (\S+) \d+$", re.MULTILINE)
_WIRE = re.compile(r"\{([^}]+)\}")
_OF_CELL = re.compile(rf"^; yosys-smt2-assert (\d+) .*{re.escape(CELLS)}:", re.MULTILINE)
_MULTIPLY = "(bvmul "
_OPEN = re.compile(r"\(define-fun (\|[^|]+\|) .*\(and$")


class Unrolling:
    """The output ``text`` of Yosys' ``write_smt2 -wires`` for a flat design, ready to be written out cycle by cycle.

    With ``free_products``, multiplication is an uninterpreted function of two numbers for each width, which only has to
    meet the harness' conditions. A claim that holds for all such functions holds for multiplication if it meets them.
    """

    def __init__(self, text: str, formulas: Sequence[str] = (), *, free_products: bool = False) -> None:
        self._formulas = formulas
        self._functions: dict[str, str] = {}  # instead of multiplication, with the sort of their numbers
        self._sorts: dict[str, str] = {}
        self._steps: list[tuple[str, str, str]] = []
        self._next: dict[str, str] = {}
        groups: dict[str, list[str]] = {}
        group: list[str] | None = None
        for line in map(str.strip, text.splitlines()):
            if group is not None:
                if line.startswith("))"):
                    group = None
                else:
                    group.append(line)
            elif match := _OPEN.match(line):
                group = groups.setdefault(match[1], [])
            elif (match := _DECLARE.match(line)) and not match[1].endswith("_is|"):
                self._sorts[match[1]] = match[2]
                self._steps.append((match[1], match[2], ""))
            elif match := _DEFINE.match(line):
                body = match[3]
                if free_products and body.startswith(_MULTIPLY):
                    function = f"|product {match[2]}|"
                    self._functions[function] = match[2]
                    body = f"({function} {body.removeprefix(_MULTIPLY)}"
                self._steps.append((match[1], match[2], body))
        for line in groups.get(f"|{TOP}_t|", []):
            match = _NEXT.match(line)
            if match is None:
                raise ValueError(f"next-state function must be one equation a line, not {line!r}")
            self._next[match[2]] = match[1]
        self._initial = [line.partition(" ;")[0] for line in groups.get(f"|{TOP}_i|", [])]
        names = [name for name, _, _ in self._steps]
        claim, cover, assume = (re.compile(rf"\|{TOP}_{kind} \d+\|") for kind in "acu")
        self._claims = [name for name in names if claim.fullmatch(name)]
        self._of_cells = {f"|{TOP}_a {number}|" for number in _OF_CELL.findall(text)}
        self.covers = [name for name in names if cover.fullmatch(name)]
        self._assumptions = [name for name in names if assume.fullmatch(name)]
        self.ports = {name: f"|{TOP}_n {name}|" for name in _PORT.findall(text) if name not in ("clk", "rst")}

    def cycles(self, count: int) -> str:
        """Declarations and definitions of cycles 0 .. ``count``, and the conditions in all of them."""
        lines = ["(set-logic ALL)"]
        lines += [f"(declare-fun {name} ({sort} {sort}) {sort})" for name, sort in self._functions.items()]
        for t in range(count + 1):
            for name, sort, body in self._steps:
                if body:
                    lines.append(f"(define-fun {self.at(name, t)} () {sort} {self.expression(body, t)})")
                elif t and name in self._next:
                    before = self.expression(self._next[name], t - 1)
                    lines.append(f"(define-fun {self.at(name, t)} () {sort} {before})")
                else:
                    lines.append(f"(declare-const {self.at(name, t)} {sort})")
            lines += [f"(assert {self.at(name, t)})" for name in self._assumptions]
        return "\n".join(lines) + "\n"

    def initial(self) -> str:
        """The registers' values at power-up, in cycle 0."""
        return "".join(f"(assert {self.expression(line, 0)})\n" for line in self._initial)

    def claims_at(self, t: int, *, of_cells: bool = True) -> list[str]:
        """The claims in cycle ``t``: the assertions, and the formulas over the harness' ports.

        ``of_cells``: also that cells are in modes that their models have.
        """
        formulas = [_WIRE.sub(lambda match: self.at(self.ports[match[1]], t), formula) for formula in self._formulas]
        claims = [name for name in self._claims if of_cells or name not in self._of_cells]
        return [self.at(name, t) for name in claims] + formulas

    def at(self, name: str, t: int) -> str:
        """The quoted symbol ``name`` in cycle ``t``."""
        return f"{name[:-1]}@{t}|"

    def expression(self, text: str, t: int) -> str:
        """``text``, an expression over ``state``, in cycle ``t``."""
        return _OF_STATE.sub(lambda match: self.at(match[1], t), text)
