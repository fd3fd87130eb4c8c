"""Models and archives with random faults, read by the commands: no traceback, no long run, no large one.

    python -m tests.onnx.mutated models 20000 1      # how many, and the seed
    python -m tests.onnx.mutated archives 5000 1

prints a JSON object: calls, how many were taken, the most processor seconds and memory, and what went wrong, each with
its number, for `python -m tests.onnx.mutated models NUMBER:NUMBER+1 SEED`.
"""

from __future__ import annotations

import copy
import faulthandler
import io
import json
import re
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnx
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.cli.shell import Group
from systoliq.onnx import Model

from .dynamic_models import FUSED
from .network import networks, oracle
from .network.refused_models import CONSTANTS as NETWORK_CONSTANTS
from .network.refused_models import REFUSED
from .onnx_models import write
from .onnx_nodes import TAKEN
from .refused_nodes import NODES

__all__ = ["SECONDS", "hunt"]

SECONDS = 5.0
KILOBYTES = 1 << 20  # of the process
INTEGERS = (0, 1, 2, 3, 5, 7, 8, -1, -2, 16, 127, 255, 1 << 16, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, -(1 << 63),
            (1 << 63) - 1)  # fmt: skip
NUMBERS = (0.0, 1.0, -1.0, float("nan"), float("inf"), 1e-45, 3e38, 0.5)
WORDS = ("", "x", "y", "a", "W", "../x", "/etc/passwd", "é", "n" * 5000, "\n", "SAME_UPPER", "Identity", "Reshape",
         "QuantizeLinear", "DequantizeLinear", "MatMul", "Gemm", "Conv", "Add", "Relu", "Clip", "Transpose", "Resize",
         "QLinearMatMul", "QGemm", "QLinearAdd", "MatMulInteger", "Constant", "com.microsoft", "ai.onnx", "perm",
         "axes", "axis", "block_size", "transB", "alpha", "to", "value", "output_dtype")  # fmt: skip


def models(folder: Path) -> list[bytes]:
    """What is mutated: products in every form, networks, and what is refused."""
    found = []
    for graph, changes, *_ in (*TAKEN.values(), *NODES.values()):
        found.append(write(folder / "m.onnx", graph, **changes).read_bytes())
    for graph, *_ in FUSED.values():
        found.append(write(folder / "m.onnx", graph, opset=13).read_bytes())
    for inputs, nodes, *_ in REFUSED.values():
        path = oracle.write(folder / "m.onnx", f"g ({inputs}) => (uint8[1, 4] y) {{ {nodes} }}", NETWORK_CONSTANTS)
        found.append(path.read_bytes())
    for form in ("QDQ", "QOperator"):
        found += [networks.quantized(folder, networks.branches(), form=form).read_bytes()] * 20
    return found


def archives(folder: Path) -> list[bytes]:
    """Layer files, stored and deflated, and arrays of their own."""
    rng = np.random.default_rng(3)
    layer = {
        "b": rng.integers(-128, 128, (9, 5)).astype(np.int8), "a_scale": np.float32(0.02),
        "a_zero_point": np.uint8(100), "b_scale": rng.uniform(0.001, 0.02, 5).astype(np.float32),
        "b_zero_point": np.zeros(5, np.int8), "y_scale": np.float32(0.5), "y_zero_point": np.int8(-7),
        "bias": rng.integers(-5000, 5000, 5).astype(np.int32),
    }  # fmt: skip
    found = []
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, **layer)
        found.append(file.getvalue())
    return found


def mutated_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """A few bytes changed, taken out, put in or cut off."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(changed) + 1))
        kind = rng.integers(5)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[at : at + int(rng.integers(1, 9))] = b""
        elif kind == 2:
            changed[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif kind == 3:
            changed[at : at + 8] = (b"\xff" * 8, bytes(8), b"\x7f" + b"\xff" * 7)[rng.integers(3)]
        elif kind == 4 and rng.integers(4) == 0:
            del changed[at:]
    return bytes(changed)


def mutated_model(rng: np.random.Generator, data: bytes) -> bytes:
    """The bytes of a model changed, in one of ten; any of its fields; or, in half, what the checker of ONNX may accept:
    the last of a few attempts, where it accepts none.
    """
    kind = rng.integers(10)
    if kind == 0:
        return mutated_bytes(rng, data)
    changed = b""
    for _ in range(1 if kind < 3 else 6):
        model = onnx.ModelProto.FromString(data)
        for _ in range(int(rng.integers(1, 4))):
            messages = list(_messages(model))
            if kind < 5:
                _change(rng, messages[int(rng.integers(len(messages)))], model)
            else:
                _SENSIBLE[int(rng.integers(len(_SENSIBLE)))](rng, model.graph)
        changed = model.SerializeToString()
        try:
            onnx.checker.check_model(changed)
            break
        except Exception as error:  # noqa: BLE001 - whatever it says, it does not accept it
            del error
    return changed


def _other_tensor(rng: np.random.Generator, graph: Any) -> None:
    """A constant of another type or shape."""
    if not graph.initializer:
        return
    tensor = graph.initializer[int(rng.integers(len(graph.initializer)))]
    array = onnx.numpy_helper.to_array(tensor)
    if rng.integers(2):
        shape = [int(size) for size in rng.choice([0, 1, 1, 2, 4, 5, 12], int(rng.integers(5)))]
        array = np.resize(array, shape)
    if rng.integers(2):
        kinds = [
            "int8",
            "uint8",
            "int16",
            "uint16",
            "int32",
            "int64",
            "float32",
            "float16",
            "float64",
            "bool",
            "uint64",
        ]
        with np.errstate(all="ignore"):
            array = array.astype(str(rng.choice(kinds)))
    elif array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.reshape(-1)[int(rng.integers(array.size))] = float(rng.choice(NUMBERS))
    elif array.dtype.kind in "iu" and array.size:
        array = array.copy()
        info = np.iinfo(array.dtype)
        array.reshape(-1)[int(rng.integers(array.size))] = [info.min, info.max, 0, 1][int(rng.integers(4))]
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def _other_input(rng: np.random.Generator, graph: Any) -> None:
    """A node takes another tensor, none, one more or one less."""
    if not graph.node:
        return
    node = graph.node[int(rng.integers(len(graph.node)))]
    names = [*(name for each in graph.node for name in each.output), *(each.name for each in graph.initializer),
             *(each.name for each in graph.input), ""]  # fmt: skip
    at, kind = int(rng.integers(len(node.input) + 1)), rng.integers(4)
    if kind == 0 and at < len(node.input):
        del node.input[at:]
    elif kind == 1 or at == len(node.input):
        node.input.insert(at, str(rng.choice(names)))
    else:
        node.input[at] = str(rng.choice(names))


def _other_attribute(rng: np.random.Generator, graph: Any) -> None:
    """A node has an attribute of another value, of another type, or one more or less."""
    if not graph.node:
        return
    node = graph.node[int(rng.integers(len(graph.node)))]
    if len(node.attribute) and rng.integers(2):
        name = node.attribute[int(rng.integers(len(node.attribute)))].name
    else:
        name = str(rng.choice(["axis", "perm", "alpha", "transB", "transA", "pads", "strides", "dilations", "group",
                               "kernel_shape", "auto_pad", "ceil_mode", "block_size", "output_dtype", "saturate", "to",
                               "allowzero", "axes", "mode", "count_include_pad", "min", "max"]))  # fmt: skip
    kept = [given for given in node.attribute if given.name != name]
    number = int(rng.choice(np.array(INTEGERS, object)))
    number = min(max(number, -(1 << 63)), (1 << 63) - 1)
    value = [number, int(rng.integers(-3, 6)), float(rng.choice(NUMBERS)), "SAME_UPPER", "nearest", "é", [number] * 3,
             [1, 0], [1, 1], [2, 2, 2, 2], [0, 0, -1, 1], [0.5, 0.5]][int(rng.integers(12))]  # fmt: skip
    del node.attribute[:]
    node.attribute.extend(kept)
    if rng.integers(6):
        node.attribute.append(onnx.helper.make_attribute(name, value))


def _other_shape(rng: np.random.Generator, graph: Any) -> None:
    """An input or output of another shape or type."""
    infos = [*graph.input, *graph.output, *graph.value_info]
    if not infos:
        return
    kind = infos[int(rng.integers(len(infos)))].type.tensor_type
    if rng.integers(4) == 0:
        kind.elem_type = int(rng.integers(1, 24))
    elif len(kind.shape.dim) and rng.integers(4):
        dim = kind.shape.dim[int(rng.integers(len(kind.shape.dim)))]
        if rng.integers(4):
            dim.dim_value = int(rng.choice([0, 1, 2, 3, 12, -1, 1 << 20, 1 << 31, 1 << 62]))
        else:
            dim.dim_param = "n"
    elif rng.integers(2):
        kind.shape.dim.add().dim_value = int(rng.integers(4))
    else:
        kind.ClearField("shape")


def _other_operator(rng: np.random.Generator, graph: Any) -> None:
    """A node is another operator."""
    if graph.node:
        node = graph.node[int(rng.integers(len(graph.node)))]
        node.op_type = str(rng.choice([word for word in WORDS if word.isalnum() and word[0].isupper()]))
        node.domain = str(rng.choice(["", "", "com.microsoft", "ai.onnx"]))


_SENSIBLE = (_other_tensor, _other_input, _other_attribute, _other_shape, _other_operator)


def _messages(message: Any) -> Iterator[Any]:
    """`message`, and all that are in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                yield from _messages(each)


def _change(rng: np.random.Generator, message: Any, model: Any) -> None:
    """Change one field of `message`."""
    fields = list(message.DESCRIPTOR.fields)
    held = [field for field, _ in message.ListFields()]
    field = (held if held and rng.integers(8) else fields)[int(rng.integers(len(held) if held else len(fields)))]
    if not field.is_repeated:
        if rng.integers(5) == 0:
            message.ClearField(field.name)
        elif field.message_type is None:
            setattr(message, field.name, _value(rng, field, model))
        return
    values = getattr(message, field.name)
    kind, at = rng.integers(4), int(rng.integers(len(values))) if len(values) else 0
    if kind == 0 and len(values):
        del values[at]
    elif field.message_type is not None:
        if len(values):
            values.add().CopyFrom(copy.copy(values[at]))
    elif kind == 1 or not len(values):
        values.append(_value(rng, field, model))
    else:
        values[at] = _value(rng, field, model)


def _value(rng: np.random.Generator, field: Any, model: Any) -> Any:
    if field.enum_type is not None:
        return int(rng.choice([value.number for value in field.enum_type.values]))
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return float(rng.choice(NUMBERS))
    if field.cpp_type == field.CPPTYPE_STRING:
        names = [name for node in model.graph.node for name in (*node.input, *node.output)]
        word = str(rng.choice(names if names and rng.integers(2) else list(WORDS)))
        return word.encode() if field.type == field.TYPE_BYTES else word
    bits = 32 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    number = int(rng.choice(np.array(INTEGERS, object))) if rng.integers(2) else int(rng.integers(0, 30))
    signed = field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
    number %= 1 << bits
    return number - (1 << bits) * (signed and number >> (bits - 1))


def mutated_archive(rng: np.random.Generator, data: bytes) -> bytes:
    """Bytes of the archive changed, or of a member, which is then packed as it should be."""
    if rng.integers(3) == 0:
        return mutated_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(members)))
        name, content = members[at]
        kind = rng.integers(5)
        if kind == 0:
            members[at] = (str(rng.choice(["b.npy", "a.npy", "b", "../b.npy", "x.npy", "a_format.npy"])), content)
        elif kind == 1:
            members[at] = (name, mutated_bytes(rng, content))
        elif kind == 2:
            members[at] = (name, mutated_bytes(rng, content[:128]) + content[128:])
        elif kind == 3:
            members[at] = (name, _npy(rng))
        else:
            del members[at]
            if not members:
                break
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if rng.integers(2) else zipfile.ZIP_STORED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def _npy(rng: np.random.Generator) -> bytes:
    """An array of any type and a small shape, or a header that says more than there is."""
    shape = tuple(int(size) for size in rng.choice([0, 1, 1, 5, 9, 1 << 20, 1 << 40, -1], int(rng.integers(4))))
    kind = str(rng.choice(["|i1", "|u1", "<f4", ">f4", "<i2", "<i4", "<i8", "<f8", "<f2", "|b1", "<c16", "|O", "<U3",
                           "|S2", "|V1", "<M8[s]", "|S0", "<f16"]))  # fmt: skip
    header = f"{{'descr': {kind!r}, 'fortran_order': {bool(rng.integers(2))}, 'shape': {shape!r}, }}\n".encode()
    count = int(np.prod(np.array(shape, object))) * np.dtype(kind).itemsize
    data = rng.bytes(count) if 0 <= count < 1 << 16 else rng.bytes(64)
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


@click.group(cls=Group)
def reader() -> None:
    """What `layers` reads, without its tables, which take longer than the rest."""


@reader.command()
@click.argument("path", type=click.Path(path_type=Path))
def read(path: Path) -> None:
    """Products and nodes."""
    model = Model.open(path)
    _ = model.products, model.reading


def commands(kind: str, number: int, path: Path, folder: Path) -> list[list[str]]:
    """What reads the file `path` in this turn."""
    out = str(folder / "out")
    small = ["--rows", "1", "--cols", "1"]
    if kind == "models":
        shown = "layers" if number % 5 == 0 else "read"
        return [[shown, str(path)], *([["emit", str(path), "--out", out]] if number % 20 == 0 else [])]
    simulate = ["simulate", "array", *small, "--input", str(path), "--waves", "x.vvv"]  # which it refuses at the end
    return [["emit", str(path), "--out", out, "--cols", "1"], simulate]


def hunt(kind: str, numbers: range, seed: int, note: Callable[[int], None] = lambda number: None) -> dict[str, Any]:
    """The figures of `numbers` mutations of `kind`, "models" or "archives"."""
    folder = Path(tempfile.mkdtemp())
    bases, mutate = (models(folder), mutated_model) if kind == "models" else (archives(folder), mutated_archive)
    path = folder / ("m.onnx" if kind == "models" else "m.npz")
    failures: list[dict[str, Any]] = []
    calls = taken = 0
    slowest, slowest_number = 0.0, -1

    def late(*_: object) -> None:
        raise AssertionError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    for number in numbers:
        note(number)
        rng = np.random.default_rng([seed, number])
        path.write_bytes(mutate(rng, bases[int(rng.integers(len(bases)))]))
        for command in commands(kind, number, path, folder):
            start = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
            result = CliRunner().invoke(reader if command[0] == "read" else cli, command)
            signal.setitimer(signal.ITIMER_REAL, 0)
            seconds = time.process_time() - start
            calls, taken = calls + 1, taken + (result.exit_code == 0)
            if seconds > slowest:
                slowest, slowest_number = seconds, number
            wrong = _wrong(result, seconds)
            if wrong:
                failures.append({"number": number, "command": command[0], "wrong": wrong})
        shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.rmtree(folder)
    return {
        "calls": calls, "taken": taken, "slowest_seconds": round(slowest, 2), "slowest_number": slowest_number,
        "megabytes": peak_kilobytes() >> 10, "failures": failures,
    }  # fmt: skip


def peak_kilobytes() -> int:
    """The most memory that this process had; `ru_maxrss` begins at that of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[1])


def _wrong(result: Any, seconds: float) -> str:
    """What is wrong with the end of a command; nothing in most cases."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        import traceback

        frames = traceback.extract_tb(result.exception.__traceback__)
        at = next((frame for frame in reversed(frames) if "systoliq" in frame.filename), frames[-1])
        return f"{type(result.exception).__name__} {result.exception} at {Path(at.filename).name}:{at.lineno}"
    if result.exit_code not in (0, 2):
        return f"exit status {result.exit_code}: {result.stderr[-300:]}"
    if result.exit_code == 2 and (result.stderr.count("\n") != 1 or not result.stderr.startswith("error: ")):
        return f"more or less than a line: {result.stderr[-300:]}"
    if seconds > SECONDS:
        return f"{seconds:.1f} s"
    if (peak := peak_kilobytes()) > KILOBYTES:
        return f"{peak >> 10} MiB"
    return ""


def main() -> None:
    """The figures on standard output; on standard error the number that a crash would end at."""
    faulthandler.enable()
    kind, which, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    first, _, last = which.rpartition(":")

    def note(number: int) -> None:
        if number % 500 == 0:
            sys.stderr.write(f"{number}\n")
            sys.stderr.flush()

    sys.stdout.write(json.dumps(hunt(kind, range(int(first or 0), int(last)), seed, note), indent=1) + "\n")


if __name__ == "__main__":
    main()
