"""Compares screenshots with small reference pictures.

A screenshot is cut into cells of 8 by 8 pixels. The mean colour of each cell is compared with the
range of the reference's mean colours there, moved by up to four pixels. So letters of another
rendering and lines that are rounded another way do not count, but a moved panel, an empty view or
text without contrast does. A reference has four times fewer pixels each way and 96 colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

SCALE = 4
"""Pixels of a screenshot, each way, in a pixel of its reference."""

CELL = 2
"""Pixels of a reference, each way, in a cell."""

COLOURS = 96
CONTRAST = 8
"""The difference of a cell's mean in one channel, of 255, from which the cell differs."""

MOST_CELLS = 0.015
"""The fraction of all cells that may differ."""

REGIONS = (12, 8)
"""Rows and columns of the regions of a picture."""

MOST_OF_A_REGION = 0.2
"""The fraction of the cells of one region that may differ, so that a small panel counts."""

Cells = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Difference:
    """How a screenshot differs from its reference.

    Attributes:
        cells: the fraction of all cells that differ.
        region: the largest fraction in one region.
        place: the row and column of that region, from 1.
        picture: the screenshot in grey with the differing cells in red.
    """

    cells: float
    region: float
    place: tuple[int, int]
    picture: Image.Image

    @property
    def tolerable(self) -> bool:
        """Whether the difference is no more than that between two machines."""
        return self.cells <= MOST_CELLS and self.region <= MOST_OF_A_REGION

    def __str__(self) -> str:
        row, column = self.place
        return (
            f"{self.cells:.1%} of the cells differ (at most {MOST_CELLS:.1%}), and "
            f"{self.region:.0%} (at most {MOST_OF_A_REGION:.0%}) of the region in row {row} of "
            f"{REGIONS[0]}, column {column} of {REGIONS[1]}"
        )


def reduced(screenshot: bytes) -> Image.Image:
    """Returns a screenshot in the size of a reference, with all its colours."""
    return Image.open(BytesIO(screenshot)).convert("RGB").reduce(SCALE)


def save(picture: Image.Image, path: Path) -> None:
    """Writes a reference as a small file, with fewer colours."""
    path.parent.mkdir(exist_ok=True)
    picture.quantize(COLOURS, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)


def difference(shot: Image.Image, reference: Image.Image) -> Difference:
    """Compares two reduced pictures; what only the larger one covers differs."""
    size = (max(shot.width, reference.width), max(shot.height, reference.height))
    now, before = _padded(shot, size, "black"), _padded(reference, size, "white")
    cells = _cells(now)
    around = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    moved = np.stack([_cells(ImageChops.offset(before, x, y)) for x, y in around])
    outside = np.maximum(moved.min(axis=0) - cells, cells - moved.max(axis=0))
    differs = outside.max(axis=2) > CONTRAST
    rows, columns = REGIONS
    regions = [
        (float(part.mean()), (row + 1, column + 1))
        for row, band in enumerate(np.array_split(differs, rows, axis=0))
        for column, part in enumerate(np.array_split(band, columns, axis=1))
        if part.size
    ]
    region, place = max(regions)
    marks = Image.fromarray(np.where(differs, 255, 0).astype(np.uint8)).resize(
        size, Image.Resampling.NEAREST
    )
    grey = now.convert("L").convert("RGB")
    red = ImageChops.multiply(grey, Image.new("RGB", size, (255, 90, 90)))
    picture = Image.composite(red, grey, marks)
    return Difference(float(differs.mean()), region, place, picture)


def _padded(picture: Image.Image, size: tuple[int, int], colour: str) -> Image.Image:
    whole = Image.new("RGB", size, colour)
    whole.paste(picture.convert("RGB"), (0, 0))
    return whole


def _cells(picture: Image.Image) -> Cells:
    """The mean colour of each cell."""
    return np.asarray(picture.reduce(CELL), dtype=np.int16)
