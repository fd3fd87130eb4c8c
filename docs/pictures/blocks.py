"""Draws blocks.svg: what goes into systoliq and comes out of it, and the blocks of a layer's hardware.

`python docs/pictures/blocks.py [DIR]`. Needs matplotlib.
"""

from __future__ import annotations

from drawing import COLORS, TEXT, new_figure, save
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

GREY = "#f0f2f4"


def box(axes: Axes, x: float, y: float, width: float, height: float, text: str, color: str = GREY) -> None:
    """A box whose lower left corner is (x, y)."""
    style = "round,pad=0,rounding_size=0.08"
    axes.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=color, edgecolor=TEXT, linewidth=0.8)
    )
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8, linespacing=1.35)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str = "") -> None:
    """An arrow, its text above it."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=TEXT, linewidth=0.9))
    if text:
        axes.text((start[0] + end[0]) / 2, start[1] + 0.1, text, ha="center", va="bottom", fontsize=7)


figure = new_figure(11, 5.4)
axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
axes.set(xlim=(0, 11), ylim=(0, 5.4))
axes.set_axis_off()

for row, text in enumerate(
    ("numpy arrays, layer .npz", "ONNX: QLinearMatMul, QGemm, QDQ", "preset, or an EngineConfig")
):
    box(axes, 0.1, 4.65 - 0.62 * row, 2.45, 0.5, text)
    arrow(axes, (2.55, 4.9 - 0.62 * row), (3.2, 4.28))
box(axes, 3.2, 3.75, 2.1, 1.05, "Design\nlayer, array or engine\nmodel() · cycles()", COLORS[0])
made = (
    "Verilog, testbench, sidecar, certificate",
    "simulation: every output against golden",
    "synthesis, place and route: area, MHz",
    "exploration: fronts of measured points",
)
for row, text in enumerate(made):
    box(axes, 6.2, 4.86 - 0.5 * row, 3.0, 0.42, text)
    arrow(axes, (5.3, 4.28), (6.2, 5.07 - 0.5 * row))
box(axes, 9.75, 4.86, 1.15, 0.42, "verify", COLORS[2])
arrow(axes, (9.2, 5.07), (9.75, 5.07))

axes.text(0.1, 2.72, "Hardware of a layer", fontsize=9, fontweight="bold", va="center")
axes.plot([0.1, 10.9], [2.95, 2.95], color="#d0d7de", linewidth=0.8)
arrow(axes, (0.05, 1.55), (0.75, 1.55), "s_axis_a")
box(axes, 0.75, 1.2, 1.1, 0.7, "replay\nbuffer")
arrow(axes, (1.85, 1.55), (2.15, 1.55))
box(axes, 2.15, 1.2, 1.15, 0.7, "sequencer,\nskew")
arrow(axes, (3.3, 1.55), (3.7, 1.55))
for column in range(4):
    for row in range(3):
        x, y = 3.7 + 0.45 * column, 1.85 - 0.45 * row
        axes.add_patch(Rectangle((x, y), 0.4, 0.4, facecolor=COLORS[0], edgecolor=TEXT, linewidth=0.7))
    axes.add_patch(FancyArrowPatch((3.9 + 0.45 * column, 2.5), (3.9 + 0.45 * column, 2.25), arrowstyle="-|>",
                                   mutation_scale=7, color=TEXT, linewidth=0.7))  # fmt: skip
    axes.add_patch(FancyArrowPatch((3.9 + 0.45 * column, 0.95), (3.9 + 0.45 * column, 0.66), arrowstyle="-|>",
                                   mutation_scale=7, color=TEXT, linewidth=0.7))  # fmt: skip
box(axes, 3.7, 2.5, 1.75, 0.3, "weight columns (B)")
box(axes, 3.7, 0.34, 1.75, 0.32, "drain")
axes.text(5.5, 2.12, "R x C elements,\neach of D multipliers", fontsize=7, va="center")
arrow(axes, (5.45, 0.5), (6.3, 0.5))
box(axes, 6.3, 0.15, 2.3, 0.7, "lanes: bias, multiply,\nround as float32, saturate", COLORS[1])
arrow(axes, (8.6, 0.5), (8.95, 0.5))
box(axes, 8.95, 0.15, 1.05, 0.7, "result\nbuffer")
arrow(axes, (10.0, 0.5), (10.9, 0.5), "m_axis_y")
arrow(axes, (9.45, 0.85), (9.45, 1.55))
axes.text(9.45, 1.66, "credit: a tile ends only where its results have room;\nso nothing between the two edges stalls",
          fontsize=7, ha="center", va="bottom")  # fmt: skip
save(figure, "blocks")
