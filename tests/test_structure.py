"""The structure of the code: imports run one way, the namespace stays whole, each dependency says why it is there."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support.import_graph import circles, import_graph
from .support.sources import syntax_tree

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("golden", "hw", "sim", "build")  # each may import those before it
MODULES = [path for part in PARTS for path in sorted((ROOT / part / "systoliq").rglob("*.py"))]
HARDWARE = [path for path in MODULES if path.is_relative_to(ROOT / "hw")]
NUMPY_ONLY = "golden"
ANYWHERE = {
    "failed",
    "markup",
    "subprocesses",
}  # in the folder hw: they import nothing of ours, and any part may import them
BUILD = ROOT / "build/systoliq"
DIRECTION = (  # packages and modules of the folder build: each may import those of the lines before its own
    {"errors", "generator", "progress"},
    {"files", "odd_scales", "samples"},
    {"onnx", "synth"},
    {"design"},
    {"testbench"},
    {"package", "quantize"},
    {"benchmarks", "board", "demo", "explore", "inference"},
    {"accelerate", "partition", "signoff", "soc"},
    {"datasheet", "deploy", "harden"},
    {"cli"},
    {"__main__", "api"},
)
APART = {"mutants": {"verify"}, "prove": set(), "verify": set()}  # import no more of build
CHECKING = {"accelerate", "cli", "signoff"}  # may import those of APART
MOST_PARAMETERS = 8


@functools.cache
def imported_modules(path: Path) -> frozenset[str]:
    """Full names of what a module imports, also within functions, relative imports resolved."""
    package = path.relative_to(ROOT).parts[1:-1]  # ("systoliq", "hw", ...)
    names = set()
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names} if module == "systoliq" else {module}
    return frozenset(names)


def packages_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported_modules(path) if name.startswith("systoliq.")}


def test_imports_run_one_way():
    for path in MODULES:
        part = path.relative_to(ROOT).parts[0]
        allowed = PARTS[: PARTS.index(part) + 1]
        if part != "build":  # its own order is below
            assert packages_imported(path) <= {*allowed, *ANYWHERE}, f"{path}: {part} may import {', '.join(allowed)}"


def name_in_build(path: Path) -> str:
    return path.relative_to(BUILD).parts[0].removesuffix(".py")


def test_the_direction_names_all_of_build():
    names = {name_in_build(path) for path in BUILD.rglob("*.py")}
    assert {name for line in DIRECTION for name in line} | set(APART) == names


def allowed_in_build(name: str) -> set[str]:
    if name in APART:
        return {name} | APART[name]
    line = next(i for i, names in enumerate(DIRECTION) if name in names)
    return {name}.union(*DIRECTION[:line], APART if name in CHECKING else ())


def test_imports_of_build_run_one_way():
    for path in sorted(BUILD.rglob("*.py")):
        name = name_in_build(path)
        assert packages_imported(path) - {*PARTS, *ANYWHERE} <= allowed_in_build(name), path


def test_the_questions_of_explore_know_nothing_of_each_other():
    """They share the modules of `systoliq.explore` itself, which know none of them; `results` and commands know all."""
    folder = BUILD / "explore"
    questions = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert questions == {"grid", "precision", "question"}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0]
        if own in {"__init__.py", "results.py"}:
            continue
        named = {name.split(".")[2] for name in imported_modules(path) if name.startswith("systoliq.explore.")}
        assert not (named & questions) - {own}, path


def test_imports_make_no_circles():
    """Neither within functions nor under TYPE_CHECKING."""
    assert circles(import_graph(ROOT, PARTS)) == set()


def test_a_circle_of_imports_is_found(tmp_path):
    folder = tmp_path / "build/systoliq/part"
    folder.mkdir(parents=True)
    files = {
        "__init__.py": "",
        "__init__.pyi": "from .a import name",
        "a.py": "def f():\n    from .b import g",
        "b.py": "if TYPE_CHECKING:\n    from . import c",
        "c.py": "from systoliq.part import name",
        "d.py": "from .a import f",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    assert circles(import_graph(tmp_path, ["build"])) == {frozenset(f"systoliq.part.{name}" for name in "abc")}


def test_verify_shares_nothing_with_what_it_checks():
    for path in sorted((BUILD / "verify").rglob("*.py")):
        ours = {name for name in imported_modules(path) if name.startswith("systoliq")}
        assert all(name.startswith("systoliq.verify") for name in ours), path
        assert not any(name.startswith("amaranth") for name in imported_modules(path)), path


def test_each_command_has_a_file_of_its_name():
    from systoliq.cli.main import COMMANDS, cli

    for name in COMMANDS:
        command = cli.get_command(None, name)
        file = BUILD / "cli" / f"{name.replace('-', '_')}.py"
        assert command.callback.__module__ == f"systoliq.cli.{file.stem}"
        decorated = [
            function.name
            for function in syntax_tree(file).body
            if isinstance(function, ast.FunctionDef)
            if any("click.command" in ast.unparse(each) for each in function.decorator_list)
        ]
        assert decorated == [file.stem]
        assert ast.get_docstring(syntax_tree(file)).startswith(f"The command `systoliq {name}`")


NO_NOUNS = {"What", "How", "When", "Where", "Which", "Who", "Whether", "From", "One", "Everything", "Other"}


def test_docstrings_of_modules_begin_with_a_noun():
    for path in MODULES:
        text = ast.get_docstring(syntax_tree(path))
        assert text, path
        assert text.split()[0] not in NO_NOUNS, path


def test_no_code_asks_which_kind_a_design_is():
    for path in MODULES:
        text = path.read_text()
        assert not re.search(r"isinstance\([^()]*, \(?\w*Design\b", text), f"{path}: a method of Design instead"


def test_issubclass_is_asked_of_classes_only():
    """In Python 3.10, isinstance(list[int], type) is true, and issubclass(list[int], ...) raises TypeError."""
    for path in MODULES:
        assert not re.search(r"isinstance\([^()]*, type\)\s+and issubclass", path.read_text()), path


def test_public_functions_take_few_parameters():
    """Commands apart, whose parameters are their options; fields of dataclasses do not count."""
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for name, function in public_functions(syntax_tree(path))
        if parameters(function) - ("." in name) > MOST_PARAMETERS
        if not any("command(" in ast.unparse(decorator) for decorator in function.decorator_list)
    }
    assert not found


def public_functions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from public_functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            yield prefix + node.name, node


def parameters(function: ast.FunctionDef) -> int:
    return sum(len(each) for each in (function.args.posonlyargs, function.args.args, function.args.kwonlyargs))


def test_golden_needs_numpy_only():
    import sys

    foreign = {
        name.split(".")[0]
        for path in MODULES
        if path.relative_to(ROOT).parts[0] == NUMPY_ONLY
        for name in imported_modules(path)
    } - sys.stdlib_module_names
    assert foreign <= {"numpy", "systoliq"}


@pytest.mark.parametrize("part", PARTS)
def test_the_namespace_stays_whole(part):
    assert not (ROOT / part / "__init__.py").exists()
    assert not (ROOT / part / "systoliq" / "__init__.py").exists()
    package = ROOT / part / "systoliq" / ("" if part == "build" else part)
    assert (package / "py.typed").exists()
    assert part == "build" or (package / "__init__.py").exists()
    scripts = {"resnet8_fc.py"} if part == "build" else set()  # the build script that the mission names
    assert {path.name for path in (ROOT / part).iterdir() if path.name != "__pycache__"} == {"systoliq"} | scripts


def test_git_ignores_no_folder_named_build():
    assert not re.search(r"^(\*\*)?/?build/?$", (ROOT / ".gitignore").read_text(), re.MULTILINE)


def test_each_dependency_has_its_reason():
    lists = re.findall(
        r"^(?:dependencies|demo|engine|onnx|test|synth|formal) = \[\n(.*?)^\]", pyproject(), re.MULTILINE | re.DOTALL
    )
    assert lists
    for line in "".join(lists).splitlines():
        assert re.fullmatch(r'\s+"[^"]+",\s+# \S.*', line), f"no reason beside {line.strip()}"


def test_each_lint_exception_has_its_reason():
    for line in pyproject().splitlines():
        if re.match(r'\s+"[A-Z]+\d+",', line):
            assert re.search(r",\s+# \S", line), f"no reason beside {line.strip()}"


def pyproject() -> str:
    return (ROOT / "pyproject.toml").read_text()


def test_every_public_method_of_hw_has_its_docstring():
    """An overriding method may leave it to its base; `elaborate` is Amaranth's, and its class states the contract."""
    classes: dict[str, tuple[set[str], dict[str, bool]]] = {}
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] == "hw":
            for node in ast.walk(syntax_tree(path)):
                if isinstance(node, ast.ClassDef):
                    names = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                    bases = {base.id for base in names if isinstance(base, ast.Name)}
                    methods = {f.name: bool(ast.get_docstring(f)) for f in node.body if isinstance(f, ast.FunctionDef)}
                    classes[node.name] = bases, methods

    def documented(name: str, method: str) -> bool:
        bases, methods = classes.get(name, (set(), {}))
        return methods.get(method, False) or any(documented(base, method) for base in bases)

    missing = [
        f"{name}.{method}"
        for name, (_, methods) in classes.items()
        for method in methods
        if not method.startswith("_") and method != "elaborate" and not documented(name, method)
    ]
    assert not missing


TESTED_ELSEWHERE = {
    "packing/layer.py": "tests/hw/test_packing.py",
    "packing/array.py": "tests/hw/test_packing.py",
    "packing/images.py": "tests/sim/test_network.py streams images in its words",
    "packing/array_sums.py": "tests/hw/mac/test_float8.py expects its words",
    "normalized.py": "tests/hw/test_float8_rounding.py and test_integer_rounding.py round with it",
    "engine/host/packing.py": "tests/hw/test_packing.py",
    "engine/host/job.py": "tests/engine runs jobs",
    "engine/host/plan.py": "tests/engine/test_operators.py plans them",
    "engine/host/batches.py": "tests/engine/test_batches.py takes them apart",
    "engine/host/job_placement.py": "tests/engine/test_operators.py puts results together",
    "engine/host/float8_plan.py": "tests/engine/test_float8.py plans them",
    "engine/host/driver.py": "tests/engine carries out its steps; test_driver_c.py holds the C driver to them",
    "dma/word_queue.py": "tests/hw/dma/test_early_buffer.py has both",
    "network/window_operator.py": "tests/hw/network/test_operator.py holds all operators to the same tests",
    "network/layer_operator.py": "tests/hw/network/test_operator.py, likewise",
    "network/average_operator.py": "tests/hw/network/test_operator.py, likewise",
    "network/real_average.py": "tests/hw/network/test_stages.py streams windows through it",
    "network/repeated.py": "tests/hw/network/test_stages.py streams gates through it",
    "network/upsampling.py": "tests/hw/network/test_stages.py streams images through it",
    "network/centred.py": "tests/hw/network/test_multiplication.py and test_product.py multiply with it",
    "mac/clearing.py": "tests/hw/mac/test_ecp5.py and test_gowin.py accumulate with it",
    "mac/form.py": "says what a form must have and does nothing",
    "engine/axi_engine.py": "tests/engine runs whole engines",
    "dma/bus.py": "two constants",
    "dma/axi4.py": "names ports; tests/hw/dma/memory.py holds the masters to the protocol",
    "dma/realigner.py": "tests/hw/dma/test_read_master.py reads through it",
    "dma/rotate.py": "tests/hw/dma/test_read_master.py and test_write_master.py turn words with it",
    "dma/registers.py": "tests/hw/dma/test_control.py writes and reads each",
    "dma/list_cycles.py": "tests/engine/test_list_cycles.py compares it with RTL",
    "dma/job_cycles.py": "tests/engine/test_list_cycles.py, likewise",
    "dma/dma_engine.py": "tests/engine/test_dma_engine.py runs it",
    "dma/normalized_rows.py": "tests/engine/test_vector_rows.py normalizes rows",
    "dma/row_core.py": "tests/engine/test_vector_rows.py runs both cores",
    "dma/row_buffer.py": "tests/engine/test_vector_rows.py reads rows through it",
    "dma/row_operations.py": "tests/engine/test_vector_rows.py plays them",
    "dma/row_unit.py": "tests/engine/test_vector_rows.py runs it",
    "dma/softmax_rows.py": "tests/engine/test_vector_rows.py compares it with onnxruntime",
    "network/softmax_steps.py": "tests/hw/network/test_softmax.py and tests/engine/test_vector_rows.py take them",
    "soc/ports.py": "tests/hw/soc joins blocks by it",
    "soc/registers.py": "tests/hw/soc/test_peripherals.py writes and reads each",
    "soc/ram_core.py": "tests/hw/soc/test_axi_ram.py reads and writes it, test_system.py runs its Verilog",
    "soc/cpu.py": "tests/engine/test_system.py runs programs on it",
    "soc/system.py": "tests/engine/test_system.py runs it",
    "engine/core.py": "tests/engine runs whole engines",
    "engine/dataflow.py": "tests/engine runs engines of both dataflows",
    "engine/output_stationary.py": "tests/engine runs engines of both dataflows",
    "engine/weight_stationary.py": "tests/engine runs engines of both dataflows",
}


def test_every_module_of_hw_has_a_test_file_of_its_name():
    modules = {path for path in (ROOT / "hw/systoliq/hw").rglob("*.py") if path.name != "__init__.py"}
    modules -= set((ROOT / "hw/systoliq/hw/network/operators").iterdir())  # tests/hw/network/test_operator.py has all
    names = {str(path.relative_to(ROOT / "hw/systoliq/hw")) for path in modules}
    tests = {str(path.relative_to(ROOT / "tests/hw")) for path in (ROOT / "tests/hw").rglob("test_*.py")}
    tested = {name for name in names if str(Path(name).with_name(f"test_{Path(name).name}")) in tests}
    assert names - tested == set(TESTED_ELSEWHERE)


def test_no_code_names_files_outside_the_repository():
    for path in MODULES:
        text = path.read_text()
        assert "shared/" not in text, path
        assert "parents[" not in text, path


def test_signals_have_names_of_their_own():
    """Amaranth names `x = Signal()` after x; of `x, y = Signal(), Signal()` what it makes depends on Python's version,
    and packages of one version would be refused by `systoliq verify` of another.
    """
    for path in HARDWARE:
        for node in ast.walk(syntax_tree(path)):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Tuple)
                and isinstance(node.value, ast.Tuple)
            ):
                for each in node.value.elts:
                    named = isinstance(each, ast.Call) and any(keyword.arg == "name" for keyword in each.keywords)
                    assert named or not _is_signal(each), f"{path}:{node.lineno}: {ast.unparse(node)}"


def _is_signal(node: ast.expr) -> bool:
    """Whether it makes a signal, or a port of a memory."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in (
        "Signal",
        "like",
        "read_port",
        "write_port",
    )


def test_tests_are_not_imported():
    """What tests share is in other modules, with names of their own among the folders that tests put on `sys.path`."""
    tests = ROOT / "tests"
    imported = {
        (path.relative_to(tests), name)
        for path in sorted(tests.rglob("*.py"))
        for name in imported_modules(path)
        if name.rpartition(".")[2].startswith("test_")
    }
    assert not imported
    on_path = {path.parent for path in tests.rglob("*.py") if "sys.path.insert(0, str(" in path.read_text()}
    shared = [path.name for folder in on_path for path in folder.glob("*.py") if not path.name.startswith("test_")]
    twice = {name for name in shared if shared.count(name) > 1} - {"conftest.py"}
    assert not twice
