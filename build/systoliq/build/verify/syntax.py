"""The Verilog that systoliq emits, read: modules with their wires, drivers, memories and instances.

A reader of its own, which shares nothing with the writer (Amaranth and Yosys): what is checked is the text that goes to
synthesis. It takes the part of Verilog-2005 that such a file consists of, and is an `UnreadableError` anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from .expression import Concat, Expression, ExpressionParser, Name, Tokens, UnreadableError
from .memories import MemoryFiles

__all__ = ["Assignment", "Function", "Instance", "Module", "UnreadableError", "read_verilog"]

_TOKEN = re.compile(
    r"\s+|//[^\n]*|\(\*(?!\)).*?\*\)"  # space, comments, attributes: dropped
    r"|(?P<token>\\\S+|\"[^\"]*\"|\d*'s?[bdh][0-9a-fA-FxXzZ?_]+|[A-Za-z_$][\w$]*|\d+"
    r"|<=|>=|===|!==|==|!=|>>>|<<<|>>|<<|&&|\|\||~\^|\^~|~&|~\||\+:|.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Wire:
    """A net, register or port of `width` bits, a memory where `words` is not 0."""

    width: int
    signed: bool = False
    words: int = 0


@dataclass(frozen=True, eq=False)
class Assignment:
    """`target` takes `value`: at all times, or at each clock edge."""

    target: Expression
    value: Expression


@dataclass(frozen=True, eq=False)
class Instance:
    """Module `kind` placed as `name`; parameters are plain texts and numbers."""

    kind: str
    name: str
    ports: dict[str, Expression]
    parameters: dict[str, str]


@dataclass(frozen=True, eq=False)
class Function:
    """A multiplexer written as a function: the first case whose pattern matches the last argument is the result."""

    width: int
    arguments: tuple[tuple[str, int], ...]
    cases: tuple[tuple[str, Expression], ...]  # pattern of 0, 1 and ?, most significant first
    otherwise: Expression


@dataclass(eq=False)
class Module:
    """One module; `held` are registers that do not take a new value at every clock edge.

    `memories` have their words by address: an array of all of them where they come from a file.
    """

    name: str
    wires: dict[str, Wire] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)
    assignments: list[Assignment] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    instances: dict[str, Instance] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    memories: dict[str, dict[int, int] | npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def output_widths(self) -> dict[str, int]:
        """Bits of each output."""
        return {name: self.wires[name].width for name in self.outputs}


def read_verilog(text: str, files: MemoryFiles | None = None) -> dict[str, Module]:
    """The modules of a file by name; `files` hold the contents of memories that it reads."""
    tokens = Tokens([match["token"] for match in _TOKEN.finditer(text) if match["token"]])
    modules: dict[str, Module] = {}
    while not tokens.at_end:
        module = _ModuleReader(tokens, files).read()
        if module.name in modules:
            raise UnreadableError(f"module {module.name} is there twice")
        modules[module.name] = module
    return modules


class _ModuleReader(ExpressionParser):
    """Reads one module, item by item."""

    def __init__(self, tokens: Tokens, files: MemoryFiles | None) -> None:
        super().__init__(tokens)
        self._files = files
        self._rising: set[str] = set()  # memories whose words a file gives from address 0 on

    def read(self) -> Module:
        self.tokens.expect("module")
        self.module = Module(self.tokens.name())
        self._ports()
        items: dict[str, Callable[[], None]] = {
            "wire": self._declaration,
            "reg": self._declaration,
            "assign": self._assign,
            "always": self._always,
            "initial": self._initial,
            "function": self._function,
        }
        while not self.tokens.accept("endmodule"):
            items.get(self.tokens.peek(), self._instance)()
        return self.module

    def _range(self) -> int:
        """Width of `[n:0]`, 1 where there is none."""
        if not self.tokens.accept("["):
            return 1
        high = self.tokens.number()
        self.tokens.expect(":")
        if self.tokens.number() != 0:
            raise UnreadableError(f"module {self.module.name}: a range does not end at 0")
        self.tokens.expect("]")
        return high + 1

    def _ports(self) -> None:
        sides = {"input": self.module.inputs, "output": self.module.outputs}
        self.tokens.expect("(")
        while not self.tokens.accept(")"):
            direction = self.tokens.next()
            if direction not in sides:
                raise UnreadableError(f"module {self.module.name}: a port must be an input or output, not {direction}")
            sides[direction].add(self._declared())
            self.tokens.accept(",")
        self.tokens.expect(";")

    def _declaration(self) -> None:
        self._declared()
        self.tokens.expect(";")

    def _declared(self) -> str:
        """Name of the wire, register or memory that is declared."""
        self.tokens.next()  # wire or reg
        signed = self.tokens.accept("signed")
        width, name = self._range(), self.tokens.name()
        words = 0
        if self.tokens.accept("["):
            first = self.tokens.number()
            self.tokens.expect(":")
            last = self.tokens.number()
            words = max(first, last) + 1
            if first == 0:
                self._rising.add(name)
            self.tokens.expect("]")
            self.module.memories[name] = {}
        if self.tokens.accept("="):
            self.expression()  # what a register holds at power-up
        self.module.wires[name] = Wire(width, signed, words)
        return name

    def _assign(self) -> None:
        self.tokens.expect("assign")
        target = self.primary()
        self.tokens.expect("=")
        self.module.assignments.append(Assignment(target, self.expression()))
        self.tokens.expect(";")

    def _always(self) -> None:
        self.tokens.expect("always", "@", "(", "posedge")
        self.tokens.name()
        self.tokens.expect(")")
        self._statement(conditional=False)

    def _statement(self, *, conditional: bool) -> None:
        if self.tokens.accept("begin"):
            while not self.tokens.accept("end"):
                self._statement(conditional=conditional)
        elif self.tokens.accept("if"):
            self.tokens.expect("(")
            self.expression()
            self.tokens.expect(")")
            self._statement(conditional=True)
            if self.tokens.accept("else"):
                self._statement(conditional=True)
        elif not self.tokens.accept(";"):
            target = self.primary()
            self.tokens.expect("<=")
            value = self.expression()
            self.tokens.expect(";")
            if conditional or (isinstance(target, Name) and self.module.wires[target.name].words):
                parts = target.parts if isinstance(target, Concat) else (target,)
                self.module.held |= {part.name for part in parts if isinstance(part, Name)}
            else:
                self.module.assignments.append(Assignment(target, value))

    def _initial(self) -> None:
        self.tokens.expect("initial")
        if self.tokens.accept("$readmemh"):
            self._contents()
            return
        self.tokens.expect("begin")
        while not self.tokens.accept("end"):
            name = self.tokens.name()
            self.tokens.expect("[")
            index = self.tokens.number()
            self.tokens.expect("]", "=")
            words = self.module.memories.get(name)
            if not isinstance(words, dict) or index in words:
                raise UnreadableError(f"module {self.module.name}: {name}[{index}] is set twice, or is no memory")
            word = self.constant()
            if word >> self.module.wires[name].width:
                raise UnreadableError(f"module {self.module.name}: {name}[{index}] has more bits than the memory")
            words[index] = word
            self.tokens.expect(";")

    def _contents(self) -> None:
        """All words of a memory, from a file."""
        self.tokens.expect("(")
        file = self.tokens.next()
        self.tokens.expect(",")
        name = self.tokens.name()
        self.tokens.expect(")", ";")
        if name not in self._rising or len(self.module.memories[name]):
            raise UnreadableError(f"module {self.module.name}: {name} is set twice, or is no memory from 0 up")
        if self._files is None or not file.startswith('"'):
            raise UnreadableError(f"module {self.module.name}: there is no file {file}")
        wire = self.module.wires[name]
        self.module.memories[name] = self._files.words(file[1:-1], wire.words, wire.width)

    def _function(self) -> None:
        self.tokens.expect("function")
        width, name = self._range(), self.tokens.name()
        self.tokens.expect(";")
        arguments = []
        while self.tokens.accept("input"):
            size = self._range()
            arguments.append((self.tokens.name(), size))
            self.tokens.expect(";")
        self.tokens.expect("casez", "(", arguments[-1][0], ")")
        cases: list[tuple[str, Expression]] = []
        otherwise: Expression | None = None
        while not self.tokens.accept("endcase"):
            label = self.tokens.next()
            self.tokens.expect(":", name, "=")
            result = self.expression()
            self.tokens.expect(";")
            if label == "default":
                otherwise = result
            else:
                cases.append((label.partition("'b")[2], result))
        self.tokens.expect("endfunction")
        if otherwise is None or not all(re.fullmatch("[01?]+", pattern) for pattern, _ in cases):
            raise UnreadableError(f"module {self.module.name}: function {name} is no multiplexer")
        self.module.functions[name] = Function(width, tuple(arguments), tuple(cases), otherwise)

    def _instance(self) -> None:
        kind = self.tokens.name()
        parameters = self._parameters() if self.tokens.accept("#") else {}
        name = self.tokens.name()
        self.tokens.expect("(")
        ports: dict[str, Expression] = {}
        while not self.tokens.accept(")"):
            self.tokens.expect(".")
            port = self.tokens.name()
            self.tokens.expect("(")
            if not self.tokens.accept(")"):
                ports[port] = self.expression()
                self.tokens.expect(")")
            self.tokens.accept(",")
        self.tokens.expect(";")
        self.module.instances[name] = Instance(kind, name, ports, parameters)

    def _parameters(self) -> dict[str, str]:
        self.tokens.expect("(")
        parameters: dict[str, str] = {}
        while not self.tokens.accept(")"):
            self.tokens.expect(".")
            name = self.tokens.name()
            self.tokens.expect("(")
            text = self.tokens.peek()
            parameters[name] = self.tokens.next()[1:-1] if text.startswith('"') else str(self.constant())
            self.tokens.expect(")")
            self.tokens.accept(",")
        return parameters
