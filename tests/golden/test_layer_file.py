"""Layer files: which arrays they must have, may have, and what archives with other arrays in them call these."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.layer_file import KEYS, pick_layer_arrays, read_layer_file

SHORT = {"b": "weights", "a_zero_point": "a_zp", "b_zero_point": "b_zp", "y_zero_point": "y_zp"}


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


@pytest.mark.parametrize("name", [lambda key: key, lambda key: SHORT.get(key, key)])
def test_a_layer_is_picked_from_among_others(tmp_path, name):
    names = [*map(name, KEYS), "inputs", "bias"]
    picked = pick_layer_arrays(saved(tmp_path, names))
    assert {key: names[int(at)] for key, at in picked.items()} == {key: name(key) for key in (*KEYS, "bias")}


def test_what_cannot_be_picked_is_named(tmp_path):
    with pytest.raises(ValueError, match="must have one of 'b' and 'weights', not both"):
        pick_layer_arrays(saved(tmp_path, (*KEYS, "weights")))
    with pytest.raises(ValueError, match=r"must have the key 'b_zero_point' \(or 'b_zp'\); it has b, a_scale"):
        pick_layer_arrays(saved(tmp_path, [key for key in KEYS if key != "b_zero_point"]))
    with pytest.raises(ValueError, match=r"must have the key 'a_scale'; it has b"):
        pick_layer_arrays(saved(tmp_path, [key for key in KEYS if key != "a_scale"]))
