"""Every public name of `systoliq.api`: wrong arguments are refused by name, reports are true or false, reprs short."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from systoliq import api
from systoliq.design.sources import resnet8_fc_layer
from systoliq.golden.network import network_arrays

from .hw.network.small_networks import Builder
from .support.results import simulated

WRONG = (
    None,
    5,
    -1,
    2.5,
    True,
    "",
    "nonsense",
    b"bytes",
    [1],
    {"a": 1},
    np.zeros(3, np.float64),
    object(),
    Path("none"),
)
_MODEL = """<ir_version: 8, opset_import: ["" : 13]>
g (uint8[2, 3] a) => (int32[2, 2] y) <int8[3, 2] b = {1, 2, 3, 4, 5, 6}> { y = MatMulInteger(a, b) }"""

# what makes one of each name that is called; the others are named below
LAYER, _ = resnet8_fc_layer()
OPERANDS = {"a": np.zeros((2, 3), np.int8), "b": np.zeros((3, 2), np.int8)}
RESCALED = OPERANDS | {
    "a_scale": np.float32(1), "a_zero_point": np.int8(0), "b_scale": np.float32(1), "b_zero_point": np.int8(0),
    "y_scale": np.float32(1), "y_zero_point": np.int8(0),
}  # fmt: skip


def network():
    net = Builder((2, 2, 2))
    net.table()
    return net.network()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("api") / "model.onnx"
    onnx.save(parser.parse_model(_MODEL), path)
    return path


@pytest.fixture(scope="module")
def arguments(model):
    """Of each callable."""
    return {
        "ArrayDesign": {},
        "ArrayOptions": {},
        "Engine": {},
        "EngineConfig": {},
        "EngineDesign": {},
        "EngineOptions": {},
        "EngineSession": {"model": model},
        "LayerDesign": {"layer": LAYER},
        "LayerOptions": {},
        "MatMulLayer": {"b": OPERANDS["b"], "b_zero_point": np.int8(0), "a_zero_point": np.int8(0)},
        "NetworkDesign": {"network": network()},
        "NetworkOptions": {},
        "NetworkSession": {"model": model},
        "DmaEngineDesign": {},
        "compile_onnx": {"model": model},
        "matmul_integer": OPERANDS,
        "open_source": {"source": "resnet8-fc"},
        "qlinear_matmul": RESCALED,
        "Model": {"path": model},
        "read_network": {"path": model},
        "read_onnx": {"path": model},
        "read_products": {"path": model},
        "verify_package": {"directory": model.parent},
        "write_package": {"design": api.LayerDesign(LAYER), "directory": model.parent / "out"},
    }


# made by others alone or abstract, and errors
MADE = {
    "CompiledModel", "Design", "InputError", "MissingPackageError", "Network", "NetworkReport", "Product",
    "Simulated",
    "SimulationError", "SynthReport", "ToolError",
}  # fmt: skip


def test_all_names_are_tried(arguments):
    assert set(arguments) | MADE == set(api.__all__)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(set(api.__all__) - MADE))
def test_wrong_arguments_are_refused_by_name(name, arguments, tmp_path, monkeypatch):
    """Every parameter with every wrong value: taken, or refused on purpose, and never by an accident further in."""
    monkeypatch.chdir(tmp_path)  # where a package is written to "nonsense"
    made = getattr(api, name)
    given = arguments[name]
    parameters = inspect.signature(made).parameters
    names = {each for each in parameters if parameters[each].kind not in (2, 4)} - {"self", "progress"}
    tried = [(each, wrong) for each in sorted(names | set(given)) for wrong in WRONG]
    accidents = [told for each, wrong in tried if (told := accident(made, {**given, each: wrong}, f"{each}={wrong!r}"))]
    assert not accidents, "\n".join(accidents)


def accident(made, given, what):
    """What comes of `made` with the arguments `given`, where it is neither success nor refusal; None otherwise."""
    try:
        made(**given)
    except OSError:
        return None
    except Exception as error:  # noqa: BLE001  # whatever it is, it is looked at
        last = traceback.extract_tb(error.__traceback__)[-1].line or ""
        if isinstance(error, TypeError | ValueError) and last.startswith("raise") and len(str(error)) < 1000:
            return None
        return f"{what}: {type(error).__name__}: {error} at {last}"
    return None


OPTIONS = [api.LayerOptions, api.ArrayOptions, api.EngineOptions, api.NetworkOptions]


@pytest.mark.parametrize(
    ("kind", "field"),
    [(kind, field) for kind in OPTIONS for field in kind.defaults()],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_options_are_checked_when_they_are_made(kind, field):
    """By name: an object of another type always, and numbers out of range."""
    with pytest.raises(TypeError, match=f"^{field} must be "):
        kind(**{field: object()})
    annotation = kind.__dataclass_fields__[field].type
    if "int" in annotation or "float" in annotation:
        with pytest.raises(ValueError, match=f"^{field} must be .*, not -1"):
            kind(**{field: -1})
        with pytest.raises(TypeError, match=f"^{field} must be "):
            kind(**{field: True})


VALUES = {
    **dict.fromkeys(("a_signed", "b_signed", "wrap"), True),
    **dict.fromkeys(("a_format", "b_format", "y_format"), "e4m3fn"),
    "plan": "plan.json",
    "workload": "w.csv",
    "dataflow": "auto",
    "requantizer": "auto",
    "bus": 32,
}  # that are not as usual; 16 of the others


def test_a_design_takes_the_options_of_its_kind():
    designs = {
        api.LayerOptions: lambda options: api.LayerDesign(LAYER, options),
        api.ArrayOptions: api.ArrayDesign,
        api.EngineOptions: api.EngineDesign,
        api.NetworkOptions: lambda options: api.NetworkDesign(network(), options),
    }
    for kind, design in designs.items():
        for other in OPTIONS:
            if other is not kind:
                with pytest.raises(TypeError, match=f"^hardware must be an? {kind.__name__}.*, not {other.__name__}"):
                    design(other())


SOURCES = {
    api.LayerOptions: "resnet8-fc",
    api.ArrayOptions: "array",
    api.EngineOptions: "engine",
    api.NetworkOptions: "net.npz",
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_fields_by_name_are_those_of_the_sources_kind(kind, tmp_path):
    """A field of another kind is refused by its name; fields of a target are ignored by a kind that has none."""
    source = SOURCES[kind]
    if source.endswith(".npz"):
        source = str(tmp_path / source)
        np.savez(source, **network_arrays(network()))
    fields = {field for each in OPTIONS for field in each.defaults()}
    for field in fields - set(kind.defaults()) - {"part", "line_baud"}:
        with pytest.raises(api.InputError, match=f"^{field} (must be|cannot be used)"):
            api.open_source(source, {field: VALUES.get(field, 16)})
        assert kind.of({field: None}, source) == kind()
    for other in OPTIONS:
        if other is not kind:
            with pytest.raises(TypeError, match=f"^hardware must be {kind.__name__} for .*, not {other.__name__}$"):
                api.open_source(source, other())
    with pytest.raises(api.InputError, match=f"^hardware must have only fields of {kind.__name__} .*, not .colour.$"):
        api.open_source(source, {"colour": 1})
    target = {"part": "ecp5-25k", "line_baud": 9600}
    assert kind.of(target, source) == kind(**{k: v for k, v in target.items() if k in kind.defaults()})
    if "rows" in kind.defaults():
        with pytest.raises(ValueError, match="^rows must be a positive integer, not 0$"):
            api.open_source(source, {"rows": 0})


def test_options_take_names_and_paths():
    named = api.NetworkOptions(part="ecp5-25k", plan="plan.json")
    assert named.part.name == "ecp5-25k"
    assert named.plan == Path("plan.json")
    assert repr(named) == "NetworkOptions(part='ecp5-25k')"
    with pytest.raises(ValueError, match="^part must be one of ecp5-25k, .*, not 'none'$"):
        api.NetworkOptions(part="none")


def test_design_is_abstract():
    with pytest.raises(TypeError, match="abstract class Design"):
        api.Design()


def test_a_package_is_written_and_verified_by_text(tmp_path):
    """And by paths; reports are true where they have passed."""
    zero, b = np.int8(0), np.arange(-6, 6, dtype=np.int8).reshape(4, 3)
    scales = {"a_scale": np.float32(0.1), "b_scale": np.float32(0.02), "y_scale": np.float32(0.05)}
    layer = api.MatMulLayer(b=b, a_zero_point=zero, b_zero_point=zero, y_zero_point=zero, **scales)
    design = api.LayerDesign(layer, name="fc")
    written = api.write_package(design, str(tmp_path / "fc"))
    assert written == tmp_path / "fc"
    report = api.verify_package(str(written))
    assert report.passed
    assert report
    verilog = written / "fc.v"
    verilog.write_text(verilog.read_text() + "\n")
    failed = api.verify_package(written)
    assert not failed.passed
    assert not failed
    assert len(repr(failed)) <= 200
    for wrong in (None, 5):
        with pytest.raises(TypeError, match="^directory must be a str or a Path, not "):
            api.verify_package(wrong)
        with pytest.raises(TypeError, match="^directory must be a str or a Path, not "):
            api.write_package(design, wrong)
    with pytest.raises(TypeError, match="^design must be a Design, not "):
        api.write_package(LAYER, tmp_path)


def test_simulated_is_true_where_it_has_passed():
    for passed in (True, False):
        run = simulated(np.zeros((1000, 10), np.int8), wrong=0 if passed else 3)
        assert bool(run) is passed
        assert repr(run) == f"Simulated({'passed' if passed else '3 mismatches'}, y: int8 [1000, 10])"


def test_reprs_are_short(model):
    """They say what it is: names, shapes, types; no address, no array."""
    net = network()
    objects = [
        LAYER, net, api.LayerDesign(LAYER), api.NetworkDesign(net), api.ArrayDesign(), api.EngineDesign(),
        api.DmaEngineDesign(), api.EngineOptions(cols=4), api.LayerOptions(cols=4),
        api.Engine(), api.read_products(model)[0],
        api.compile_onnx(model), api.EngineSession(model),
        api.SynthReport(name="fc", target="ecp5-25k", cells="ecp5", macs_per_cycle=1, lut_sites=1, ff=1, dsp=1, ram=1,
                        carries=1, blocks={str(index): {} for index in range(1000)}),
    ]  # fmt: skip
    for each in objects:
        assert repr(each).startswith(type(each).__name__ + "("), repr(each)
        assert " at 0x" not in repr(each)
        assert len(repr(each)) <= 200, repr(each)
    assert repr(LAYER) == "MatMulLayer('resnet8_fc', int8 [M, 64] x int8 [64, 10] -> int8 [M, 10])"
    assert repr(net) == "Network('small', x: int8 [1, 2, 2, 2] -> t0: int8 [1, 2, 2, 2], 1 nodes)"
