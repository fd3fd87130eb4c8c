"""Reports: the checks that were made, and every fault that was found."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from .boundary import Ground
from .expression import UnreadableError
from .package import CERTIFICATE, NotAPackageError, RefusedError

__all__ = ["Report", "StageReport", "noted"]


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """A stage of a network: `tried` describes the checks, such as "16 columns, 300 steps, 560 accumulators"; empty for
    a stage that is `tested`, not certified. `open`: what is only tested of a stage that is exact in part.
    """

    node: str
    operator: str
    tried: str
    reasons: tuple[str, ...]
    tested: bool = False
    open: str = ""

    @property
    def passed(self) -> bool:
        """True if the stage matches its certificate, and is exact."""
        return not self.reasons

    def __bool__(self) -> bool:
        return self.passed


@dataclass(frozen=True, kw_only=True)
class Report:
    """Results of a verification: the checks, and every fault in `reasons`, which is empty if there is none.

    `complete` columns were evaluated on every accumulator that they can reach, the others on both sides of each step.
    `layer_sha256` is the digest of the arrays in NAME_layer.npz or NAME_network.npz (`arrays_digest`). For a network,
    the numbers are sums over all `stages`, and `reasons` includes the stages' reasons. `boundary` states the basis of
    each result if the package is also regenerated, which `verify_package` does not do.
    """

    name: str
    columns: int
    steps: int
    points: int
    complete: int
    accumulators: tuple[int, int]
    rounding: str
    multiplier_bits: int
    formula: str
    layer_sha256: str
    reasons: tuple[str, ...]
    stages: tuple[StageReport, ...] = ()
    boundary: tuple[Ground, ...] = ()

    @property
    def passed(self) -> bool:
        """True if the package matches its certificate, and is exact."""
        return not self.reasons

    def __bool__(self) -> bool:
        """`passed`."""
        return self.passed

    def __repr__(self) -> str:
        found = "passed" if self.passed else f"{len(self.reasons)} reasons, the first: {self.reasons[0][:80]!r}"
        return f"Report({self.name!r}, {found}, columns={self.columns}, stages={len(self.stages)})"


@contextlib.contextmanager
def noted(reasons: list[str]) -> Iterator[None]:
    """Add to `reasons` why the checks inside could not continue."""
    try:
        yield
    except NotAPackageError:
        raise
    except (RefusedError, UnreadableError) as error:
        reasons.append(str(error))
    except (RecursionError, MemoryError) as error:
        reasons.append(f"the Verilog is nested deeper, or wider, than is followed ({type(error).__name__})")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, OSError) as error:
        reasons.append(f"{CERTIFICATE}: does not describe these files ({type(error).__name__}: {error})")
