"""SOURCE: what the user names on the command line, opened as a design."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from systoliq.golden.archive import read_arrays
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.layer_file import KEYS, OPTIONAL_KEYS
from systoliq.golden.network import Network, is_network_file, load_network

from ..errors import InputError
from ..onnx import is_model, onnx_layer, onnx_product
from ..onnx.network import network_of, read_nodes
from ..onnx.products import list_products
from .array import ArrayDesign
from .design import Design
from .digits_cnn import digits_cnn
from .engine import EngineDesign
from .hardware import Hardware
from .layer import LayerDesign
from .network import NetworkDesign
from .network.plan import stages_of
from .presets import PRESETS
from .self_fed_engine import SelfFedEngineDesign

__all__ = ["open_layer", "open_network", "open_source", "resnet8_fc_layer"]

_SEED = 8  # of the example weights
_SHORT_NAMES = {"weights": "b", "a_zp": "a_zero_point", "b_zp": "b_zero_point", "y_zp": "y_zero_point"}

# of the last layer of MLPerf Tiny's ResNet8, as quantized for ONNX
_RESNET8_FC = {
    "a_scale": np.float32(0.1903),
    "a_zero_point": np.int8(20),
    "b_scale": np.float32(0.0245),
    "b_zero_point": np.int8(0),
    "y_scale": np.float32(0.1585),
    "y_zero_point": np.int8(0),
}
_RESNET8_FC_SHAPE = (64, 10)


def open_source(
    source: str,
    hardware: Hardware,
    *,
    weights: Path | None = None,
    use_bias: bool = True,
    name: str | None = None,
) -> Design:
    """The design that `source` names: a preset, a layer file (.npz with the keys of `layer_file.KEYS`), or a product of
    an ONNX model (FILE.onnx, or FILE.onnx#NODE where it has several).
    """
    if weights is not None and source != "resnet8-fc":
        raise InputError(f"weights must be given for the source resnet8-fc only, not for {source!r}")
    if source in ("array", "engine") and not use_bias:
        raise InputError(f"no_bias must be left out for the source {source}: it has no bias")
    if source == "engine":
        kind = EngineDesign if hardware.bus is None else SelfFedEngineDesign
        return kind(hardware, name=name)
    if source == "array":
        hardware.refuse_engines(source)
        return ArrayDesign(hardware, name=name)
    network = open_network(source)
    if network is not None:
        if not use_bias:
            raise InputError("no_bias must be left out for a network")
        return NetworkDesign(network[0], hardware, name=name, origin=network[1])
    hardware.refuse_engines(source)
    host = None
    if is_model(source):
        layer, origin, host = onnx_product(source)
    else:
        layer, origin = open_layer(source, weights)
    return LayerDesign(layer if use_bias else layer.replace(bias=None), hardware, name=name, origin=origin, host=host)


def open_network(source: str) -> tuple[Network, str] | None:
    """The network that `source` is, and where it comes from: a model, or a file as `load_network` reads it.

    None where it is no model, where a NODE is named, or where a product of it is meant: it has no other, or is no
    network of one input, one output and several stages.
    """
    if source == "digits-cnn":
        return digits_cnn()
    if source.endswith(".npz") and is_network_file(source):
        return load_network(source), f"the network file {Path(source).name}"
    if not is_model(source) or ".onnx#" in source:
        return None
    reading = read_nodes(source)
    if reading.network is None and len(list_products(Path(source))) < 2:
        return None  # the reason why that one is not taken is enough
    network = network_of(reading, source)  # which says why there is none
    whole = len(network.sources) == len(network.outputs) == 1 and len(stages_of(network)) > 1
    return (network, f"the model {Path(source).name}") if whole else None


def open_layer(source: str, weights: Path | None) -> tuple[MatMulLayer, str]:
    """The layer that `source` names, and where its weights come from."""
    if source == "resnet8-fc":
        return resnet8_fc_layer(weights)
    if source == "digits":
        from .digits import train_digits  # needs scikit-learn, which only this source asks for

        trained = train_digits()
        return trained.layer, trained.origin
    if source in ("digits-cnn", "engine"):
        raise InputError(f"SOURCE must be one layer here, not {'the network ' * (source != 'engine')}{source}")
    if is_model(source):
        return onnx_layer(source)
    if not source.endswith(".npz") and not Path(source).exists():
        raise InputError(
            f"SOURCE must be {', '.join(PRESETS)}, a layer file .npz or a model .onnx, not {source!r}{_meant(source)}"
        )
    return MatMulLayer.load(source), f"the layer file {Path(source).name}"


def _meant(source: str) -> str:
    """A question that names the preset or the suffix that `source` is close to, where there is one."""
    suffix = Path(source).suffix
    close = get_close_matches(source.lower(), PRESETS, n=1)
    close += [source.removesuffix(suffix) + each for each in get_close_matches(suffix.lower(), (".npz", ".onnx"), n=1)]
    return f": did you mean {close[0]}?" if close else ""


def resnet8_fc_layer(weights: Path | None = None) -> tuple[MatMulLayer, str]:
    """The 64 -> 10 layer and where its weights come from: a seeded generator, or the archive `weights`.

    The archive must hold `b` (or `weights`), int8 or uint8 [64, 10]; what else of a layer it holds (`bias`, scales,
    zero points, under the names of ONNX or short ones) takes the place of the preset's; other arrays are left alone.
    """
    if weights is None:
        generator = np.random.default_rng(_SEED)
        b = np.clip(np.rint(generator.normal(0, 32, _RESNET8_FC_SHAPE)), -127, 127).astype(np.int8)
        bias = generator.integers(-200, 200, _RESNET8_FC_SHAPE[1]).astype(np.int32)
        layer = MatMulLayer(name="resnet8_fc", b=b, bias=bias, **_RESNET8_FC)
        return layer, f"example weights and bias from a generator with seed {_SEED}: not a trained network"
    given: dict[str, Any] = {}
    for key, array in read_arrays(weights).items():
        field = _SHORT_NAMES.get(key, key)
        if field not in KEYS + OPTIONAL_KEYS:
            continue
        if field in given:
            raise InputError(f"{weights}: must have {field!r} under one name, not also as {key!r}")
        given[field] = array
    if "b" not in given:
        raise InputError(f"{weights}: must have the key 'b' (or 'weights')")
    if given["b"].shape != _RESNET8_FC_SHAPE:
        raise InputError(f"{weights}: b must have the shape {list(_RESNET8_FC_SHAPE)}, not {list(given['b'].shape)}")
    try:
        layer = MatMulLayer(name="resnet8_fc", **{**_RESNET8_FC, **given})
    except (TypeError, ValueError) as error:
        raise type(error)(f"{weights}: {error}") from error
    kept = [key for key in _RESNET8_FC if key not in given]
    rest = f"; {', '.join(kept)} of the preset" if kept else ""
    return layer, f"{', '.join(key for key in KEYS + OPTIONAL_KEYS if key in given)} of {Path(weights).name}{rest}"
