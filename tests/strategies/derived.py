"""Derived predicates with values, of any number of columns, read by other rules.

A variable of a value is called ``k``, the kind of its values, and a number: ``kn0`` is an integer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.oracles.conditions import Calc, Compare, Expr, Lit, Prop, Vert
from tests.oracles.query import Atom, BodyAtom, Const, Derived, Rule, Term, Var, Vertex
from tests.oracles.roots import Agg, Column

COMPUTED: dict[str, list[Expr]] = {
    "n": [
        Prop("e", "n"),
        Prop("e", "n"),
        Prop("e", "ts"),
        Calc("*", (Prop("e", "n"), Lit(2))),
        Calc("-", (Prop("e", "n"), Prop("e", "ts"))),
        Calc("FIRST_NOT_NULL", (Prop("e", "n"), Lit(4))),
        Lit(1),
    ],
    "r": [Prop("e", "r"), Calc("+", (Prop("e", "r"), Lit(1))), Calc("/", (Prop("e", "n"), Lit(2)))],
    "s": [Prop("e", "s"), Prop("e", "s"), Lit("u"), Calc("TEXT_TRIM", (Prop("e", "s"),))],
    "b": [Prop("e", "b"), Calc("IS_NOT_NULL", (Prop("e", "n"),))],
}
"""The columns of each kind: integers, numbers, strings and truth values."""
AGGREGATED: dict[str, list[Agg]] = {
    "n": [
        Agg("count"),
        Agg("count"),
        Agg("count distinct", Vert("y")),
        Agg("sum", Prop("e", "n")),
        Agg("percentile_disc", Prop("e", "n"), percentile=0.75),
    ],
    "r": [
        *[Agg("avg", Prop("e", "n")), Agg("sum", Prop("e", "r"))],
        *[Agg("stddev", Prop("e", "r")), Agg("percentile_cont", Prop("e", "n"), percentile=0.5)],
    ],
    "s": [Agg("min", Prop("e", "s")), Agg("latest", Prop("e", "s"), Prop("e", "ts"))],
    "b": [Agg("max", Prop("e", "b"))],
}
"""The aggregates of each kind of results."""
LITERALS = {"n": Lit(2), "r": Lit(1.5), "s": Lit("u"), "b": Lit(True)}
CONSTANTS: dict[str, list[int | str]] = {"n": [0, 1, 2, 4], "r": [1, 2], "s": ["u", ""], "b": []}


@dataclass(frozen=True)
class _Head:
    """A derived predicate; ``kinds`` has for each column a kind of values, or None for vertices."""

    name: str
    kinds: tuple[str | None, ...]


def kind_of(variable: str) -> str | None:
    """The kind of the values of a variable; None for vertices."""
    matched = re.fullmatch(r"k([nrsb])\d", variable)
    return None if matched is None else matched[1]


def values_of(rule: Rule) -> list[str]:
    """The variables of values in a rule."""
    terms = [term for atom in rule.body for term in atom.terms]
    return sorted({t.name for t in terms if isinstance(t, Var) and kind_of(t.name)})


@st.composite
def with_derived(
    draw: st.DrawFn,
    rules: Sequence[Rule],
    labels: Sequence[str],
    pool: Sequence[Vertex],
    aggregates: bool,
) -> list[Rule]:
    """The rules with predicates with values, which the answer, a single rule, reads.

    ``aggregates``: the values may be aggregates.
    """
    heads: list[_Head] = []
    found: list[Rule] = []
    for name in ("w1", "w2")[: draw(st.sampled_from([1, 1, 2]))]:
        head = _Head(name, tuple(draw(st.lists(_KINDS, min_size=1, max_size=4))))
        alternatives = draw(st.sampled_from([1, 1, 1, 2]))
        of: Mapping[str, Sequence[Column]] = COMPUTED
        if aggregates and draw(st.booleans()):
            of = AGGREGATED
        found += draw(_rules_of(head, labels, of, alternatives))
        heads.append(head)
    if draw(st.integers(0, 2)) == 0:
        over = draw(_over(heads[-1], pool, aggregates))
        if over is not None:
            heads[-1] = _Head(over.head, tuple(map(kind_of, over.variables)))
            found.append(over)
    answer = next(rule for rule in rules if rule.head == "Answer")
    return [
        *found,
        *(draw(_reading(rule, heads, pool)) if rule is answer else rule for rule in rules),
    ]


_KINDS = st.sampled_from([None, None, None, "n", "n", "r", "s", "b"])


@st.composite
def _rules_of(
    draw: st.DrawFn,
    head: _Head,
    labels: Sequence[str],
    of: Mapping[str, Sequence[Column]],
    count: int,
) -> list[Rule]:
    """``w1(x, y, e.n as kn0) <- a(x, y) as e``, or with aggregates, the same ones in all rules."""
    calls = [None if kind is None else draw(st.sampled_from(of[kind])) for kind in head.kinds]
    return [draw(_rule_of(head, labels, calls, of)) for _ in range(count)]


@st.composite
def _rule_of(
    draw: st.DrawFn,
    head: _Head,
    labels: Sequence[str],
    calls: Sequence[Column | None],
    of: Mapping[str, Sequence[Column]],
) -> Rule:
    """A rule of a head, perhaps with another edge and a condition."""
    body: list[BodyAtom] = [Atom(draw(st.sampled_from(labels)), Var("x"), Var("y"), "e")]
    if draw(st.integers(0, 5)) == 0:
        body.append(Atom(draw(st.sampled_from(labels)), Var("y"), Var("x")))
    names: list[str] = []
    properties: list[tuple[str, Column]] = []
    for place, (kind, call) in enumerate(zip(head.kinds, calls, strict=True)):
        if kind is None or call is None:
            names.append(draw(st.sampled_from("xy")))
        else:
            names.append(f"k{kind}{place}")
            value = call if isinstance(call, Agg) else draw(st.sampled_from(of[kind]))
            properties.append((names[-1], value))
    conditions = [Compare(Prop("e", "n"), ">=", Lit(1))] if draw(st.integers(0, 5)) == 0 else []
    return Rule(head.name, tuple(names), tuple(body), tuple(conditions), tuple(properties))


@st.composite
def _over(draw: st.DrawFn, head: _Head, pool: Sequence[Vertex], aggregates: bool) -> Rule | None:
    """A predicate over another one with values, which it filters and projects."""
    read = draw(_atom(head, ["z"], pool))
    names = list(dict.fromkeys(t.name for t in read.terms if isinstance(t, Var) and t.name != "_"))
    if not names:
        return None
    variables = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
    rule = Rule("w3", tuple(variables), (read,))
    if aggregates and draw(st.integers(0, 3)) == 0:
        counted: list[tuple[str, Column]] = [("kn9", Agg("count"))]
        rule = replace(rule, variables=(*variables, "kn9"), properties=tuple(counted))
    return replace(rule, conditions=tuple(draw(_conditions(rule))))


@st.composite
def _reading(draw: st.DrawFn, rule: Rule, heads: Sequence[_Head], pool: Sequence[Vertex]) -> Rule:
    """The rule with atoms of the predicates, conditions over their values, and values in its head.

    ``heads[-1]`` is read, and others perhaps.
    """
    terms = [term for atom in rule.body for term in atom.terms]
    variables = sorted({t.name for t in terms if isinstance(t, Var)} - {"_"})
    read = [heads[-1], *(draw(st.sampled_from(heads)) for _ in range(draw(st.integers(0, 1))))]
    body = [*rule.body, *(draw(_atom(head, variables, pool)) for head in read)]
    if draw(st.integers(0, 5)) == 0:
        body = body[len(rule.body) - 1 :] if _covered(rule, body[len(rule.body) - 1 :]) else body
    rule = replace(rule, body=tuple(body))
    rule = replace(rule, conditions=(*rule.conditions, *draw(_conditions(rule))))
    values = values_of(rule)
    chosen = draw(st.lists(st.sampled_from(values), max_size=2, unique=True)) if values else []
    return replace(rule, variables=(*rule.variables, *chosen))


def _covered(rule: Rule, body: Sequence[BodyAtom]) -> bool:
    """Whether a body binds everything that a rule's head and conditions refer to."""
    names = {t.name for atom in body for t in atom.terms if isinstance(t, Var)}
    return set(rule.variables) <= names and not rule.conditions


@st.composite
def _atom(
    draw: st.DrawFn, head: _Head, variables: Sequence[str], pool: Sequence[Vertex]
) -> Derived:
    terms: list[Term] = []
    for kind in head.kinds:
        term: Term
        match draw(st.sampled_from(["read"] * 12 + ["any"] * 3 + ["constant"])):
            case "any":
                term = Var("_")
            case "constant" if kind is None:
                term = Const(draw(st.sampled_from(pool)))
            case "constant" if kind is not None and CONSTANTS[kind]:
                term = Const(draw(st.sampled_from(CONSTANTS[kind])))
            case _ if kind is None:
                term = Var(draw(st.sampled_from([*variables[:2], "z0", "z1"])))
            case _:
                term = Var(f"k{kind}{draw(st.sampled_from([0, 1, 2, 3]))}")
        terms.append(term)
    return Derived(head.name, tuple(terms))


@st.composite
def _conditions(draw: st.DrawFn, rule: Rule) -> list[Compare]:
    """Up to two comparisons of values."""
    values = values_of(rule)
    edges = [atom.edge for atom in rule.body if isinstance(atom, Atom) and atom.edge]
    found: list[Compare] = []
    several = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
    for name in [draw(st.sampled_from(values)) for _ in range(several if values else 0)]:
        kind = kind_of(name)
        assert kind is not None
        sides: list[Expr] = [Vert(one) for one in values if kind_of(one) == kind]
        sides += [Prop(edge, kind) for edge in edges]
        sides.append(LITERALS[kind])
        sign = draw(st.sampled_from(["=", "<>", "<", ">="]))
        found.append(Compare(Vert(name), sign, draw(st.sampled_from(sides))))
    return found
