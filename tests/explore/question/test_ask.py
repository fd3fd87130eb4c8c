"""Questions: the smallest plan against all plans one by one, the search against a placer of known frequencies."""

from __future__ import annotations

import itertools
import json
import random
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.design.digits_cnn import digits_cnn
from systoliq.design.network import frequency
from systoliq.design.network.frequency import Placed, fit, frequency_of
from systoliq.design.network.plan_file import read_plan
from systoliq.errors import InputError
from systoliq.explore import Run
from systoliq.explore.question.ask import ask
from systoliq.explore.question.options import OBJECTIVES, Sized, options_of, smallest, times_of
from systoliq.golden import MatMulLayer
from systoliq.golden.layer_file import KEYS

from ...hw.network import small_networks as small
from ..explore_fakes import small_layer


def random_network(seed):
    rng = random.Random(f"question {seed}")
    net = small.Builder((rng.choice((2, 4)), 4, 4), seed=seed)
    net.convolution(rng.choice((2, 6)), (3, 3), pads=(1, 1, 1, 1))
    if rng.random() < 0.5:
        net.maximum((2, 2), strides=(2, 2))
    net.flatten()
    net.dense(rng.choice((3, 4)))
    return net.network(), rng


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(4))
def test_no_plan_of_all_is_smaller(seed, objective):
    """By every combination of every option, those that are beaten apart."""
    net, rng = random_network(seed)
    options = options_of(net, "ecp5")
    every = [Sized(options=each) for each in itertools.product(*options)]
    room = {"dsp": rng.randint(2, 9), "lut_sites": 20_000}
    for cycles in rng.sample(times_of(options), 4):
        fitting = [
            sized
            for sized in every
            if sized.image_cycles <= cycles and all(sized.total(name) <= most for name, most in room.items())
        ]
        found = smallest(options, cycles, room, objective)
        least = min((tuple(map(sized.total, OBJECTIVES[objective])) for sized in fitting), default=None)
        assert least == (None if found is None else tuple(map(found.total, OBJECTIVES[objective])))


@pytest.mark.parametrize("seed", range(4))
def test_few_memory_blocks_are_kept_to(seed):
    """By every combination: what is found has room, and is within a tenth of the least."""
    net, _ = random_network(seed)
    options = options_of(net, "ecp5")
    every = [Sized(options=each) for each in itertools.product(*options)]
    blocks = sorted({sized.total("ram") for sized in every})
    for cycles in times_of(options)[::7]:
        for room in ({"ram": blocks[0], "dsp": 20}, {"ram": blocks[len(blocks) // 2], "dsp": 9}):
            fitting = [
                sized.total("lut_sites")
                for sized in every
                if sized.image_cycles <= cycles and all(sized.total(name) <= most for name, most in room.items())
            ]
            found = smallest(options, cycles, room, "area")
            assert (found is None) == (not fitting)
            if found is not None:
                assert all(found.total(name) <= most for name, most in room.items())
                assert found.total("lut_sites") <= 1.1 * min(fitting)


class Placer:
    """Place and route that takes no time, its MHz by the cycles of the plan."""

    def __init__(self, mhz):
        self.mhz, self.placed = mhz, []

    def identity(self):
        return "placer of a test"

    def frequency(self, design, target, seeds):
        self.placed.append(design.plan.image_cycles)
        return {"lut_sites": 1000, "dsp": 1, "ram": 1, "fmax_mhz": self.mhz(design.plan.image_cycles)}


@pytest.fixture
def net():
    return digits_cnn()[0]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(frequency, "cache_directory", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.mark.parametrize("mhz", [150, 200, 260])
def test_the_answer_is_that_of_placing_all(net, mhz, cache):
    """Within the model's error the search finds what place and route of every candidate finds."""
    throughput = 1e5
    placer = Placer(lambda _cycles: mhz)
    run = Run(place=20, synthesizer=placer, cosimulate=False, cache=cache)
    answer = ask(net, require={"throughput": throughput}, run=run)
    reaching = [each for each in answer.candidates if mhz * 1e6 / each.image_cycles >= throughput]
    assert answer.chosen is reaching[0]
    assert answer.proven
    assert len(placer.placed) < len(answer.candidates)
    ruled = [each for each in answer.candidates if each.verdict == "ruled out: too slow at the model's best"]
    assert all(each.placed is None and each.most < throughput for each in ruled)


def test_nothing_placed_is_no_proof(net):
    answer = ask(net, require="throughput=1e5")
    assert not answer.proven
    assert answer.chosen.throughput >= 1e5
    assert any(each.verdict.startswith("open") for each in answer.candidates) == (
        answer.chosen is not answer.candidates[0]
    )


def test_no_time_gives_the_best_by_the_models(net, cache):
    placer = Placer(lambda _cycles: 200)
    run = Run(place=5, seconds=1e-9, synthesizer=placer, cosimulate=False, cache=cache)
    answer = ask(net, require="throughput=1e5", run=run)
    assert (answer.stopped, placer.placed, answer.proven) == ("the time was over", [], False)
    assert answer.chosen is not None


def test_what_was_placed_is_kept_for_the_next_fit(net, cache):
    placer = Placer(lambda _cycles: 201.0)
    ask(net, require="throughput=1e5", run=Run(place=1, synthesizer=placer, cosimulate=False, cache=cache))
    (file,) = (cache / "placed_plans").iterdir()
    assert json.loads(file.read_text())["mhz"] == 201.0
    assert [point.design for point in frequency._kept()] == [f"digits_cnn, {placer.placed[0]} cycles"]


def test_the_plan_is_one_that_emit_takes(net, tmp_path):
    answer = ask(net, require="throughput=1e5", target="ecp5-25k")
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(answer.chosen.sized.plan.as_json()))
    plan = read_plan(net, path, cells="ecp5")
    assert plan.parallelism == answer.chosen.sized.plan.parallelism
    design = answer.design()
    assert design.plan.image_cycles == answer.chosen.image_cycles
    assert sum(each.lut_sites for each in design.estimates.values()) == answer.chosen.sized.total("lut_sites")


def test_a_layer_is_one_stage():
    layer = small_layer()
    answer = ask(layer, require="throughput=1e6", target="ecp5-25k")
    design = answer.design()
    how = answer.chosen.sized.plan.stages[0].parallelism
    assert (design.dense.config.cols, design.dense.config.depth) == (how.cols, how.depth)


def test_limits_are_kept(net):
    answer = ask(net, require={"dsp": 3, "area": 2000})
    assert all(each.sized.total("dsp") <= 3 and each.sized.total("lut_sites") <= 2000 for each in answer.candidates)
    throughputs = [each.throughput for each in answer.front]
    assert throughputs == sorted(throughputs)


def test_the_stored_model_is_that_of_its_points():
    """Made again from the points in the file, and each point's error when it is left out."""
    stored = frequency._stored()
    points = [Placed(**each) for each in stored["points"]]
    assert frequency.fitted(points) == stored
    ecp5 = [each for each in points if each.target.startswith("ecp5")]
    model = frequency_of("ecp5-85k")
    assert model.points == len(ecp5) >= 16
    for index, point in enumerate(ecp5):
        other = fit([*ecp5[:index], *ecp5[index + 1 :]])
        expected = other.mhz(point.lut_sites, point.dsp, point.ram, windows=point.windows, row_sums=point.row_sums)
        assert abs(expected / point.mhz - 1) <= model.worst + 1e-3
        assert point.mhz / expected - 1 <= model.above + 1e-3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"require": "throughput=1e9"},
            r"throughput must be at most about \S+ on ecp5-85k, not 1e\+09: the quickest plan takes 64",
        ),
        ({"target": "xilinx-xc7"}, "target must be one of ecp5-25k, .*, whose frequencies were learned"),
        ({"objective": "speed"}, "objective must be among area, dsp, ram for a network, not 'speed'"),
        ({"require": "area=10"}, "must fit Lattice .* with 10 LUT sites, 156 multiplier cells"),
    ],
)
def test_refused(net, fields, message):
    with pytest.raises(InputError, match=message):
        ask(net, **fields)


def run(*arguments):
    return CliRunner().invoke(cli, ["explore", *arguments])


def test_the_command(tmp_path):
    out = tmp_path / "out"
    arguments = ("digits-cnn", "--require", "throughput=1e5", "--target", "ecp5-25k", "--out", str(out))
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    first = result.stdout.splitlines()[0]
    assert first.startswith("by the models for 100000 images a second on ecp5-25k: about ")
    content = json.loads((out / "answer.json").read_text())
    assert content["answer"][0] == first
    (chosen,) = [row for row in content["candidates"] if row["chosen"]]
    assert chosen["plan"] == json.loads((out / "plan.json").read_text())
    page = Page()
    page.feed((out / "report.html").read_text())
    assert page.texts.index(first) < page.texts.index("Size against throughput")
    assert page.summaries == 3  # a stage each
    assert page.circles == len(content["candidates"])
    assert run(*arguments).exit_code == 0


class Page(HTMLParser):
    """What a report shows; whatever is opened is closed."""

    def __init__(self):
        super().__init__()
        self.texts, self.open, self.summaries, self.circles = [], [], 0, 0

    def handle_starttag(self, tag, _attributes):
        self.summaries += tag == "summary"
        self.circles += tag == "circle"
        if tag not in ("meta", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


def test_the_command_for_a_layer(tmp_path):
    layer: MatMulLayer = small_layer()
    np.savez(tmp_path / "small.npz", **{key: layer.arrays()[key] for key in (*KEYS, "bias") if key in layer.arrays()})
    result = run(str(tmp_path / "small.npz"), "--smallest", "--require", "throughput=1e6", "--target", "ecp5-25k")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("by the models for 1e+06 images a second on ecp5-25k")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "2"], "rows cannot be used with a network or with --smallest"),
        (["--require", "latency=5"], "require must be among throughput, area, dsp, ram for a plan, not 'latency'"),
        (["--require", "throughput=1e9,accuracy=0.9"], "throughput must be at most about"),
        (["--require", "throughput=1e5,accuracy=0.9,latency=1"], "require must be among throughput, area, dsp"),
        (["--require", "throughput=1e5,accuracy=0.9", "--rows", "2"], "rows cannot be used with an accuracy and a"),
        (["--mixed", "9"], "mixed must be given with --bits or an accuracy only"),
        (["--place", "-1"], "place must be at least 0, not -1"),
        (["--seeds", "0"], "seeds must be at least 1, not 0"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    result = run("digits-cnn", *arguments)
    assert result.exit_code == 2, result.output
    assert f"error: {message}" in result.stderr


@pytest.mark.slow
def test_a_throughput_and_an_accuracy(tmp_path):
    """Widths that have the accuracy, and a plan of theirs that is smaller than that of the network as it came."""
    out = tmp_path / "out"
    asked = ["--require", "throughput=1e6,accuracy=0.96", "--mixed", "4", "--out", str(out), "--simulator", "icarus"]
    result = run("digits-cnn", *asked)
    assert result.exit_code == 0, result.output
    (narrow,) = chosen_of(out / "answer.json", "candidates")
    (widths,) = chosen_of(out / "precision" / "precision.json", "rows")
    assert widths["accuracy"] >= 0.96
    assert max(widths["weights"].values()) < 8
    assert narrow["images_per_s"] >= 1e6
    assert narrow["lut_sites"] < ask(digits_cnn()[0], require="throughput=1e6").chosen.row["lut_sites"]
    assert "all are golden's" in result.stdout
    command = result.stdout.split("systoliq emit ")[1].replace("DIR", str(tmp_path / "package")).split()
    emitted = CliRunner().invoke(cli, ["emit", *command[: command.index("--out") + 2]])
    assert emitted.exit_code == 0, emitted.output


def chosen_of(path, rows):
    return [row for row in json.loads(path.read_text())[rows] if row["chosen"]]


def test_an_accuracy_alone_is_about_widths(tmp_path):
    result = run("digits-cnn", "--require", "accuracy=0.96", "--mixed", "4")
    assert result.exit_code == 0, result.output
    assert "bits  weights and activations" in result.stdout
