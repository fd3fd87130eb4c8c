"""The command `systoliq help`."""

from __future__ import annotations

from collections.abc import Callable

import click

from ..errors import InputError, meant
from .shell import debug_option

__all__ = ["help"]


def _sources() -> str:
    from .options import SOURCE_HELP

    return SOURCE_HELP.replace("\b\n", "")


def _boards() -> str:
    from ..board.boards import board_lines

    return f"Boards\n{board_lines()}"


def _targets() -> str:
    from ..synth.targets import TARGETS

    width = max(map(len, TARGETS)) + 2
    lines = "\n".join(f"  {name:<{width}}{target.title}" for name, target in TARGETS.items())
    return f"Targets; a board's name is its part\n{lines}"


_TOPICS: dict[str, Callable[[], str]] = {"sources": _sources, "boards": _boards, "targets": _targets}


@click.command(
    help="""Show help on a topic or a command.

\b
Topics
  sources     what a SOURCE can be
  boards      names of boards
  targets     names of parts and libraries

\b
Examples
  systoliq help sources
  systoliq help build
"""
)
@click.argument("topic", required=False)
@debug_option
def help(topic: str | None) -> None:  # noqa: A001 - the command's name
    """See `help`."""
    context = click.get_current_context().find_root()
    root = context.command
    if topic is None:
        click.echo(root.get_help(context))
        return
    if topic in _TOPICS:
        click.echo(_TOPICS[topic]())
        return
    command = root.get_command(context, topic) if isinstance(root, click.Group) else None
    if command is None:
        names = [*_TOPICS, *(root.list_commands(context) if isinstance(root, click.Group) else ())]
        raise InputError(f"topic must be {', '.join(_TOPICS)} or a command, not {topic!r}{meant(topic, names)}")
    click.echo(command.get_help(click.Context(command, info_name=topic, parent=context)))
