"""Random convolutions: operands, what onnxruntime makes of them, and the jobs of an engine over maps in memory."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from operations import values

from systoliq.golden import INT8, UINT8, combined_scale
from systoliq.golden.network import Window
from systoliq.hw.dma.commands import Placement
from systoliq.hw.dma.convolutions import Maps, kernel_rows, parts
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job, blocks
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Convolution:
    """A QLinearConv, or a ConvInteger where it has no `scale`: x [images, C, H, W], kernels w [n, C, rows, columns]."""

    x: np.ndarray
    x_zero_point: np.ndarray
    w: np.ndarray
    w_zero_point: np.ndarray
    window: Window
    scale: tuple[np.ndarray, np.ndarray, np.ndarray] | None  # of x, w and y
    y_zero_point: np.ndarray
    bias: np.ndarray | None = None

    def expected(self) -> np.ndarray:
        """What onnxruntime makes of it: [images, rows, columns, n]."""
        window = self.window
        names, constants = ["x", "w", "x_zero_point", "w_zero_point"], {}
        if self.scale:
            names = ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point"]
            constants = dict(zip(("x_scale", "w_scale", "y_scale"), self.scale, strict=True))
            if self.bias is not None:
                names.append("bias")
                constants["bias"] = self.bias
        constants |= {name: getattr(self, name) for name in names if name not in constants and name != "x"}
        node = helper.make_node(
            "QLinearConv" if self.scale else "ConvInteger", names, ["y"], kernel_shape=window.kernel,
            strides=window.strides, dilations=window.dilations, pads=window.pads,
        )  # fmt: skip
        y_type = helper.np_dtype_to_tensor_dtype(self.y_zero_point.dtype) if self.scale else TensorProto.INT32
        graph = helper.make_graph(
            [node],
            "convolution",
            [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(self.x.dtype), self.x.shape)],
            [helper.make_tensor_value_info("y", y_type, None)],
            [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return np.moveaxis(session.run(None, {"x": self.x})[0], 1, -1)

    def maps(self, **strides: int) -> Maps:
        images, channels, height, width = self.x.shape
        shape = (images, height, width, channels)
        return Maps.of(shape, self.window, fill=int(self.x_zero_point), **strides)

    def rows(self, maps: Maps) -> np.ndarray:
        """The matrix A that the maps' windows are, K in their order."""
        patches = maps.windows.window.patches(self.x, int(self.x_zero_point)).transpose(0, 2, 3, 4, 5, 1)
        return np.ascontiguousarray(patches).reshape(maps.rows, -1)

    def put(self, image: MemoryImage, gaps: tuple[int, int, int], offset: int, align: int = 1) -> tuple[int, Maps]:
        """The maps in memory, with gaps between pixels, lines and images: (address, maps)."""
        images, channels, height, width = self.x.shape
        pixel = channels + gaps[0]
        line = width * pixel + gaps[1]
        found = self.maps(pixel_stride=pixel, line_stride=line, image_stride=height * line + gaps[2])
        strides = (found.strides[2], *found.strides[1::-1], 1)
        at = image.reserve(found.size, align, offset)
        bytes_ = np.frombuffer(image.data, np.uint8).copy()
        view = np.lib.stride_tricks.as_strided(bytes_[at:], (images, height, width, channels), strides)
        view[:] = np.moveaxis(self.x, 1, -1).view(np.uint8)
        image.data[:] = bytes_.tobytes()
        return at, found

    def jobs(self, config: EngineConfig, maps: Maps) -> list[tuple[int, Maps, int, slice, Job]]:
        """(bytes from the maps' address, maps, first row, columns, job) of each."""
        n = len(self.w)
        zero_points = np.broadcast_to(self.w_zero_point, n)
        b = kernel_rows(self.w, config, zero_points)
        bias = np.zeros(n, np.int32) if self.bias is None else self.bias
        scale, y_format = None, UINT8
        if self.scale:
            scale = np.broadcast_to(combined_scale(*self.scale), n)
            y_format = INT8 if self.y_zero_point.dtype == np.int8 else UINT8
        rows, columns = blocks(config, maps.rows, len(b), n, per_row=False)
        found = []
        for first in range(0, n, columns):
            of = slice(first, min(first + columns, n))
            for row, offset, part in parts(maps, rows):
                job = Job(
                    a=np.zeros((part.rows, len(b)), self.x.dtype), b=b[:, of],
                    a_zero_point=np.atleast_1d(self.x_zero_point), b_zero_point=zero_points[of], bias=bias[of],
                    scale=None if scale is None else scale[of], y_zero_point=int(self.y_zero_point), y_format=y_format,
                )  # fmt: skip
                found.append((offset, part, row, of, job))
        return found


@dataclasses.dataclass
class Listed:
    """Convolutions as one list of jobs, and how to put their results together."""

    jobs: list[Job]
    places: list[Placement]
    rows: list[tuple[int, int, slice]]  # the convolution of each, its first row and columns
    image: MemoryImage

    @classmethod
    def of(
        cls,
        found: SimulatedDmaEngine,
        given: list[Convolution],
        seed: int,
        *,
        ragged: bool,
        copied: tuple[int, ...] = (),
    ) -> Listed:
        """Those of `copied`, by number, read an im2col matrix."""
        image = MemoryImage(seed)
        rng, jobs, maps, rows = image.generator, [], [], []
        for index, each in enumerate(given):
            gaps = tuple(int(gap) for gap in rng.choice([0, 0, 1, 5, 16], 3)) if ragged else (0, 0, 0)
            at, whole = each.put(image, gaps, int(rng.integers(0, 40)) if ragged else 0, 1 if ragged else 64)
            for offset, part, row, of, job in each.jobs(found.config, whole):
                if index in copied:
                    a = each.rows(whole)[row : row + part.rows]
                    jobs.append(dataclasses.replace(job, a=a))
                    maps.append(None)
                else:
                    jobs.append(job)
                    maps.append((at + offset, part))
                rows.append((index, row, of))
        places = [
            dataclasses.replace(place, a=of_map[0], a_map=of_map[1]) if of_map else place
            for place, of_map in zip(found.place(jobs, image, ragged=ragged), maps, strict=True)
        ]
        return cls(jobs, places, rows, image)

    def check(self, given: list[Convolution], results: list[np.ndarray]) -> None:
        """Each result is onnxruntime's, bit for bit."""
        expected = [each.expected() for each in given]
        assert all(y.dtype == expected[index].dtype for y, (index, _, _) in zip(results, self.rows, strict=True))
        seen = [np.zeros(each.shape, bool) for each in expected]
        for y, (index, row, of) in zip(results, self.rows, strict=True):
            rows = slice(row, row + len(y))
            np.testing.assert_array_equal(y, expected[index].reshape(-1, expected[index].shape[-1])[rows, of])
            seen[index].reshape(-1, seen[index].shape[-1])[rows, of] = True
        assert all(each.all() for each in seen)


def convolution_of(rng: np.random.Generator, shape: tuple[int, ...], n: int, window: Window) -> Convolution:
    """A QLinearConv of int8 over x [images, C, H, W], each value as likely as any other."""
    x, w = values(rng, np.int8, shape), values(rng, np.int8, (n, shape[1], *window.kernel))
    scale = (np.float32(0.01), np.float32(0.02), np.float32(0.012 * np.sqrt(w[0].size)))
    zero_points = {"x_zero_point": np.int8(-3), "w_zero_point": np.int8(0), "y_zero_point": np.int8(5)}
    return Convolution(x=x, w=w, window=window, scale=scale, bias=np.zeros(n, np.int32), **zero_points)


def random_convolution(rng: np.random.Generator, most: int = 20_000) -> Convolution:
    """One of at most so many multiply-accumulates; its channels, kernel, pads and all else at random."""
    while True:
        channels = int(rng.choice([1, 2, 3, int(rng.integers(1, 66)), 8, 16, 64, 65]))
        image = [int(size) for size in rng.integers(1, 9, 2)]
        kernel = [int(size) for size in rng.choice([1, 1, 2, 3, 3, 4], 2)]
        dilations = [int(size) for size in rng.choice([1, 1, 2, 3], 2)]
        strides = [int(size) for size in rng.choice([1, 1, 2, 3], 2)]
        pads = [int(rng.integers(0, (kernel[axis % 2] - 1) * dilations[axis % 2] + 1)) for axis in range(4)]
        window = Window(kernel=kernel, strides=strides, dilations=dilations, pads=pads)
        images, n = int(rng.choice([1, 1, 2, 3])), int(rng.integers(1, 11))
        if any(
            span > size + pads[i] + pads[i + 2] for i, (span, size) in enumerate(zip(window.spans, image, strict=True))
        ):
            continue
        if images * np.prod(window.positions(image)) * np.prod(kernel) * channels * n <= most:
            break
    scaled, integers = rng.random() < 0.7, (np.int8, np.uint8)
    x_type, w_type = integers[rng.integers(2)] if scaled else np.uint8, integers[rng.integers(2)]
    if x_type is np.int8:
        w_type = np.int8  # onnxruntime has no other of int8
    x, w = values(rng, x_type, (images, channels, *image)), values(rng, w_type, (n, channels, *kernel))
    if (x_type, w_type) == (np.uint8, np.int8):
        w //= 2  # 7 bits: onnxruntime saturates on processors without VNNI
    scale = None
    if scaled:
        y_scale = np.float32(0.01 * 0.02 * 60 * np.sqrt(channels * np.prod(kernel)))
        w_scale = rng.uniform(0.005, 0.03, [(), (n,)][rng.integers(2)]).astype(np.float32)
        scale = (np.float32(0.01), np.asarray(w_scale, np.float32), y_scale)
    return Convolution(
        x=x, x_zero_point=values(rng, x_type, ()), w=w, window=window, scale=scale,
        w_zero_point=values(rng, w_type, ()), y_zero_point=values(rng, x_type, ()),
        bias=rng.integers(-1000, 1000, n).astype(np.int32) if scaled and rng.random() < 0.5 else None,
    )  # fmt: skip
