"""A memo as text, parents before the groups that they read.

::

    G2: PATH[(G0·G1)+] PATH[G3+]          by: StarDecompose
     └── [coalesced]
          ├── best: S_PATH[(G0·G1)+]
          └── cost: 4498.26 per unit time
    G0: WSCAN[s.a window 1h slide 1m]
     └── []  best: TO_KERNEL(G0)  cost: 1.64
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...documents.memo import Group, Memo, Winner


def render(memo: Memo) -> str:
    """Renders the groups below the root, then unread groups, each with its winners."""
    return "".join(f"{line}\n" for group in _topological(memo) for line in _lines(group))


def _lines(group: Group) -> Iterator[str]:
    members = " ".join(expression.text for expression in group.expressions)
    rules = sorted({e.rule for e in group.expressions if e.rule})
    yield f"G{group.id}: {members}" + (f"          by: {', '.join(rules)}" if rules else "")
    for winner in group.winners:
        yield from _winner(winner, last=winner is group.winners[-1])


def _winner(winner: Winner, *, last: bool) -> Iterator[str]:
    branch, stem = (" └── ", "      ") if last else (" ├── ", " │    ")
    best, cost = f"best: {winner.text}", f"cost: {winner.cost:.6g}"
    if not winner.required:
        yield f"{branch}[]  {best}  {cost}"
        return
    yield f"{branch}[{winner.required}]"
    yield f"{stem}├── {best}"
    yield f"{stem}└── {cost} per unit time"


def _topological(memo: Memo) -> list[Group]:
    """Sorts groups by reverse postorder: parents first, except in cycles."""
    groups = {group.id: group for group in memo.groups}
    order: list[Group] = []
    seen: set[int] = set()
    for start in (memo.root, *(group.id for group in reversed(memo.groups))):
        order += reversed(_postorder(groups, start, seen))
    return order


def _postorder(groups: Mapping[int, Group], start: int, seen: set[int]) -> list[Group]:
    """Returns the unseen groups below a group, and the group itself last."""
    order: list[Group] = []
    pending = [] if start in seen else [(groups[start], _read(groups[start]))]
    seen.add(start)
    while pending:
        group, inputs = pending[-1]
        if not inputs:
            order.append(group)
            pending.pop()
        elif (below := inputs.pop()) not in seen:
            seen.add(below)
            pending.append((groups[below], _read(groups[below])))
    return order


def _read(group: Group) -> list[int]:
    """Returns the distinct groups that a group reads."""
    return list(dict.fromkeys(i for e in group.expressions for i in e.inputs))
