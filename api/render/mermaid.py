"""A plan as a Mermaid flowchart, for Markdown pages."""

from __future__ import annotations

from ...documents.numbers import printable
from ...documents.picture import BoxDocument, PictureDocument
from .dot import box_lines


def render(picture: PictureDocument) -> str:
    """Renders a flowchart with arrows in the direction of rows, from the inputs to the answer."""
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
    """Escapes ``text``: the markup characters of Mermaid and HTML become numbered entities."""
    return "".join(
        c if c.isalnum() or c in " .,→⋈σ∪π∅⊔∞·–" else f"#{ord(c)};" for c in printable(text)
    )


def _label(box: BoxDocument, picture: PictureDocument) -> str:
    return "<br/>".join(map(escaped, box_lines(box, picture)))
