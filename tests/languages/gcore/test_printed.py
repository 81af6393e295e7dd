"""Random rules written as G-CORE have the canonical expression that they have as RQ."""

import re
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from headrace.catalog.model import Catalog, Stream
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from tests.languages.gcore import printing
from tests.languages.gcore.printing import Style
from tests.oracles.conditions import Compare, Vert
from tests.oracles.conditions import text as condition_text
from tests.oracles.query import Atom, BodyAtom, Const, Is, Query, Rule, Term, Var, with_terms
from tests.oracles.query import text as rq_text
from tests.oracles.snapshot import labels_of
from tests.strategies.amount import examples
from tests.strategies.properties import PROPERTIES, with_columns, with_edges
from tests.strategies.queries import LABELS, TEXT_VERTICES, bodies, rules_of
from tests.strategies.vertices import VERTEX_LABELS

S = Catalog(
    {
        "s": Stream(
            "s",
            dict.fromkeys(LABELS, DEFAULT_STATISTICS),
            properties=PROPERTIES,
        ),
        "v": Stream(
            "v",
            dict.fromkeys(VERTEX_LABELS, DEFAULT_STORED),
            properties=PROPERTIES,
            stored=True,
            vertices=True,
        ),
    }
)


@dataclass(frozen=True)
class Drawn:
    """A query as macros and answers, and how it is to be written."""

    macros: tuple[tuple[Rule, ...], ...]
    answers: tuple[Rule, ...]
    style: Style

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*(rule for rules in self.macros for rule in rules), *self.answers)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    predicates = list(LABELS[: draw(st.integers(1, len(LABELS)))])
    macros: list[tuple[Rule, ...]] = []
    for name in ("D", "E")[: draw(st.sampled_from([0, 0, 1, 2]))]:
        body = _without_constants(draw(bodies(predicates, ("k",), most=3)))
        first = body[0]
        ends = [term.name for term in first.terms if isinstance(term, Var)]
        rules = [Rule(name, (ends[0], ends[1]), body)]
        if len(body) > 1 and draw(st.booleans()):
            other = _without_constants(draw(bodies(predicates, ("k",), most=2)))
            rules.append(Rule(name, (ends[0], ends[1]), (first, *other)))
        else:
            rules = [draw(_conditioned(rules[0]))]
        macros.append(tuple(rules))
        predicates.append(name)
    edge = draw(st.booleans())
    answers: list[Rule] = []
    width = draw(st.integers(1, 3))
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        body = _without_constants(draw(bodies(predicates, ("k",))))
        names = draw(st.permutations(_variables(body)))
        if edge:
            answers.append(draw(rules_of("near", (names[0], names[-1]), body)))
        elif not answers or len(names) >= width:
            width = min(width, len(names))
            answers.append(draw(rules_of("Answer", names[:width], body)))
    answers = [draw(_conditioned(draw(_with_vertices(rule)))) for rule in answers]
    if not edge and len(answers) == 1:
        answers = [draw(with_columns(answers[0]))]
    style = Style(*(draw(st.booleans()) for _ in range(4)))
    return Drawn(_needed(macros, answers), tuple(answers), style)


@st.composite
def _with_vertices(draw: st.DrawFn, rule: Rule) -> Rule:
    """The rule, perhaps with tests of what vertices are behind its other atoms."""
    names = st.lists(st.sampled_from(_variables(rule.body)), max_size=2, unique=True)
    label = st.sampled_from(VERTEX_LABELS)
    tests = [Is(draw(label), Var(name)) for name in draw(names) if name != "_"]
    return replace(rule, body=(*rule.body, *tests))


@st.composite
def _conditioned(draw: st.DrawFn, rule: Rule) -> Rule:
    """The rule with conditions, but none that G-CORE has no words or another meaning for."""
    whole = draw(with_edges(rule, LABELS, TEXT_VERTICES))
    edges = {atom.edge for atom in whole.body if isinstance(atom, Atom)}

    # Stored vertices have no time.
    timeless = [f"{v}.ts" for v in _variables(whole.body)]

    def is_said(condition: Compare) -> bool:
        written = condition_text(condition)
        has_function = re.search(r"\b[A-Z_]+\(", written) is not None
        if has_function or any(time in written for time in timeless):
            return False
        names = [s.name for s in (condition.left, condition.right) if isinstance(s, Vert)]
        return not edges & set(names) and not (condition.sign == "=" and len(names) == 2)

    return replace(whole, conditions=tuple(filter(is_said, whole.conditions)))


def _needed(macros: list[tuple[Rule, ...]], answers: list[Rule]) -> tuple[tuple[Rule, ...], ...]:
    """The derived predicates that the answers use, also through another."""
    needed: list[tuple[Rule, ...]] = []
    users = list(answers)
    for rules in reversed(macros):
        if rules[0].head in {label for r in users for atom in r.body for label in labels_of(atom)}:
            needed.insert(0, rules)
            users += rules
    return tuple(needed)


def _without_constants(body: tuple[BodyAtom, ...]) -> tuple[BodyAtom, ...]:
    def variable(term: Term) -> Term:
        return Var("k") if isinstance(term, Const) else term

    return tuple(with_terms(atom, variable) for atom in body)


def _variables(body: tuple[BodyAtom, ...]) -> list[str]:
    terms = [term for atom in body for term in atom.terms]
    return list(dict.fromkeys(term.name for term in terms if isinstance(term, Var)))


@given(drawn())
@examples(150)
def test_rules_mean_the_same_in_both(query: Drawn) -> None:
    rq = f"{rq_text(Query(query.rules, ()))}\nON s WINDOW 9 SLIDE 3"
    gcore = printing.text(query.macros, query.answers, "ON s WINDOW (9) SLIDE (3)", query.style)
    translated = translate(parse(gcore, "gcore"), S)
    assert translated == translate(parse(rq, "rq"), S), rq + gcore
