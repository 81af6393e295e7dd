"""A plan in Graphviz's DOT language."""

from __future__ import annotations

from ...documents.numbers import duration, number, printable, share
from ...documents.picture import BoxDocument, PictureDocument


def render(picture: PictureDocument) -> str:
    """Renders a digraph with edges in the direction of rows, from the inputs to the answer."""
    lines = [
        "digraph plan {",
        "  rankdir=BT;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
        '  edge [color="#777777"];',
    ]
    lines += [f"  n{box.id} [{_attributes(box, picture)}];" for box in picture.boxes]
    lines += [f"  n{child} -> n{box.id};" for box in picture.boxes for child in box.inputs]
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """Quotes ``text`` as a DOT string, without escapes or entities."""
    clean = printable(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{clean}"'


def box_lines(box: BoxDocument, picture: PictureDocument) -> list[str]:
    """Returns the lines of a box: operator, arguments, estimates."""
    lines = [f"{box.symbol} {box.operator}"]
    if box.summary:
        lines.append(box.summary)
    if box.estimate is not None:
        per = picture.per
        lines.append(
            f"{per(box.estimate.rate)} rows/{per.sign}, "
            + (f"{per(rate)} emitted, " if (rate := box.estimate.derivation_rate) else "")
            + "valid "
            f"{duration(box.estimate.interval, picture.time_unit)}, "
            f"{number(box.estimate.population)} held"
        )
        lines.append(
            f"cost {per(box.estimate.cost)}/{per.sign} "
            f"({share(box.estimate.cost, picture.cost)}), "
            f"total {per(box.estimate.cumulative_cost)}"
        )
    return lines


def _attributes(box: BoxDocument, picture: PictureDocument) -> str:
    label = "\\n".join(quoted(line)[1:-1] for line in box_lines(box, picture))
    attributes = f'label="{label}"'
    if box.estimate is not None and picture.dearest > 0:
        # hue of red; the saturation is the box's cost on the plan's own scale
        saturation = 0.6 * box.estimate.cost / picture.dearest
        attributes += f', fillcolor="0.03 {saturation:.3f} 1.0"'
    return attributes
