"""Names in models, as files have them: text that no terminal obeys, and bytes that are no text."""

from __future__ import annotations

import onnx
import pytest

from ..onnx.onnx_models import write
from .refused import assert_refused

LAYER = "[fc] yq = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)"
PRODUCTS = f"[fc] h = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z) {'[fd] yq = Elu(h)'}"


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", ["f\x1b[31mc", "f\nc\x07", "f\x9b31mc\u202e"])
@pytest.mark.parametrize("nodes", [LAYER, PRODUCTS], ids=["taken", "refused"])
def test_control_characters_of_a_name_are_escaped(nodes, name, call, tmp_path):
    path = write(tmp_path / "model.onnx", nodes)
    model = onnx.load(path)
    for node in model.graph.node:
        node.name += name
    onnx.save(model, path)
    for words in (["layers", path], ["emit", path, "--out", tmp_path / "out"], ["emit", f"{path}#no", "--out", "x"]):
        result = call(*words)
        assert name[1:-1] not in result.output
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.output)
        assert isinstance(result.exception, SystemExit | None)


PLACES = {"a node": b"fc", "a tensor": b"yq", "an operator": b"QLinearMatMul"}


@pytest.mark.parametrize(
    "command", [["layers"], ["emit", "--out", "{}"], ["run", "--input", "x.npz"]], ids=lambda c: c[0]
)
@pytest.mark.parametrize(("kind", "name"), PLACES.items(), ids=PLACES)
def test_a_name_that_is_no_text(kind, name, command, call, save, tmp_path):
    path = write(tmp_path / "model.onnx", LAYER)
    bad = b"\xff" * len(name)
    path.write_bytes(path.read_bytes().replace(name, bad))
    command = [str(save("x.npz", xq=1)) if word == "x.npz" else word.format(tmp_path / "out") for word in command]
    result = call(command[0], path, *command[1:])
    assert_refused(
        result, f"{path}: must be a valid ONNX model (the name of {kind} must be text in UTF-8, not {bad!r})"
    )
