"""A plan as one self-contained page.

The page loads no other file and runs no script, as its content security policy states. The
details of an operator are a ``<details>`` element. Style rules draw the tree: top down on a wide
screen, indented on a narrow one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from ...algebra.plan import Estimate
from ...documents.numbers import duration, number, printable, share
from ...documents.picture import BoxDocument, PictureDocument

_HERE = Path(__file__).parent


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
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        heading=escape(page.heading),
        query=_pre(page.query) if page.query else "",
        numbers=_definitions(page.numbers, "numbers"),
        legend=_legend(picture),
        tree=_tree(picture),
        rest="\n".join(rest),
    )


def _tree(picture: PictureDocument) -> str:
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
        out.append("<li>")
        out.append(_again(box) if again else _box(box, picture, top in shared))
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


def _box(box: BoxDocument, picture: PictureDocument, shared: bool) -> str:
    mark = f" #{box.id}" if shared else ""
    heat, cost, rate = "", "", ""
    facts = [(fact.name, fact.value) for fact in box.facts]
    if box.estimate is not None:
        per = picture.per
        unit = per.sign
        estimate = box.estimate
        valid = duration(estimate.interval, picture.time_unit)
        if picture.dearest > 0:
            heat = f' style="--heat: {estimate.cost / picture.dearest:.3f}"'
        cost = share(estimate.cost, picture.cost)
        rate = (
            f'<span class="rate">{escape(per(estimate.rate))} rows/{escape(unit)}'
            f" · valid {escape(valid)}</span>"
        )
        facts = [
            (f"cost/{unit}", f"{per(estimate.cost)} ({cost} of the plan)"),
            ("cost so far", per(estimate.cumulative_cost)),
            (f"rows/{unit}", per(estimate.rate)),
            *_emitted(estimate, picture),
            ("valid", valid),
            ("rows held", number(estimate.population)),
            *facts,
        ]
    return (
        f'<details class="box" id="n{box.id}"{heat}><summary>'
        f'<span class="op"><span>{escape(box.symbol)} {escape(box.operator)}{mark}</span>'
        f"<span>{cost}</span></span>"
        f'<span class="sum">{escape(printable(box.summary))}</span>{rate}</summary>'
        f"{_definitions(facts, 'facts')}</details>"
    )


def _again(box: BoxDocument) -> str:
    return (
        f'<div class="box again">{escape(box.symbol)} {escape(box.operator)}: '
        f'the same rows as <a href="#n{box.id}">#{box.id}</a></div>'
    )


def _legend(picture: PictureDocument) -> str:
    if picture.dearest <= 0:
        return ""
    unit = escape(picture.per.sign)
    dearest = escape(picture.per(picture.dearest))
    return (
        f'<div class="legend"><span>cost/{unit} 0</span><i></i><span>{dearest}</span>'
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
