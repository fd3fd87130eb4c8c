"""The runner of that bench, cocotb's own: python run.py SIMULATOR BLOCKS; exit status 1 where a test fails."""

import os
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).parent


def main(simulator, blocks):
    runner = get_runner(simulator)
    sources = [HERE / "system.v", *(Path(blocks) / name / f"{name}.v" for name in ("first", "second"))]
    if simulator == "verilator":
        sources = [Path(blocks) / name / f"{name}.vlt" for name in ("first", "second")] + sources
    built = HERE / f"built_{simulator}_{Path(blocks).name}"
    arguments = ["-Wno-fatal"] if simulator == "verilator" else []
    runner.build(
        sources=sources, hdl_toplevel="system", build_dir=built, build_args=arguments, timescale=("1ns", "1ps")
    )
    results = runner.test(
        "outside_bench", "system", build_dir=built, test_dir=HERE, extra_env={"BLOCKS": blocks},
        results_xml=str(built / "results.xml"),
    )  # fmt: skip
    count, failed = get_results(results)
    sys.stdout.write(f"{count - failed} of {count} tests passed under {simulator}, Python of {sys.prefix}\n")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    os.chdir(HERE)
    raise SystemExit(main(*sys.argv[1:]))
