"""Verdict on a comparison with onnxruntime, whose own kernels may saturate: a note, and an exit status of its own."""

from __future__ import annotations

import click

__all__ = ["SATURATED", "note_saturated"]

SATURATED = 3
"""Exit status: the RTL equals golden and onnxruntime's exact result, and onnxruntime's own result is another."""


def note_saturated(where: str) -> None:
    """Say on standard error that the RTL is right, and onnxruntime's own result of `where` is not."""
    click.echo(
        f"note: onnxruntime's own result is not exact on this processor: {where}. With the same weights stated as "
        "uint8, which takes other kernels, onnxruntime gives what golden and the RTL give. On x86 without VNNI, its "
        "kernels for uint8 by int8 saturate sums of two products at 16 bits. To get its exact result, set "
        "session.x64quantprecision to 1, or quantize with reduce_range=True (docs/onnx.md, Where onnxruntime "
        "saturates)",
        err=True,
    )
