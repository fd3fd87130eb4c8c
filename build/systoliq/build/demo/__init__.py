"""The main job on real input, from training to Verilog that was compared on every output."""

from typing import TYPE_CHECKING

from systoliq.moved import renamed

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {
            "ACCURACY": "systoliq.build.demo.demo.ACCURACY",
            "DemoResult": "systoliq.build.demo.demo.DemoResult",
            "run_demo": "systoliq.build.demo.demo.run_demo",
        },
    )
