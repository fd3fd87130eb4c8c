"""Images that a build simulates: from the user's archive, of a preset, or random integers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ..design import Design
from ..design.design import Arrays
from ..design.presets import DIGITS_NETWORKS
from ..errors import InputError
from ..explore.network_data import digits_data, network_inputs
from ..quantize.calibration import Samples
from ..samples import check_labels

__all__ = ["Images", "golden_outputs", "images_of"]

_SEED = 0
_RANDOM = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Images:
    """Operands of a network or a layer, [M, ...] by name, with their `labels` [M] if there are any.

    `origin` describes where they come from, and `nested` says that `Design.simulate` takes them as `inputs`.
    """

    arrays: Arrays
    labels: npt.NDArray[Any] | None
    origin: str
    nested: bool

    @property
    def count(self) -> int:
        """Number of images; of a layer, rows."""
        return len(next(iter(self.arrays.values())))

    def first(self, count: int) -> Images:
        """Return the first `count` images."""
        arrays = {name: array[:count] if array.ndim else array for name, array in self.arrays.items()}
        labels = None if self.labels is None else self.labels[:count]
        return Images(arrays=arrays, labels=labels, origin=self.origin, nested=self.nested)

    @property
    def operands(self) -> dict[str, Any]:
        """The arguments of `Design.simulate` and `Design.exchange`."""
        return {"inputs": self.arrays} if self.nested else dict(self.arrays)

    def archive(self) -> bytes:
        """Return an archive of the arrays and labels, as `simulate` and `board run` read it."""
        labels = {} if self.labels is None else {"labels": self.labels}
        return npz_bytes({**self.arrays, **labels})


def images_of(source: str, design: Design, data: Path | None, samples: Samples | None) -> Images:
    """Return images for `design`: the `samples` that calibrated it, the images in the archive `data`, the images of the
    preset `source`, or random integers.

    Raises InputError for data that do not fit.
    """
    subject = design.explored
    if isinstance(subject, Network):
        return _of_network(source, subject, data, samples)
    if isinstance(subject, MatMulLayer):
        return _of_layer(source, design, subject, data, samples)
    raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {design.kind}")


def golden_outputs(design: Design, images: Images) -> npt.NDArray[Any]:
    """Return the output of the golden model, and so of the hardware, for all `images`."""
    subject = design.explored
    if isinstance(subject, Network):
        outputs: npt.NDArray[Any] = subject.golden(images.arrays)[subject.outputs[0].name]
        return outputs
    return design.model(**images.operands)


def _of_network(source: str, net: Network, data: Path | None, samples: Samples | None) -> Images:
    if samples is not None:
        origin = "random numbers" if samples.path is None else samples.path.name
        return Images(arrays=dict(samples.inputs), labels=samples.labels, origin=origin, nested=True)
    if data is not None:
        arrays = read_arrays(data)
        inputs = network_inputs(data, arrays, net)
        check_labels(data, arrays.get("labels"), inputs.values())
        return Images(arrays=inputs, labels=arrays.get("labels"), origin=data.name, nested=True)
    if source in DIGITS_NETWORKS:
        found = digits_data(net)
        return Images(arrays=dict(found.inputs), labels=found.classes, origin=found.origin, nested=True)
    tensors = {each.tensor.name: (each.tensor.shape[1:], each.tensor.format) for each in net.sources}
    return Images(arrays=_random(tensors), labels=None, origin="random integers", nested=True)


def _of_layer(
    source: str, design: Design, layer: MatMulLayer, data: Path | None, samples: Samples | None
) -> Images:  # fmt: skip
    if samples is not None:
        origin = "random numbers" if samples.path is None else samples.path.name
        with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
            path = Path(folder) / "x.npy"
            np.save(path, next(iter(samples.inputs.values())))
            arrays = design.read_operands(path, quantize=True)
        return Images(arrays=arrays, labels=samples.labels, origin=origin, nested=False)
    if data is not None:
        held = read_arrays(data) if data.suffix == ".npz" else {}
        real = "a" in held and held["a"].dtype.kind == "f"
        arrays, labels = design.read_operands(data, quantize=real), held.get("labels")
        check_labels(data, labels, arrays.values())
        return Images(arrays=arrays, labels=labels, origin=data.name, nested=False)
    if source == "digits":
        from ..design.digits import train_digits

        trained = train_digits()
        return Images(arrays={"a": trained.a}, labels=trained.labels, origin="the test digits", nested=False)
    if not isinstance(layer.a_format, IntFormat) or layer.a_zero_point is None:
        raise InputError("data must be given for a layer of float8 or of a zero point that arrives with A")
    arrays = _random({"a": ((layer.k,), layer.a_format)})
    return Images(arrays=arrays, labels=None, origin="random integers", nested=False)


def _random(tensors: Mapping[str, tuple[tuple[int, ...], Any]]) -> Arrays:
    """Return seeded integers of these sizes and formats, over their whole range."""
    rng = np.random.default_rng(_SEED)
    return {
        name: rng.integers(form.min, form.max + 1, (_RANDOM, *sizes)).astype(form.dtype)
        for name, (sizes, form) in tensors.items()
    }
