"""The operator for trails: paths that repeat no edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import regex
from ..automaton import minimal_dfa
from ..combinations import RETRACTING, Feature, Form, declared
from ..notation import InputNames
from ..remedy import Remedy
from .base import I, LogicalOperator
from .patterns import ANY_PATHS, canonical_regex
from .rows import Empty

TRAILS = declared(
    Form(
        "trails that differ from any paths",
        brings=Feature.TRAILS,
        refuses=RETRACTING,
        hint="let the path run over edges that are never deleted, and join it with other rules",
        remedy=Remedy("path_semantics", "ask for arbitrary paths", "arbitrary"),
    )
)


@dataclass(frozen=True, slots=True)
class Trail(LogicalOperator):
    """P of trails: pairs connected by a non-empty path whose word is in L(R) and repeats no edge.

    A row of an input is an edge: its two ends, and then the columns that tell it from other edges
    with these ends. Walking an edge forwards and backwards repeats it.

    Attributes:
        regex: the words of the paths, as in :class:`Path`.
        relations: for each input the number of the relation that its edges are from. Equal rows of
            two inputs of one relation are one edge. Canonical: numbered by first occurrence.
    """

    regex: regex.Regex
    relations: tuple[int, ...]

    op: ClassVar[str] = "PATH"
    names_inputs: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        return ANY_PATHS if self.is_any_path else TRAILS

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Path.canonical`; equal inputs of one relation become one symbol.

        Equal inputs of different relations stay apart: equal rows of two derived predicates are two
        edges.
        """
        relations = in_order(self.relations)
        several = len(relations) + 1
        keys = tuple([int(i) * several + of for i, of in zip(inputs, relations, strict=True)])
        r, used = canonical_regex(self.regex, keys)
        if r is None:
            return Empty(2), ()
        place = {key: k for k, key in enumerate(keys)}
        left = [place[key] for key in used]
        return Trail(r, in_order([relations[k] for k in left])), tuple([inputs[k] for k in left])

    def width(self, inputs: Sequence[int]) -> int:
        return 2

    @property
    def is_any_path(self) -> bool:
        """Whether any paths connect the same pairs: each repetition of an edge can be left out."""
        automaton = minimal_dfa(self.regex).with_fresh_start()
        return automaton.ignores_repeated_edges(self.relations)

    def arguments(self, names: InputNames) -> str:
        """``a·b+  trail``."""
        return regex.text(self.regex, lambda ref: names.inputs[int(ref)]) + "  trail"


def in_order(relations: Sequence[Hashable]) -> tuple[int, ...]:
    """The numbers of relations in the order of their first occurrences."""
    number: dict[Hashable, int] = {}
    return tuple([number.setdefault(relation, len(number)) for relation in relations])
