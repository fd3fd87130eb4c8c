"""What onnxruntime's results for the operators of transformers depend on: its version, its graph level, the processor.

    python -m tests.onnx.versions [--outputs N] COMMAND ...

Each COMMAND runs a Python with numpy and some version of onnxruntime, such as venv/bin/python, or one under
an emulator: "qemu-x86_64 -cpu Nehalem venv/bin/python". For each it prints how many integers differ from
golden, by model and graph level.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import parser

from systoliq.onnx import read_network

CHILD = """
import platform, sys, numpy as np, onnxruntime as ort
ort.set_default_logger_severity(4)
levels = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")
print("version", ort.__version__, platform.python_version())
for name in sys.argv[2:]:
    a = np.load(f"{sys.argv[1]}/{name}.npz")
    for level in levels:
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_" + level)
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.qdqisint8allowed", "1")
        try:
            session = ort.InferenceSession(f"{sys.argv[1]}/{name}.onnx", options, providers=["CPUExecutionProvider"])
            (y,) = session.run(None, {each.name: a[each.name] for each in session.get_inputs()})
        except Exception as error:
            print(name, level, "not run:", str(error).split(" : ")[-1][:80].replace(chr(10), " "))
            continue
        apart = np.abs(y.astype(int) - a["expected"].astype(int))
        print(name, level, np.count_nonzero(apart), apart.max())
"""
PAIR = "fa = DequantizeLinear(a, s, z) fb = DequantizeLinear(b, t, w) f = MatMul(fa, fb) y = QuantizeLinear(f, u, v)"
ROW = "fa = DequantizeLinear(a, s, z) f = {} y = QuantizeLinear(f, u, v)"


def _models(outputs: int) -> dict[str, tuple[str, str, dict[str, str], dict[str, np.ndarray]]]:
    """Head and nodes of each model, its constants as text, and its inputs."""
    rng = np.random.default_rng(1)
    rows = -(-outputs // 64)

    def constants(a: str, y: str, a_scale: float, y_scale: float) -> dict[str, str]:
        zero = {"uint8": 128, "int8": 0}
        return {
            "s": f"float {{{a_scale}}}", "z": f"{a} {{{zero[a]}}}", "u": f"float {{{y_scale}}}",
            "v": f"{y} {{{zero[y]}}}",
        }  # fmt: skip

    def codes(kind: str, shape: tuple[int, ...]) -> np.ndarray:
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max + 1, shape).astype(kind)

    found = {}
    for kind in ("uint8", "int8"):
        head = f"({kind}[N, {rows}, 64] a) => ({kind}[N, {rows}, 64] y)"
        given = {"a": codes(kind, (1, rows, 64))}
        # of int8, many greatest shares are beyond 127: later versions saturate them
        one = constants(kind, kind, 0.3, 1 / 256) | ({"v": "uint8 {0}"} if kind == "uint8" else {})
        found[f"softmax_{kind}"] = (head, ROW.format("Softmax<axis = -1>(fa)"), one, given)
        two = constants(kind, kind, 0.03, 0.024) | {
            "gain": "float[64] {" + ", ".join(f"{x:.6f}" for x in rng.normal(1, 0.2, 64)) + "}",
            "shift": "float[64] {" + ", ".join(f"{x:.6f}" for x in rng.normal(0, 0.2, 64)) + "}",
        }
        norm = ROW.format("LayerNormalization<axis = -1>(fa, gain, shift)")
        found[f"layer_normalization_{kind}"] = (head, norm, two, given)
        found[f"gelu_{kind}"] = (head, ROW.format("Gelu(fa)"), constants(kind, kind, 0.0313, 0.0271), given)
    for a, b in (("uint8", "uint8"), ("int8", "int8"), ("uint8", "int8")):
        head = f"({a}[N, {rows}, 64] a, {b}[N, 64, 64] b) => ({a}[N, {rows}, 64] y)"
        four = constants(a, a, 0.03, 0.3) | {"t": "float {0.02}", "w": f"{b} {{{128 if b == 'uint8' else 0}}}"}
        inputs = {"a": codes(a, (1, rows, 64)), "b": codes(b, (1, 64, 64))}
        found[f"product_{a}_{b}"] = (head, PAIR, four, inputs)
    return found


def _write(folder: Path, outputs: int) -> list[str]:
    """Write models, inputs and golden's results, and return their names."""
    models = _models(outputs)
    for name, (head, body, constants, inputs) in models.items():
        fixed = ", ".join(f"{text.split()[0]} {key} = {text.split(maxsplit=1)[1]}" for key, text in constants.items())
        model = parser.parse_model(f'<ir_version: 9, opset_import: ["": 20]> g {head} <{fixed}> {{ {body} }}')
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
        network = read_network(folder / f"{name}.onnx")
        arrays: dict[str, Any] = {"expected": network.golden(inputs)[network.outputs[0].name], **inputs}
        np.savez(folder / f"{name}.npz", **arrays)
    return list(models)


def main() -> None:
    """Print a line for each command, model and level."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("commands", nargs="+", metavar="COMMAND")
    arguments.add_argument("--outputs", type=int, default=1_000_000, help="integers of each model")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = _write(Path(folder), given.outputs)
        for command in given.commands:
            sys.stdout.write(f"{command}\n")
            sys.stdout.flush()
            subprocess.run([*shlex.split(command), "-c", CHILD, folder, *names], check=False)


if __name__ == "__main__":
    main()
