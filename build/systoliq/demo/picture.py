"""The demo's one picture: some digits with the logits that the hardware gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..design.digits import Digits
from ..errors import need

__all__ = ["draw"]

_SHOWN = 8
_RIGHT, _WRONG, _OTHER = "#1a7f37", "#c4432b", "#b8c0c8"


def draw(path: Path, digits: Digits, y: npt.NDArray[Any]) -> None:
    """Write `path` (.png): images above, their int8 logits `y` [M, 10] below, the greatest one green where it is right.

    The first wrong answer, if there is one, stands last.
    """
    need("matplotlib", "matplotlib", "the demo's picture")
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # after the check
    from matplotlib.figure import Figure

    shown = _choose(digits, y)
    figure = Figure(figsize=(1.5 * len(shown), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, len(shown), height_ratios=[1, 1.3], squeeze=False)
    least, most = int(y[shown].min()), int(y[shown].max())
    for column, index in enumerate(shown):
        image, bars = axes[0, column], axes[1, column]
        image.imshow(digits.images[index], cmap="gray_r", interpolation="nearest")
        image.set_axis_off()
        answer, label = int(y[index].argmax()), int(digits.labels[index])
        colors = [_OTHER] * 10
        colors[answer] = _RIGHT if answer == label else _WRONG
        bars.bar(range(10), y[index].astype(int) - least, bottom=least, color=colors)
        bars.set_xticks(range(10))
        bars.set_ylim(least, most)
        bars.tick_params(labelsize=6, length=0, labelleft=not column)
        bars.spines[["top", "right"]].set_visible(False)
        said = f"{answer}" if answer == label else f"{answer}, but it is {label}"
        bars.set_title(said, fontsize=8, color=colors[answer])
    axes[1, 0].set_ylabel("logit from the RTL (int8)", fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None})  # no version: the same picture everywhere


def _choose(digits: Digits, y: npt.NDArray[Any]) -> list[int]:
    right = y.argmax(axis=1) == digits.labels
    firsts = [int(np.flatnonzero((digits.labels == label) & right)[0]) for label in range(_SHOWN)]
    wrong = np.flatnonzero(~right)
    return [*firsts[: _SHOWN - 1], int(wrong[0])] if wrong.size else firsts
