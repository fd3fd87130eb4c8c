"""The design space of a layer in Python: sizes and bit widths, and the points that no other point beats.

    python examples/explore.py

Stops at the cycle model, accuracy and exactness, which takes seconds; Run(synthesis=20, place=6) also measures area and
frequency. Needs `pip install 'systoliq[explore]'`. The same as a notebook: explore.ipynb.
"""

from __future__ import annotations

from systoliq.explore import Run, explore


def main() -> None:
    """Explore the digits classifier."""
    space = {"cols": "2,5,10", "depth": "1:8:x2", "b_bits": "4,8", "requantizer_bits": "24"}
    exploration = explore("digits", space, run=Run(jobs=1, cosimulate=False))
    print(f"{exploration.points.height} points, {exploration.front.height} on the front:")
    columns = ("rows", "cols", "depth", "b_bits", "cycles_per_inference", "bit_products", "accuracy", "inexact")
    for point in exploration.front.select(columns).sort("cycles_per_inference").iter_rows(named=True):
        print(", ".join(f"{name} {value:.4g}" for name, value in point.items()))
    chosen = exploration.choose({"accuracy": 0.96})
    print(f"smallest with an accuracy of 0.96: {chosen['rows']} x {chosen['cols']} x {chosen['depth']}")


if __name__ == "__main__":
    main()
