"""The table of forms for other tools: each is a file of the package with a function that writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .block import Block
from .c_constants import c_constants
from .constraints import sdc, xdc
from .fusesoc import fusesoc_core
from .ipxact import ipxact_component
from .litex import litex_module
from .makefile import makefile
from .python_constants import python_constants
from .system_rdl import system_rdl
from .vivado import vivado_tcl

__all__ = ["FORMS", "Form", "described_forms", "write_forms"]


@dataclass(frozen=True, kw_only=True)
class Form:
    """A file of the package: `file` with {name} for the block's name, its title, and the function that writes its text.
    `file` with {name} for the block's, what it is, and what writes its text.

    With `registers`, only blocks that have registers get the file.
    """

    file: str
    title: str
    write: Callable[[Block], str]
    registers: bool = False


FORMS = (
    Form(file="{name}.core", title="FuseSoC: targets to simulate, lint and synthesize it", write=fusesoc_core),
    Form(file="Makefile", title="make icarus, verilator or lint, in this folder", write=makefile),
    Form(file="{name}.sdc", title="timing constraints of the block alone, with a variable clock period", write=sdc),
    Form(file="{name}.xdc", title="the same for Vivado, out of context", write=xdc),
    Form(file="{name}_vivado.tcl", title="packages it for Vivado's IP catalog", write=vivado_tcl),
    Form(file="{name}.xml", title="IP-XACT: a component of IEEE 1685-2014", write=ipxact_component),
    Form(file="{name}_litex.py", title="LiteX: a module with its buses as LiteX interfaces", write=litex_module),
    Form(file="{name}.rdl", title="SystemRDL: its registers", write=system_rdl, registers=True),
    Form(file="{name}_constants.h", title="the numbers of the sidecar for C and C++", write=c_constants),
    Form(file="{name}_constants.py", title="the numbers of the sidecar for Python", write=python_constants),
)


def described_forms(sidecar: Mapping[str, Any]) -> dict[str, str]:
    """The title of each form of the block that `sidecar` describes, by its file."""
    return {form.file.format(name=sidecar["top"]): form.title for form in _of(sidecar)}


def write_forms(sidecar: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Each form's file and content, of the block that `sidecar` describes."""
    block = Block(sidecar)
    for form in _of(sidecar):
        yield form.file.format(name=block.name), form.write(block).encode("ascii")


def _of(sidecar: Mapping[str, Any]) -> Iterator[Form]:
    return (form for form in FORMS if not form.registers or "registers" in sidecar)
