"""Speed of a network and cost of an image: figures of a plan, before anything is built."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ImageCost", "Speed"]


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Speed of a plan at `mhz`, which is the expected clock, or, if `assumed`, only the clock that figures assume."""

    image_cycles: int
    latency_cycles: int
    mhz: float
    assumed: bool

    @property
    def images(self) -> float:
        """Images a second."""
        return self.mhz * 1e6 / self.image_cycles

    @property
    def microseconds(self) -> float:
        """Latency of an image, from the first beat to the last result."""
        return self.latency_cycles / self.mhz


@dataclass(frozen=True, kw_only=True)
class ImageCost:
    """Work and memory of an image: `constants` and `buffers` are bytes in the hardware; `inputs` and `outputs` are
    bytes that its streams transfer for each image.
    """

    multiply_accumulates: int
    constants: int
    buffers: int
    inputs: int
    outputs: int

    def rows(self) -> list[tuple[str, str]]:
        """Return the figures in words, each with a label, and why there is no figure for energy."""
        memory = (
            f"{self.constants:,} bytes of constants and {self.buffers:,} of buffers, all on the chip; each image takes "
            f"{self.inputs:,} bytes in and {self.outputs:,} out, and no external memory"
        )
        return [
            ("work", f"{self.multiply_accumulates:,} multiply-accumulates an image"),
            ("memory", memory),
            ("energy", "not known: no board was measured, and the open tools estimate none"),
        ]
