"""Exchange of a layer: a unit is a group of rows of A, a batch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.hw import Dense
from systoliq.hw.packing import LayerPacking

from ..design.design import Arrays
from ..design.layer.operands import Rows
from ..onnx.host import HostPart
from ..testbench.beats import SEED
from .exchange import Exchange

__all__ = ["layer_exchange"]


def layer_exchange(dense: Dense, rows: Rows, host: HostPart | None, model: Callable[..., npt.NDArray[Any]]) -> Exchange:
    """Units for `rows`, and what `model` answers; what fills up the last group is random, and its results dropped."""
    size, count = dense.config.rows, len(rows.a)
    packing = LayerPacking(dense, [min(size, count - start) for start in range(0, count, size)])
    words, _ = packing.pack(rows.a, np.random.default_rng(SEED), rows.a_zero_point)
    units = words.reshape(packing.groups, -1)

    def named(y: npt.NDArray[Any]) -> Arrays:
        y = rows.restore(y)
        if rows.a_scale is None or host is None:
            return {"y": y}
        return {"sums": y, "y": host.finish(y, rows.a_scale)}

    def read(answers: Sequence[bytes]) -> Arrays:
        found = np.frombuffer(b"".join(answers), np.uint8).reshape(-1, packing.y_bytes)
        return named(packing.unpack(found)[0])

    return Exchange(
        requests=tuple(unit.tobytes() for unit in units),
        answer_bytes=size * dense.schedule.beats_per_row * packing.y_bytes,
        read=read,
        expected=named(model(rows.a, rows.a_zero_point)),
    )
