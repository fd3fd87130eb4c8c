"""systoliq.hw.packing: how operands and results lie in the words of the ports, in code and in words.

`LayerPacking` serves `Dense`, and `ArrayPacking` serves `BareArray`; for the engine, see
`hw.engine.host.EnginePacking`.
"""

from systoliq.golden.words import Flags, Integers, Words, from_words, pads, to_integers, to_words

from .array import ArrayPacking
from .array_sums import array_sums, sum_words
from .images import image_words
from .layer import LayerPacking

__all__ = [
    "ArrayPacking",
    "Flags",
    "Integers",
    "LayerPacking",
    "Words",
    "array_sums",
    "from_words",
    "image_words",
    "pads",
    "sum_words",
    "to_integers",
    "to_words",
]
