"""The command line `systoliq`: its commands are separate files of this folder, loaded when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..errors import meant
from ..onnx.scope import parsed_once
from .shell import Group, debug_option

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS = {
    "bench": "Measure emission, simulation builds and simulation speed",
    "bench-area": "Measure area and frequency of the designs in docs/measurements/silicon.md",
    "bench-requantizers": "Compare the cost of each form of requantizer",
    "bitstream": "Build a bitstream of a layer or network for a board",
    "board": "List boards, send rows to one, or simulate one",
    "build": "Go the whole way from a model to a board, with one report",
    "compile": "Compile an ONNX model for the engine with DMA",
    "datasheet": "Write the datasheet of a package for users who integrate it",
    "demo": "Train, quantize, emit and simulate a classifier of digits",
    "completion": "Print a script that completes commands in a shell",
    "deploy": "Write an ONNX model whose network is the hardware",
    "doctor": "List the tools found, and how to install missing ones",
    "emit": "Write Verilog, a testbench and a certificate",
    "explore": "Search array sizes, widths and cells for the best designs",
    "harden": "Lay out a package in standard cells, to GDS",
    "help": "Show help on sources, boards, targets or a command",
    "layers": "List the nodes of an ONNX model and what hardware takes",
    "mutants": "Mutate a package's Verilog and run its testbench",
    "partition": "Cut the largest part for hardware out of an ONNX model",
    "prove": "Prove properties of the hardware's blocks",
    "quantize": "Quantize a float ONNX model to int8 for the hardware",
    "registers": "Write the engine's register map for C and Markdown",
    "run": "Run an ONNX model with its products on the simulated engine",
    "signoff": "Answer a verification lead's questions about a package",
    "simulate": "Simulate a design on your input, compared with golden",
    "soc": "Write a RISC-V system with the engine, and its firmware",
    "synth": "Synthesize, place and route; report area and frequency",
    "verify": "Check a package against its certificate of exactness",
    "wrap": "Write a wrapper of a package: widths of streams, reset",
}
"""Each command and its line in `systoliq --help`; the module has the command's name."""


class _Commands(Group):
    """The commands of `COMMANDS`. `--help` and `--version` load none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, or None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f".{name}", __package__), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` begin with; for an unknown one, the error suggests a known one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{meant(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, which parses each model once."""
        with parsed_once():
            return super().invoke(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with `incomplete`; none of them is loaded."""
        found = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="""Quantized matrix products as ONNX defines them, in hardware that gives the same bits.

\b
systoliq build digits-cnn --board icebreaker --out out/b   from a model to a bitstream
systoliq demo                             the whole way, on handwritten digits
systoliq emit resnet8-fc --out out/fc     Verilog with a testbench that runs anywhere
systoliq simulate out/fc/resnet8_fc_layer.npz --input out/fc/resnet8_fc_vectors.npz
systoliq layers model.onnx                which products of a model can be a SOURCE
systoliq compile model.onnx --out out/m   lists of jobs and weights for the DMA engine
systoliq run model.onnx --input x.npz     a whole model, its products on the engine's RTL
systoliq soc --out out/soc                a RISC-V that drives the engine, with firmware
systoliq verify out/fc                    check its certificate of exactness
systoliq doctor                           which tools are there
""",
)
@click.version_option(package_name="systoliq")
@debug_option
def cli() -> None:
    """Group of the commands."""


def main() -> None:
    """Run the command line; the entry point `systoliq`."""
    cli.main(prog_name="systoliq")
