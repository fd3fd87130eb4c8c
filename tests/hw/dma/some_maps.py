"""Maps and their windows."""

from __future__ import annotations

from systoliq.golden.network import Window
from systoliq.hw.dma.convolutions import Maps


def some_maps(rng, bus):
    """Maps with bytes between pixels, lines and images, and where they begin; a window's place may be all padding."""
    axes, side_by_side = [], rng.random() < 0.6
    for axis in range(2):
        size, tap, dilation = rng.randint(1, 6 + 6 * axis), rng.randint(1, 3), rng.randint(1, 2)
        before, after = rng.randint(0, 3), rng.randint(0, 3)
        after += max(0, (tap - 1) * dilation + 1 - size - before - after)
        stride = dilation if axis and side_by_side else rng.randint(1, 3)
        axes.append((size, tap, stride, dilation, before, after))
    image, kernel, strides, dilations, before, after = zip(*axes, strict=True)
    window = Window(kernel=kernel, strides=strides, dilations=dilations, pads=(*before, *after))
    channels = rng.choice([1, 3, bus, bus + 1, rng.randint(1, 3 * bus)])
    pixel = channels + rng.choice([0, 5])
    line = image[1] * pixel + rng.choice([0, 7])
    maps = Maps.of(
        (rng.choice([1, 1, 2, 3]), *image, channels), window, fill=rng.randint(-128, 255), pixel_stride=pixel,
        line_stride=line, image_stride=image[0] * line + rng.choice([0, 9]),
    )  # fmt: skip
    return maps, rng.randrange(1 << 20)


def windows(maps, bus, address, group):
    """(address, or what fills; extent, step_last, last, moved) of each run, by the pixels' coordinates."""
    (down, across), window, (height, width) = maps.windows.out, maps.windows.window, maps.windows.image
    pixel, line, image = maps.strides
    places = [(index, y, x) for index in range(maps.images) for y in range(down) for x in range(across)]
    chunks = range(0, maps.windows.channels, bus)
    steps = [(v, u, c) for v in range(window.kernel[0]) for u in range(window.kernel[1]) for c in chunks]
    in_common = len(chunks) == 1 and window.strides[1] == window.dilations[1]
    runs = []
    for first in range(0, len(places), group):
        of_group = places[first : first + group]
        one_line = len({(index, y) for index, y, _ in of_group}) == 1
        for v, u, c in steps:
            moved = in_common and one_line and u > 0
            for index, y, x in of_group[-1:] if moved else of_group:
                at_y = y * window.strides[0] + v * window.dilations[0] - window.pads[0]
                at_x = x * window.strides[1] + u * window.dilations[1] - window.pads[1]
                there = 0 <= at_y < height and 0 <= at_x < width
                at = address + index * image + at_y * line + at_x * pixel + c
                ends = (index, y, x) == of_group[-1]
                last = ends and (v, u, c) == steps[-1] and (index, y, x) == places[-1]
                extent = min(bus, maps.windows.channels - c) - 1
                runs.append((at if there else ("fill", maps.fill % 256), extent, ends, last, moved))
    return runs
