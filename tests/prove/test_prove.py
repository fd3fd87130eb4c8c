"""A reduced set of the proofs, each with the seeded bug that must make it fail. All of them: `make prove`.

Slow cases do without a proof that is in the record, docs/measurements/proofs.json, and is about the same hardware.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("bitwuzla", reason="pip install 'systoliq[formal]'")
pytest.importorskip("pyosys", reason="pip install 'systoliq[formal]'")

from amaranth.back import rtlil
from amaranth.hdl import Assert, ClockSignal, Cover, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.delay import delay
from systoliq.prove.catalog import find, properties
from systoliq.prove.engines import decide
from systoliq.prove.netlist import Netlist, definition
from systoliq.prove.property import Bounded, Decision, FromAnyState, Property, SeededBug, Verdict
from systoliq.prove.record import Entry, Record, key_of
from systoliq.prove.runner import ProofRun, run, run_one

QUICK = [prop.name for prop in properties() if prop.quick]


RECORD = Path(__file__).parents[2] / "docs/measurements/proofs.json"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The record of the documentation, a copy that may be written."""
    return Record(Path(shutil.copy(RECORD, tmp_path_factory.mktemp("record"))))


@pytest.fixture
def recorded(request, record):
    """The entry of a property, or of its bug, that a slow test may go by; the others prove all."""
    slow = request.node.get_closest_marker("slow")
    return lambda name, *, seeded: record.find(name, seeded=seeded) if slow else None


def decided(prop, folder, known=None):
    harness = prop.harness()
    netlist = Netlist(harness, folder)
    if known and key_of(prop, harness, netlist.content) == known.key:
        return Decision(Verdict.PROVEN)
    return decide(prop, harness, netlist, folder)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", QUICK)
def test_property_is_proven(name, tmp_path, recorded):
    """In this process: one of its own, which a seeded bug needs, takes longer to start than most proofs."""
    decision = decided(find(name), tmp_path, recorded(name, seeded=False))
    assert decision.verdict is Verdict.PROVEN, f"{decision.verdict.value}\n{decision.detail}"


def test_a_property_is_proven_in_a_process_of_its_own():
    result = run_one(ProofRun(find(QUICK[0])))
    assert result.passed, f"{result.verdict.value}\n{result.detail}"


def test_a_record_replaces_only_proofs_about_the_same_hardware(tmp_path):
    proof = ProofRun(find("replay buffer, 1 beats 2 times"))
    runs = [proof, dataclasses.replace(proof, seeded=True)]
    record = Record(tmp_path / "record.json")
    first = run(runs, processes=1, record=record)
    assert [(each.passed, each.recorded) for each in first] == [(True, False), (True, False)]
    again = run(runs, processes=1, record=Record(tmp_path / "record.json"))
    assert [(each.verdict, each.recorded, each.key) for each in again] == [
        (Verdict.PROVEN, True, first[0].key),
        (Verdict.FAILED, True, first[1].key),
    ]
    # An entry of other hardware, here of that with the bug in it, does not count.
    record.add(proof.prop.name, Entry(first[1].key, 0.0), seeded=False)
    assert [each.recorded for each in run(runs, processes=1, record=record)] == [False, True]
    assert record.find(proof.prop.name, seeded=False).key == first[0].key


def test_a_proof_that_does_not_pass_is_not_recorded(tmp_path):
    record = Record(tmp_path / "record.json")
    prop = dataclasses.replace(find("replay buffer, 1 beats 2 times"), name="no such property")
    (result,) = run([ProofRun(prop)], record=record)
    assert result.verdict is Verdict.ERROR
    assert record.find(prop.name, seeded=False) is None
    assert (tmp_path / "record.json").read_text() == "{}\n"
    assert [file.name for file in tmp_path.iterdir()] == ["record.json"]


def test_the_documentation_counts_its_record():
    entries = json.loads(RECORD.read_text())
    assert entries.keys() <= {prop.name for prop in properties()}
    both = sum(each.keys() == {"proof", "bug"} for each in entries.values())
    page = " ".join((RECORD.parents[1] / "proofs.md").read_text().split())
    assert f"{both} of the {len(properties())} properties are proven, each with its bug caught" in page


def test_two_runs_add_to_one_record(tmp_path):
    one, other = (Record(tmp_path / "record.json") for _ in range(2))
    one.add("a property", Entry("1", 1.0), seeded=False)
    other.add("a property", Entry("2", 2.0), seeded=True)
    one.add("another property", Entry("3", 3.0), seeded=False)
    found = Record(tmp_path / "record.json")
    assert found.find("a property", seeded=False) == Entry("1", 1.0)
    assert found.find("a property", seeded=True) == Entry("2", 2.0)
    assert found.find("another property", seeded=False) == Entry("3", 3.0)


def test_a_key_depends_on_netlist_method_and_claims():
    prop, harness = find(QUICK[0]), wiring.Component({})
    known = key_of(prop, harness, "a netlist")
    assert key_of(prop, harness, "a netlist") == known
    assert key_of(prop, harness, "another") != known
    assert key_of(dataclasses.replace(prop, method=Bounded(3)), harness, "a netlist") != known
    harness.formulas = ("(= {y} #b0)",)
    assert key_of(prop, harness, "a netlist") != known


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", QUICK)
def test_seeded_bug_is_caught(name, recorded):
    result = run_one(ProofRun(find(name), seeded=True), recorded(name, seeded=True))
    assert result.verdict is Verdict.FAILED, f"{result.verdict.value}\n{result.detail}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [prop.name for prop in properties() if not prop.quick])
def test_every_other_seeded_bug_is_caught(name, recorded):
    result = run_one(ProofRun(find(name), seeded=True), recorded(name, seeded=True))
    assert result.verdict is Verdict.FAILED, f"{result.verdict.value}\n{result.detail}"


def test_names_are_unique():
    names = [prop.name for prop in properties()]
    assert len(set(names)) == len(names)


@pytest.mark.sampled(27)
@pytest.mark.parametrize("prop", properties(), ids=lambda prop: prop.name)
def test_each_harness_can_be_made(prop):
    """The samples above would let one that has gone out of step with the hardware pass."""
    assert rtlil.convert(prop.harness(), emit_src=False)


@pytest.mark.parametrize("prop", properties(), ids=lambda prop: prop.name)
def test_text_of_each_seeded_bug_is_once_in_its_module(prop):
    source = Path(importlib.import_module(f"systoliq.hw.{prop.bug.module}").__file__).read_text()
    assert source.count(prop.bug.old) == 1


def test_bug_whose_text_is_gone_is_an_error():
    prop = dataclasses.replace(find(QUICK[0]), bug=SeededBug(module="mac", old="no such text", new=""))
    result = run_one(ProofRun(prop, seeded=True))
    assert not result.passed
    assert "must hold the text of a seeded bug once, not 0 times" in result.detail


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match="name must be that of a property, not 'nothing'"):
        find("nothing")


class CellHarness(wiring.Component):
    """A cell in one of its modes, and that it delays by a cycle."""

    latency = 1

    def __init__(self, mode):
        self.mode = mode
        super().__init__({"a": In(1)})

    def elaborate(self, platform):
        m = Module()
        q = Signal()
        m.submodules.cell = Instance("CELL", p_MODE=self.mode, i_CLK=ClockSignal(), i_A=self.a, o_Q=q)
        m.d.comb += [Assert(q == delay(m, self.a, 1, name="past")), Cover(q)]
        return m


CELL = """module CELL #(parameter MODE = 0) (input wire CLK, input wire A, output wire Q);
    reg q;
    always @(posedge CLK) q <= A;
    assign Q = q;
    {check}
endmodule
"""


@pytest.mark.parametrize(
    "check",
    [
        'initial if (CLK !== 1\'bz && MODE != 0) begin $display("no; such: mode"); $finish; end',
        'initial begin\n if (MODE != 0 || A === 1\'bx) begin // begin\n $display("no"); $finish;\n end\n end',
        'always @(negedge CLK) if (MODE != 0) begin $display("no"); $finish; end',
        'always @(posedge CLK) begin if (MODE != 0) begin $display("no"); $finish; end end',
    ],
)
@pytest.mark.parametrize(("mode", "verdict"), [(0, Verdict.PROVEN), (1, Verdict.FAILED)])
def test_model_that_would_stop_a_simulation_is_a_claim(tmp_path, monkeypatch, check, mode, verdict):
    monkeypatch.setattr("systoliq.hw.cells.models", lambda: {"CELL": CELL.format(check=check)})
    prop = Property(name="", claim="", harness=lambda: CellHarness(mode), method=FromAnyState(), bug=find(QUICK[0]).bug)
    assert decided(prop, tmp_path).verdict is verdict


@pytest.mark.parametrize("text", ["initial q = 0;", "wire x = A !== 1'b0 && A === 2'b0x;", "always #5 q = A;"])
def test_model_with_what_only_a_simulation_knows_is_refused(text):
    with pytest.raises(ValueError, match="the model of a cell must not hold"):
        definition(CELL.format(check=text))
