"""The flow: the PLL follows what place and route reached; what does not fit or is too slow says so."""

from __future__ import annotations

import json
import re

import pytest

from systoliq.board import flow
from systoliq.board.boards import BOARDS, open_board
from systoliq.board.flow import check_tools, make_bitstream
from systoliq.design import LayerDesign, LayerOptions
from systoliq.errors import InputError, MissingPackageError, SynthesisError
from systoliq.golden.layer import MatMulLayer
from systoliq.synth import DoesNotFitError

pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed: pip install 'systoliq[board]'")


@pytest.fixture
def design(arrays):
    return LayerDesign(MatMulLayer(name="tiny", **arrays), LayerOptions(cols=1))


@pytest.fixture
def reached(monkeypatch, tmp_path):
    """Place and route that reaches what a list says, one run after the other; the clocks that it was asked for."""
    asked, answers = [], []

    def placed(build, setting, mhz):
        asked.append((setting.mhz, mhz))
        folder = tmp_path / str(len(asked))
        folder.mkdir()
        report = {
            "fmax": {"clk": {"achieved": answers[len(asked) - 1]}},
            "utilization": {"LC": {"used": 3, "available": 9}},
        }
        (folder / "report.json").write_text(json.dumps(report))
        (folder / "sites.json").write_text(json.dumps([["link.design_.a", "LC", 1, 2], ["pll", "PLL", 3, 4]]))
        return folder

    monkeypatch.setattr(flow._Build, "placed", placed)
    monkeypatch.setattr(flow, "_packed", lambda board, folder: folder.name.encode())
    return answers, asked


def test_the_pll_is_set_to_the_frequency_reached(design, reached):
    answers, asked = reached
    answers += [101.3, 99.0, 100.1]
    made = make_bitstream(design, open_board("ulx3s-85f"))
    report = made.report
    assert made.content == b"3", "the last that was placed"
    assert asked[0][1] == 200
    assert [setting for setting, _ in asked] == sorted((setting for setting, _ in asked), reverse=True)
    assert all(setting <= limit for (setting, _), limit in zip(asked[1:], answers, strict=False))
    assert 99 < asked[1][0] <= 101.3
    assert (report.first_mhz, report.reached_mhz, report.clock_mhz) == (101.3, 100.1, asked[2][0])
    assert report.clock_mhz <= 99.0
    assert report.slack_ns == pytest.approx(1000 / report.clock_mhz - 1000 / 100.1)
    assert report.resources == {"LC": (3, 9)}
    sidecar = json.loads(made.files["report.json"])
    assert (sidecar["kind"], sidecar["top"], sidecar["clock_mhz"]) == ("bitstream", "tiny", report.clock_mhz)
    assert set(sidecar["files"]) == set(made.files) == {"tiny.bit", "report.json", "floorplan.svg"}
    assert "tiny: 1 cells" in made.files["floorplan.svg"].decode()


def test_the_oscillator_is_the_clock_below_the_slowest_pll_setting(design, reached):
    reached[0].extend([14.0, 14.0])
    report = make_bitstream(design, open_board("icebreaker")).report
    assert (report.pll, report.clock_mhz) == (None, 12.0)


def test_a_missed_clock_says_by_how_much_and_which_options_to_reduce(design, reached):
    reached[0].extend([50.0])
    text = "tiny misses its clock on Radiona ULX3S, LFE5U-85F by 40.0 MHz: it reaches 50.0 of 90.0; what may help:"
    with pytest.raises(SynthesisError, match=text):
        make_bitstream(design, open_board("ulx3s-85f"), mhz=90)


def test_a_design_that_is_slower_than_every_clock_says_by_how_much(design, reached):
    reached[0].extend([9.0])
    text = "tiny reaches 9.0 MHz on .*, and its slowest clock is 12.0, 3.0 MHz too fast; what may help: smaller --rows"
    with pytest.raises(SynthesisError, match=text):
        make_bitstream(design, open_board("icebreaker"))


def test_a_clock_that_can_not_be_is_refused(design, reached):
    with pytest.raises(InputError, match=r"mhz must be 3.125 to 400 on Radiona ULX3S, LFE5U-85F, not nan"):
        make_bitstream(design, open_board("ulx3s-85f"), mhz=float("nan"))
    with pytest.raises(InputError, match=r"within 2% of 12.000 MHz divided by a whole number, as 3000000 is"):
        make_bitstream(design, open_board("icebreaker"), mhz=12, baud=2_700_000)
    with pytest.raises(InputError, match=r"baud must be \d+ to \d+ at 90.000 MHz, not 90000000"):
        make_bitstream(design, open_board("ulx3s-85f"), mhz=90, baud=90_000_000)
    with pytest.raises(InputError, match=r"mhz must be 3.125 to 400 on Radiona ULX3S, LFE5U-85F, not -3"):
        make_bitstream(design, open_board("ulx3s-85f"), mhz=-3)


@pytest.mark.slow
def test_a_design_that_does_not_fit_names_the_capacity(arrays):
    design = LayerDesign(MatMulLayer(name="tiny", **arrays), LayerOptions(rows=4, cols=5, cells="ice40"))
    with pytest.raises(DoesNotFitError, match=r"\d+ DSP blocks where there are 8; what may help: smaller"):
        make_bitstream(design, open_board("icebreaker"))


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_a_small_layer_on_every_board(arrays, name):
    board = open_board(name)
    try:
        check_tools(board)
    except MissingPackageError as missing:
        pytest.skip(str(missing))
    design = LayerDesign(MatMulLayer(name="tiny", **arrays), LayerOptions(cols=1, cells=board.target.cells))
    made = make_bitstream(design, board)
    report = made.report
    assert report.reached_mhz >= report.clock_mhz
    assert report.clock_mhz <= max(report.first_mhz, report.asked_mhz)
    assert len(made.content) > 10_000
    assert "tiny: " in made.floorplan
    starts = {
        "ice40": rb"^\xff\x00|^\x7e\xaa\x99\x7e",
        "ecp5": rb"^\xff\x00",
        "gowin": rb"^//|^1111",
        "nexus": rb"^LSCC",
    }
    assert re.match(starts.get(board.family, b""), made.content)
