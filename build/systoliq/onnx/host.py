"""The host's part of a layer of int32 sums: real numbers to integers before it, sums to real numbers behind it.

    x -> DynamicQuantizeLinear -> a, a_scale, a_zero_point   hardware: sums   -> Cast -> Mul by scales -> Add of a bias

All in float32, each operator rounding by itself and in the model's order, so that results are onnxruntime's to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.dynamic import Quantized, dynamic_quantize_linear
from systoliq.golden.formats import UINT8
from systoliq.golden.layer import MatMulLayer

from ..errors import InputError

__all__ = ["DYNAMIC", "STATIC", "HostPart", "Step"]

DYNAMIC = "DynamicQuantizeLinear of x gives a, a_scale and a_zero_point"
STATIC = "QuantizeLinear of x by scale and zero point of quantization.a gives a"


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """A step on a float32 array: multiplication ("Mul") or addition ("Add") of a constant, of a_scale, or of their
    product, which is rounded first.
    """

    operator: str
    constant: npt.NDArray[np.float32] | None
    scaled: bool

    def apply(self, y: npt.NDArray[np.float32], a_scale: np.float32) -> npt.NDArray[np.float32]:
        """`y` after the step."""
        operand = self.constant if self.constant is not None else np.float32(1)
        if self.scaled:
            operand = operand * a_scale
        result: npt.NDArray[np.float32] = y * operand if self.operator == "Mul" else y + operand
        return result

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> Step:
        """The step that a sidecar describes by `facts`."""
        operator, constant, scaled = facts["operator"], facts["constant"], facts["a_scale"]
        if operator not in ("Mul", "Add") or not isinstance(scaled, bool) or (constant is None and not scaled):
            raise ValueError("each step of host.after must be a Mul or an Add of a constant, of a_scale or of both")
        return cls(
            operator=operator, constant=None if constant is None else np.array(constant, np.float32), scaled=scaled
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The step, ready for JSON; a_scale * constant has both."""
        constant = None if self.constant is None else self.constant.tolist()
        return {"operator": self.operator, "a_scale": self.scaled, "constant": constant}


@dataclass(frozen=True, kw_only=True, eq=False)
class HostPart:
    """The host's part of a layer with int32 sums.

    `before` says how A is made of real numbers, `DYNAMIC` or `STATIC`, where that is known. `real`: sums become
    float32, and go through `steps`. `model` gives the ONNX model of all that, from `x` to `y`, where the layer comes
    from one.
    """

    before: str | None
    real: bool
    steps: tuple[Step, ...] = ()
    model: Callable[[], bytes] | None = None

    @classmethod
    def of_layer(cls, layer: MatMulLayer) -> HostPart | None:
        """The part for a layer of int32 sums alone: f32(a_scale * b_scale) if b_scale is known; A's scale is the
        layer's, or found at run time, which is possible for uint8 only. None for any other layer.
        """
        before = STATIC if layer.a_scale is not None else DYNAMIC if layer.takes_zero_points else None
        if not layer.gives_sums or before is None or (before is DYNAMIC and layer.a_format != UINT8):
            return None
        if layer.b_scale is None:
            return cls(before=before, real=False)
        return cls(before=before, real=True, steps=(Step(operator="Mul", constant=layer.b_scale, scaled=True),))

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> HostPart:
        """The part that a sidecar describes by `facts`; ValueError, TypeError or KeyError if there is none."""
        if facts["before"] not in (DYNAMIC, STATIC, None):
            raise ValueError(f"host.before must be null or how A is quantized, not {facts['before']!r}")
        return cls(
            before=facts["before"],
            real=bool(facts["after"]),
            steps=tuple(Step.of_facts(step) for step in facts["after"][1:]),  # behind the Cast
        )

    def quantize(self, layer: MatMulLayer, x: npt.ArrayLike) -> Quantized:
        """Real numbers `x` as A, with their scale and zero point."""
        if self.before == STATIC:
            return Quantized(a=layer.quantize(x), scale=layer.a_scale, zero_point=None)
        if self.before is None:
            raise InputError("a must hold integers, with a_zero_point: nothing says how they are made of real numbers")
        return dynamic_quantize_linear(x)

    def finish(self, sums: npt.NDArray[np.int32], a_scale: np.float32) -> npt.NDArray[Any]:
        """Real numbers for `sums` [..., N]; the sums themselves if there are no steps after them."""
        if not self.real:
            return sums
        y = sums.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # as onnxruntime: infinity, NaN
            for step in self.steps:
                y = step.apply(y, a_scale)
        return y

    @property
    def idle(self) -> bool:
        """True if there are no known steps for the host."""
        return self.before is None and not self.real

    @property
    def b_scale(self) -> npt.NDArray[np.float32] | None:
        """The factor of the one Mul by a_scale, if it can be the weights' scale."""
        found = [step.constant for step in self.steps if step.scaled and step.constant is not None]
        if len(found) != 1 or not np.all(np.isfinite(found[0]) & (found[0] > 0)):
            return None
        return found[0]

    @property
    def facts(self) -> dict[str, Any]:
        """The part as in the sidecar."""
        cast = [{"operator": "Cast", "to": "float32"}] if self.real else []
        return {
            "arithmetic": "float32, each operator rounded to nearest, halves to even",
            "before": self.before,
            "after": [*cast, *(step.facts for step in self.steps)],
        }
