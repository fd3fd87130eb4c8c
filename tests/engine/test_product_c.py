"""The processor's own rescaling, in integers, against the float32 formula: ties, extremes, and anything."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from ctypes import byref, c_int32, c_uint8, c_uint32
from importlib import resources

import numpy as np
import pytest
from driver_c import DOCS, CJob

from systoliq.golden import INT8, UINT8, requantize_float32
from systoliq.hw.engine.host import column_constants


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler of C")
    folder = tmp_path_factory.mktemp("product")
    firmware = resources.files("systoliq.soc") / "firmware"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", f"-I{DOCS}"]
    subprocess.run([compiler, *flags, "-o", folder / "product.so", firmware / "product.c"], check=True)
    return ctypes.CDLL(str(folder / "product.so"))


def sums_for(rng, scale, count):
    """Sums beside ties of the result, beside what float32 holds, and any."""
    near = (rng.integers(-300, 300, count) + 0.5) / np.float64(scale) + rng.integers(-2, 3, count)
    edges = rng.choice([0, 1, 1 << 24, (1 << 24) + 1, (1 << 25) + 2, 2**31 - 1, -(2**31)], count)
    sums = np.where(rng.random(count) < 0.5, near, np.where(rng.random(count) < 0.3, edges, rng.normal(0, 1e8, count)))
    return np.clip(sums, -(2**31), 2**31 - 1).astype(np.int32)


def test_rescaling(library):
    rng = np.random.default_rng(1)
    given = np.float32([0, 1e-38, 2.0**-32, 2.0**-31, 0.5, 1, 0.75, 255.9, 256, 1e30])
    scales = np.concatenate([given, np.exp2(rng.uniform(-33, 9, 150)).astype(np.float32)])
    multipliers, shifts = column_constants(scales)
    for index, scale in enumerate(scales):
        y_format = (INT8, UINT8)[index % 2]
        zero_point = int(rng.integers(y_format.min, y_format.max, endpoint=True))
        job = CJob(
            y_unsigned=not y_format.signed,
            y_zero_point=zero_point,
            multiplier=(c_uint32 * 1)(int(multipliers[index])),
            shift=(c_uint8 * 1)(int(shifts[index])),
        )
        sums = sums_for(rng, max(scale, 1e-30), 300)
        found = [library.product_rescale(byref(job), 0, c_int32(int(value))) for value in sums]
        np.testing.assert_array_equal(found, requantize_float32(sums, scale, zero_point, y_format), str(scale))
