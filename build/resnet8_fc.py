"""The 64 -> 10 layer of ResNet8 as Verilog: `python build/resnet8_fc.py [DIR [WEIGHTS.npz]]`, DIR out/resnet8_fc.

The same as `systoliq emit resnet8-fc --out DIR --weights WEIGHTS.npz`, which has more to choose from.
"""

from __future__ import annotations

import sys
from pathlib import Path

from systoliq.design import open_source
from systoliq.package import make_package

out, weights, *_ = [*map(Path, sys.argv[1:]), *[None] * 2]
design = open_source("resnet8-fc", weights=weights)
make_package(design).write(out or Path("out/resnet8_fc"))
