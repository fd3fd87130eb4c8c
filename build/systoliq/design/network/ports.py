"""Ports of a network: what each means, for its sidecar."""

from __future__ import annotations

from systoliq.hw.network.assembly import Assembly

__all__ = ["network_meanings"]


def network_meanings(assembly: Assembly) -> dict[str, str]:
    """Return the meaning of each port of the top module, by its name."""
    inputs, outputs = list(assembly.inputs), list(assembly.outputs)
    tlasts = f"an s_axis_{inputs[0]}_tlast" if len(inputs) == 1 else "a tlast of an input"
    found = {
        "rst": "synchronous reset, active high; the contents of the weight memories stay",
        "error": f"1 until reset: {tlasts} came with a beat that ends no image",
    }
    for letter in inputs:
        which = "" if len(inputs) == 1 else f" of input {letter}"
        found |= {
            f"s_axis_{letter}_tdata": f"pixels of images{which}, see packing.{letter}",
            f"s_axis_{letter}_tvalid": "a beat of pixels is offered",
            f"s_axis_{letter}_tready": "the beat of pixels is taken",
            f"s_axis_{letter}_tlast": "the last beat of an image; with any other beat it is an error",
        }
    for letter in outputs:
        which = "outputs" if len(outputs) == 1 else f"results of output {letter}"
        found |= {
            f"m_axis_{letter}_tdata": f"{which}, see packing.{letter}",
            f"m_axis_{letter}_tvalid": "a beat of Y is offered; it stays until it is taken",
            f"m_axis_{letter}_tready": "the beat of Y is taken",
            f"m_axis_{letter}_tlast": "the last beat of an image's results",
        }
    return found
