"""Draws near_tie.svg: where the float32 formula and exact rounding part, and what the hardware does.

`python docs/pictures/near_tie.py [DIR]`. Needs matplotlib. The scale is that of docs/exactness.md, 0.3 as float32; all
positions are exact fractions, and the outputs come from the golden model.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from drawing import COLORS, LINE, new_figure, save
from matplotlib.lines import Line2D

from systoliq.golden import INT8, Requantization, Rounding, requantize_float32

SCALE = np.float32(0.3)
RED, GREEN, BLUE = "#c4432b", "#1a7f37", "#0969da"


def outputs(acc: int) -> dict[str, int]:
    """What each way of rounding gives for one accumulator."""
    given = np.array([acc], np.int32)
    found = {"float32": int(requantize_float32(given, float(SCALE), 0, INT8)[0])}
    for rounding in (Rounding.NEAREST, Rounding.NEAR_TIE):
        form = Requantization.from_scales(SCALE, 0, INT8, rounding=rounding)
        found[rounding.value] = int(form.apply(given.reshape(1, 1))[0, 0])
    return found


figure = new_figure(10.5, 5.2)
for index, acc in enumerate((5, 15)):
    exact = acc * Fraction(float(SCALE))
    product = Fraction(float(np.float32(acc) * SCALE))
    tie = Fraction(round(exact * 2), 2)
    last_place = Fraction(float(np.spacing(np.float32(tie))))  # between neighbouring float32 numbers
    found = outputs(acc)
    axes = figure.add_axes((0.03, 0.55 - 0.49 * index, 0.94, 0.36))

    def at(value: Fraction, tie: Fraction = tie, last_place: Fraction = last_place) -> float:
        """Position on the line, in last places from the tie."""
        return float((value - tie) / last_place)

    axes.axvspan(-0.5, 0.5, ymin=0.2, ymax=0.62, color=COLORS[0], alpha=0.6, linewidth=0)
    axes.plot([-3.4, 3.4], [0, 0], color="#57606a", linewidth=1)
    for step in range(-3, 4):
        axes.plot([step, step], [-0.14, 0.14], color="#57606a", linewidth=1)
        name = f"{float(tie)}" if not step else f"{step:+d} last place{'s' if abs(step) > 1 else ''}"
        axes.text(step, -0.34, name, ha="center", va="center", fontsize=7)
    axes.plot([0, 0], [-0.2, 0.78], color=RED, linewidth=1.4)
    axes.text(0, 0.86, f"tie between {int(tie - Fraction(1, 2))} and {int(tie + Fraction(1, 2))}", ha="center",
              va="center", fontsize=7.5, color=RED)  # fmt: skip
    axes.plot([at(exact)], [0], "o", color=BLUE, markersize=6, zorder=3)
    axes.annotate(f"{acc} · s, exactly", (at(exact), 0.05), (at(exact) + 0.75, 0.48), fontsize=7.5, color=BLUE,
                  ha="left", va="center", arrowprops={"arrowstyle": "-", "color": BLUE})  # fmt: skip
    axes.plot([at(product)], [0], "s", color=GREEN, markersize=7, zorder=2)
    axes.annotate("rounded to float32", (at(product), 0.05), (at(product) - 0.75, 0.48), fontsize=7.5, color=GREEN,
                  ha="right", va="center", arrowprops={"arrowstyle": "-", "color": GREEN})  # fmt: skip
    axes.text(-3.4, 0.9, f"accumulator {acc}, s = 0.3 as float32", fontsize=8.5, fontweight="bold", va="center")
    right = "the same" if found["nearest"] == found["float32"] else "wrong"
    axes.text(-3.4, -0.68, f"float32 formula: {found['float32']}     exact product, to nearest: {found['nearest']} "
              f"({right})     near-tie hardware: {found['near-tie']}", fontsize=8, va="center")  # fmt: skip
    axes.set(xlim=(-3.6, 3.6), ylim=(-0.85, 1.05))
    axes.set_axis_off()
    assert found["near-tie"] == found["float32"]  # noqa: S101 - else the picture is wrong
legend = (
    "Marks on the line are float32 numbers. In the blue band, half a last place on either side, the product becomes "
    "the tie, which goes to the even side: near-tie does so in integers."
)
figure.text(0.03, 0.965, legend, fontsize=8, va="center")
figure.add_artist(Line2D([0.03, 0.97], [0.52, 0.52], color=LINE, linewidth=0.6))
save(figure, "near_tie")
