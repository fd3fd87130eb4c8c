"""Layer files: which arrays they must have and may have."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.layer_file import KEYS, read_layer_file


def saved(tmp_path, names):
    path = tmp_path / "layer.npz"
    np.savez(path, **{name: np.array(index) for index, name in enumerate(names)})
    return path


@pytest.mark.parametrize(
    "names",
    [
        KEYS,
        (*KEYS, "bias"),
        ("b", "a_zero_point", "b_zero_point"),  # sums
        ("b", "a_scale", "a_zero_point", "b_scale", "b_zero_point"),  # sums with scales
        ("b", "b_zero_point", "a_format"),  # zero points of A at run time
    ],
)
def test_what_makes_a_layer_is_read(tmp_path, names):
    arrays = read_layer_file(saved(tmp_path, names))
    assert {name: int(array) for name, array in arrays.items()} == {name: at for at, name in enumerate(names)}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (KEYS[1:], "must have the key 'b'; it has a_scale"),
        ([key for key in KEYS if key != "y_zero_point"], "must have the key 'y_zero_point'"),
        ([key for key in KEYS if key not in ("y_scale", "y_zero_point", "b_scale")], "must have the key 'b_scale'"),
        ((*KEYS, "b_zp"), "must not have the key 'b_zp'"),
    ],
)
def test_a_layer_file_of_other_arrays_is_refused(tmp_path, names, message):
    with pytest.raises(ValueError, match=message):
        read_layer_file(saved(tmp_path, names))
