"""Names of modules: whatever a file or a node is called, the Verilog has a module of a name that it may have."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import Design, InputError, MatMulLayer

LAYER = MatMulLayer(b=np.ones((2, 1), np.int8), a_zero_point=np.uint8(0), b_zero_point=np.int8(0))


@pytest.mark.parametrize("name", ["const", "or", "final", "table", "/fc/MatMul", "7", "new"])
def test_a_default_that_is_no_name_is_made_one(name):
    design = Design(LAYER.replace(name=name))
    assert design.name.startswith("layer_")
    assert f"module {design.name}(" in design.verilog


def test_a_name_that_was_asked_for_must_be_one():
    with pytest.raises(InputError, match="name must be a Verilog identifier .* no keyword, not 'const'"):
        Design(LAYER, name="const")
