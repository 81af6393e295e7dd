"""A plan as a Mermaid flowchart, for Markdown pages that draw it."""

from __future__ import annotations

from ...documents.numbers import printable
from ...documents.picture import BoxDocument, PictureDocument
from .dot import box_lines


def render(picture: PictureDocument) -> str:
    """A flowchart whose arrows follow the rows, from the inputs up to the answer."""
    lines = ["flowchart BT"]
    lines += [f'  n{box.id}["{_label(box, picture)}"]' for box in picture.boxes]
    lines += [f"  n{child} --> n{box.id}" for box in picture.boxes for child in box.inputs]
    dearest = picture.dearest
    lines += [
        f"  style n{box.id} stroke-width:{1 + 4 * box.estimate.cost / dearest:.1f}px"
        for box in picture.boxes
        if box.estimate is not None and dearest > 0
    ]
    return "\n".join([*lines, ""])


def escaped(text: str) -> str:
    """``text`` with all that Mermaid or HTML could read as markup as numbered entities."""
    return "".join(
        c if c.isalnum() or c in " .,→⋈σ∪π∅⊔∞·–" else f"#{ord(c)};" for c in printable(text)
    )


def _label(box: BoxDocument, picture: PictureDocument) -> str:
    return "<br/>".join(map(escaped, box_lines(box, picture)))
