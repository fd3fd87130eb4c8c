"""Names: boards wherever a target is asked for, questions after a name that is nearly right, and completion."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from systoliq.board.boards import BOARDS


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        ("emit digits-cnn --target icebraker --out o", "did you mean icebreaker?"),
        ("synth resnet8-fc --target ecp-85k", "did you mean ecp5-85k?"),
        ("build digits-cnn --board ulx3s-85 --out o", "did you mean ulx3s-85f?"),
        ("help bord", "did you mean board?"),
        ("emitt digits-cnn --out o", "No such command 'emitt': did you mean emit?"),
        ("help source", "did you mean sources?"),
        ("emit digits-cn --out o", "did you mean digits-cnn?"),
    ],
)
def test_a_name_that_is_nearly_right(arguments, question, call):
    result = call(*arguments.split())
    assert result.exit_code == 2
    assert question in " ".join(result.output.split())


@pytest.mark.parametrize("board", ["icebreaker", "tang-nano-9k"])
def test_a_board_is_its_part(board, call, tmp_path):
    for name, target in (("board", board), ("part", BOARDS[board].target.name)):
        assert call("emit", "resnet8-fc", "--target", target, "--out", tmp_path / name).exit_code == 0
    for path in (tmp_path / "part").iterdir():
        assert path.read_bytes() == (tmp_path / "board" / path.name).read_bytes()


def test_help_on_topics(call):
    assert "FILE.onnx#NODE" in call("help", "sources").output
    assert "\b" not in call("help", "sources").output
    assert set(BOARDS) <= set(call("help", "boards").output.split())
    assert "ecp5-85k" in call("help", "targets").output
    assert call("help", "emit").output.strip() == call("emit", "--help").output.strip()
    assert call("help").output.strip() == call("--help").output.strip()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, call):
    result = call("completion", shell)
    assert result.exit_code == 0
    assert "_SYSTOLIQ_COMPLETE" in result.output


@pytest.mark.parametrize(
    ("words", "found"),
    [("systoliq qu", {"quantize"}), ("systoliq emit --target ice", {"ice40-up5k", "ice40-hx8k", "icebreaker"})],
)
def test_completed_words(words, found):
    environment = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "_SYSTOLIQ_COMPLETE": "bash_complete",
    }
    program = "from systoliq.cli.main import cli; cli(prog_name='systoliq')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert {line.split(",")[1] for line in done.stdout.splitlines()} == found, done.stderr
