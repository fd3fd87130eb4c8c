"""The boundary of a verdict: what each result rests on, and what does not stand without regeneration."""

from __future__ import annotations

import json
import shutil

import pytest

from systoliq.verify import BASES, verify_package

from ..hw.network import small_networks as small
from .emitted_networks import emitted


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    net = small.Builder((2, 3, 3))
    net.convolution(2, (2, 2))
    net.table()
    return emitted(net.network(), tmp_path_factory.mktemp("package"))


def test_the_verdict_says_what_each_result_rests_on(package, call, tmp_path):
    result = call("verify", package, "--report", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    _, table = result.output.split("what each result rests on:\n")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["passed"] is True
    assert found["regenerated"] is True
    assert set(found["bases"]) == set(BASES)
    assert [row.split()[0] for row in table.splitlines()[:-1]] == sorted(
        (each["basis"] for each in found["boundary"][:-1]), key=[*BASES].index
    )
    assert all(each["result"] in table for each in found["boundary"])
    assert {each["basis"] for each in found["boundary"]} == set(BASES)


def test_without_regeneration_results_that_need_it_are_withdrawn(package, call, tmp_path):
    result = call("verify", package, "--no-regenerate", "--report", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert "\nverified without regeneration: net: " in result.output
    assert "\nnot regenerated: results marked 'not checked' do not stand\n" in result.output
    assert "compared: " not in result.output
    found = {each["result"]: each for each in json.loads((tmp_path / "r.json").read_text())["boundary"]}
    for each in verify_package(package).boundary:
        rests_on_text = each.basis in ("derived", "evaluated")
        assert found[each.result]["basis"] == (each.basis if rests_on_text else "not checked")


def test_the_layer_is_compared_only_with_a_regenerated_package(package, call):
    result = call("verify", package, "--no-regenerate", "--layer", "model.onnx")
    assert result.exit_code == 2
    assert "--layer compares with a regenerated package; omit --layer or --no-regenerate" in result.output


def test_a_report_of_a_refusal_has_the_reasons_and_no_boundary(package, call, tmp_path):
    copy = shutil.copytree(package, tmp_path / "copy")
    (copy / "net.vlt").write_text("")
    result = call("verify", copy, "--no-regenerate", "--report", tmp_path / "r.json")
    assert result.exit_code == 1
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["passed"] is False
    assert found["boundary"] == []
    assert any(reason.startswith("net.vlt: ") for reason in found["reasons"])
