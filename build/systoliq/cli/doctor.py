"""The command `systoliq doctor`."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape

from systoliq.sim.tools import all_tools, installed_simulators

from ..prove.tools import proof_tools
from ..synth.tools import synthesis_tools
from .shell import debug_option

__all__ = ["doctor"]


@click.command()
@debug_option
def doctor() -> int:
    """List the external tools, with their versions and how to install missing ones.

    Exits with 1 if no simulation can run: that takes Verilator with a C++ compiler, or Icarus, and Python's library.
    """
    tools, console = (*all_tools(), *synthesis_tools(), *proof_tools()), Console(highlight=False)
    width = max(len(tool.name) for tool in tools)
    for tool in tools:
        name = f"{tool.name:<{width}}"
        if tool.found:
            console.print(f"{name}  {tool.version}  [dim]{tool.path}[/dim]", soft_wrap=True)
        else:
            console.print(
                f"{name}  [yellow]missing[/yellow]: {escape(tool.hint)}  [dim]for {tool.purpose}[/dim]", soft_wrap=True
            )
    ready = installed_simulators()
    if not ready:
        console.print("[yellow]No simulation can run[/yellow]: no simulator has all the tools that it needs")
        return 1
    console.print(f"Simulations can run under {' and '.join(name.title() for name in ready)}")
    return 0
