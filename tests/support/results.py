"""Results of simulations that were not run."""

from systoliq.sim.simulated import MATRIX, Compared, Simulated

__all__ = ["simulated"]


def simulated(y, *, wrong):
    """The result of a simulation whose output is the matrix `y` and has `wrong` wrong elements."""
    expected = y.copy()
    expected.flat[:wrong] += 1
    return Simulated(
        outputs={"y": y}, tensors={"y": Compared(found=y, expected=expected, place=MATRIX)}, cycles=1, macs=1,
        utilization=1.0, seconds=0.1, simulator="icarus",
    )  # fmt: skip
