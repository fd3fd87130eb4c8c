"""Models of other people and architectures, where the shared cases are there: how many become hardware whole."""

from __future__ import annotations

import pytest

from systoliq.onnx import Model

from .shares import NOT_CONVOLUTIONAL, cases, outcome_of, verilog_fault

CASES = dict(cases())
SMALL = ("crop", "floatbias", "residual_trt", "twoin", "twoout")

pytestmark = pytest.mark.skipif(not CASES, reason="shared/cases is not there: it is kept beside the repository")


@pytest.mark.slow
def test_most_become_hardware_whole_with_onnxruntime_s_integers():
    outcomes = [outcome_of(*each) for each in CASES.items()]
    assert [each.name for each in outcomes if not each.right] == []
    plain = [each.whole for each in outcomes if each.name.startswith("a_") and each.name not in NOT_CONVOLUTIONAL]
    assert sum(plain) >= 0.95 * len(plain)
    assert sum(each.whole for each in outcomes) >= 68


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", CASES)
def test_in_verilog(name):
    network = Model.open(CASES[name]).reading.network
    if network is None:
        pytest.skip("it is refused")
    assert verilog_fault(network) is None


@pytest.mark.parametrize("name", SMALL)
def test_small_ones(name):
    found = outcome_of(name, CASES[name])
    assert (found.reasons, found.wrong) == ((), 0)
    assert found.compared > 0
