"""Rules 15 to 17: alternations, single labels and closures."""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra import regex
from ..algebra.automaton import minimal_dfa
from ..algebra.logical import Filter, Path, PathSemantics, Project, Union, VertexPaths
from ..algebra.predicate import Predicate
from ..algebra.regex import Symbol
from ..memo import Expression, GroupExpression, Tree
from ..memo.pattern import Match, Op, Var
from .path_algebra import (
    all_arbitrary,
    all_simple,
    arbitrary,
    composed,
    kept_relation,
    operands_of,
    path_of,
    path_over,
)
from .rule import Context, Promise, TransformationRule

SWAP = Project((1, 0))
NO_LOOPS = Filter(Predicate("c0 <> c1"))


class AlternationToUnion(TransformationRule):
    """P[r1 | r2](S)  →  P[r1](S) ∪ P[r2](S)

    Thesis rule 15, left to right. Always valid. A longer alternation is split after its
    first part; the other cuts follow by commuting and associating unions.
    """

    name = "AlternationToUnion"
    number = 15
    patterns = (Op(Path),)
    promise = Promise.DECOMPOSE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return isinstance(path_of(expression).regex, regex.Alternation)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path, inputs = path_of(match.root), match.root.inputs
        assert isinstance(path.regex, regex.Alternation)
        first, *rest = path.regex.parts
        one = path_over(first, inputs, path.semantics)
        other = path_over(regex.alternation(rest), inputs, path.semantics)
        yield Expression(Union(), (one, other))


class UnionToAlternation(TransformationRule):
    """P[r1](S) ∪ P[r2](S)  →  P[r1 | r2](S)

    Thesis rule 15, right to left, for relations of two columns. An input enters as in rule
    14; here its regex may be nullable too, as no PATH reports the empty word. An input that
    is itself a union enters with its parts: a symbol for all of it would be the same alternation
    over one more merge. Of simple paths both inputs are such paths: a symbol for any other relation
    would lose its loops.
    """

    name = "UnionToAlternation"
    number = 15
    patterns = (
        Op(Union, Var("a"), Var("b")),
        Op(Union, Op(Path), Var("b")),
        Op(Union, Var("a"), Op(Path)),
        Op(Union, Op(Path), Op(Path)),
    )
    promise = Promise.COMPOSE
    redundant = frozenset({"AlternationToUnion"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return context.width(expression.group) == 2

    def condition(self, match: Match, context: Context) -> bool:
        return all_simple(match) or (
            all_arbitrary(match)
            and not any(
                isinstance(operand, int) and any(context.memo.group(operand).members(Union))
                for operand in operands_of(match)
            )
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        kind: VertexPaths = PathSemantics.ARBITRARY
        if all_simple(match):
            kind = PathSemantics.SIMPLE
        yield composed(operands_of(match), regex.alternation, (False, False), context, kind)


class PathOfLabel(TransformationRule):
    """P[^a](S)  →  π(trg, src)(S);  P[a](S) = S;  of simple paths σ(src ≠ trg) of that

    Thesis rule 16, left to right, for any symbol: it stands for an input or a derived
    stream. P[a] of a forward step *is* its input, so the memo never keeps it apart (this is
    done when an expression is brought to its canonical form, under this rule's name). A simple
    path leaves out loops, so there it is a filter.
    """

    name = "PathOfLabel"
    number = 16
    patterns = (Op(Path, Var("s")),)
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return isinstance(path_of(expression).regex, Symbol)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path = path_of(match.root)
        assert isinstance(path.regex, Symbol)
        kept: Tree = match["s"] if arbitrary(path) else Expression(NO_LOOPS, (match["s"],))
        yield Expression(SWAP, (kept,)) if path.regex.inverse else kept


class LabelToPath(TransformationRule):
    """π(trg, src)(S)  →  P[^a](S)

    Thesis rule 16, right to left. For a forward step there is nothing to do: other rules take
    any relation of two columns for a symbol. A path of one symbol among simple paths keeps its
    own expression beside the filter that it is, for other rules to take.
    """

    name = "LabelToPath"
    number = 16
    patterns = (Op(Project, Var("s")),)
    promise = Promise.COMPOSE
    redundant = frozenset({"PathOfLabel"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        return expression.operator == SWAP and context.width(expression.inputs[0]) == 2

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        yield Expression(Path(Symbol(0, inverse=True)), (match["s"],))


class StarDecompose(TransformationRule):
    """P[r+](S)  →  P[d+](P[r](S) as d), and so for r*

    Thesis rule 17, left to right. Holds for nullable r too, whose empty word changes nothing.
    Not applied to a single symbol, which is a relation d already.
    """

    name = "StarDecompose"
    number = 17
    patterns = (Op(Path),)
    promise = Promise.DECOMPOSE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        path = path_of(expression)
        return (
            arbitrary(path)
            and isinstance(path.regex, regex.Plus | regex.Star)
            and not isinstance(path.regex.part, Symbol)
        )

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path = path_of(match.root)
        assert isinstance(path.regex, regex.Plus | regex.Star)
        step, backwards = kept_relation(path.regex.part, match.root.inputs, context)
        yield Expression(Path(regex.plus(Symbol(0, inverse=backwards))), (step,))


class StarCompose(TransformationRule):
    """P[d+](P[r](S) as d)  →  P[r+](S)

    Thesis rule 17, right to left; holds for nullable r too. A backward step over d reverses r.
    """

    name = "StarCompose"
    number = 17
    patterns = (Op(Path, Op(Path)),)
    promise = Promise.COMPOSE
    redundant = frozenset({"StarDecompose"})

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        path = path_of(expression)
        return (
            isinstance(path.regex, regex.Plus)
            and isinstance(path.regex.part, Symbol)
            and arbitrary(path)
        )

    def condition(self, match: Match, context: Context) -> bool:
        return all_arbitrary(match)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path = path_of(match.root)
        assert isinstance(path.regex, regex.Plus)
        assert isinstance(path.regex.part, Symbol)
        step = match.expressions[1]
        inner = path_of(step).regex
        yield path_over(
            regex.plus(regex.inverse(inner) if path.regex.part.inverse else inner), step.inputs
        )


def as_any_path(path: Path) -> bool:
    """Whether these are simple paths that are any paths between different vertices."""
    return not arbitrary(path) and minimal_dfa(path.regex).with_fresh_start().ignores_repeats


class SimplePathAsAnyPath(TransformationRule):
    """P_simple[r](S)  →  σ(src ≠ trg)(P[r](S)), where a repeated vertex can be left out

    Valid if every suffix accepted after a later state of the minimal automaton is accepted after
    each earlier state (:attr:`headrace.algebra.automaton.Automaton.ignores_repeats`), as for a+,
    (a|b)* or a*·b*. Then the edges of any path between two vertices contain a simple path.
    """

    name = "SimplePathAsAnyPath"
    number = None
    patterns = (Op(Path),)
    promise = Promise.REDUCE

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        path = path_of(expression)
        return not isinstance(path.regex, Symbol) and as_any_path(path)

    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        path, inputs = path_of(match.root), match.root.inputs
        yield Expression(NO_LOOPS, (path_over(path.regex, inputs),))
