"""Configurations of systems: what is refused, and by which words."""

from __future__ import annotations

import pytest

from systoliq.golden import E4M3FN
from systoliq.hw.engine import EngineConfig
from systoliq.hw.soc import SocConfig


def test_usual():
    config = SocConfig()
    assert config.ram_bytes == 65536
    assert config.uart_cycles == 217
    assert (config.bus_bytes, config.clock_hz, config.baud, config.throttled) == (4, 25_000_000, 115_200, False)
    assert config.replace(ram_kib=16).ram_bytes == 16384


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ram_kib": 8}, "ram_kib must be a power of two from 16 to 1024, not 8"),
        ({"ram_kib": 48}, "ram_kib must be a power of two from 16 to 1024, not 48"),
        ({"ram_kib": 2048}, "ram_kib must be a power of two from 16 to 1024, not 2048"),
        ({"bus_bytes": 3}, "bus_bytes must be one of 4, 8, 16, not 3"),
        ({"clock_hz": 0}, "clock_hz must be from 1 to 1000000000, not 0"),
        ({"baud": 0}, "baud must make a bit of 2 to 65535 cycles of the clock of 25000000 Hz, not 0"),
        ({"baud": 25_000_000}, "baud must make a bit of 2 to 65535 cycles .* not 25000000"),
        ({"baud": 300}, "baud must make a bit of 2 to 65535 cycles .* not 300"),
        ({"engine": EngineConfig(lanes=1, cols=3, depth=8)}, "depth must divide the bus's 4 bytes, not be 8"),
        ({"engine": EngineConfig(a=E4M3FN, b=E4M3FN, y=E4M3FN)}, "engine must be one of integers in a system"),
    ],
)
def test_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        SocConfig(**changes)


def test_refused_types():
    with pytest.raises(TypeError, match="ram_kib must be an integer, not 64.0"):
        SocConfig(ram_kib=64.0)
