"""Start-up: `systoliq --help` and `import systoliq.api` load only what they show."""

from __future__ import annotations

import subprocess
import sys

import pytest

from systoliq.cli.main import COMMANDS

HEAVY = {"amaranth", "cocotb", "onnx", "onnxruntime", "pytest", "sklearn"}
RUN = """
import sys
sys.argv = ["systoliq", *{arguments!r}]
from systoliq.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""


def loaded(code: str) -> set[str]:
    """The modules that a new Python has loaded after it ran `code`, which prints them on standard error."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_the_list_of_commands_loads_none_of_them(arguments):
    modules = loaded(RUN.format(arguments=arguments))
    assert "click" in modules
    assert not modules & (HEAVY | {"numpy", "rich"})
    commands = {f"systoliq.cli.{name.replace('-', '_')}" for name in COMMANDS}
    assert not modules & commands


@pytest.mark.parametrize("command", ["emit", "layers"])
def test_help_of_a_command_loads_no_hardware(command):
    assert not loaded(RUN.format(arguments=[command, "--help"])) & HEAVY


def test_the_interface_loads_a_name_when_it_is_used():
    code = "import sys\nimport systoliq.api\nprint(*sys.modules, file=sys.stderr)"
    assert not loaded(code) & (HEAVY | {"numpy"})


def test_a_design_loads_neither_a_test_framework_nor_a_library_of_models():
    code = "import sys\nfrom systoliq.api import Design, open_source\nprint(*sys.modules, file=sys.stderr)"
    modules = loaded(code)
    assert "amaranth" in modules
    assert not modules & (HEAVY - {"amaranth"})
