"""The memo as text, parents before the groups that they read.

::

    G4: (join G0 G3) (join G3 G0) (join G1 G2)          rules: 2 fired
     ├── [coalesced]
     │    ├── best: (coalesce G4=[])
     │    └── cost: 41.2 per unit time
     └── []  best: (hash-join G0=[] G3=[])  cost: 35.0
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from .expression import GroupId
from .group import Group, Winner
from .memo import Memo


def format_memo(
    memo: Memo,
    root: GroupId,
    show: Callable[[Hashable, tuple[str, ...]], str] | None = None,
    show_properties: Callable[[Hashable], str] = str,
) -> str:
    """The memo below ``root``, then the groups that no expression reads.

    ``show`` gives the text of an operator over the names of its inputs, ``show_properties`` that of
    required properties.
    """
    write = show or _lisp
    lines: list[str] = []
    for group in _topological(memo, root):
        members = " ".join(
            write(e.operator, tuple([f"G{i}" for i in e.inputs])) for e in group.expressions
        )
        fired = sorted({e.rule for e in group.expressions if e.rule})
        by = f"          by: {', '.join(fired)}" if fired else ""
        lines.append(f"G{group.id}: {members}{by}")
        winners = sorted(group.winners.items(), key=lambda item: str(item[0]))
        for k, (properties, winner) in enumerate(winners):
            last = k == len(winners) - 1
            lines.extend(_winner_lines(winner, show_properties(properties), last, write))
    return "\n".join(lines) + "\n"


def _winner_lines(
    winner: Winner, properties: str, last: bool, write: Callable[[Hashable, tuple[str, ...]], str]
) -> list[str]:
    branch, stem = (" └── ", "      ") if last else (" ├── ", " │    ")
    inputs = tuple(f"G{group}" for group, _ in winner.inputs)
    best = f"best: {write(winner.choice, inputs)}"
    cost = f"cost: {winner.cost:.6g}"
    if properties:
        return [
            f"{branch}[{properties}]",
            f"{stem}├── {best}",
            f"{stem}└── {cost} per unit time",
        ]
    return [f"{branch}[]  {best}  {cost}"]


def _topological(memo: Memo, root: GroupId) -> list[Group]:
    """Parents first where there is no circle: reverse postorder of a depth-first walk."""
    # Imported here: it takes an eighth of a second, and most commands print no memo.
    from networkx import DiGraph, dfs_postorder_nodes

    reads: DiGraph[GroupId] = DiGraph()
    for group in memo.groups:
        reads.add_node(group.id)
        inputs = dict.fromkeys(i for e in group.expressions for i in e.inputs)
        reads.add_edges_from((group.id, below) for below in reversed(inputs))
    order: list[Group] = []
    for start in (memo.find(root), *(g.id for g in reversed(tuple(memo.groups)))):
        if start in reads:
            part = list(dfs_postorder_nodes(reads, start))
            reads.remove_nodes_from(part)
            order.extend(memo.group(g) for g in reversed(part))
    return order


def _lisp(operator: Hashable, inputs: tuple[str, ...]) -> str:
    return f"({' '.join((str(operator), *inputs))})"
