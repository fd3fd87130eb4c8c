"""The sidecar's description of a dense layer."""

from __future__ import annotations

from typing import Any

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_requantization import MANTISSA_BITS, Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.unscaled import Unscaled
from systoliq.hw.packing import LayerPacking

from ...design.facts import RESET, format_facts
from ...design.layer.design import LayerDesign
from ...design.layer.scales import scale_facts
from ...design.layer.sums import sums_computes, sums_quantization
from ...testbench.layer.stimulus import layer_stimulus
from .float8_certificate import zero_points_of_b

__all__ = ["describe_layer", "formula"]

_ROWS = (1, 16, 256)  # for which the cycle model is spelled out


def describe_layer(design: LayerDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
    layer, dense = design.layer, design.dense
    schedule, config, stimulus = dense.schedule, dense.config, layer_stimulus(design)
    return {
        "computes": _computes(layer),
        "origin": design.origin,
        "shape": {"k": layer.k, "n": layer.n},
        "formats": {
            "a": format_facts(layer.a_format),
            "b": format_facts(layer.b_format),
            "y": format_facts(layer.y_format),
        },
        "parameters": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "multipliers": config.macs_per_cycle,
            "multiplier_operands": [config.a.name, config.b.name],
            "accumulator_bits": config.accumulator_bits,
            "sum_bits": dense.sum_bits,
            "column_tiles": schedule.column_tiles,
            "lanes": schedule.lanes,
            "row_sums": dense.folding.needs_row_sums,
        },
        "packing": LayerPacking.facts(dense),
        "latency": {
            "cycles": dense.latency_from_outside,
            "from": "the cycle in which the last beat of A of a group of rows is taken, nothing else being under way",
            "to": "the cycle in which m_axis_y_tvalid rises",
        },
        "tready": {"s_axis_a": _tready(design)},
        "reset": RESET,
        "cycle_model": {
            "formula": f"cycles(m) = {dense.cycles(1)} + (ceil(m / {config.rows}) - 1) * {_per_group(design)}",
            "first_group_cycles": dense.cycles(1),
            "further_group_cycles": _per_group(design),
            "rows_per_group": config.rows,
            "meaning": "from the first beat of A to the last beat of Y of m rows, both included, without stalls",
            "cycles": {str(m): dense.cycles(m) for m in _ROWS},
            "utilization": {str(m): round(schedule.utilization(m, dense.cycles(m)), 6) for m in _ROWS},
        },
        "quantization": _quantization(design),
        **({"host": design.host.facts if design.host else None} if layer.gives_sums else {}),
        "vectors": {
            "rows": len(stimulus.a),
            "batches": list(stimulus.batches),
            "expected": formula(layer)
            if not stimulus.float32_mismatches
            else "the requantizer's own integer form, which is not exact",
            "float32_mismatches": stimulus.float32_mismatches,
        },
    }


def formula(layer: MatMulLayer) -> str:
    """Golden's outputs of `layer`, in a few words."""
    if layer.gives_sums:
        return "the int32 sums"
    return "exact sums, rounded once" if layer.has_float8 else "the float32 formula"


def _computes(layer: MatMulLayer) -> str:
    if layer.gives_sums:
        return sums_computes(layer)
    if layer.has_float8:
        return _float8_computes(layer)
    return (
        "y = saturate(round(((a - a_zero_point) @ (b - b_zero_point) + bias) * scale) + y_zero_point), as ONNX's "
        "QLinearMatMul; with a bias as com.microsoft.QGemm"
    )


def _float8_computes(layer: MatMulLayer) -> str:
    a, b, y = (isinstance(each, Float8Format) for each in (layer.a_format, layer.b_format, layer.y_format))
    product = f"{'a' if a else '(a - a_zero_point)'} @ {'b' if b else '(b - b_zero_point)'}"
    exact = "the sum and its product with the scale are exact"
    if layer.multiplies_integers:
        exact = "the sum is exact modulo 2^32, its product with the scale is exact"
    return (
        f"y = saturate(round(({product}) * scale){'' if y else ' + y_zero_point'}), as systoliq defines ONNX's "
        f"QLinearMatMul for float8 (docs/float8.md): {exact}, and are rounded once"
    )


def _float8_quantization(layer: MatMulLayer, requantization: Float8Requantization) -> dict[str, Any]:
    """Scales, and the constants made of them: column n's scale is multiplier[n] * 2^exponent[n]."""
    return {
        "a": {"scale": float(layer.a_scale), "zero_point": layer.a_zero_point},
        "b": {"scale": layer.b_scale.tolist(), "zero_point": zero_points_of_b(layer)},
        "y": {"scale": float(layer.y_scale), "zero_point": layer.y_zero_point},
        "bias": None,
        "scale": layer.scale.tolist(),
        "rounding": "nearest-even",
        "multiplier": list(requantization.multiplier),
        "exponent": list(requantization.exponent),
        "multiplier_bits": MANTISSA_BITS,
    }


def _quantization(design: LayerDesign) -> dict[str, Any]:
    """Scales and zero points, and the constants made of them."""
    layer, requantization = design.layer, design.requantization
    if isinstance(requantization, Float8Requantization):
        return _float8_quantization(layer, requantization)
    if isinstance(requantization, Unscaled):
        return sums_quantization(layer)
    low, high = layer.canonical.accumulator_range()
    return {
        **scale_facts(layer),
        "rounding": requantization.rounding.value,
        "multiplier": list(requantization.multiplier),
        "shift": list(requantization.shift),
        "offset": list(requantization.offset),
        "multiplier_bits": requantization.multiplier_bits,
        "accumulator_range": [[int(least), int(most)] for least, most in zip(low, high, strict=True)],
    }


def _tready(design: LayerDesign) -> str:
    """When the layer takes a beat of A, in words."""
    schedule, room = design.dense.schedule, design.dense.result_buffer.tiles
    if schedule.column_tiles > 1:
        return (
            "1 but for the first beat of a group, which waits while two groups are held: the one that is being "
            f"calculated, {schedule.column_tiles} tiles of columns one after the other, and the next; it looks at no "
            "other port in the same cycle"
        )
    return (
        "1 but for the last beat of a group, which waits until there is room for its results among those of "
        f"{room} groups, and {schedule.drain_cycles} cycles have passed since the last beat of the group before; it "
        "looks at no other port in the same cycle"
    )


def _per_group(design: LayerDesign) -> int:
    """Cycles that each further group of rows takes: the cycle model is linear in the number of groups."""
    cycles: int = design.dense.cycles(design.dense.config.rows + 1) - design.dense.cycles(1)
    return cycles
