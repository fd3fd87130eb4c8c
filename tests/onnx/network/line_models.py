"""Models of operators in a line."""

from __future__ import annotations

import numpy as np
import onnx

from .oracle import session, write


def constants(rng, kind: str, channels: int, groups: int) -> dict[str, np.ndarray]:
    low = np.iinfo(kind).min
    shape = (channels, channels // groups, 3, 3)
    ws = (2.0 ** rng.uniform(-9, -6, channels)).astype(np.float32)
    a_scale = np.float32(2.0 ** rng.uniform(-7, -4))
    step = a_scale * ws.mean() * 60 * np.sqrt(np.prod(shape[1:]))
    real = {
        "gain": rng.uniform(0.5, 2, channels) * rng.choice([1, 1, -1], channels),
        "c": rng.normal(0, 30 * step, channels),
        "mean": rng.normal(0, 20 * step, channels), "variance": rng.uniform(0.5, 2, channels),
        "m": rng.uniform(0.5, 2, (channels, 1, 1)), "s": rng.normal(0, 20 * step, (1, channels, 1, 1)),
        "none": np.where(np.arange(channels) == 1, 0, rng.uniform(-1, 1, channels))[:, None, None],
        "one": 11.3 * step, "two": 1.7, "bs": step * rng.uniform(0.003, 0.1, channels),
        "ys": step, "as": a_scale, "ws": ws,
    }  # fmt: skip
    return {name: np.asarray(value, np.float32) for name, value in real.items()} | {
        "az": np.asarray(rng.integers(0, 256) + low).astype(kind),
        "yz": np.asarray(rng.integers(60, 180) + low).astype(kind),
        "yl": np.asarray(low).astype(kind),
        "w": rng.integers(-64 if kind == "uint8" else -128, 64, shape).astype(np.int8),
        "wz": np.zeros(channels, np.int8),
        "b": rng.integers(-1000, 1000, channels).astype(np.int32),
        "bz": np.zeros(channels, np.int32),
    }


def model_of(tmp_path, body: str, kind: str, held: dict[str, np.ndarray], groups: int, channels: int):
    head = f"g ({kind}[1, {channels}, 12, 12] a) => ({kind}[1, {channels}, 12, 12] y)"
    return write(tmp_path / "model.onnx", f"{head} {{ {body.replace('GROUPS', str(groups))} }}", held)


def differing(path, network, rng, kind: str, channels: int) -> tuple[int, int]:
    """Results compared for six images, and how many of them differ, each by one at most."""
    info, run, compared, differ = np.iinfo(kind), session(onnx.load(path)), 0, 0
    for _ in range(6):
        x = rng.integers(info.min, info.max + 1, (1, channels, 12, 12)).astype(kind)
        wanted = run.run(["y"], {"a": x})[0].astype(int)
        found = network.golden({"a": x})["y"].astype(int)
        assert np.abs(found - wanted).max() <= 1
        compared, differ = compared + wanted.size, differ + int((found != wanted).sum())
    return compared, differ
