"""Simulation of a design with a serial line, in Verilator, behind a pseudo-terminal that any program can open.

The design has the ports `clk`, `rst`, `rx`, `tx`, `divisor` and `busy` of `systoliq.hw.link.Linked`. Simulated time
runs at full speed while bits are on the line or an answer is computed, and at most in real time otherwise, so that
timeouts (the end of an incomplete frame) behave as on a board.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from systoliq.hw.verilog import files_of
from systoliq.subprocesses import child

from . import verilator
from .cache import content_key, obtain, run_directory
from .process import Reporter, SimulationError
from .simulation import MEMORIES

__all__ = ["SerialLine", "build_serial_line"]

_EXECUTABLE = "serial_line"


@dataclass(frozen=True, kw_only=True)
class SerialLine:
    """A built simulation."""

    folder: Path

    @contextlib.contextmanager
    def run(self, *, divisor: int, cycles_per_ms: int) -> Iterator[str]:
        """The path of the pseudo-terminal, as long as the block lasts; the simulation ends with it.

        Parameters
        ----------
        divisor
            cycles of a bit on the line.
        cycles_per_ms
            of the clock, while the line is at rest.
        """
        directory = run_directory()
        for file in (self.folder / MEMORIES).glob("*"):
            (directory / file.name).symlink_to(file)
        command: list[str | Path] = [self.folder / _EXECUTABLE, str(divisor), str(cycles_per_ms)]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": directory}
        with child(command, **options) as process:
            stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
            assert stdin and stdout and stderr  # noqa: S101, PT018 - pipes were asked for
            path = stdout.readline().strip()
            if not path:
                raise SimulationError(f"the simulated board did not start: {stderr.read().strip()}")
            try:
                yield path
            finally:
                stdin.close()  # which ends it


def build_serial_line(verilog: str, top: str, *, progress: Callable[[str], None] | None = None) -> SerialLine:
    """Build the simulation of module `top`, or take it from the cache of builds."""

    def make(folder: Path) -> None:
        source, main = folder / f"{top}.v", folder / "main.cpp"
        source.write_text(verilog)
        main.write_text(_MAIN)
        (folder / MEMORIES).mkdir()
        for name, content in files_of(verilog).items():
            (folder / MEMORIES / name).write_bytes(content)
        verilator.make_executable(
            folder / _EXECUTABLE,
            [source],
            top,
            main=main,
            optimization=verilator.BENCH_FLAGS,
            report=Reporter(progress),
        )

    memories = [part for file in sorted(files_of(verilog).items()) for part in file]
    key = content_key(*verilator.identity(), top, verilog, _MAIN, *memories)
    folder, _ = obtain("serial_lines", key, make)
    return SerialLine(folder=folder)


_MAIN = r"""
#include "Vtop.h"
#include "verilated.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

static Vtop* top;
static int line;
static std::vector<unsigned char> sent;

static void fail(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void open_terminal() {
    line = posix_openpt(O_RDWR | O_NOCTTY);
    if (line < 0 || grantpt(line) || unlockpt(line)) fail("posix_openpt");
    const char* name = ptsname(line);
    const int other = open(name, O_RDWR | O_NOCTTY);  // held open: a client may leave, and another come
    termios settings;
    if (other < 0 || tcgetattr(other, &settings)) fail(name);
    cfmakeraw(&settings);
    if (tcsetattr(other, TCSANOW, &settings)) fail(name);
    fcntl(line, F_SETFL, O_NONBLOCK);
    printf("%s\n", name);
    fflush(stdout);
}

// The receiving end of tx: samples each bit in its middle.
struct Listener {
    unsigned divisor, wait = 0, bits = 0, byte = 0;
    bool at_rest() const { return bits == 0; }
    void see(bool tx) {
        if (bits == 0) {
            if (!tx) bits = 10, wait = divisor / 2, byte = 0;
        } else if (--wait == 0) {
            wait = divisor;
            --bits;
            if (bits >= 1 && bits <= 8) byte = byte >> 1 | (tx ? 0x80 : 0);
            if (bits == 0) sent.push_back(byte);
        }
    }
};

// The sending end of rx.
struct Talker {
    unsigned divisor, wait = 0, bits = 0, word = 0;
    std::vector<unsigned char> queue;
    size_t next = 0;
    bool at_rest() const { return bits == 0 && next == queue.size(); }
    bool rx() {
        if (wait == 0 && bits != 0) word >>= 1, --bits, wait = divisor;
        if (bits == 0) {
            if (next == queue.size()) return true;
            word = queue[next++] << 1 | 0x200;
            bits = 10, wait = divisor;
        }
        --wait;
        return word & 1;
    }
};

static void cycle(Talker& talker, Listener& listener) {
    top->rx = talker.rx();
    top->clk = 0;
    top->eval();
    listener.see(top->tx);
    top->clk = 1;
    top->eval();
}

static bool left() {  // whether our own input has ended
    pollfd input{0, POLLIN | POLLHUP, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

int main(int, char** argv) {
    VerilatedContext context;
    Vtop design{&context};
    top = &design;
    Talker talker{(unsigned)atoi(argv[1])};
    Listener listener{(unsigned)atoi(argv[1])};
    const int cycles_per_ms = atoi(argv[2]);
    open_terminal();
    top->divisor = talker.divisor;
    top->rst = 1;
    for (int i = 0; i < 4; ++i) cycle(talker, listener);
    top->rst = 0;
    while (!left()) {
        unsigned char buffer[4096];
        const ssize_t count = read(line, buffer, sizeof buffer);
        if (count > 0) {
            talker.queue.erase(talker.queue.begin(), talker.queue.begin() + talker.next);
            talker.next = 0;
            talker.queue.insert(talker.queue.end(), buffer, buffer + count);
        } else if (count < 0 && errno != EAGAIN && errno != EIO) {
            fail("read");
        }
        const bool work = !talker.at_rest() || !listener.at_rest() || top->busy;
        if (work) {
            for (int i = 0; i < 256; ++i) cycle(talker, listener);
        } else {
            pollfd input{line, POLLIN, 0};
            if (poll(&input, 1, 1) == 0)
                for (int i = 0; i < cycles_per_ms; ++i) cycle(talker, listener);
        }
        size_t done = 0;
        while (done < sent.size()) {
            const ssize_t count = write(line, &sent[done], sent.size() - done);
            if (count > 0) done += count;
            else if (count < 0 && errno == EAGAIN) break;  // nobody reads
            else if (count < 0) fail("write");
        }
        sent.erase(sent.begin(), sent.begin() + done);
    }
    return 0;
}
"""
