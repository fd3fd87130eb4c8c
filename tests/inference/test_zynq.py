"""The program in examples/zynq: it compiles for the processors of Zynq, and its network on the RTL is onnxruntime's."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnxruntime import InferenceSession

from systoliq.design.digits import split_digits
from systoliq.design.digits_cnn import INT8_MODEL
from systoliq.hw.engine import EngineConfig
from systoliq.inference.program import compile_onnx
from systoliq.sim.cache import cache_directory
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory

from .c_program import HOOKS, Board, CBoard, constants

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/zynq"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
STUBS = {
    "xil_cache.h": "#include <stdint.h>\ntypedef intptr_t INTPTR;\n"
    "void Xil_DCacheFlushRange(INTPTR, uint32_t);\nvoid Xil_DCacheInvalidateRange(INTPTR, uint32_t);\n",
    "program_bin.h": "static const unsigned char program_bin[] = {0};\n",
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The program at an address of memory, and its folder with the example."""

    def compiled(base):
        folder = tmp_path_factory.mktemp("zynq") / "program"
        found = compile_onnx(Path(str(INT8_MODEL)), CONFIG, bus=64, base=base, shapes={"image": (1, 1, 8, 8)})
        found.write(folder)
        for file in EXAMPLE.iterdir():
            shutil.copy(file, folder)
        return found, folder

    return functools.cache(compiled)


@pytest.mark.parametrize("target", ["arm-freestanding-eabihf", "aarch64-freestanding-none"])
def test_the_program_compiles_for(compiled, target):
    pytest.importorskip("ziglang")
    _, folder = compiled(0x10000000)
    for name, text in STUBS.items():
        (folder / name).write_text(text)
    cache = cache_directory() / "zig"
    environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache / "local")}
    headers = ["-isystem", str(folder / "libc")]
    (folder / "libc").mkdir(exist_ok=True)
    for name, text in LIBC.items():
        (folder / "libc" / name).write_text(text)
    for source in ("main.c", "network.c", "systoliq_example.c", "systoliq_program.c"):
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *STRICT, *headers, "-c", source]
        done = subprocess.run([*command, "-o", "x.o"], cwd=folder, env=environment, capture_output=True, text=True)
        assert not done.returncode, done.stderr


LIBC = {  # newlib's, as far as the program needs it: Zig has none for a machine without a system
    "stdio.h": "int printf(const char *, ...);\n",
    "math.h": "float rintf(float);\n",
    "string.h": "#include <stddef.h>\n"
    "void *memcpy(void *, const void *, size_t);\nvoid *memset(void *, int, size_t);\n",
}


@pytest.mark.simulator
def test_the_network_is_onnxruntimes(compiled):
    """On the RTL, behind caches that are not coherent: scores and classes of images."""
    found, folder = compiled(0)
    sources = ["network.c", "systoliq_example.c", "systoliq_program.c"]
    command = ["gcc", *STRICT, "-O1", "-fPIC", "-shared", "-o", "network.so", *sources, "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "network.so"))
    images = split_digits()[1][:1].astype(np.float32)
    session = InferenceSession(Path(str(INT8_MODEL)).read_bytes(), providers=["CPUExecutionProvider"])
    engine = SimulatedDmaEngine(CONFIG, bus_bytes=8)
    library.network_classify.argtypes = [ctypes.c_void_p] * 3
    with EngineMemory(engine, found.program.memory) as memory:
        for image in images:
            (wanted,) = session.run(None, {"image": image.reshape(1, 1, 8, 8)})
            board = Board(found, {}, memory)
            names = ("read", "write", "clean", "invalidate", "wait")
            hooks = {name: kind(getattr(board, name)) for name, kind in HOOKS.items() if name in names}
            given = CBoard(memory=board.memory.ctypes.data, **hooks)
            scores = np.zeros(10, np.int8)
            place = library.network_classify(ctypes.addressof(given), image.ctypes.data, scores.ctypes.data)
            np.testing.assert_array_equal((scores.astype(np.float32) - 51) * np.float32(0.5), wanted[0])
            assert place == wanted[0].argmax()


@pytest.mark.simulator
def test_a_timeout_ends_the_run(compiled):
    found, folder = compiled(0)
    sources = ["network.c", "systoliq_example.c", "systoliq_program.c"]
    subprocess.run(["gcc", *STRICT, "-fPIC", "-shared", "-o", "timeout.so", *sources, "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "timeout.so"))
    polls = []

    def wait(_):
        polls.append(1)
        return len(polls) == 5

    registers = constants(CONFIG)
    hooks = {"read": lambda _, offset: registers.get(offset, 0), "write": lambda *_: None, "wait": wait}
    memory = np.zeros(found.program.size, np.uint8)
    given = CBoard(memory=memory.ctypes.data, **{name: HOOKS[name](each) for name, each in hooks.items()})
    scores = np.zeros(10, np.int8)
    library.network_classify.argtypes = [ctypes.c_void_p] * 3
    image = np.zeros(64, np.float32)
    assert library.network_classify(ctypes.addressof(given), image.ctypes.data, scores.ctypes.data) == -1
    assert len(polls) == 5
