"""The command `systoliq completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..errors import InputError
from .shell import debug_option

__all__ = ["completion"]


@click.command(
    help="""Print a script that completes commands, options and their values in a shell.

\b
Examples
  systoliq completion bash
  systoliq completion zsh
  systoliq completion fish

\b
Write the output where the shell looks for such scripts:
  bash  ~/.local/share/bash-completion/completions/systoliq
  zsh   a file _systoliq in a directory of fpath
  fish  ~/.config/fish/completions/systoliq.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
def completion(shell: str) -> None:
    """See `help`."""
    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(f"shell must be one that click completes, not {shell!r}")
    root = click.get_current_context().find_root().command
    made = kind(root, {}, "systoliq", "_SYSTOLIQ_COMPLETE")
    click.echo(made.source_template % made.source_vars())  # `source` would run the shell to ask for its version
