"""A stream of tagged elements, and the beat that must come next.

Each bit of an element is a tag: a number that no other bit of the tensor or of the images just before has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["PADDING", "PHASES", "Beats", "TaggedStream"]

PHASES = 4  # images in a row whose tags differ
PADDING = -1


@dataclass(frozen=True)
class Beats:
    """Beats of tags of an image, by its phase."""

    elements: Sequence[int]
    count: int  # of all elements of the tensor
    bits: int
    lanes: int
    padding: int
    tag_bits: int

    def __len__(self) -> int:
        return len(self.elements) // self.lanes

    @property
    def data_bits(self) -> int:
        """The bits of a beat's tags, which `last` is above."""
        return self.bits * self.lanes * self.tag_bits

    def in_phase(self, phase: int) -> list[int]:
        """The beats; the last has ones above."""
        size, ones = self.tag_bits, (1 << self.tag_bits) - 1
        each = sum(1 << at * size for at in range(self.bits))
        ramp = sum(at + 1 << at * size for at in range(self.bits))
        constant = sum(ones << at * size for at in range(self.bits) if self.padding >> at & 1)
        first = phase * self.count * self.bits
        of_element = [
            constant if element == PADDING else (first + element * self.bits) * each + ramp for element in self.elements
        ]
        shifts = [lane * self.bits * size for lane in range(self.lanes)]
        beats = [
            sum(tags << by for tags, by in zip(of_element[at : at + self.lanes], shifts, strict=True))
            for at in range(0, len(of_element), self.lanes)
        ]
        beats[-1] |= ones << self.data_bits
        return beats


@dataclass(kw_only=True)
class TaggedStream:
    """A stream in an instance: its `beat` must come next, as beat `place` of image `images`.

    The evaluator takes the beat from `data_input` and `last_input`, where these are named. If it takes the data alone,
    only `last` is compared.
    """

    label: str
    path: str
    port: str
    beats: Beats
    data_input: str = ""
    last_input: str = ""
    images: int = 0
    place: int = 0
    beat: int = 0
    still: int = 0  # cycles since the last beat
    _known: dict[int, list[int]] = field(default_factory=dict)

    def rewind(self) -> None:
        """Begin with the first beat of the first image."""
        self.images, self.place, self.still = 0, 0, 0
        self.beat = self._image()[0]

    def advance(self) -> None:
        """Go to the beat behind this one."""
        self.place += 1
        self.still = 0
        if self.place == len(self.beats):
            self.images, self.place = self.images + 1, 0
        self.beat = self._image()[self.place]

    @property
    def done(self) -> int:
        """The beats that have come."""
        return self.images * len(self.beats) + self.place

    @property
    def unread_bits(self) -> int:
        """The bits of a payload that are not compared, the lowest ones."""
        return self.beats.data_bits if self.data_input and not self.last_input else 0

    def given(self) -> dict[str, int]:
        """The values of the evaluator's inputs for this beat, by name."""
        inputs = {}
        if self.data_input:
            inputs[self.data_input] = self.beat & (1 << self.beats.data_bits) - 1
        if self.last_input:
            inputs[self.last_input] = self.beat >> self.beats.data_bits & 1
        return inputs

    def _image(self) -> list[int]:
        phase = self.images % PHASES
        if phase not in self._known:
            self._known[phase] = self.beats.in_phase(phase)
        return self._known[phase]
