"""Contents of nets and registers in many cases, as lists of integers; a digest of such words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from .evaluate import Scope
from .expression import Concat, UnreadableError

__all__ = ["digest_of_words", "next_of", "results_given", "values_of"]


def values_of(scope: Scope, net: str, count: int) -> list[int]:
    """The value of a net in each of `count` cases."""
    return [int(each) for each in np.broadcast_to(np.asarray(scope.value(net), object), (count,))]


def next_of(scope: Scope, net: str, count: int) -> list[int]:
    """The next contents of a register in each of `count` cases."""
    found = scope.next(net, 0, scope.module.wires[net].width)
    return [int(each) for each in np.broadcast_to(np.asarray(found, object), (count,))]


def results_given(scope: Scope, count: int) -> list[int]:
    """The data that the FIFO of results takes in each of `count` cases, without the bit that ends an image."""
    if scope.connected("fifo", "o__payload") != "o__payload":
        raise UnreadableError(f"module {scope.module.name} does not give what its FIFO holds")
    payload = scope.module.instances["fifo"].ports["i__payload"]
    if not isinstance(payload, Concat) or len(payload.parts) != 2:
        raise UnreadableError(f"module {scope.module.name} gives its FIFO something else than an end and a result")
    found = scope.evaluate(payload.parts[1])
    return [int(each) for each in np.broadcast_to(np.asarray(found, object), (count,))]


def digest_of_words(words: Iterable[int]) -> str:
    """SHA-256 of integers: decimal, with spaces between them."""
    return hashlib.sha256(" ".join(map(str, words)).encode("ascii")).hexdigest()
