"""README and the guides say nothing that does not run: Python blocks, commands, options, links, package lists."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.sim.tools import find, missing_text

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDES = [README, *sorted((ROOT / "docs").glob("*.md"))]
APT = "g++ make perl iverilog python3-venv libpython3-dev"


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def commands(path: Path) -> list[list[str]]:
    """Each `systoliq ...` of a shell block, and each that stands alone in backticks and has an argument."""
    text = path.read_text()
    shells = [re.sub(r"\\\n\s*", "", block) for block in blocks(path, "(?:sh|console)?")]
    lines = [line.removeprefix("$ ") for block in shells for line in block.splitlines()]
    lines += re.findall(r"`(systoliq [a-z][^`]*)`", text)
    return [shlex.split(line, comments=True)[1:] for line in lines if re.match(r"systoliq [a-z]", line)]


@functools.cache
def help_of(*command: str) -> str:
    done = CliRunner().invoke(cli, [*command, "--help"])
    assert done.exit_code == 0, f"systoliq {' '.join(command)}: {done.output}"
    return done.output


def in_process(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a block of Python here, where the modules are already imported."""
    monkeypatch.chdir(folder)
    exec(compile(script, "block.py", "exec"), {"__name__": "__main__"})  # noqa: S102


def run(script: str, folder: Path, timeout: float) -> None:
    (folder / "block.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "block.py"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow  # test_examples.py runs layer_from_arrays.py
@pytest.mark.simulator
def test_the_python_block_runs(tmp_path, monkeypatch):
    for name in ("verilator", "c++", "libpython"):
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    first, *_ = blocks(README, "python")
    in_process(first, tmp_path, monkeypatch)
    assert (tmp_path / "out/fc/certificate.json").is_file()


@pytest.mark.slow
def test_the_python_blocks_run_to_the_frequency(tmp_path):
    pytest.importorskip("pyosys")
    first, second = blocks(README, "python")
    wanted = second.splitlines()[0].split("  #")[0]
    run(f"{first}\nassert {wanted} > 100\n", tmp_path, 900)


def test_the_readme_shows_what_the_api_says():
    import systoliq.api

    (readme, _), docstring = blocks(README, "python"), systoliq.api.__doc__
    shown = readme + blocks(README, "python")[1]
    for line in re.findall(r">>> (.*)", docstring):
        assert line.split("  #")[0] in shown, f"the README must show the docstring's {line!r}"


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_commands_and_options_exist(path):
    for command, *arguments in commands(path):
        if command.isupper():  # systoliq COMMAND --help
            continue
        text = help_of(command, *(arguments[:1] if isinstance(cli.get_command(None, command), click.Group) else ()))
        for option in re.findall(r"(?:^|\s)(--[a-z][a-z-]*)", " ".join(arguments)):
            assert option == "--help" or re.search(rf"{option}\b", text), f"systoliq {command} has no {option}"


def test_the_readme_has_commands():
    assert {command for command, *_ in commands(README)} >= {"emit", "verify", "simulate", "synth", "layers", "explore"}


@pytest.fixture(scope="module")
def first_commands(tmp_path_factory) -> Path:
    """The folder in which the first commands of the README ran."""
    folder = tmp_path_factory.mktemp("readme")
    quick = [shlex.split(line, comments=True)[1:] for line in blocks(README, "sh")[0].splitlines()]
    quick = [command for command in quick if command and command[0] in ("emit", "verify")]
    assert [command[0] for command in quick] == ["emit", "verify"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in quick:
            done = CliRunner().invoke(cli, command)
            assert done.exit_code == 0, done.output
    return folder


def test_the_first_commands_run(first_commands):
    assert (first_commands / "out/fc/certificate.json").is_file()
    if find("icarus").found:
        subprocess.run("iverilog -g2005 -o t out/fc/*.v", shell=True, cwd=first_commands, check=True)


@pytest.mark.slow
def test_the_first_simulation_prints_what_the_readme_says(first_commands):
    """All of its 90,000 cycles."""
    command = "iverilog -g2005 -o t out/fc/*.v && vvp t"
    assert command in README.read_text()
    done = subprocess.run(command, shell=True, cwd=first_commands, capture_output=True, text=True, check=True)
    (said,) = re.findall(r"PASS: \d+ outputs in \d+ cycles", README.read_text())
    assert said in done.stdout


def test_the_command_line_page_lists_every_command():
    page = (ROOT / "docs/cli.md").read_text()
    for name in cli.list_commands(None):
        assert f"`systoliq {name}" in page, f"docs/cli.md must list {name}"


def test_links_and_pictures_of_the_readme_exist():
    for path in (README, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{path.name}: {target}"


def test_files_that_contributing_names_exist():
    named = re.findall(r"`([\w/]+/[\w/.*]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    real = [name for name in named if not re.search(r"\b(NAME|CELL)\b", name)]
    assert len(real) > 30
    assert [name for name in real if not list(ROOT.glob(name))] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/getting_started.md"])
def test_the_packages_of_the_system_are_complete(name):
    assert f"apt-get install {APT}" in (ROOT / name).read_text()


def test_the_extras_are_listed():
    project = (ROOT / "pyproject.toml").read_text()
    section = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    page = (ROOT / "docs/getting_started.md").read_text()
    for extra in re.findall(r"^([a-z]+) = \[", section, re.MULTILINE):
        assert f"| `{extra}` |" in page, f"docs/getting_started.md must list the extra {extra}"


def test_the_version_is_the_same_everywhere():
    (version,) = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
