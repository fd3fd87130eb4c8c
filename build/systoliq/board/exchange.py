"""Exchange with a design behind a link (`systoliq.hw.link`): operands as units of bytes, and results out of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Exchange"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Exchange:
    """Bytes to send and to expect: a request for each unit of operands, each answered by `answer_bytes`.

    `read` gives the outputs by name from all answers in their order; `expected` are golden's.
    """

    requests: tuple[bytes, ...]
    answer_bytes: int
    read: Callable[[Sequence[bytes]], Mapping[str, npt.NDArray[Any]]]
    expected: Mapping[str, npt.NDArray[Any]]

    def differing(self, outputs: Mapping[str, npt.NDArray[Any]]) -> list[str]:
        """A line for each element of `outputs` that is not golden's, to the bit."""
        lines = []
        for name, right in self.expected.items():
            found, kind = outputs[name], f"u{right.dtype.itemsize}"
            places = np.argwhere(found.view(kind) != right.view(kind))
            lines += [f"{name}{at.tolist()}: expected {right[tuple(at)]}, got {found[tuple(at)]}" for at in places]
        return lines
