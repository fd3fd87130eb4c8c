"""SOURCE: the user's argument on the command line, opened as a design."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from systoliq.golden.archive import read_arrays
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.layer_file import KEYS, OPTIONAL_KEYS
from systoliq.golden.network import Network, is_network_file, load_network

from ..errors import InputError, expect, meant, path_of
from ..onnx import Model
from ..onnx.host import HostPart
from ..onnx.network import Fate, Reading
from ..onnx.other_frameworks import refuse_other_frameworks
from ..onnx.source import is_model, split_source
from .array import ArrayDesign, ArrayOptions
from .design import Design
from .digits_cnn import digits_cnn
from .digits_vit import digits_vit
from .dma_engine import DmaEngineDesign
from .engine import EngineDesign, EngineOptions
from .layer import LayerDesign, LayerOptions
from .network import NetworkDesign, NetworkOptions
from .network.ends import check_ends
from .options import Options
from .presets import DIGITS_NETWORKS, PRESETS

__all__ = ["following_layers", "model_layer", "open_layer", "open_network", "open_source", "resnet8_fc_layer"]

_SUFFIXES = (".npz", ".onnx")
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
_Kind = TypeVar("_Kind", bound=Options)


def open_source(
    source: str | Path,
    hardware: Options | Mapping[str, Any] | None = None,
    *,
    weights: str | Path | None = None,
    use_bias: bool = True,
    name: str | None = None,
) -> Design:
    """Return the design of `source`: a preset, a layer file (.npz with the keys of `layer_file.KEYS`), a network file,
    a whole ONNX model (FILE.onnx), or one of its products (FILE.onnx#NODE).

    Parameters
    ----------
    hardware
        `LayerOptions`, `NetworkOptions`, `ArrayOptions` or `EngineOptions`, whichever `source` needs; or fields of them
        by name, such as {"cols": 8}, if the kind of `source` is not known.
    weights
        only for resnet8-fc: archive with its weights, see `resnet8_fc_layer`.
    use_bias
        if False, the layer's bias is left out.
    name
        name of the Verilog module. Default: the name of `source`.

    Raises
    ------
    TypeError
        if `hardware` has the options of another kind of design.
    InputError
        if `source` cannot be read or built, or `hardware` has a field by name that its kind of design does not have.
    """
    path_of("source", source)
    source = os.fspath(source)  # unchanged: a Path would alter the text after #
    expect("hardware", hardware, Options, Mapping, type(None))
    expect("use_bias", use_bias, bool)
    weights = None if weights is None else path_of("weights", weights)
    if weights is not None and source != "resnet8-fc":
        raise InputError(f"weights must be given for the source resnet8-fc only, not for {source!r}")
    if source in ("array", "engine") and not use_bias:
        raise InputError(f"no_bias cannot be used with the source {source}: it has no bias")
    if source == "engine":
        asked = _options(EngineOptions, hardware, repr(source))
        return (EngineDesign if asked.bus is None else DmaEngineDesign)(asked, name=name)
    if source == "array":
        return ArrayDesign(_options(ArrayOptions, hardware, repr(source)), name=name)
    opened = _opened(source)
    if opened is not None:
        if not use_bias:
            raise InputError("no_bias cannot be used with a network")
        network, origin, notes = opened
        plan = _options(NetworkOptions, hardware, "a network")
        return NetworkDesign(network, plan, name=name, origin=origin, notes=notes)
    options = _options(LayerOptions, hardware, repr(source))
    options.check_budget(source)
    host, notes = None, []
    if is_model(source):
        model, node = _model(source)
        layer, origin, host = model.layer(node)
        notes = model.bias_notes(node) if use_bias else []
    else:
        layer, origin = open_layer(source, weights)
    layer = layer if use_bias else layer.replace(bias=None)
    return LayerDesign(layer, options, name=name, origin=origin, host=host, notes=notes)


def _options(kind: type[_Kind], hardware: Options | Mapping[str, Any] | None, source: str) -> _Kind:
    """Return `hardware` as options of this kind, which `source` needs."""
    if hardware is None or isinstance(hardware, Mapping):
        return kind.of(hardware or {}, source)
    if not isinstance(hardware, kind):
        raise TypeError(f"hardware must be {kind.__name__} for {source}, not {type(hardware).__name__}")
    return hardware


def open_network(source: str) -> tuple[Network, str] | None:
    """The network that `source` is, and where it comes from: a model, or a file as `load_network` reads it.

    None where it is no model, where a NODE is named, or where the whole model is one matrix product with the host's
    part around it, which is a layer. Any other model is a network, or an InputError gives all the reasons why not: a
    part is never taken for the whole.
    """
    opened = _opened(source)
    return None if opened is None else opened[:2]


def _opened(source: str) -> tuple[Network, str, list[str]] | None:
    """Like `open_network`, with notes on the host's part and on biases."""
    if source in DIGITS_NETWORKS:
        return *(digits_cnn() if source == "digits-cnn" else digits_vit()), []
    if source.endswith(".npz") and is_network_file(source):
        return _checked(load_network(source), source), f"the network file {Path(source).name}", []
    if not is_model(source) or split_source(source)[1] is not None:
        return None
    model = Model.open(split_source(source)[0])
    reading = model.reading
    if reading.lone and reading.unquantized is None:
        return None
    try:
        network = _checked(reading.checked(), source)
    except InputError as error:
        raise InputError(f"{error}{_layer_of(model)}") from error
    left = _left_to_host(reading)
    return network, "; ".join([f"the model {Path(source).name}", *left]), [*left, *model.bias_notes()]


def _checked(network: Network, source: str) -> Network:
    try:
        check_ends(network)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    return network


def _layer_of(model: Model) -> str:
    """The SOURCE of a layer in a model that is refused as a whole, if it has one."""
    taken = [product.name for product in model.products if product.layer is not None]
    return f"; one layer of it alone is {shlex.quote(f'{model.path}#{taken[0]}')}: see systoliq layers" if taken else ""


def _left_to_host(reading: Reading) -> list[str]:
    """A note on the products of a network that the host computes."""
    left = [each for each in reading.verdicts if each.fate is Fate.HOST and each.multiply_accumulates != 0]
    named = ", ".join(f"{each.operator} {each.name!r}" for each in left)
    return [f"the host computes {named}, whose result stays real numbers"] if left else []


def open_layer(source: str, weights: Path | None) -> tuple[MatMulLayer, str]:
    """The layer that `source` names, and where its weights come from."""
    if source == "resnet8-fc":
        return resnet8_fc_layer(weights)
    if source == "digits":
        from .digits import train_digits  # needs scikit-learn, which only this source asks for

        trained = train_digits()
        return trained.layer, trained.origin
    if source in (*DIGITS_NETWORKS, "engine"):
        raise InputError(f"SOURCE must be one layer here, not {'the network ' * (source != 'engine')}{source}")
    if is_model(source):
        if open_network(source) is not None:
            raise InputError(f"SOURCE must be one layer here, not a whole network: name it as {source}#NODE")
        return model_layer(source)[:2]
    if not source.endswith(".npz") and not Path(source).exists():
        raise InputError(
            f"SOURCE must be {', '.join(PRESETS)}, a layer file .npz or a model .onnx, not {source!r}{_meant(source)}"
        )
    if Path(source).is_file():
        refuse_other_frameworks(Path(source))
    return MatMulLayer.load(source), f"the layer file {Path(source).name}"


def model_layer(source: str) -> tuple[MatMulLayer, str, HostPart | None]:
    """The layer that FILE.onnx#NODE names (FILE.onnx is enough if there is one): see `Model.layer`."""
    model, node = _model(source)
    return model.layer(node)


def _model(source: str) -> tuple[Model, str | None]:
    """The model that FILE.onnx#NODE is in, and NODE if it is named."""
    path, node = split_source(source)
    return Model.open(path), node


def following_layers(source: str) -> list[str]:
    """Names of the layers of a model that the outputs of the layer `source` go into; none if it is no model's."""
    if not is_model(source):
        return []
    model, node = _model(source)
    return model.following(node)


def _meant(source: str) -> str:
    """A question that names the preset or the suffix that `source` is close to, where there is one."""
    suffix = Path(source).suffix
    names = [f"{source.removesuffix(suffix)}{each}" for each in get_close_matches(suffix.lower(), _SUFFIXES, n=1)]
    return meant(source, PRESETS) or (f": did you mean {names[0]}?" if names else "")


def resnet8_fc_layer(weights: Path | None = None) -> tuple[MatMulLayer, str]:
    """The 64 -> 10 layer and where its weights come from: a seeded generator, or the archive `weights`.

    The archive must hold `b` (or `weights`), int8 or uint8 [64, 10]; other arrays of a layer (`bias`, scales, zero
    points, by ONNX's or short names) replace the preset's; all others are ignored.
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
