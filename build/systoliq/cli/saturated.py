"""Verdict if the hardware is right and onnxruntime's own kernels saturate: a note, and a special exit status."""

from __future__ import annotations

import click

__all__ = ["SATURATED", "note_saturated"]

SATURATED = 3
"""Exit status: the RTL equals golden and onnxruntime's exact result, and onnxruntime's own result is another."""


def note_saturated(where: str) -> None:
    """Say on standard error that onnxruntime's own result is wrong, `where`, how that is known, and what to do."""
    click.echo(
        f"note: onnxruntime's own result is not exact on this processor: {where}\n"
        "note: the RTL equals golden and what onnxruntime gives for the same numbers with uint8 in place of int8, by "
        "other kernels; on x86 without VNNI, those for uint8 by int8 saturate sums of two products at 16 bits\n"
        "note: for onnxruntime's exact result, set session.x64quantprecision to 1 or quantize with reduce_range=True "
        '(docs/onnx.md, "Where onnxruntime saturates")',
        err=True,
    )
