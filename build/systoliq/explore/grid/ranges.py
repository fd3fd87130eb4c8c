"""Ranges of integers as the command line takes them: `1,2,4`, `4:8`, `8:24:4`, `1:16:x2`, and any of them by commas."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...errors import InputError

__all__ = ["LONGEST", "parse_range", "parse_words"]

LONGEST = 10_000  # values of one axis: more are probably a typing error

_PART = re.compile(r"(?P<first>\d+)(:(?P<last>\d+)(:(?P<times>x?)(?P<step>\d+))?)?")
_FORMS = "like 1,2,4 or 4:8 or 8:24:4 or 1:16:x2"


def parse_range(name: str, text: str | int | Iterable[int]) -> tuple[int, ...]:
    """The integers that `text` names, both ends included, rising and each once; `name` is for the error message.

    `first:last` counts by one, `first:last:step` by `step`, `first:last:xF` multiplies by F. Integers, or several of
    them, may be given as they are.
    """
    if isinstance(text, int):
        values = [text]
    elif not isinstance(text, str):
        values = list(text)
    else:
        values = [value for part in text.split(",") for value in _part(name, text, part.strip())]
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must hold integers, not {value!r}")
    if not values:
        raise InputError(f"{name} must name at least one value, {_FORMS}, not {text!r}")
    return tuple(sorted(set(values)))


def _part(name: str, text: str, part: str) -> list[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise InputError(f"{name} must be {_FORMS}, not {text!r}")
    first = int(match["first"])
    if match["last"] is None:
        return [first]
    last, step, times = int(match["last"]), int(match["step"] or 1), bool(match["times"])
    if last < first:
        raise InputError(f"{name} must rise: {part!r} runs from {first} down to {last}")
    if step < 1 + times:
        raise InputError(f"{name} must have a step of at least {'x2' if times else 1}, not {part!r}")
    if times and first < 1:
        raise InputError(f"{name} must start at 1 or more to be multiplied, not {part!r}")
    if not times and (last - first) // step >= LONGEST:
        raise InputError(f"{name} must name at most {LONGEST} values, not {(last - first) // step + 1} as in {part!r}")
    values = []
    while first <= last:
        values.append(first)
        first = first * step if times else first + step
    return values


def parse_words(name: str, text: str | Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """The words that `text` names, by commas, in that order and each once."""
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else list(text)
    choices = tuple(allowed)
    if not words:
        raise InputError(f"{name} must name at least one of {', '.join(choices)}")
    for word in words:
        if word not in choices:
            raise InputError(f"{name} must be among {', '.join(choices)}, not {word!r}")
    return tuple(dict.fromkeys(words))
