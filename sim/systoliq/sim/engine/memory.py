"""Memory of a DMA engine, under a simulator: one process plays list after list, as a program asks."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from multiprocessing import Pipe
from types import TracebackType

from ..cache import run_directory
from ..dma_exchange import CONNECTION, PORTS, Left, Turn
from ..process import SimulationError
from .dma_engine import SimulatedDmaEngine

__all__ = ["EngineMemory", "Played"]

BENCH = "systoliq.sim.memory_bench"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Played:
    """Outcome of a list: the bytes read after it, `cycles` from its start to the interrupt, and beats of each port."""

    data: tuple[bytes, ...]
    cycles: int
    busy_cycles: int
    beats: dict[str, int]


class EngineMemory:
    """An engine whose `memory`, bytes from address 0 on, lives as long as a simulator does: from `with` to its end.

    `stalls` is the probability of a pause in a cycle, on each channel of each port. The memory answers each burst
    `latency` cycles later than at once; bursts may overlap.

    >>> with EngineMemory(SimulatedDmaEngine(config), image) as memory:
    ...     played = memory.play(address, length, jobs=1, writes=[(a, data)], reads=[(y, size)], limit=10_000)
    """

    def __init__(
        self, engine: SimulatedDmaEngine, memory: bytes, *, stalls: float = 0.0, latency: int = 0, seed: int = 0
    ) -> None:
        if not 0 <= stalls < 1:
            raise ValueError(f"stalls must be at least 0 and below 1, not {stalls!r}")
        self._engine, self._memory = engine, memory
        self._stalls, self._latency, self._seed = stalls, latency, seed
        self._ours, self._theirs = Pipe()
        self._thread = threading.Thread(target=self._run, name="engine memory", daemon=True)
        self._error: BaseException | None = None

    def __enter__(self) -> EngineMemory:
        _ = self._engine.simulation  # built here, where an interrupt is seen
        self._thread.start()
        try:
            self._send(self._memory)
        except BaseException:  # an interrupt: the simulation ends where the connection does
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ours.close()
        self._thread.join()

    def play(
        self,
        address: int,
        length: int,
        *,
        jobs: int,
        writes: Sequence[tuple[int, bytes]],
        reads: Sequence[tuple[int, int]],
        limit: int,
    ) -> Played:
        """Write bytes (address, data), play the list there, with `jobs`, and read bytes (address, size) behind it.

        It may take `limit` cycles without pauses. `EngineError` where the engine refuses a job, `SimulationError` where
        the list fails otherwise.
        """
        patience = (1 - self._stalls) ** -2
        work = self._engine.work(
            b"", address, length, stalls=(self._stalls,) * len(PORTS), latency=self._latency, seed=self._seed,
            limit=int(limit * patience),
        )  # fmt: skip
        self._send(Turn(work=work, writes=writes, reads=reads))
        try:
            left: Left = self._ours.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        outcome = left.outcome
        self._engine.check(outcome, jobs)
        busy = outcome.registers["BUSY_CYCLES"]
        return Played(data=left.data, cycles=outcome.cycles, busy_cycles=busy, beats=outcome.beats)

    def _send(self, message: object) -> None:
        try:
            self._ours.send(message)
        except OSError as error:
            raise self._ended() from error

    def _run(self) -> None:
        """Run the simulator to its end, and then close this end of the connection."""
        try:
            with self._theirs:
                number = self._theirs.fileno()
                self._engine.simulation.run(
                    BENCH, env={CONNECTION: str(number)}, directory=run_directory(), seed=self._seed, pass_fds=(number,)
                ).check()
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            self._error = error

    def _ended(self) -> BaseException:
        """Why the simulator is not there any more."""
        self._thread.join()
        return self._error or SimulationError("the simulator ended before the list did")
