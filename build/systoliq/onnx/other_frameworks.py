"""Models of other frameworks, and the commands that convert them to ONNX."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError

__all__ = ["refuse_other_frameworks"]

_ZIP = b"PK\x03\x04"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_TFLITE = b"TFL3"  # from the fifth byte on


def refuse_other_frameworks(path: Path) -> None:
    """Raise InputError if the file `path` is a model of TensorFlow Lite, Keras or PyTorch, with the way to ONNX."""
    with path.open("rb") as file:
        start = file.read(8)
    if start[4:] == _TFLITE:
        found = f"a TensorFlow Lite model; convert it: python -m tf2onnx.convert --tflite {path} --output model.onnx"
    elif start == _HDF5 or (start.startswith(_ZIP) and path.suffix == ".keras"):
        found = "a Keras model; export it: model.export('model.onnx', format='onnx')"
    elif start.startswith(_ZIP) and path.suffix in (".pt", ".pth", ".pt2"):
        found = "a PyTorch model; export it: torch.onnx.export(model, (x,), 'model.onnx')"
    else:
        return
    raise InputError(f"{path}: must be an ONNX model, not {found}")
