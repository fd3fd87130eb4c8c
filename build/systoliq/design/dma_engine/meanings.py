"""Meanings of a DMA engine's ports."""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.meanings import MEANINGS as OF_ENGINE

__all__ = ["MEANINGS"]

_ADDRESS = {
    "id": "always 0",
    "addr": "in bytes, a multiple of the bus",
    "len": "beats less one, at most 15",
    "size": "bytes of a beat, as a power of two: those of the bus",
    "burst": "INCR",
    "cache": "normal memory, not cached",
    "prot": "always 0",
    "valid": "it is offered",
    "ready": "it is taken",
}
_READ = {
    "data": "what is there",
    "resp": "OKAY, or an error",
    "last": "not looked at",
    "id": "not looked at",
    "valid": "it is offered",
    "ready": "always 1",
}
_WRITE = {
    "data": "what goes there",
    "strb": "bytes that are written",
    "last": "the burst's last beat",
    "valid": "it is offered",
    "ready": "it is taken",
}
_ANSWER = {
    "resp": "OKAY, or an error",
    "id": "not looked at",
    "valid": "it is offered",
    "ready": "always 1",
}


def _meanings() -> Iterator[tuple[str, str]]:
    """Meanings of the masters' ports."""
    for name, title in (("a", "A"), ("b", "B"), ("list", "the list")):
        for channel, signals, text in (("ar", _ADDRESS, "address of a read"), ("r", _READ, "a read's data")):
            yield from (
                (f"m_axi_{name}_{channel}{each}", f"AXI4, {text} of {title}: {signals[each]}") for each in signals
            )
    for channel, signals, text in (
        ("aw", _ADDRESS, "address of a write"),
        ("w", _WRITE, "a write's data"),
        ("b", _ANSWER, "a write's answer"),
    ):
        yield from ((f"m_axi_y_{channel}{each}", f"AXI4, {text} of Y: {signals[each]}") for each in signals)


MEANINGS = (
    {
        name: text.replace("see registers.md", "see registers.md and dma_registers.md")
        for name, text in OF_ENGINE.items()
    }
    | dict(_meanings())
    | {"irq": "interrupt, active high, for what the registers INTERRUPT and DMA_INTERRUPT name"}
)
