"""A plan as one self-contained page, or as a self-contained part of another page.

Both load no other file and run no script, as the content security policy of the page states. The
details of an operator are a ``<details>`` element. Style rules draw the tree: top down on a wide
screen, indented on a narrow one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from ...algebra.plan_parts import Estimate
from ...documents.numbers import duration, number, printable, share
from ...documents.picture import BoxDocument, PictureDocument

_HERE = Path(__file__).parent
_SLIM = frozenset({"TO_KERNEL", "EXCHANGE"})
"""Operators that only pass rows on: they are drawn small, as the page of the service draws them."""
_HOT = 0.55
"""The share of the dearest operator's cost above which the sign of a box is light."""


@dataclass(frozen=True, slots=True)
class Page:
    """The plain texts around the tree.

    Attributes:
        title: the title of the page.
        heading: the heading of the tree.
        query: the text of the query.
        numbers: pairs of name and value.
        texts: pairs of heading and preformatted text.
        tables: headings with a head row and rows.
    """

    title: str
    heading: str
    query: str = ""
    numbers: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]], ...] = ()


def render(picture: PictureDocument, page: Page) -> str:
    """The page as one HTML document."""
    template = Template((_HERE / "page.html").read_text(encoding="utf-8"))
    rest = [f"<h2>{escape(heading)}</h2>\n{_pre(text)}" for heading, text in page.texts]
    rest += [f"<h2>{escape(h)}</h2>\n{_table(head, rows)}" for h, head, rows in page.tables]
    return template.substitute(
        title=escape(printable(page.title)),
        style=_style("plan.css") + _style("page.css"),
        heading=escape(page.heading),
        query=_pre(page.query) if page.query else "",
        numbers=_definitions(page.numbers, "numbers"),
        legend=_legend(picture),
        tree=_tree(picture),
        rest="\n".join(rest),
    )


def fragment(picture: PictureDocument, page: Page, name: str) -> str:
    """The heading, the numbers and the tree as one element, for a notebook.

    Its style rules apply to the element alone.

    Args:
        picture: the drawing of the plan.
        page: the texts around the tree; the element shows the heading and the numbers.
        name: distinguishes the links of this plan from those of others on the same page.
    """
    return (
        f'<div class="headrace-plan"><style>{_style("plan.css")}</style>'
        f"<strong>{escape(printable(page.heading))}</strong>"
        f"{_definitions(page.numbers, 'numbers')}{_legend(picture)}"
        f'<div class="plan" tabindex="0">{_tree(picture, f"{name}-n")}</div></div>'
    )


def titled_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table below its title, for a notebook."""
    return f"<div><strong>{escape(title)}</strong>{_table(head, rows)}</div>"


def progress_bar(text: str, fraction: float | None) -> str:
    """A bar with a text beside it; without a ``fraction`` the bar shows only that work goes on."""
    value = "" if fraction is None else f' value="{min(1.0, max(0.0, fraction)):.3f}"'
    return f"<label><progress{value}></progress> {escape(printable(text))}</label>"


def _style(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _tree(picture: PictureDocument, prefix: str = "n") -> str:
    """The boxes as nested lists; ``prefix`` begins the name of each box."""
    out: list[str] = []
    shared = picture.shared
    seen: set[int] = set()
    # Use an explicit stack, since plans may be deeper than Python's recursion limit. The stack has
    # ids to draw, and tags to write after the entries above them.
    pending: list[int | str] = ["</ul>", picture.root.id]
    out.append("<ul>")
    while pending:
        top = pending.pop()
        if isinstance(top, str):
            out.append(top)
            continue
        box = picture.boxes[top]
        again = top in seen
        seen.add(top)
        flow, width = _flow(box, picture)
        out.append(f"<li{width}>{flow}")
        out.append(_again(box, prefix) if again else _box(box, picture, prefix, top in shared))
        if again or not box.inputs:
            out.append("</li>")
        else:
            out.append("<ul>")
            pending += ["</ul></li>", *reversed(box.inputs)]
    return "\n".join(out)


def _emitted(estimate: Estimate, picture: PictureDocument) -> list[tuple[str, str]]:
    """The fact about emitted rows, where some repeat others."""
    if estimate.derivation_rate is None:
        return []
    return [(f"emitted/{picture.per.sign}", picture.per(estimate.derivation_rate))]


def _flow(box: BoxDocument, picture: PictureDocument) -> tuple[str, str]:
    """The rate on the line from a box to its reader, and the width of that line as a style."""
    if box.estimate is None or box is picture.root:
        return "", ""
    most = max((one.estimate.rate for one in picture.boxes if one.estimate), default=0.0)
    rate = box.estimate.rate
    text = f"{picture.per(rate)} rows/{picture.per.sign}"
    width = f' style="--flow: {_thickness(rate, most):.1f}px"'
    return f'<span class="flow">{escape(text)}</span>', width


def _thickness(rate: float, most: float) -> float:
    """The width of a line in pixels, 1 to 7, by the order of magnitude of its rate."""
    if rate <= 0 or most <= 0:
        return 1.0
    return max(1.0, 7 + 1.5 * math.log10(rate / most))


def _box(box: BoxDocument, picture: PictureDocument, prefix: str, shared: bool) -> str:
    mark = f" #{box.id}" if shared else ""
    style, cost, valid, hot = "", "", "", False
    facts = [(fact.name, fact.value) for fact in box.facts]
    if box.estimate is not None:
        per = picture.per
        unit = per.sign
        estimate = box.estimate
        interval = duration(estimate.interval, picture.time_unit)
        if picture.dearest > 0:
            heat = estimate.cost / picture.dearest
            style, hot = f' style="--heat-share: {heat:.3f}"', heat > _HOT
        cost = share(estimate.cost, picture.cost)
        if box.operator not in _SLIM:
            held = number(estimate.population)
            valid = f'<span class="rate">valid {escape(interval)} · holds {escape(held)}</span>'
        facts = [
            (f"cost, µs/{unit}", f"{per(estimate.cost)} ({cost} of the plan)"),
            ("cost so far", per(estimate.cumulative_cost)),
            (f"rows/{unit}", per(estimate.rate)),
            *_emitted(estimate, picture),
            ("valid", interval),
            ("rows held", number(estimate.population)),
            *facts,
        ]
    kinds = " ".join(
        ["box", *(["slim"] if box.operator in _SLIM else []), *(["hot"] if hot else [])]
    )
    return (
        f'<details class="{kinds}" id="{prefix}{box.id}"{style}><summary>'
        f'<span class="op"><span class="sign" aria-hidden="true">{escape(box.symbol)}</span>'
        f"<span>{escape(box.operator)}{mark}</span>"
        f'<span class="share">{cost}</span></span>'
        f'<span class="sum">{escape(printable(box.summary))}</span>{valid}</summary>'
        f"{_definitions(facts, 'facts')}</details>"
    )


def _again(box: BoxDocument, prefix: str) -> str:
    return (
        f'<div class="box again">{escape(box.symbol)} {escape(box.operator)}: '
        f'the same rows as <a href="#{prefix}{box.id}">#{box.id}</a></div>'
    )


def _legend(picture: PictureDocument) -> str:
    if picture.dearest <= 0:
        return ""
    work = escape(picture.per.of_work)
    dearest = escape(picture.per(picture.dearest))
    return (
        f'<div class="legend"><span>0</span><i></i><span>{dearest} {work}</span>'
        "<span>open a box for its details</span></div>"
    )


def _pre(text: str) -> str:
    lines = "\n".join(printable(line.expandtabs()) for line in text.rstrip("\n").split("\n"))
    return f"<pre>{escape(lines)}</pre>"


def _definitions(pairs: Iterable[tuple[str, str]], kind: str) -> str:
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(printable(value))}</dd></div>"
        if kind == "numbers"
        else f"<dt>{escape(name)}</dt><dd>{escape(printable(value))}</dd>"
        for name, value in pairs
    )
    return f'<dl class="{kind}">{body}</dl>' if body else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(printable(c))}</{tag}>" for c in cells) + "</tr>"

    body = "\n".join(row(cells, "td") for cells in rows)
    return f'<div class="scroll"><table>\n{row(head, "th")}\n{body}\n</table></div>'
