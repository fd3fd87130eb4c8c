"""The simulated board: the RTL of link and layer, the client of real boards, and faults on the line."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from systoliq.board.client import Client
from systoliq.board.exchange_of import exchange_of
from systoliq.board.linked import fingerprint
from systoliq.board.port import Port
from systoliq.board.simulated import simulated_board
from systoliq.design import LayerDesign, LayerOptions, NetworkOptions, open_source
from systoliq.golden.formats import UINT8
from systoliq.golden.layer import MatMulLayer

from .fake_board import corrupted

pytestmark = pytest.mark.simulator


def through(design, exchange, **options):
    """The outputs that a simulated board gives."""
    with simulated_board(design, **options) as path, Port(Path(path), 115200) as port:
        client = Client(port, seconds=20)
        assert client.identify() == fingerprint(design)
        answers = client.run(exchange.requests, exchange.answer_bytes)
        assert not client.errors
    return exchange.read(answers)


@pytest.mark.slow  # the board that ends gives rows first
@pytest.mark.parametrize("seed", range(6))
def test_any_layer_gives_goldens_rows(arrays, seed):
    rng = np.random.default_rng(seed)
    rows, cols, depth = (int(rng.integers(1, most)) for most in (4, 6, 5))
    hardware = LayerOptions(rows=rows, cols=cols, depth=depth)
    design = LayerDesign(MatMulLayer(name="tiny", **arrays), hardware)
    a = rng.integers(0, 256, (5, 9)).astype(np.uint8)
    exchange = exchange_of(design, a)
    outputs = through(design, exchange)
    assert (outputs["y"] == design.layer.golden(a)).all()
    assert not exchange.differing(outputs)
    assert len(exchange.requests) == -(-5 // hardware.rows)


@pytest.mark.slow  # tests/sim/test_run_time_zero_points.py has them without the link
def test_zero_points_that_come_with_rows(arrays):
    given = {name: arrays[name] for name in ("b", "b_zero_point")}
    design = LayerDesign(MatMulLayer(name="sums", a_format=UINT8, **given), LayerOptions(rows=2, cols=2, depth=2))
    rng = np.random.default_rng(5)
    a, zero = rng.integers(0, 256, (5, 9)).astype(np.uint8), rng.integers(0, 256, 5).astype(np.uint8)
    outputs = through(design, exchange_of(design, a, a_zero_point=zero))
    centred = (a.astype(np.int64) - zero[:, None]) @ (given["b"].astype(np.int64) - given["b_zero_point"])
    assert (outputs["y"] == centred).all()


@pytest.mark.slow  # a larger layer than the first
def test_test_images_of_the_digits_give_goldens_logits():
    pytest.importorskip("sklearn")
    from systoliq.design.digits import train_digits

    digits = train_digits()
    design = open_source("digits", LayerOptions(depth=4))
    assert digits.a.shape == (450, 64)
    images = digits.a[::5]
    outputs = through(design, exchange_of(design, images))
    assert (outputs["y"] == digits.layer.golden(images)).all()


@pytest.mark.slow
def test_test_images_of_the_network_give_goldens_logits():
    pytest.importorskip("sklearn")
    from systoliq.design.digits import split_digits

    design = open_source("digits-cnn", NetworkOptions(multipliers=8))
    (source,) = design.network.sources
    images = split_digits()[1].astype(np.float32).reshape(-1, 1, 8, 8)
    assert len(images) == 450
    exchange = exchange_of(design, {source.name: images})
    assert not exchange.differing(through(design, exchange))


class Harmed:
    """A port that harms the next request, or what comes back for it, once it is told to."""

    def __init__(self, port, rng):
        self.port, self.rng, self.baud, self.next, self.now, self.faults = port, rng, port.baud, "", "", 0

    def write(self, content, seconds):
        self.now, self.next = self.next, ""
        if self.now == "request":
            self.faults += 1
            content = corrupted(content, self.rng)
        self.port.write(content, seconds)

    def read(self, seconds):
        heard = self.port.read(seconds)
        if self.now == "answer" and heard:
            self.now = ""
            self.faults += 1
            return corrupted(heard, self.rng)
        return heard


SAID = {f"the board said {name}" for name in ("CHECK", "LENGTH", "TIMEOUT", "ABORTED")}


@pytest.mark.slow  # test_client.py harms requests and answers, tests/hw/link the RTL's frames
@pytest.mark.parametrize("faults", [60, 20_000])
def test_no_fault_on_the_line_gives_a_wrong_answer_or_a_hang(arrays, faults):
    """Each request, or the answer to it, is harmed, then asked for again; what is taken is golden's."""
    rng = random.Random(faults)
    design = LayerDesign(MatMulLayer(name="tiny", **arrays), LayerOptions(cols=5, depth=3))
    a = np.random.default_rng(faults).integers(0, 256, (64, 9)).astype(np.uint8)
    exchange = exchange_of(design, a)
    right = design.layer.golden(a)
    began = time.monotonic()
    with simulated_board(design, timeout_bits=64) as path, Port(Path(path), 3_000_000) as port:
        line = Harmed(port, rng)
        client = Client(line, seconds=0.25)
        while line.faults < faults or (not client.errors.keys() >= SAID and line.faults < 10 * faults):
            index = rng.randrange(len(a))
            line.next = "answer" if rng.random() < 0.1 else "request"
            (answer,) = client.run([exchange.requests[index]], exchange.answer_bytes)
            assert (np.frombuffer(answer, np.int8)[:5] == right[index]).all()
    print(f"{line.faults} faults in {time.monotonic() - began:.0f} s: {dict(client.errors)}")  # noqa: T201 - for pytest -s
    assert client.errors.keys() >= SAID
    assert client.errors.total() > 0.6 * line.faults  # the others did no harm: flags more, bytes between frames


def test_a_board_that_ends_while_it_is_asked_is_one_error(arrays, tmp_path, call, save):
    """The simulated board as a command of its own, its process ended: one line, exit status 1, nothing written."""
    layer = save("layer.npz", **arrays)
    rows = save("a.npz", a=np.zeros((3, 9), np.uint8))
    link = tmp_path / "board"
    command = [sys.executable, "-m", "systoliq", "board", "simulate", layer, "--link", link]
    process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == str(link)
        result = call("board", "run", "--port", link, "--input", rows, "--output", tmp_path / "y.npz", "--seconds", 30)
        assert result.exit_code == 0, result.output
        assert (
            np.load(tmp_path / "y.npz")["y"] == MatMulLayer(name="l", **arrays).golden(np.zeros((3, 9), np.uint8))
        ).all()
        other = call("board", "run", layer, "--cols", 2, "--port", link, "--input", rows, "--seconds", 30)
        assert (other.exit_code, "the board must hold the design with fingerprint" in other.output) == (1, True)
        with Port(link, 115200) as port:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 143
            with pytest.raises(Exception, match="went away"):
                Client(port, seconds=2).identify()
        assert not link.is_symlink()
        gone = call("board", "run", "--port", link, "--input", rows, "--output", tmp_path / "z.npz")
        assert (gone.exit_code, gone.output) == (2, f"error: port must be a serial port; {link} does not exist\n")
        assert not (tmp_path / "z.npz").exists()
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
