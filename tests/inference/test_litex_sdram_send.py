"""examples/litex_sdram/send.py with a board that is a pseudoterminal; and files that it and image.py refuse."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import tty

import numpy as np
import pytest

from systoliq.api import EngineConfig

from ..onnx.network.networks import Builder, quantized
from .litex_sdram import EXAMPLE, compiled_in, image_module

pytest.importorskip("serial", reason="pip install pyserial")

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A program with inputs.npz, and the result of its list."""
    folder = tmp_path_factory.mktemp("program")
    net = Builder([1, 2, 3, 3])
    net.conv(2, 3, (2, 2))
    _, wanted = compiled_in(folder, quantized(folder, net, types="s8s8", opset=14), CONFIG)
    return folder / "program", wanted


@pytest.fixture
def program(compiled, tmp_path):
    """A copy of the program."""
    folder = tmp_path / "program"
    folder.mkdir()
    for file in compiled[0].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def send(program, port, *options, file=None):
    """The finished run of send.py."""
    command = [EXAMPLE / "send.py", program, port, "--input", file or program / "inputs.npz", *options]
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)


class Board:
    """A pseudoterminal that asks for a message, takes it, and gives an answer."""

    def __init__(self, answer):
        self.answer, self.received = answer, b""
        self.host, self.device = os.openpty()
        tty.setraw(self.device)
        self.port = os.ttyname(self.device)

    def __enter__(self):
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join(timeout=10)
        os.close(self.host)
        os.close(self.device)

    def _work(self):
        while not select.select([self.host], [], [], 0.1)[0]:  # opening the port drops what was sent before
            os.write(self.host, b"?")
        wanted = 48
        while len(self.received) < wanted:
            self.received += os.read(self.host, 4096)
            if len(self.received) >= 48:
                wanted = 48 + int.from_bytes(self.received[4:8], "little")
        os.write(self.host, b"?" + self.answer + b"\x04")


def answer_of(program, wanted):
    """What the system sends: the result in memory, its rows `stride` apart."""
    buffer = image_module().result_of(image_module().steps_of_list(image_module().read_program(program))[-1])
    rows = wanted.reshape(buffer["rows"], -1).view(np.uint8)
    padded = np.pad(rows, ((0, 0), (0, buffer["stride"] - rows.shape[1]))).tobytes()[: buffer["size"]]
    return f"00000000\n00000400\n{padded.hex()}\n".encode()


def test_a_program_is_sent(compiled):
    program, wanted = compiled
    image = image_module()
    with Board(answer_of(program, wanted)) as board:
        done = send(program, board.port)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"1024 cycles\n{wanted.reshape(-1, wanted.shape[-1]).tolist()}\n"
    inputs = image.read_inputs(program / "inputs.npz", image.read_program(program))
    assert board.received[48:] == image.memory(program, inputs)
    assert np.frombuffer(board.received, "<u4", 3).tolist() == [0x40000000, len(board.received) - 48, 1]


def test_an_input_is_sent_alone(compiled):
    program, wanted = compiled
    image = image_module()
    with Board(answer_of(program, wanted)) as board:
        done = send(program, board.port, "--only-input")
    assert done.returncode == 0, done.stderr
    address, rows = image.input_rows(program, image.read_inputs(program / "inputs.npz", image.read_program(program)))
    assert board.received[48:] == rows
    assert np.frombuffer(board.received, "<u4", 3).tolist() == [address, len(rows), 0]


OTHER = np.array([4 | 4 << 9 | 2 << 18, 4, 8 | 10 << 8 | 8 << 16 | 8 << 24, 64], "<u4").tobytes().hex()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (f"0000012c\n00000000\n{OTHER}\n", "the engine on the board must be the one of {}: LANES must be 0x2, not 0x4"),
        ("0000012d\n00000000\n\n", "{} must be in the board's memory: send it without --only-input"),
        ("00000111\n00000010\n\n", "the list ended with the error 273, see engine_lists.h"),
        ("00000000\n00000010\n00\n", "sent an answer that is damaged"),
        ("00000000\nxyz\n00\n", "sent an answer that is damaged"),
        ("00000000\n", "did not send a whole answer"),
    ],
)
def test_an_answer_that_is_an_error(compiled, answer, text):
    program, _ = compiled
    with Board(answer.encode()) as board:
        done = send(program, board.port)
    assert_refused(done, text.format(program))


def assert_refused(done, text):
    assert done.returncode == 1
    assert done.stderr.startswith("error: "), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert text in done.stderr
    assert not done.stdout


def test_a_port_that_is_missing(compiled):
    assert_refused(send(compiled[0], "/dev/nope"), "/dev/nope must be the serial port of the board")


def save_npz(file, **arrays):
    np.savez(file, **arrays)


X = np.zeros((1, 2, 3, 3), np.float32)
INPUTS = {
    "other name": (lambda file: save_npz(file, y=X), "must have the arrays ['x'], not ['y']"),
    "more": (lambda file: save_npz(file, x=X, y=X), "must have the arrays ['x'], not ['x', 'y']"),
    "type": (lambda file: save_npz(file, x=X.astype(float)), "must be of the type float32, not float64"),
    "shape": (lambda file: save_npz(file, x=X[0]), "must have the shape [1, 2, 3, 3], not [2, 3, 3]"),
    "text": (lambda file: file.write_text("x"), "must be an .npz file with arrays by name"),
    "empty": (lambda file: file.write_text(""), "must be an .npz file with arrays by name"),
    "cut": (lambda file: file.write_bytes(file.read_bytes()[:-9]), "must be an .npz file with arrays by name"),
    "objects": (lambda file: save_npz(file, x=np.array([{}])), "must be an .npz file with arrays by name"),
    "npy": (lambda file: np.save(file.open("wb"), X), "must be an .npz file with arrays by name, not a single array"),
    "missing": (lambda file: file.unlink(), "must be an .npz file with arrays by name"),
}


@pytest.mark.parametrize(("change", "text"), INPUTS.values(), ids=INPUTS)
def test_inputs_that_are_refused(program, change, text):
    image, file = image_module(), program / "inputs.npz"
    change(file)
    with pytest.raises(SystemExit) as ended:
        image.read_inputs(file, image.read_program(program))
    assert str(ended.value).startswith("error: ")
    assert str(file) in str(ended.value)
    assert text in str(ended.value)


PROGRAMS = {
    "bin missing": ("program.bin", lambda data: None, "program.bin is missing"),
    "bin short": ("program.bin", lambda data: data[:-1], "bytes, as program.json says, not"),
    "bin long": ("program.bin", lambda data: data + b"\0", "bytes, as program.json says, not"),
    "json missing": ("program.json", lambda data: None, "program.json is missing"),
    "json cut": ("program.json", lambda data: data[:-9], "must be a JSON file of systoliq compile, but cannot be read"),
    "json no text": ("program.json", lambda data: b"\xff" + data, "must be a JSON file of systoliq compile"),
    "json list": ("program.json", lambda data: b"[]", "must be a JSON object of systoliq compile, not a list"),
    "json empty": ("program.json", lambda data: b"{}", "systoliq compile, but reading it ends with KeyError"),
    "json old": (
        "program.json", lambda data: data.replace(b'"values"', b'"others"'), "reading it ends with KeyError: 'values'"
    ),
    "step damaged": ("host_01.onnx", lambda data: data[9:], "must be a model of systoliq compile, but onnxruntime:"),
    "step missing": ("host_01.onnx", lambda data: None, "host_01.onnx is missing"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "change", "text"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs_that_are_refused(program, name, change, text):
    image, file = image_module(), program / name
    data = change(file.read_bytes())
    file.unlink() if data is None else file.write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        image.memory(program, image.read_inputs(program / "inputs.npz", image.read_program(program)))
    assert str(ended.value).startswith("error: ")
    assert text in str(ended.value)
