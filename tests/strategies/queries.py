"""Random regular queries: joins of all shapes, unions, closures, paths, and mixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.oracles.query import (
    Alt,
    AnyBut,
    Atom,
    Back,
    BodyAtom,
    Closure,
    Const,
    PathAtom,
    Query,
    Regex,
    Repeat,
    Rule,
    Seq,
    Step,
    Term,
    Var,
    Vertex,
    maybe,
    plus,
    star,
    steps,
    with_terms,
)
from tests.oracles.snapshot import Edge, labels_of
from tests.strategies.streams import edges, sources

LABELS = ("a", "b", "c", "d")
TEXT_VERTICES = ("0", "1", "00", "Zoë", "o'neil", 'a "b" \\c')
INTEGER_VERTICES = (0, 1, 2, -7, 2**63 - 1, -(2**63))


@dataclass(frozen=True)
class Case:
    """A query and a stream to run it on."""

    query: Query
    edges: tuple[Edge, ...]
    integers: bool = False
    """Whether the vertices are integers."""


# --- regexes --------------------------------------------------------------------------


def regexes(labels: Sequence[str], depth: int = 2) -> st.SearchStrategy[Regex]:
    """Regexes of at most some depth, inverses and bounded repeats among them."""
    step = st.sampled_from(labels).map(Step)
    leaves: st.SearchStrategy[Regex] = st.one_of(step, step, step, step.map(Back))
    if depth == 0:
        return leaves
    part = regexes(labels, depth - 1)
    parts = st.lists(part, min_size=2, max_size=3).map(tuple)
    times = st.sampled_from([(2, 2), (1, 2), (0, 2), (2, 3), (2, None), (1, 3)])
    return st.one_of(
        leaves,
        parts.map(Seq),
        parts.map(Seq),
        parts.map(Alt),
        part.map(star),
        part.map(plus),
        part.map(maybe),
        st.builds(lambda r, bounds: Repeat(r, *bounds), regexes(labels, 0), times),
        parts.map(Seq).map(Back),
    )


def steps_in(regex: Regex) -> list[str]:
    """The labels of a regex, each once."""
    return list(dict.fromkeys(steps(regex)))


def replaced(regex: Regex, replacement: Mapping[str, Regex]) -> Regex:
    """A regex with something else in place of each label."""
    match regex:
        case Step(label):
            return replacement[label]
        case AnyBut():
            return regex
        case Back(part):
            return Back(replaced(part, replacement))
        case Repeat(part, least, most):
            return Repeat(replaced(part, replacement), least, most)
        case Seq(parts) | Alt(parts):
            return type(regex)(tuple(replaced(part, replacement) for part in parts))


A, B, C = Step("a"), Step("b"), Step("c")

TABLE_4_2: dict[str, Regex] = {
    "Q1": star(A),
    "Q2": Seq((A, star(B))),
    "Q3": Seq((A, star(B), star(C))),
    "Q4": star(Alt((A, B, C))),
    "Q5": Seq((A, star(B), C)),
    "Q6": Seq((star(A), star(B))),
    "Q7": Seq((A, B, star(C))),
    "Q8": Seq((maybe(A), star(B))),
    "Q9": plus(Alt((A, B, C))),
    "Q10": Seq((Alt((A, B, C)), star(B))),
    "Q11": Seq((A, B, C)),
}
"""The regular path queries of real query logs (thesis Table 4.2), with k = 3."""


def path_rules(regex: Regex) -> tuple[Rule, ...]:
    """``Answer(x, y) <- x regex y``."""
    return (Rule("Answer", ("x", "y"), (PathAtom(regex, Var("x"), Var("y")),)),)


# --- bodies ---------------------------------------------------------------------------

Graph = list[tuple[int, int]]
"""A pattern before it has labels: pairs of numbers of variables."""

SHAPES: dict[str, Graph] = {
    "edge": [(0, 1)],
    "chain of two": [(0, 1), (1, 2)],
    "chain of three": [(0, 1), (1, 2), (2, 3)],
    "star of two": [(0, 1), (0, 2)],
    "star of three": [(0, 1), (0, 2), (0, 3)],
    "two between the same": [(0, 1), (0, 1)],
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "tailed triangle": [(0, 1), (1, 2), (2, 0), (2, 3)],
    "cycle of four": [(0, 1), (1, 2), (2, 3), (3, 0)],
}


@st.composite
def shapes(draw: st.DrawFn, most: int = 4) -> Graph:
    """A connected pattern of at most ``most`` atoms: a named shape, or any."""
    named = [shape for shape in SHAPES.values() if len(shape) <= most]
    if draw(st.booleans()):
        shape = draw(st.sampled_from(named))
        return [pair if draw(st.booleans()) else pair[::-1] for pair in shape]
    shape, used = [(0, draw(st.integers(0, 1)))], 2
    for _ in range(draw(st.integers(0, most - 1))):
        old, other = draw(st.integers(0, used - 1)), draw(st.integers(0, used))
        used = max(used, other + 1)
        shape.append((old, other) if draw(st.booleans()) else (other, old))
    return shape


@st.composite
def bodies(
    draw: st.DrawFn, predicates: Sequence[str], vertices: Sequence[Vertex], most: int = 4
) -> tuple[BodyAtom, ...]:
    """The atoms of a rule; at least one variable occurs."""
    shape = draw(shapes(most))
    if draw(st.integers(0, 19)) == 0:  # a cross product
        last = max(max(pair) for pair in shape)
        shape = [*shape[: most - 1], (last + 1, last + 2)]
    numbers = sorted({number for pair in shape for number in pair})
    terms: dict[int, Term] = {number: Var(f"v{number}") for number in numbers}
    if draw(st.integers(0, 4)) == 0:
        terms[draw(st.sampled_from(numbers))] = Const(draw(st.sampled_from(vertices)))
    if len(numbers) > 2 and draw(st.integers(0, 7)) == 0:  # one variable for two
        terms[numbers[-1]] = terms[numbers[0]]
    if all(isinstance(term, Const) for term in terms.values()):
        terms[numbers[0]] = Var("v0")
    return tuple([draw(_atoms(predicates, terms[s], terms[t])) for s, t in shape])


@st.composite
def _atoms(draw: st.DrawFn, predicates: Sequence[str], source: Term, target: Term) -> BodyAtom:
    match draw(st.sampled_from(["atom"] * 5 + ["closure"] * 2 + ["path"])):
        case "atom":
            return Atom(draw(st.sampled_from(predicates)), source, target)
        case "closure":
            sign = draw(st.sampled_from("+*"))
            return Closure(draw(st.sampled_from(predicates)), source, target, sign)
        case _:
            return PathAtom(draw(regexes(predicates, 1)), source, target)


def _variables(body: tuple[BodyAtom, ...]) -> list[str]:
    terms = [term for atom in body for term in atom.terms]
    return list(dict.fromkeys(term.name for term in terms if isinstance(term, Var)))


@st.composite
def rules_of(
    draw: st.DrawFn, head: str, variables: Sequence[str], body: tuple[BodyAtom, ...]
) -> Rule:
    """The rule, perhaps with ``_`` for a variable that occurs once."""
    terms = [term for atom in body for term in atom.terms]
    lonely = [term for term in terms if terms.count(term) == 1 and isinstance(term, Var)]
    unnamed = [term for term in lonely if term.name not in variables]
    if unnamed and draw(st.integers(0, 2)) == 0:
        chosen = draw(st.sampled_from(unnamed))
        body = tuple(with_terms(a, lambda t: Var("_") if t == chosen else t) for a in body)
    return Rule(head, tuple(variables), body)


@st.composite
def alike(draw: st.DrawFn, rule: Rule, vertices: Sequence[Vertex]) -> Rule:
    """The rule with another constant, or with one for a variable that the head leaves out."""
    terms = [term for atom in rule.body for term in atom.terms]
    free = [t for t in terms if isinstance(t, Const) or t.name not in (*rule.variables, "_")]
    if not free:
        return rule
    old, new = draw(st.sampled_from(free)), Const(draw(st.sampled_from(vertices)))
    return replace(
        rule,
        body=tuple(with_terms(a, lambda term: new if term == old else term) for a in rule.body),
    )


@st.composite
def with_alias(draw: st.DrawFn, rule: Rule, alias: str) -> Rule:
    """The rule, perhaps with a name for its first closure."""
    for i, atom in enumerate(rule.body):
        if isinstance(atom, Closure) and draw(st.booleans()):
            named = replace(atom, alias=alias)
            return replace(rule, body=(*rule.body[:i], named, *rule.body[i + 1 :]))
    return rule


def aliases(drawn: Sequence[Rule]) -> list[str]:
    """The names that ``as`` gives to closures."""
    atoms = [atom for rule in drawn for atom in rule.body]
    return [atom.alias for atom in atoms if isinstance(atom, Closure) and atom.alias]


# --- queries --------------------------------------------------------------------------


@st.composite
def rules(draw: st.DrawFn, vertices: Sequence[Vertex]) -> tuple[Rule, ...]:
    """Rules of a query: up to two derived predicates, then the answer."""
    predicates = list(LABELS[: draw(st.integers(1, len(LABELS)))])
    found: list[Rule] = []
    for name in ("d1", "d2")[: draw(st.sampled_from([0, 0, 0, 1, 1, 2]))]:
        for _ in range(draw(st.sampled_from([1, 1, 2]))):
            body = draw(bodies(predicates, vertices, most=2))
            variables = _variables(body)
            if len(variables) == 1:
                body = (*body, Atom(predicates[0], Var(variables[0]), Var("v9")))
                variables.append("v9")
            source, target, *_ = draw(st.permutations(variables))
            if draw(st.integers(0, 9)) == 0:
                target = source
            rule = draw(rules_of(name, (source, target), body))
            found.append(draw(with_alias(rule, f"p{len(found)}")))
        predicates.append(name)
    predicates += aliases(found)
    first = draw(bodies(predicates, vertices, most=3 if found else 4))
    read = {label for atom in first for label in labels_of(atom)}
    if found and found[-1].head not in read:
        first = (*first, Closure(found[-1].head, *_ends(first)))
    answer = draw(st.permutations(_variables(first)))
    head = tuple(answer[: draw(st.integers(1, len(answer)))])
    if draw(st.integers(0, 19)) == 0:
        head = (*head, head[0])
    found.append(draw(rules_of("Answer", head, first)))
    match draw(st.sampled_from(["one", "one", "one", "one", "other", "alike"])):
        case "other":
            second = draw(bodies(predicates, vertices, most=2))
            others = _variables(second)
            if len(others) >= len(head) == len(set(head)):
                found.append(draw(rules_of("Answer", others[: len(head)], second)))
        case "alike":
            found.append(draw(alike(found[-1], vertices)))
    return tuple(found)


def _ends(body: tuple[BodyAtom, ...]) -> tuple[Term, Term]:
    names = _variables(body)
    return Var(names[0]), Var(names[-1])


@st.composite
def cases(
    draw: st.DrawFn, of: st.SearchStrategy[tuple[Rule, ...]] | None = None, longest: int = 24
) -> Case:
    """A query with windows and a stream; its rules are random unless ``of`` gives them."""
    pool: tuple[Vertex, ...] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[-draw(st.sampled_from([2, 3, 3, 3, 4, 4, len(pool)])) :]
    drawn = draw(of if of is not None else rules(pool))
    return draw(cases_of(drawn, pool, longest))


@st.composite
def cases_of(
    draw: st.DrawFn,
    drawn: tuple[Rule, ...],
    pool: Sequence[Vertex],
    longest: int = 24,
    labels: Sequence[str] = (),
) -> Case:
    """Windows and a stream for given rules: one window for all, or one for each label.

    ``labels`` are those of the streams, where rules may read any label.
    """
    labels = sorted({*input_labels(drawn), *labels})
    one = draw(sources())
    if draw(st.booleans()):
        chosen = dict.fromkeys(labels, one)
    else:
        chosen = {label: draw(sources(("s", "t"))) for label in labels}
    query = Query(drawn, tuple(chosen.items()))
    return Case(query, draw(edges(labels, pool, longest)), isinstance(pool[0], int))


def input_labels(drawn: tuple[Rule, ...]) -> list[str]:
    """The labels that rules read and no rule defines, in order."""
    heads = {rule.head for rule in drawn} | set(aliases(drawn))
    read = {label for rule in drawn for atom in rule.body for label in labels_of(atom)}
    return sorted({label.partition("[")[0] for label in read} - heads)
