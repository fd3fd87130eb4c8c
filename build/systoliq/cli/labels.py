"""Accuracy on the command line."""

from __future__ import annotations

import click

__all__ = ["show_accuracy"]


def show_accuracy(share: float, count: int) -> None:
    """Print the share that was hit of `count` labels."""
    click.echo(f"accuracy {share:.2%} of {count} labels")
