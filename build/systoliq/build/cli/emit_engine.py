"""The command `systoliq emit-engine`, which is `systoliq emit engine`."""

from __future__ import annotations

import click

from .emit import emit

__all__ = ["emit_engine"]


@click.command(
    name="emit-engine", hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def emit_engine(context: click.Context, arguments: tuple[str, ...]) -> None:
    """The name of `systoliq emit engine` before 1.0, for one release more."""
    click.echo("emit-engine is now: systoliq emit engine", err=True)
    with emit.make_context("emit", ["engine", *arguments], parent=context.parent) as inner:
        emit.invoke(inner)
