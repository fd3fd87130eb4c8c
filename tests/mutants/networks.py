"""Mutants of three small networks for docs/mutants.md: found by the testbench, or else by `verify` without
regeneration.

python tests/mutants/networks.py --seed 49 --count 100 --out out/networks

Each mutant becomes a line of mutants.tsv as soon as it is judged. Mutants in that file are not judged again, so a
campaign can run in parts of some `--minutes`. `--prove` then decides those that neither finds: proofs about the whole
network, whose neighbours never bring a block where some mutants would differ, and random traffic if they fail.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.hw.network.small_networks import INT8, UINT8, Builder

from systoliq.api import NetworkOptions
from systoliq.design.network.design import NetworkDesign
from systoliq.mutants.campaign import Campaign
from systoliq.mutants.equivalence import holders
from systoliq.mutants.evaluated import is_evaluated
from systoliq.mutants.mutation import Mutant, block_of, draw
from systoliq.package import write_package

FIELDS = ("network", "number", "verdict", "line", "block", "kind", "testbench", "verify", "before", "after")


def convolved():
    """A convolution, a pool and flattened results."""
    net = Builder((1, 3, 3), seed=1, form=INT8)
    net.convolution(2, (2, 2))
    net.maximum((2, 2))
    net.flatten()
    return net.network()


def summed():
    """A table, and its sum with a padded depthwise convolution of it: a fork and a join."""
    net = Builder((1, 2, 3), seed=2, form=UINT8)
    trunk = net.table()
    net.add(net.depthwise(of=trunk, pads=(1, 1, 1, 1)), trunk)
    return net.network()


def averaged():
    """A convolution of single pixels, the average of the map, and a dense layer."""
    net = Builder((2, 2, 2), seed=3, form=INT8)
    net.convolution(2)
    net.average()
    net.flatten()
    net.dense(3)
    return net.network()


NETWORKS = {each.__name__: each for each in (convolved, summed, averaged)}


def package(name: str, out: Path) -> Path:
    """The package of a network, written once."""
    folder = out / name
    if not folder.exists():
        write_package(NetworkDesign(NETWORKS[name](), NetworkOptions(), name="net"), folder)
    return folder


Row = dict[str, str]


def judged(campaign: Campaign, mutant: Mutant, folder: Path) -> Row:
    """The columns of a mutant; the verdict alone if it is no Verilog."""
    original = campaign.verilog.read_text()
    text = mutant.applied(original.splitlines())
    said = campaign.simulated(text, folder)
    if said is None:
        return {"verdict": "invalid"}
    passed = said.startswith("PASS")
    refused = campaign.refused(text, folder) if passed else ""
    verdict = "found"
    if passed and not refused:
        modules = holders(original, mutant.module)
        blocks = [block_of(modules[-1], each) for each in modules]
        verdict = "evaluated" if is_evaluated(blocks, mutant.kind) else "open"
    return {
        "verdict": verdict,
        "line": str(mutant.line),
        "block": mutant.block,
        "kind": mutant.kind,
        "testbench": "" if passed else said.strip().partition("\n")[0],
        "verify": refused.partition("\n")[0][:160],
        "before": mutant.before.strip(),
        "after": mutant.after.strip(),
    }


def more(campaign: Campaign, known: dict[int, Row], seed: int, count: int) -> Iterator[tuple[int, Row]]:
    """Judge the mutants that are not known yet, until `count` are valid."""
    valid = sum(row["verdict"] != "invalid" for row in known.values())
    for number, mutant in enumerate(draw(campaign.verilog.read_text().splitlines(), seed)):
        if valid >= count:
            return
        if number not in known:
            with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
                row = judged(campaign, mutant, Path(place))
            valid += row["verdict"] != "invalid"
            yield number, row


def decided(campaign: Campaign, known: dict[int, Row], seed: int) -> Iterator[tuple[int, Row]]:
    """Decide the known mutants that are open, and whether those that only `verify` refuses differ at the ports."""
    for number, mutant in enumerate(draw(campaign.verilog.read_text().splitlines(), seed)):
        if number not in known:
            return
        row = known[number]
        refused = row["verdict"] == "found" and not row["testbench"]
        if refused or row["verdict"] == "open":
            with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
                verdict, *_ = campaign.survivor(mutant, Path(place))
            decision = f"refused, {verdict.value}" if refused else verdict.value
            yield number, row | {"verdict": decision}


def main() -> None:
    """Run the part of a campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=49)
    parser.add_argument("--count", type=int, default=100, help="mutants of each network")
    parser.add_argument("--network", choices=[*NETWORKS], help="this one alone")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--seconds", type=int, default=20, help="limit of a proof")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("out/networks"))
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    args.out.mkdir(parents=True, exist_ok=True)
    log = args.out / "mutants.tsv"
    rows = list(csv.DictReader(log.open(), FIELDS, delimiter="\t")) if log.exists() else []
    for name in [args.network] if args.network else NETWORKS:
        known = {int(row["number"]): row for row in rows if row["network"] == name}
        campaign = Campaign(package(name, args.out), seconds=args.seconds)
        found = decided(campaign, known, args.seed) if args.prove else more(campaign, known, args.seed, args.count)
        for number, result in found:
            row = {"network": name, "number": str(number)} | result
            with log.open("a") as file:
                csv.DictWriter(file, FIELDS, delimiter="\t").writerow(row)
            sys.stdout.write(f"{name} {number}: {row['verdict']} {row.get('block')}\n")
            sys.stdout.flush()
            if time.monotonic() > until:
                return


if __name__ == "__main__":
    main()
