"""The Verilog that systoliq emits, read: text  ->  modules.

This reader shares nothing with the writer (Amaranth and Yosys), so the check covers the text that synthesis reads. It
accepts the part of Verilog-2005 that such files use, and raises `UnreadableError` for anything else. `rules` has the
conditions on the modules that were read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .expression import Concat, Constant, Expression, Name, UnreadableError
from .lexis import tokens_of
from .memories import MemoryFiles
from .modules import Assignment, Function, Instance, Module, Wire
from .parser import ExpressionParser
from .tokens import Tokens

__all__ = ["CLOCK", "CLOCK_PINS", "Assignment", "Function", "Instance", "Module", "UnreadableError", "read_verilog"]

CLOCK = "clk"
CLOCK_PINS = re.compile(r"clk|CLK[ABD0-3]?")  # of modules and of vendor cells
_WIDEST = 1 << 20  # bits of a net
_LARGEST = 1 << 31  # bits of a memory
_WORDS = frozenset((
    "module", "endmodule", "input", "output", "inout", "wire", "reg", "signed", "assign", "always", "posedge",
    "negedge", "initial", "begin", "end", "if", "else", "case", "casez", "casex", "endcase", "default", "function",
    "endfunction", "task", "endtask", "generate", "endgenerate", "for", "while", "forever", "repeat", "wait", "force",
    "release", "deassign", "defparam", "parameter", "localparam", "specify", "supply0", "supply1", "tri", "tri0",
    "tri1", "wand", "wor", "triand", "trior", "integer", "real", "time", "event", "fork", "join", "disable", "and",
    "nand", "or", "nor", "xor", "xnor", "not", "buf",
))  # fmt: skip
"""Words of the language, which are no names."""


def read_verilog(text: str, files: MemoryFiles | None = None) -> dict[str, Module]:
    """The modules of a file by name; `files` hold the contents of memories that it reads."""
    tokens = tokens_of(text)
    modules: dict[str, Module] = {}
    while not tokens.at_end:
        module = _ModuleReader(tokens, files).read()
        if module.name in modules:
            raise tokens.error(f"module {module.name} is there twice")
        modules[module.name] = module
    return modules


class _ModuleReader(ExpressionParser):
    """Reads one module, item by item."""

    def __init__(self, tokens: Tokens, files: MemoryFiles | None) -> None:
        super().__init__(tokens)
        self._files = files
        self._rising: set[str] = set()  # memories whose words a file gives from address 0 on
        self._local: set[str] = set()  # arguments of a function

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

    def named(self, name: str) -> str:
        """`name`, which must be known, and not the clock."""
        if name not in self.module.wires and name not in self._local:
            raise self.tokens.error(f"{name} is used before it is declared")
        if name == CLOCK:
            raise self.tokens.error(f"the clock {CLOCK} is used as a value")
        return name

    def _new(self) -> str:
        """A name that nothing in this module has so far."""
        name, module = self.tokens.name(), self.module
        if name in _WORDS:
            raise self.tokens.error(f"a name was expected, not {name!r}")
        if name in module.wires or name in module.functions or name in module.instances:
            raise self.tokens.error(f"{name} is declared twice")
        return name

    def _range(self) -> int:
        """Width of `[n:0]`; 1 without it."""
        if not self.tokens.accept("["):
            return 1
        high = self.tokens.number()
        self.tokens.expect(":", "0", "]")
        if high >= _WIDEST:
            raise self.tokens.error(f"nets must have at most {_WIDEST} bits, not {high + 1}")
        return high + 1

    def _ports(self) -> None:
        sides = {"input": self.module.inputs, "output": self.module.outputs}
        self.tokens.expect("(")
        ended = self.tokens.accept(")")
        while not ended:
            direction = self.tokens.next()
            if direction not in sides:
                raise self.tokens.error(f"a port must be an input or output, not {direction[:60]!r}")
            if direction == "input" and self.tokens.peek() != "wire":
                raise self.tokens.error(f"an input must be a wire, not {self.tokens.peek()[:60]!r}")
            sides[direction].add(self._declared(port=True))
            ended = self.tokens.separator(")")
        self.tokens.expect(";")

    def _declaration(self) -> None:
        self._declared(port=False)
        self.tokens.expect(";")

    def _declared(self, *, port: bool) -> str:
        """Name of the wire, register or memory that is declared."""
        kind = self.tokens.next()
        if kind not in ("wire", "reg"):
            raise self.tokens.error(f"wire or reg was expected, not {kind[:60]!r}")
        signed = self.tokens.accept("signed")
        width, name = self._range(), self._new()
        words = 0 if port or kind == "wire" or not self.tokens.accept("[") else self._memory(name, width)
        if kind == "reg" and not words and self.tokens.accept("="):
            self.module.initial[name] = self._constant_of(width, name)
        if name == CLOCK and (not port or width != 1):
            raise self.tokens.error(f"{CLOCK} must be an input of one bit")
        self.module.wires[name] = Wire(width, signed, words, kind == "reg")
        return name

    def _memory(self, name: str, width: int) -> int:
        """Words of the memory that is declared."""
        first = self.tokens.number()
        self.tokens.expect(":")
        last = self.tokens.number()
        self.tokens.expect("]")
        words = max(first, last) + 1
        if min(first, last) != 0 or words * width > _LARGEST:
            raise self.tokens.error(f"the memory {name} must begin at 0 and have at most {_LARGEST} bits")
        if first == 0:
            self._rising.add(name)
        self.module.memories[name] = {}
        return words

    def _constant_of(self, width: int, name: str) -> int:
        """A known constant with exactly this number of bits, for `name`."""
        found = self.constant()
        if found.width != width or found.value is None:
            raise self.tokens.error(f"{name} has {width} bits, and is given a constant of {found.width}")
        return found.value

    def _target(self) -> Expression:
        """The target of an assignment: nets, parts of nets, or a concatenation; or a single word of a memory."""
        target = self.primary()
        for part in target.parts if isinstance(target, Concat) else (target,):
            wire = self.module.wires.get(part.name) if isinstance(part, Name) else None
            if not isinstance(part, Name) or wire is None:
                raise self.tokens.error("what is assigned to is no net")
            if (wire.words and part is not target) or (not wire.words and not isinstance(part.low, Constant | None)):
                raise self.tokens.error(f"what is assigned to is no fixed part of {part.name}")
        return target

    def _assign(self) -> None:
        self.tokens.expect("assign")
        target = self._target()
        self.tokens.expect("=")
        self.module.assignments.append(Assignment(target, self.expression()))
        self.tokens.expect(";")

    def _always(self) -> None:
        self.tokens.expect("always", "@", "(", "posedge")
        if (clock := self.tokens.name()) != CLOCK or CLOCK not in self.module.inputs:
            raise self.tokens.error(f"the clock must be the input {CLOCK}, not {clock}")
        self.tokens.expect(")")
        self._statement(None)

    def _statement(self, condition: Expression | None) -> None:
        if self.tokens.accept("begin"):
            while not self.tokens.accept("end"):
                self._statement(condition)
        elif condition is None and self.tokens.accept("if"):
            self.tokens.expect("(")
            condition = self.expression()
            self.tokens.expect(")")
            self._statement(condition)
        else:
            target = self._target()
            if condition is None and isinstance(target, Name) and self.module.wires[target.name].words:
                raise self.tokens.error(f"the memory {target.name} is written to at every clock edge")
            self.tokens.expect("<=")
            value = self.expression()
            self.tokens.expect(";")
            self.module.clocked.append(Assignment(target, value, condition))
            if condition is not None:
                parts = target.parts if isinstance(target, Concat) else (target,)
                self.module.held |= {part.name for part in parts if isinstance(part, Name)}

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
            if not isinstance(words, dict) or index in words or index >= self.module.wires[name].words:
                raise self.tokens.error(f"{name}[{index}] is set twice, or is not a word of a memory")
            words[index] = self._constant_of(self.module.wires[name].width, name)
            self.tokens.expect(";")

    def _contents(self) -> None:
        """All words of a memory, from a file."""
        self.tokens.expect("(")
        file = self.tokens.next()
        self.tokens.expect(",")
        name = self.tokens.name()
        self.tokens.expect(")", ";")
        if name not in self._rising or len(self.module.memories[name]):
            raise self.tokens.error(f"{name} is set twice, or is no memory from 0 up")
        if self._files is None or not file.startswith('"'):
            raise self.tokens.error(f"there is no file {file[:60]}")
        wire = self.module.wires[name]
        self.module.memories[name] = self._files.words(file[1:-1], wire.words, wire.width)

    def _function(self) -> None:
        self.tokens.expect("function")
        width, name = self._range(), self._new()
        self.tokens.expect(";")
        arguments: list[tuple[str, int]] = []
        while self.tokens.accept("input"):
            size = self._range()
            arguments.append((self.tokens.name(), size))
            self.tokens.expect(";")
        self._local = {argument for argument, _ in arguments}
        if not arguments or len(self._local) != len(arguments) or name in self._local:
            raise self.tokens.error(f"the function {name} has no arguments of different names")
        select, select_width = arguments[-1]
        self.tokens.expect("casez", "(", select, ")")
        cases: list[tuple[str, Expression]] = []
        while not self.tokens.accept("default"):
            cases.append((self._label(select_width), self._result(name)))
        otherwise = self._result(name)
        self.tokens.expect("endcase", "endfunction")
        self._local = set()
        self.module.functions[name] = Function(width, tuple(arguments), tuple(cases), otherwise)

    def _label(self, width: int) -> str:
        """The pattern of a case, of just as many bits as what selects it."""
        label = self.tokens.next()
        size, _, pattern = label.partition("'b")
        if not re.fullmatch("[01?]+", pattern) or int(size) != width or len(pattern) != width:
            raise self.tokens.error(f"the label of a case must be a pattern of {width} bits, not {label[:60]}")
        return pattern

    def _result(self, function: str) -> Expression:
        self.tokens.expect(":", function, "=")
        result = self.expression()
        self.tokens.expect(";")
        return result

    def _instance(self) -> None:
        kind = self.tokens.name()
        if kind in _WORDS:
            raise self.tokens.error(f"{kind} does not occur here in what systoliq emits")
        parameters = self._parameters() if self.tokens.accept("#") else {}
        name = self._new()
        self.tokens.expect("(")
        ports: dict[str, Expression] = {}
        ended = self.tokens.accept(")")
        while not ended:
            self.tokens.expect(".")
            port = self.tokens.name()
            if port in ports:
                raise self.tokens.error(f"the port {port} is connected twice")
            self.tokens.expect("(")
            ports[port] = self._connection(port)
            self.tokens.expect(")")
            ended = self.tokens.separator(")")
        self.tokens.expect(";")
        self.module.instances[name] = Instance(kind, name, ports, parameters)

    def _connection(self, port: str) -> Expression:
        if CLOCK_PINS.fullmatch(port) and CLOCK in self.module.inputs and self.tokens.accept(CLOCK):
            return Name(CLOCK)
        return self.expression()

    def _parameters(self) -> dict[str, str]:
        self.tokens.expect("(")
        parameters: dict[str, str] = {}
        ended = self.tokens.accept(")")
        while not ended:
            self.tokens.expect(".")
            name = self.tokens.name()
            if name in parameters:
                raise self.tokens.error(f"the parameter {name} is given twice")
            self.tokens.expect("(")
            text = self.tokens.peek()
            parameters[name] = self.tokens.next()[1:-1] if text.startswith('"') else str(self.constant().value)
            self.tokens.expect(")")
            ended = self.tokens.separator(")")
        return parameters
