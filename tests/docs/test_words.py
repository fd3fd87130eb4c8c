"""Phrases that documentation, help texts and docstrings do not use: each has a plainer one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import click
import pytest

from systoliq.cli.main import cli

from ..conftest import ROOT
from ..support.sources import syntax_tree

PHRASES = {
    r"(?:is|are|be|was|were) told\b": "is reported, is rejected, raises",
    r"so many (?!that\b)": "the name of the quantity",
    r"once more\b": "again",
    r"of (?:theirs|ours|anyone's)\b": "the name of the owner",
    r"where there (?:is|are) none\b": "if there is none, by default",
    r"as (?:it comes|they come)\b": "unchanged",
    r"(?:gives|give|gave) back\b": "returns",
    r"goes on\b": "continues",
    r"(?:stands|stand) beside\b": "is next to",
    r"must be left out\b": "cannot be used with",
    r"what to turn\b": "which option to change",
    r"what is no\b": "the name of the exception, such as NaN",
    r"in its turn\b": "in order",
    r"nobody\b": "the name of the block or user, in the passive voice",
}
OPENINGS = r"(?:Of|Those|That|What|Whether|As) "
"""A docstring begins with a noun phrase or a verb instead: "The bits of a sum", "True if ...", "Return ..."."""
ANY = re.compile(rf"\b(?:{'|'.join(PHRASES)})", re.IGNORECASE)
PAGES = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/measurements").glob("*.md")),
]  # fmt: skip


def found(text: str) -> list[str]:
    joined = re.sub(r"\s+", " ", text)
    if not ANY.search(joined):
        return []
    return [f"{match[0]!r}: write {plain!r}" for phrase, plain in PHRASES.items()
            for match in re.finditer(rf"\b{phrase}", joined, re.IGNORECASE)]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_stilted_phrase_in_a_page(page):
    assert not found(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_are_at_most_120_characters(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not [line for line in prose.splitlines() if len(line) > 120 and not line.startswith("|")]


def test_no_stilted_phrase_in_the_help():
    for name in cli.list_commands(None):
        command = cli.get_command(None, name)
        for each in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            text = each.get_help(click.Context(each, info_name=each.name))
            assert not found(text), f"systoliq {name}: {each.name} --help"


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Strings that are statements; expressions, most of a tree, have none of these within."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case ast.stmt() | ast.excepthandler() | ast.match_case():
                yield from docstrings(node)


def test_no_stilted_phrase_in_a_docstring():
    faults = []
    for path in sorted(path for folder in ("build", "golden", "hw", "sim") for path in (ROOT / folder).rglob("*.py")):
        for line, text in docstrings(syntax_tree(path)):
            opening = re.match(OPENINGS, text)
            words = found(text) + ([f"{opening[0]!r} must not begin a docstring"] if opening else [])
            faults += [f"{path.relative_to(ROOT)}:{line}: {fault}" for fault in words]
    assert not faults
