"""Random float8 jobs and operations for engines: codes of all exponents, NaN and infinities, scales of all kinds."""

from __future__ import annotations

import dataclasses

import numpy as np
from operations import BATCHES

from systoliq.golden import Float8Format, qlinear_matmul
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Float8Job

ODD = 0.01  # share of elements that are no numbers, where there are any
ANY_SCALE = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, -0.5, -1e-45, 1e-45, 3e38, -3e38, 2.0**-126])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Codes(Float8Job):
    """A job with its formats, from which `golden` follows."""

    formats: tuple[Float8Format, Float8Format, Float8Format]

    def golden(self) -> np.ndarray:
        a, b, _ = self.formats
        one, zeros = np.float32(1), [np.zeros((), form.dtype) for form in self.formats]
        inputs = self.a.view(a.dtype), one, zeros[0], self.b.view(b.dtype), self.scale, zeros[1], one, zeros[2]
        return qlinear_matmul(*inputs).view(np.uint8)


def codes(form: Float8Format, shape: tuple[int, ...], rng: np.random.Generator, odd: float = ODD) -> np.ndarray:
    """Numbers of all exponents, subnormal ones and both zeros too, and with the probability `odd` what is none."""
    every = np.arange(256, dtype=np.uint8)
    decoded = form.decode(every)
    number = ~decoded.nan & (decoded.infinity == 0)
    drawn = np.where(rng.random(shape) < odd, rng.choice(every[~number], shape), rng.choice(every[number], shape))
    return drawn.astype(np.uint8).view(form.dtype)


def typical(a: Float8Format, b: Float8Format, y: Float8Format) -> float:
    """A scale that spreads the results of random codes."""
    unit = 2.0 ** (y.unit - a.unit - b.unit)
    return y.max_units * unit / (a.max_units * b.max_units) * 256


def random_float8_job(config: EngineConfig, rng: np.random.Generator, m: int, k: int, n: int) -> Codes:
    """A job of this shape, whose scales are typical ones or any that hardware takes."""
    a, b, y = config.float8
    scale = typical(a, b, y) * 2.0 ** rng.uniform(-8, 8, n)
    extreme = rng.choice(np.abs(ANY_SCALE[np.isfinite(ANY_SCALE) & (ANY_SCALE != 0)]), n)
    return Codes(
        a=codes(a, (m, k), rng).view(np.uint8),
        b=codes(b, (k, n), rng).view(np.uint8),
        scale=np.where(rng.random(n) < 0.1, extreme, scale).astype(np.float32),
        formats=config.float8,
    )


def random_float8_operation(config: EngineConfig, rng: np.random.Generator, most: int) -> tuple[np.ndarray, ...]:
    """The inputs of a QLinearMatMul whose M, K and N are 1 to `most`: batches, vectors, every form of scale."""
    a_format, b_format, _ = config.float8
    m, k, n = (int(most ** rng.random() + 0.5) for _ in range(3))
    own_a, own_b = BATCHES[rng.integers(len(BATCHES))] if rng.random() < 0.3 else ((), ())
    a, b = codes(a_format, (*own_a, m, k), rng), codes(b_format, (*own_b, k, n), rng)
    vectors = rng.random() if not own_a and not own_b else 1
    a, b = a[0] if vectors < 0.1 else a, b[:, 0] if 0.1 < vectors < 0.2 else b

    def scales(operand: np.ndarray, shape: tuple[int, ...], few: np.ndarray) -> np.ndarray:
        if operand.ndim == 1 or rng.random() < 0.4:
            shape = [(), (1,)][rng.integers(2)]
        drawn = rng.choice(few, shape)
        return np.where(rng.random(shape) < 0.1, rng.choice(ANY_SCALE, shape), drawn).astype(np.float32)

    sure = np.sqrt(typical(*config.float8))
    a_scale = scales(a, (*a.shape[:-1], 1), np.float32([sure, -sure / 3]))
    b_scale = scales(b, (*b.shape[:-2], 1, b.shape[-1]), np.float32(sure * 2.0 ** rng.uniform(-8, 8, 20)))
    zeros = [np.zeros((), form.dtype) for form in config.float8]
    return a, a_scale, zeros[0], b, b_scale, zeros[1], np.float32(rng.choice([1, 0.3, 20])), zeros[2]
