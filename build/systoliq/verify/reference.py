"""The integers of a network, computed from its description alone: Model, image  ->  every tensor by name.

An independent implementation of the operators, for small networks. It uses neither `systoliq.golden` nor the stages'
arrays, but for the tables of concatenations, which are tested against onnxruntime.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .float32 import Format, combined_scale, float32, steps_of
from .float32_pair import float32_pairs
from .float32_product import float32_products
from .float32_sum import float32_sums
from .model import Model, channels, moved, raster
from .row_formulas import Normalization, exponentials, levels_of, shares

__all__ = ["Reference", "UncomputedError", "random_image", "tensor_format", "windows_of"]

_INT32 = 1 << 31
_MOST_PADDING = 1 << 8
_MOST_ELEMENTS = 1 << 24  # of an image, or of all its windows together
Integers = npt.NDArray[Any]  # of int64


class UncomputedError(Exception):
    """The reference does not compute this network."""


def tensor_format(tensor: Mapping[str, Any]) -> Format:
    """The least and the greatest integer of a tensor."""
    bits, signed = int(tensor["format"]["bits"]), bool(tensor["format"]["signed"])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def random_image(tensor: Mapping[str, Any], seed: int) -> Integers:
    """An image of `tensor`, [1, ...]; UncomputedError if it would be too large."""
    shape = [1, *tensor["shape"][1:]]
    if not 0 < math.prod(shape) <= _MOST_ELEMENTS:
        raise UncomputedError(f"an image of {math.prod(shape)} elements is too large")
    low, high = tensor_format(tensor)
    return np.random.default_rng(seed).integers(low, high + 1, shape)


class Reference:
    """Computes the tensors of `model`. `entries` gives the table of an input of a concatenation, by node and input."""

    def __init__(self, model: Model, entries: Callable[[str, int], Any]) -> None:
        self._model, self._entries = model, entries
        self._tables: dict[str, Any] = {}

    def tensors(self, inputs: Mapping[str, Integers]) -> dict[str, Integers]:
        """All tensors of one image, whose `inputs` are given by name; each of the shape that its node states."""
        known = dict(inputs)
        for name, node in self._model.nodes.items():
            if not 0 < math.prod(node["output"]["shape"]) <= _MOST_ELEMENTS:
                raise UncomputedError(f"the output of {name!r} is too large")
            operator = _OPERATORS.get(node["is"])
            if operator is None:
                raise UncomputedError(f"the operator {node['is']} has no second definition")
            found = operator(self, node, [self._given(tensor, known) for tensor in node["inputs"]])
            if list(found.shape) != list(node["output"]["shape"]):
                raise UncomputedError(f"node {name!r} gives the shape {found.shape}")
            known[node["output"]["name"]] = found
        return known

    def weights(self, node: Mapping[str, Any]) -> tuple[Integers, Integers, Integers]:
        """The weights [k, n] of a convolution or a dense layer, their zero points [n], and its biases [n]."""
        layer = node["layer"]
        b = np.asarray(self._number(layer["b"]), np.int64)
        zero_points = np.broadcast_to(np.asarray(self._number(layer["b_zero_point"]), np.int64), b.shape[1])
        bias = layer.get("bias")
        biases = np.zeros(b.shape[1], np.int64) if bias is None else np.asarray(self._number(bias), np.int64)
        return b, zero_points, biases

    def _given(self, tensor: Mapping[str, Any], known: Mapping[str, Integers]) -> Integers:
        if tensor.get("value") is not None:
            return np.asarray(np.asarray(self._number(tensor["value"]), np.int64).reshape(tensor["shape"]))
        return known[tensor["name"]]

    def _number(self, value: Any) -> Any:
        """A number or an array of the description."""
        if isinstance(value, dict):
            return self._model.arrays[value["array"]] if "array" in value else float.fromhex(value["float32"])
        return value

    # Operators.

    def products(self, node: Mapping[str, Any], images: list[Integers]) -> list[Integers]:
        """The outputs of a convolution or a dense layer for each of these `images`."""
        zero_point = int(node["inputs"][0]["zero_point"])
        rows = [self.rows(node, image, zero_point) for image in images]
        y = self._product(node, np.concatenate(rows, axis=1))
        shape, columns_first = node["output"]["shape"], node["is"] != "Dense"
        return [(each.T if columns_first else each).reshape(shape) for each in np.split(y, len(images))]

    def _of_layer(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        (y,) = self.products(node, given)
        return y

    def rows(self, node: Mapping[str, Any], x: Integers, padding: int) -> Integers:
        """The windows over `x`, or the rows of a dense layer, as rows of a product: [groups, positions, k]."""
        if node["is"] == "Dense":
            return np.asarray(x.reshape(1, -1, x.shape[-1]))
        groups = int(node["groups"])
        windows = windows_of(node, x, padding)  # [positions, kernel, channels]
        positions, kernel, channels = windows.shape
        rows = windows.reshape(positions, kernel, groups, channels // groups).transpose(2, 0, 1, 3)
        return np.asarray(rows.reshape(groups, positions, -1))

    def _residual_sum(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        """Sums of products with fraction bits, plus factors times the other input, plus constants."""
        tensor = node["inputs"][1]
        factors, constants = (np.asarray(self._number(node[name]), np.int64) for name in ("factors", "constants"))
        addend = np.moveaxis(given[1][0], 0, -1).reshape(-1, len(factors)) - int(tensor["zero_point"])
        sums, scales = self._sums(node, self.rows(node, given[0], int(node["inputs"][0]["zero_point"])))
        bits = int(node["fraction_bits"])
        units = [scale / 2**bits for scale in scales]
        y = self._rescaled(node, (sums << bits) + addend * factors + constants, units)
        return np.asarray(y.T.reshape(node["output"]["shape"]))

    def _product(self, node: Mapping[str, Any], rows: Integers) -> Integers:
        """The layer of `node` on `rows` [groups, positions, k] -> [positions, n]."""
        return self._rescaled(node, *self._sums(node, rows))

    def _sums(self, node: Mapping[str, Any], rows: Integers) -> tuple[Integers, list[float]]:
        """The sums of the layer of `node` on `rows` [groups, positions, k] -> [positions, n], and their scales."""
        layer = node["layer"]
        b, zero_points, biases = self.weights(node)
        n = b.shape[1]
        groups, per_group = len(rows), n // len(rows)
        differences = rows - int(node["inputs"][0]["zero_point"])
        sums = np.concatenate(
            [
                differences[group] @ (b - zero_points)[:, group * per_group : (group + 1) * per_group]
                for group in range(groups)
            ],
            axis=1,
        )
        scales = {letter: np.broadcast_to(self._number(layer[f"{letter}_scale"]), n).tolist() for letter in "aby"}
        of = zip(scales["a"], scales["b"], scales["y"], strict=True)
        return sums + biases, [combined_scale(*each) for each in of]

    def _rescaled(self, node: Mapping[str, Any], sums: Integers, scales: list[float]) -> Integers:
        """Requantize `sums` [positions, n] by the float32 formula at the scale of each column."""
        if np.abs(sums).max(initial=0) >= _INT32:
            raise UncomputedError("sums leave int32")
        y, output, zero_point = np.empty_like(sums), tensor_format(node["output"]), int(node["output"]["zero_point"])
        for column, scale in enumerate(scales):
            if not 0 <= scale < float("inf"):
                raise UncomputedError("a scale is negative, infinite or NaN")
            low, high = int(sums[:, column].min()), int(sums[:, column].max())
            starts, values = zip(*steps_of(Fraction(scale), zero_point, output, low, high), strict=True)
            y[:, column] = np.array(values)[np.searchsorted(starts, sums[:, column], side="right") - 1]
        return y

    def _maximum(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        least = tensor_format(node["inputs"][0])[0]
        return np.asarray(windows_of(node, given[0], least).max(axis=1).T.reshape(node["output"]["shape"]))

    def _whole_average(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        """The average of each channel, whose scale is f(x_scale / f(y_scale * pixels))."""
        (x,), tensor = given, node["inputs"][0]
        pixels = x[0].reshape(x.shape[1], -1)
        sums = (pixels - int(tensor["zero_point"])).sum(axis=1)[None]
        total = float32(Fraction(self._number(node["output"]["scale"])) * pixels.shape[1])
        scale = combined_scale(self._number(tensor["scale"]), 1.0, float(total))
        return np.asarray(self._rescaled(node, sums, [scale] * sums.shape[1]).T.reshape(node["output"]["shape"]))

    def _windowed_average(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        if any(node["window"]["pads"]) and not node["counts_padding"]:
            raise UncomputedError("windows of an average have different numbers of pixels")
        tensor, output = node["inputs"][0], node["output"]
        zero_point = int(tensor["zero_point"])
        windows = windows_of(node, given[0], zero_point)  # [positions, kernel, channels]
        terms = np.float32(self._number(tensor["scale"])) * (windows - zero_point).astype(np.float32)
        total = np.zeros_like(terms[:, 0])
        for place in range(terms.shape[1]):
            total = total + terms[:, place]  # float32, rounded each time
        steps = total / np.float32(terms.shape[1]) / np.float32(self._number(output["scale"]))
        y = np.clip(np.rint(steps + np.float32(output["zero_point"])), *tensor_format(output)).astype(np.int64)
        return np.asarray(y.T.reshape(output["shape"]))

    def _linear_resize(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        tensor, output = node["inputs"][0], node["output"]
        windows = windows_of(node, given[0], 0)  # [positions, 4, channels]
        pixels = np.float32(self._number(tensor["scale"])) * (windows - int(tensor["zero_point"])).astype(np.float32)
        rows, columns = (
            np.array([each["of_first"], each["of_second"]], np.float32).T for each in (node["rows"], node["columns"])
        )
        weights = rows[:, np.newaxis, :, np.newaxis] * columns[np.newaxis, :, np.newaxis, :]
        terms = weights.reshape(-1, 4, 1) * pixels
        total = np.zeros_like(terms[:, 0])
        for place in range(4):
            total = total + terms[:, place]  # float32, rounded each time
        steps = np.rint(total / np.float32(self._number(output["scale"])))
        y = np.clip(steps + np.float32(output["zero_point"]), *tensor_format(output)).astype(np.int64)
        return np.asarray(y.T.reshape(output["shape"]))

    def _table(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        entries = np.asarray(self._number(node["entries"]), np.int64)
        return np.asarray(entries[given[0] - tensor_format(node["inputs"][0])[0]])

    def _pair(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        name, operand = node["name"], tensor_format(node["inputs"][0])
        if operand != tensor_format(node["inputs"][1]):
            raise UncomputedError("operands have two formats")
        if name not in self._tables:
            tensors = dict(zip("aby", (*node["inputs"], node["output"]), strict=True))
            scales = {letter: self._number(tensor["scale"]) for letter, tensor in tensors.items()}
            zero_points = {letter: int(tensor["zero_point"]) for letter, tensor in tensors.items()}
            output = tensor_format(node["output"])
            if node["is"] == "Addition":
                rows = float32_sums(operand, output, scales, zero_points, exchanged=bool(node["exchanged"]))
            elif node["is"] == "RealPair":
                rows = float32_pairs(operand, output, scales, zero_points, function=node["function"])
            else:
                rows = float32_products(operand, output, scales, zero_points)
            self._tables[name] = np.array(rows, np.int64)
        found: Integers = self._tables[name][given[0] - operand[0], given[1] - operand[0]]
        return found

    def _concatenation(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        parts = []
        for index, (x, tensor) in enumerate(zip(given, node["inputs"], strict=True)):
            entries = np.asarray(self._entries(node["name"], index), np.int64)
            parts.append(entries[x - tensor_format(tensor)[0]])
        return np.concatenate(parts, axis=int(node["axis"]))

    def _matrix_product(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        tensors, blocks = [*node["inputs"], node["output"]], int(node["blocks"])
        a, b = (
            (x - int(tensor["zero_point"])).reshape(blocks, -1, x.shape[-1])
            for x, tensor in zip(given, tensors, strict=False)
        )
        sums = (a @ b).reshape(-1, b.shape[-1])
        scale = combined_scale(*(self._number(tensor["scale"]) for tensor in tensors))
        return np.asarray(self._rescaled(node, sums, [scale] * sums.shape[1]).reshape(node["output"]["shape"]))

    def _softmax(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        x, y = node["inputs"][0], node["output"]
        table = exponentials(self._number(x["scale"]), channels(x))
        levels, zero_point = levels_of(self._number(y["scale"])), int(y["zero_point"])
        return _by_rows(node, given[0], lambda row: shares(row, table, levels, zero_point, tensor_format(y)))

    def _layer_normalization(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        x, y = node["inputs"][0], node["output"]
        gain, shift = (np.asarray(self._number(node[name])).astype(float).tolist() for name in ("gain", "shift"))
        x_scale, y_scale, epsilon = map(self._number, (x["scale"], y["scale"], node["epsilon"]))
        constants = Normalization.of(tensor_format(x), x_scale, y_scale, gain, shift, epsilon)
        return _by_rows(node, given[0], lambda row: constants.row(row, int(y["zero_point"]), tensor_format(y)))

    def _move(self, node: Mapping[str, Any], given: list[Integers]) -> Integers:
        return moved(node["movement"], given[0])


def _by_rows(node: Mapping[str, Any], x: Integers, function: Callable[[list[int]], list[int]]) -> Integers:
    """The results of `function` for the channels of each pixel, in the shape of `x`."""
    places = np.empty(x.size, np.int64)  # in the stream, of each element
    places[raster(node["inputs"][0], np.arange(x.size).reshape(x.shape))] = np.arange(x.size)
    rows = raster(node["inputs"][0], x).reshape(-1, channels(node["inputs"][0]))
    found = np.array([function(row) for row in rows.tolist()], np.int64)
    return found.reshape(-1)[places].reshape(x.shape)


def windows_of(node: Mapping[str, Any], x: Integers, padding: int) -> Integers:
    """The pixels under each window: [positions, kernel, channels], both in raster order."""
    if node["is"] == "LinearResize":
        return _between(node, x)
    window, image = node["window"], x[0]
    size = image.shape[1:]
    before, after = window["pads"][: len(size)], window["pads"][len(size) :]
    margins = [(0, 0), *((int(low), max(int(high), 0)) for low, high in zip(before, after, strict=True))]
    if any(not 0 <= int(each) < _MOST_PADDING for each in window["pads"]):
        raise UncomputedError(f"padding is negative, or {_MOST_PADDING} or more")
    padded = np.pad(image, margins, constant_values=padding)
    made = node["output"]["shape"][2:]
    if math.prod([len(image), *made, *window["kernel"]]) > _MOST_ELEMENTS:
        raise UncomputedError("the windows of an image are too many")
    places = [
        np.arange(count)[:, np.newaxis] * stride + np.arange(kernel) * dilation
        for count, stride, kernel, dilation in zip(
            made, window["strides"], window["kernel"], window["dilations"], strict=True
        )
    ]
    if len(places) != 2 or any(each.max() >= padded.shape[1 + axis] for axis, each in enumerate(places)):
        raise UncomputedError("windows are not windows of an image of two dimensions")
    rows, columns = places
    found = padded[:, rows[:, np.newaxis, :, np.newaxis], columns[np.newaxis, :, np.newaxis, :]]
    return np.asarray(found.reshape(len(image), len(rows) * len(columns), -1).transpose(1, 2, 0))


def _between(node: Mapping[str, Any], x: Integers) -> Integers:
    """The four pixels of which a linear interpolation makes each one: [positions, 4, channels]."""
    rows, columns = (np.array([each["first"], each["second"]], np.int64) for each in (node["rows"], node["columns"]))
    image = x[0]
    if 4 * len(image) * rows.shape[1] * columns.shape[1] > _MOST_ELEMENTS:
        raise UncomputedError("the windows of an image are too many")
    if any(each.min() < 0 or each.max() >= size for each, size in zip((rows, columns), image.shape[1:], strict=True)):
        raise UncomputedError("pixels lie outside of the image")
    found = image[:, rows.T[:, np.newaxis, :, np.newaxis], columns.T[np.newaxis, :, np.newaxis, :]]
    return np.asarray(found.reshape(len(image), -1, 4).transpose(1, 2, 0))


_OPERATORS: Mapping[str, Callable[[Reference, Mapping[str, Any], list[Integers]], Integers]] = {
    "Convolution": Reference._of_layer,
    "Dense": Reference._of_layer,
    "ResidualSum": Reference._residual_sum,
    "MaxPool": Reference._maximum,
    "WholeAverage": Reference._whole_average,
    "WindowedAverage": Reference._windowed_average,
    "LinearResize": Reference._linear_resize,
    "RealPair": Reference._pair,
    "Table": Reference._table,
    "Addition": Reference._pair,
    "Multiplication": Reference._pair,
    "Concatenation": Reference._concatenation,
    "Move": Reference._move,
    "MatrixProduct": Reference._matrix_product,
    "Softmax": Reference._softmax,
    "LayerNormalization": Reference._layer_normalization,
}
