"""Family of parts: its tools, what its cells count as, and the parts that designs are synthesized for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..target import Target
from .sizes import Sizes

__all__ = ["Cells", "Family", "Packing", "Placement"]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Kinds of cells in a netlist of Yosys, and the number that each counts as.

    Parameters
    ----------
    multipliers
        in units of the part's smallest multiplier that is counted.
    memories
        in memory blocks.
    carries
        bits of a carry chain.
    tables
        sites of lookup tables, of cells that always take the same number; see `sites_of_cells`.
    registers
        beginnings of the names of cells that hold a bit.
    boxes
        kinds of other cells that a proof of equivalence does not look into.
    modelled
        values of parameters of registers that Yosys' models tell apart, the default first.
    """

    multipliers: Mapping[str, int] = field(default_factory=dict)
    memories: Mapping[str, int] = field(default_factory=dict)
    carries: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, int] = field(default_factory=dict)
    registers: tuple[str, ...] = ()
    boxes: tuple[str, ...] = ()
    modelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Place and route of a family.

    Parameters
    ----------
    package
        of PyPI, and its command.
    used
        keys of a report (`lut_sites`, `ff`, `dsp`, `ram`), and for each the kinds of sites in nextpnr's report with the
        number that one counts as.
    output
        option for the file with the result; empty where it is not written out of context.
    seconds
        of an idle machine for a LUT site: a fit to runs of layers and networks of 1300 to 3000 sites (docs/boards.md).
    untimed
        kinds of sites whose pins nextpnr has no timing of: no path to or from them is timed, nor placed for.
    not_static
        kinds of cells that its static placer cannot place.
    """

    package: str
    used: Mapping[str, Mapping[str, int]]
    output: str
    seconds: float
    untimed: tuple[str, ...] = ()
    not_static: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Files and arguments that make the bitstream of a placed top.

    Parameters
    ----------
    constraints
        file with the pins.
    constrain, write
        arguments of nextpnr: the pins, and the file for the packer.
    package, command
        the packer, and what brings it.
    arguments
        of the packer.
    suffix
        of the bitstream.
    """

    constraints: str
    constrain: tuple[str, ...]
    write: tuple[str, ...]
    package: str
    command: str
    arguments: tuple[str, ...]
    suffix: str


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of parts.

    Parameters
    ----------
    name
        as in `Target.family`.
    title
        of the vendor's.
    architecture
        of Edalize's Yosys, which runs `synth_ARCHITECTURE`; empty if there is none, or if its netlists are wrong.
    targets
        its parts.
    cells
        what cells of its netlists count as.
    placement, packing
        its place and route, and what makes a bitstream of the result; None without them.
    mend
        changes a netlist, in Yosys' JSON, where nextpnr would refuse it or place it badly.
    sizes
        of the parts of a network's stage, for plans; None without estimates.
    netlists
        names of `simulate --netlist`, and the target whose netlist each simulates.
    models
        file of Yosys with simulation models of its cells; empty for those in the folder NAME.
    words
        label of its synthesis command before which a netlist has words, not gates, for proofs of equivalence; empty
        without proofs.
    """

    name: str
    title: str
    architecture: str = ""
    targets: tuple[Target, ...]
    cells: Cells = field(default_factory=Cells)
    placement: Placement | None = None
    packing: Packing | None = None
    mend: Callable[[dict[str, Any]], None] | None = None
    sizes: Sizes | None = None
    netlists: Mapping[str, str] = field(default_factory=dict)
    models: str = ""
    words: str = ""

    @property
    def large_blocks(self) -> int:
        """Number of large memory blocks of a part, which hold memories beside its ordinary ones."""
        return self.sizes.large.count if self.sizes is not None and self.sizes.large is not None else 0

    @property
    def sets_of_cells(self) -> set[str]:
        """The sets of cells that suit its parts."""
        return {cells for part in self.targets for cells in (part.cells, *part.other_cells)}
