"""Write networks with MLPerf Tiny's shapes and seeded weights, quantized: QDQ, s8s8, per channel.

python -m tests.onnx.network.tiny DIR
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

from .networks import LARGER, TINY, quantized

__all__ = ["main"]


def main(folder: Path) -> None:
    """Write the model of each network of `TINY` and `LARGER` to ``folder`` under its name."""
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    folder.mkdir(parents=True, exist_ok=True)
    for name, network in (TINY | LARGER).items():
        with tempfile.TemporaryDirectory() as apart:
            content = quantized(Path(apart), network(), per_channel=True).read_bytes()
        (folder / f"{name}.onnx").write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.onnx.network.tiny DIR")
    main(Path(sys.argv[1]))
