"""What each kind of design puts into its package: files with their descriptions, and facts for the sidecar."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TESTBENCH", "Parts", "npz_bytes"]

TESTBENCH = "self-checking testbench: iverilog -g2005 -o t DIR/*.v && vvp t"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Each file has a description and its content."""

    files: Mapping[str, tuple[str, bytes]]
    facts: Mapping[str, Any]


def npz_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """An .npz archive; numpy dates its members 1980, so that the same arrays give the same bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **dict(arrays))
    return file.getvalue()
