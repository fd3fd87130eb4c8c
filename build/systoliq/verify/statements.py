"""Statements of Python in an order, with fewer of them: texts by variable  ->  lines that give the same values.

A variable is `v` and a number. Texts have no effects, but for names that they bind for themselves.
"""

from __future__ import annotations

import graphlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

__all__ = ["LoopError", "on_cycles", "ordered", "used"]

_VARIABLE = re.compile(r"\bv\d+\b")
_PLAIN = re.compile(r"\w+")
_FIXED = re.compile(r":=|\[")  # binds a name, or reads a memory, which may be written to
_LONGEST = 300  # characters of a text within another one, which bounds its depth


class LoopError(ValueError):
    """A variable depends on itself."""


def used(text: str) -> set[str]:
    """The variables in a text."""
    return set(_VARIABLE.findall(text))


def on_cycles(needs: Mapping[str, set[str]]) -> set[str]:
    """Return the variables on cycles, and on ways from one to another, by what each of them needs."""
    reverse: dict[str, set[str]] = {each: set() for each in needs}
    for each, found in needs.items():
        for needed in found & needs.keys():
            reverse[needed].add(each)
    left = set(needs)
    for edges, back in ((needs, reverse), (reverse, needs)):
        counts = {each: len(edges[each] & left) for each in left}
        ends = [each for each, count in counts.items() if not count]
        while ends:
            end = ends.pop()
            left.discard(end)
            for each in back[end] & left:
                counts[each] -= 1
                if not counts[each]:
                    ends.append(each)
    return left


def ordered(statements: Mapping[str, str], others: Iterable[str]) -> tuple[dict[str, str], Callable[[str], str]]:
    """Return the texts that remain of `statements`, each after those that it needs, and a function for the `others`.

    The function replaces what does not remain in one of the `others`, the texts that also use these variables. Equal
    texts are evaluated once; a text that is used once stands where it is used.
    """
    needs = {variable: used(text) & statements.keys() for variable, text in statements.items()}
    try:
        order = list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        raise LoopError from error
    instead: dict[str, str] = {}

    def replaced(text: str) -> str:
        return _VARIABLE.sub(lambda found: instead.get(found[0], found[0]), text)

    first: dict[str, str] = {}
    texts: dict[str, str] = {}
    for variable in order:
        text = replaced(statements[variable])
        if _PLAIN.fullmatch(text) or text in first:
            instead[variable] = first.get(text, text)
        else:
            texts[variable] = text
            first[text] = variable
    times = Counter(found for text in (*texts.values(), *map(replaced, others)) for found in _VARIABLE.findall(text))
    for variable, text in texts.items():
        texts[variable] = replaced(text)
        if times[variable] == 1 and len(texts[variable]) <= _LONGEST and not _FIXED.search(text):
            instead[variable] = texts[variable]
    left = {variable: text for variable, text in texts.items() if variable not in instead}
    return left, lambda text: replaced(replaced(text))
