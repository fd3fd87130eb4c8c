"""Hostile calls: name, arguments, exit status and what the one line on standard error must say.

They run in a folder that `fill` fills, and leave it as it was.
"""

from __future__ import annotations

import os
import socket
import zipfile
from pathlib import Path

import numpy as np
import onnx

from ..onnx.onnx_models import write
from ..onnx.onnx_nodes import QLINEAR

__all__ = ["CALLS", "fill"]


def fill(folder: Path) -> None:
    """What the calls name: files of every kind, good and bad."""
    layer = {
        "b": np.ones((4, 2), np.int8), "a_scale": np.float32(1), "a_zero_point": np.int8(0),
        "b_scale": np.float32(1), "b_zero_point": np.int8(0), "y_scale": np.float32(1), "y_zero_point": np.int8(0),
    }  # fmt: skip
    np.savez(folder / "layer.npz", **layer)
    np.savez(folder / "a.npz", a=np.zeros((2, 64), np.int8))
    np.savez(folder / "ab.npz", a=np.zeros((2, 3), np.int8), b=np.zeros((3, 2), np.int8))
    np.savez(folder / "nothing.npz")
    np.savez(folder / "wrong.npz", q=np.zeros(3))
    np.save(folder / "a.npy", np.zeros((2, 64), np.int8))
    np.savez(folder / "objects.npz", b=np.array([{}], object))
    changes = {
        "nan": {"a_scale": np.float32("nan"), "y_scale": np.array([1, 1], np.float32)}, "wide": {"b": np.ones((4, 2))},
        "strings": {"b": np.array([["x", "y"]])}, "complex": {"b": np.ones((4, 2), complex)},
        "cube": {"b": np.ones((2, 2, 2), np.int8)}, "none": {"b": np.ones((0, 2), np.int8)},
        "dates": {"a_scale": np.datetime64("2020-01-01")}, "many": {"a_zero_point": np.zeros(3, np.int8)},
        "bias": {"bias": np.ones(3, np.int32)}, "format": {"a_format": np.array("int99")},
    }  # fmt: skip
    for name, change in changes.items():
        np.savez(folder / f"{name}.npz", **(layer | change))
    (folder / "text.npz").write_text("text")
    (folder / "empty.npz").write_bytes(b"")
    (folder / "half.npz").write_bytes((folder / "layer.npz").read_bytes()[:300])
    (folder / "single.npz").write_bytes((folder / "a.npy").read_bytes())
    with zipfile.ZipFile(folder / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "text")
    bomb = zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with bomb, bomb.open("b.npy", "w") as file:
        for _ in range(257):
            file.write(bytes(1 << 20))
    write(folder / "model.onnx", QLINEAR)
    (folder / "text.onnx").write_text("text")
    (folder / "empty.onnx").write_bytes(b"")
    onnx.save(onnx.ModelProto(ir_version=99), folder / "new.onnx")
    (folder / "two.onnx").mkdir()
    (folder / "plan.json").write_text("{")
    (folder / "work.csv").write_text("workload,M,K,N,count\nx,many,1,1,1\n")
    (folder / "full").mkdir()
    (folder / "full" / "thesis.txt").write_text("mine")
    (folder / "file").write_text("mine")
    (folder / "binary.json").write_bytes(b"\xff\xfe\0")
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.npz")
    os.mkfifo(folder / "pipe.onnx")
    with socket.socket(socket.AF_UNIX) as made:
        place = Path.cwd()
        os.chdir(folder)  # names of sockets are short
        try:
            made.bind("socket")
        finally:
            os.chdir(place)
    (folder / "loop").symlink_to("loop")
    (folder / "loop.npz").symlink_to("loop.npz")
    (folder / "link").symlink_to("file")
    (folder / "dangling").symlink_to("nowhere/at/all")


LONG = "n" * 300
DEEP = "d/" * 3000 + "x"
EMIT = "emit {} --out out"
ARRAY = "emit array --out out --rows 1 --cols 1"
SIMULATE = "simulate resnet8-fc --input {}"
OUTPUT = "simulate resnet8-fc --input a.npz {}"
TWO = 2

# SOURCE of emit, and what is said of it
_SOURCES = {
    "''": "not an empty string", "no.npz": "no.npz: there is no such file",
    "no.onnx": "no.onnx: there is no such file",
    "pipe": "pipe: must be a regular file", "pipe.npz": "pipe.npz: must be a regular file",
    "pipe.onnx": "pipe.onnx: must be a regular file", "two.onnx": "two.onnx: must be a regular file",
    "socket": "socket: must be a regular file", ".": ".: must be a regular file", "/dev/null": "must be a regular file",
    "/dev/zero": "must be a regular file", "/dev/full": "must be a regular file", "full": "must be a regular file",
    "loop.npz": "loop.npz", "loop": "loop", "text.npz": "it has no directory", "empty.npz": "it has no directory",
    "half.npz": "it has no directory", "single.npz": "it holds a single array",
    "zip.npz": "each member must be an array", "bomb.npz": "at most 268435456 bytes in all",
    "objects.npz": "it holds Python objects", "nothing.npz": "layer file must have the key 'b'",
    "wrong.npz": "layer file must have the key 'b'", "a.npz": "layer file must have the key 'b'",
    "nan.npz": "y_scale must", "wide.npz": "b must be an array of int8", "strings.npz": "b must be an array of int8",
    "complex.npz": "b must be an array of int8", "cube.npz": "b must have the shape [K, N]",
    "none.npz": "b must have the shape [K, N]", "dates.npz": "a_scale must", "many.npz": "a_zero_point must",
    "bias.npz": "bias must have the shape [2]", "format.npz": "bits must be 2 to 16",
    "file": "file: must be a readable .npz archive", "text.onnx": "must be a valid ONNX model",
    "empty.onnx": "must be a valid ONNX model", "new.onnx": "must be a valid ONNX model",
    "model.onnx#no": "must have a matrix product named 'no'", "'model.onnx#'": "must have a matrix product named ''",
    f"{LONG}.npz": "File name too long", f"{DEEP}.npz": "File name too long", f"{LONG}.onnx": "File name too long",
    "resnet8-fc.npz": "there is no such file", "layer.npz#fc": "SOURCE must be",
    "RESNET8-FC": "did you mean resnet8-fc",
    "-": "SOURCE must be", "résnet8": "SOURCE must be", "'a b'": "SOURCE must be", "$HOME": "SOURCE must be",
    "array;ls": "SOURCE must be", "'*'": "SOURCE must be",
}  # fmt: skip

# Options of emit array, and what is said of them
_OPTIONS = {
    "--rows 0": "rows must be a positive integer", "--rows -1": "rows must be a positive integer",
    "--rows 1.5": "not a valid integer", "--rows 1e3": "not a valid integer", "--rows nan": "not a valid integer",
    "--rows ''": "not a valid integer", "--rows 0x10": "not a valid integer",
    "--rows 99999999999999999999": "rows must be at most 4096", "--rows 4097": "rows must be at most 4096",
    "--cols 4097": "cols must be at most 4096", "--depth 4097": "depth must be at most 4096",
    "--rows 1024 --cols 1024": "rows * cols * depth must be at most 131072", "--depth 0": "depth must be a positive",
    "--a-bits 0": "a_bits must be 2 to 16", "--a-bits 17": "a_bits must be 2 to 16",
    "--b-bits -8": "b_bits must be 2 to 16", "--b-bits eight": "not a valid integer",
    "--accumulator-bits 0": "accumulator_bits must be", "--accumulator-bits 49": "accumulator_bits must be at most 48",
    "--accumulator-bits -1": "accumulator_bits must be", "--accumulator-bits inf": "must be an integer or auto",
    "--a-format e4m3": "a_format: format name must be", "--a-format ''": "a_format: format",
    "--cells none": "is not one of",
    "--target none": "or a board, not",
    "--requantizer up": "is not one of", "--multiplier-bits 8": "cannot be used with",
    "--name ''": "name must be a Verilog identifier", "--name 1a": "name must be a Verilog identifier",
    "--name a-b": "name must be a Verilog identifier", "--name ../x": "name must be a Verilog identifier",
    "--name /etc/x": "name must be a Verilog identifier", "--name módulo": "name must be a Verilog identifier",
    "--name module": "name must be a Verilog identifier", "--name logic": "name must be a Verilog identifier",
    "--name reg": "name must be a Verilog identifier", "--name bool": "name must be a Verilog identifier",
    "--name TOP": "name must be a Verilog identifier", "--name clk": "name must be a Verilog identifier",
    "--name 'a b'": "name must be a Verilog identifier", f"--name {LONG}": "name must have at most 100 characters",
    "--weights a.npz": "weights must be given for", "--no-bias": "no_bias cannot be used",
    "--lanes 1": "lanes must be given for the source engine", "--plan plan.json": "plan must be given for a network",
    "--throughput nan": "must be a positive number or max", "--multipliers 1": "multipliers must be given for",
    "--workload work.csv": "workload must be given for the source engine", "--nothing": "No such option",
    "extra": "unexpected extra argument",
}  # fmt: skip

# Inputs of simulate resnet8-fc
_INPUTS = {
    "no.npz": "there is no such file", "no.npy": "there is no such file", "pipe": "must be a regular file",
    "pipe.npz": "must be a regular file", "/dev/zero": "must be a regular file", "/dev/null": "must be a regular file",
    ".": "must be a regular file", "text.npz": "it has no directory", "bomb.npz": "at most 268435456 bytes",
    "nothing.npz": "must have the key 'a'", "wrong.npz": "must have the key 'a'", "objects.npz": "Python objects",
    "ab.npz": "a must have the shape [M, 64]", "model.onnx": "must be a readable .npz archive", "loop.npz": "loop.npz",
}  # fmt: skip

# Outputs and options of simulate resnet8-fc
_OUTPUTS = {
    "--output pipe": "pipe is a pipe", "--output socket": "socket is a socket", "--output link": "link is a link to",
    "--output dangling": "dangling is a link to", "--output loop": "loop is a link to", "--output full": "a directory",
    "--output .": "is a directory", "--output no/y.npz": "must exist", "--output file/y.npz": "must exist",
    "--output /proc/y.npz/z": "must exist", "--report pipe": "pipe is a pipe", "--report full": "is a directory",
    "--report dangling": "is a link to", "--waves socket": "socket is a socket", "--waves link": "link is a link",
    "--waves x.vvv": "waves must end in .vcd", "--tensors pipe": "pipe is a pipe", "--stalls 1": "stalls must be",
    "--stalls -1": "stalls must be", "--stalls nan": "stalls must be", "--stalls inf": "stalls must be",
    "--stalls much": "not a valid float", "--seed -1": "is not in the range", "--seed x": "not a valid integer",
    "--compare matlab": "is not", "--netlist none": "is not one of", "--simulator none": "is not one of",
    "--quantize": "a must hold real numbers", f"--output {LONG}": "File name too long",
}  # fmt: skip

_OTHERS = [
    ("", 2, None), ("nothing", 2, "No such command"), ("emit", 2, "Missing argument"),
    ("emit array", 2, "Missing option"), ("simulate resnet8-fc", 2, "Missing option"),
    ("layers", 2, "Missing argument"),
    ("emit array --out full", 2, "must be new, empty or written by systoliq"),
    ("emit array --out file", 2, "must be a directory, but file is a file"),
    ("emit array --out file/out", 2, "must be a directory, but"), ("emit array --out pipe", 2, "must be a directory"),
    ("emit array --out pipe/out", 2, "must be a directory"), ("emit array --out /dev/null", 2, "must be a directory"),
    ("emit array --out /dev/full/out", 2, "must be a directory"),
    ("emit array --out /proc/out", 2, "cannot be written"),
    (f"emit array --out {LONG}", 2, "File name too long"), ("emit array --out ''", 2, ""),
    ("emit engine --out out --workload work.csv --dataflow auto", 2, "work.csv"),
    ("emit engine --out out --lanes 0", 2, "lanes must be"),
    ("emit engine --out out --a-words -1", 2, "a_words must be"),
    ("emit engine --out out --max-columns 99999999999", 2, "max_columns must be"),
    ("emit digits-cnn --out out --plan plan.json", 2, "plan.json"),
    ("emit digits-cnn --out out --plan binary.json", 2, "binary.json"),
    ("emit digits-cnn --out out --plan pipe", 2, "pipe"),
    ("emit digits-cnn --out out --throughput nan", 2, "throughput"),
    ("emit digits-cnn --out out --throughput -1", 2, "must be a positive number or max"),
    ("emit digits-cnn --out out --multipliers 0", 2, "multipliers must be positive"),
    ("layers no.onnx", 2, "there is no such file"), ("layers pipe.onnx", 2, "must be a regular file"),
    ("layers /dev/zero", 2, "must be a regular file"), ("layers text.onnx", 2, "must be a valid ONNX model"),
    ("layers two.onnx", 2, "must be a regular file"), ("layers .", 2, "must be a regular file"),
    (f"layers {LONG}.onnx", 2, "File name too long"), ("layers model.onnx#fc", 2, "must be the file alone"),
    ("verify no", 2, ""), ("verify file", 2, ""), ("verify full", 2, ""), ("verify pipe", 2, ""),
    ("explore layer.npz --out out --rows nan", 2, "rows"), ("explore layer.npz --out out --memory nan", 2, "memory"),
    ("explore digits --out out --require throughput=nan", 2, "require must give a number for throughput, not 'nan'"),
    ("explore digits --out out --require speed=1", 2, "require must be NAME=NUMBER"),
    ("explore digits --out full", 2, "must be new, empty or written by systoliq explore"),
    ("explore digits --out pipe", 2, "must be a directory"),
    ("explore resnet8-fc --out out --jobs 0", 2, "jobs must be"),
    ("explore digits --out out --budget -1", 2, "budget"), ("explore digits --out out --batch 0", 2, "batch"),
    ("explore digits --out out --rows 1:", 2, "rows"), ("synth array", 2, "Missing option"),
    ("synth array --target none", 2, "or a board, not"),
    ("synth array --target generic --report pipe", 2, "pipe is a pipe"),
    ("synth array --target generic --report dangling", 2, "is a link to"),
    ("synth array --seeds 0", 2, "is not in the range"),
    ("registers file", 2, "must be a directory, but file is a file"),
    ("registers pipe", 2, ""), ("bench --json pipe", 2, "pipe is a pipe"),
    ("bench --sizes x", 2, "must be integers"), ("bench-area --update pipe", 2, "pipe is a pipe"),
    ("demo --out file", 2, "must be a directory"), ("demo --formats x", 2, ""),
]  # fmt: skip

CALLS: list[tuple[str, int, str | None]] = [
    *((EMIT.format(source), TWO, text) for source, text in _SOURCES.items()),
    *((f"{ARRAY} {options}", TWO, text) for options, text in _OPTIONS.items()),
    *((SIMULATE.format(given), TWO, text) for given, text in _INPUTS.items()),
    *((OUTPUT.format(options), TWO, text) for options, text in _OUTPUTS.items()),
    *_OTHERS,
]
"""Arguments as a shell splits them, exit status, and a part of the line; None where the call is no mistake."""
