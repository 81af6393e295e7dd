"""Atoms from the edges and paths of patterns, and predicates for what is no single label."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from algebra import regex, scalar
from algebra.regex import Regex
from languages.errors import QueryError, line_of, listed
from languages.gcore import faults
from languages.gcore.bodies import Body, Part
from languages.gcore.conditions import alternatives
from languages.gcore.faults import LATER
from languages.gcore.scope import scope_of_macro
from languages.gcore.sources import DerivedSource, Source
from languages.gcore.syntax import Direction, Edge, Macro, Name, Node, Path, Pattern
from languages.regular_query import (
    Atom,
    Comparison,
    EdgeAtom,
    Location,
    PathAtom,
    Property,
    Rule,
    Term,
    Variable,
    VertexAtom,
)

if TYPE_CHECKING:
    from languages.gcore.program import Program

MOST_NESTED = 50
"""How many macros may stand in each other."""
X, Y = Variable("x"), Variable("y")


class Links:
    """The links of one statement, whose PATH macros they may use."""

    def __init__(self, program: Program, macros: Sequence[Macro]) -> None:
        self._program = program
        self._macros: dict[str, Macro] = {}
        self._predicates: dict[tuple[object, ...], str] = {}
        self._open: list[str] = []
        self._used: set[str] = set()
        for macro in macros:
            name = macro.name
            if name.text in self._macros:
                raise QueryError(
                    "E-EDB",
                    "there is a PATH of this name already",
                    at=name.at,
                    text=name.text,
                    hint="give one of them another name",
                )
            self._macros[name.text] = macro

    def add(self, body: Body, pattern: Pattern, source: Source) -> list[str]:
        """The atoms of a pattern of this source; the variables of its vertices."""
        if not pattern.links and not pattern.nodes[0].labels:
            body.require(pattern.nodes[0], source)
        names = [body.variable(node) for node in pattern.nodes]
        for left, link, right in zip(names, pattern.links, names[1:], strict=False):
            ends = (Variable(left), Variable(right))
            from_, to = ends[::-1] if link.direction is Direction.LEFT else ends
            assert isinstance(link, Edge | Path)
            if isinstance(link, Edge):
                body.atoms.append(self._edge(body, link, from_, to, source))
            else:
                body.atoms.append(self._path(link, from_, to, source))
            body.bind(left, source)
            body.bind(right, source)
        for name, node in zip(names, pattern.nodes, strict=True):
            self._test(body, node, name, source)
        return names

    def warn_of_unused(self) -> None:
        """A warning for each macro that nothing has used."""
        for name, macro in self._macros.items():
            if name not in self._used:
                reason = "no pattern uses this PATH"
                self._program.warnings.append(line_of("W-UNUSED", macro.name.at, name, reason))

    def _test(self, body: Body, node: Node, name: str, source: Source) -> None:
        """What a node says of its vertex: its labels and properties."""
        places: list[int] = []
        for labels in node.labels:
            read = [self._program.reads.vertices(label, source) for label in labels]
            read = list(dict.fromkeys(read))
            body.bind(name, source)
            if len(read) == 1:
                places.append(body.test(read[0], name, labels[0].at))
            else:
                choice = self._choice(read, labels, node, source)
                body.atoms.append(EdgeAtom(choice, Variable(name), Variable(name), labels[0].at))
        if not node.properties or any(len(labels) > 1 for labels in node.labels):
            return  # those of a choice are tested inside it
        # With one label it is clear whose they are.
        of = body.row(places[0]) if len(places) == 1 else name
        body.conditions += _tests(node, of)

    def _choice(
        self, read: Sequence[str], labels: Sequence[Name], node: Node, source: Source
    ) -> str:
        """The predicate of the vertices of either label, each related to itself."""
        tests = tuple(_tests(node, "v"))
        key = ("vertex", source, *read, *tests)
        if key not in self._predicates:
            name = self._program.names.fresh("|".join(dict.fromkeys(x.text for x in labels)))
            self._predicates[key] = name
            for label in read:
                atom = VertexAtom(label, X, labels[0].at, "v" if tests else None)
                self._program.rules.append(Rule(name, ("x", "x"), (atom,), labels[0].at, tests))
        return self._predicates[key]

    def _edge(self, body: Body, edge: Edge, source: Term, target: Term, at: Source) -> Atom:
        if not edge.labels:
            raise LATER["any label"].error(edge.at, "[]")
        both = edge.direction is Direction.EITHER
        place = edge.labels[0].at
        read = list(dict.fromkeys(self._program.reads.predicate(name, at) for name in edge.labels))
        if isinstance(at, DerivedSource) and edge.properties:
            key = edge.properties[0][0]
            raise faults.DERIVED_EDGE.error(key.at, key.text)
        variable = None if edge.variable is None else edge.variable.text
        if len(read) == 1 and not both:
            fault = faults.DERIVED_EDGE if isinstance(at, DerivedSource) else None
            if variable is not None:
                body.edges[variable] = fault
            elif edge.properties:
                variable = next(body.anonymous)
            body.conditions += _tests(edge, variable)
            return EdgeAtom(read[0], source, target, place, variable)
        if variable is not None:
            body.edges[variable] = LATER["edge of a choice"]
        tests = tuple(_tests(edge, "e"))
        key_ = ("edge", at, *read, both, *tests)
        if key_ not in self._predicates:
            words = list(dict.fromkeys(name.text for name in edge.labels))
            turned = [f"^{word}" for word in words] if both else []
            name = self._program.names.fresh("|".join(words + turned))
            self._predicates[key_] = name
            named = "e" if tests else None
            atoms = [EdgeAtom(label, X, Y, place, named) for label in read]
            atoms += [EdgeAtom(label, Y, X, place, named) for label in read] if both else []
            self._program.rules += [Rule(name, ("x", "y"), (a,), place, tests) for a in atoms]
        return EdgeAtom(self._predicates[key_], source, target, place)

    def _path(self, path: Path, source: Term, target: Term, at: Source) -> Atom:
        self._program.warnings += path.expression.warnings
        named = {name.text: self._predicate(name, at) for name in _symbols(path)}
        whole = regex.substitute(
            path.expression.regex, lambda s: regex.Symbol(named[str(s.ref)], s.inverse)
        )
        place = path.names[0].at
        if path.direction is not Direction.EITHER:
            return _path_atom(whole, source, target, place)
        key = ("path", at, whole)
        if key not in self._predicates:
            self._predicates[key] = self._program.names.fresh("path")
            for ends in ((X, Y), (Y, X)):
                atom = _path_atom(whole, *ends, place)
                self._program.rules.append(Rule(self._predicates[key], ("x", "y"), (atom,), place))
        return EdgeAtom(self._predicates[key], source, target, place)

    def _predicate(self, symbol: Name, source: Source) -> str:
        name = Name(symbol.text[1:], symbol.at)
        if symbol.text.startswith(":"):
            return self._program.reads.predicate(name, source)
        return self._macro(name, source)

    def _macro(self, name: Name, source: Source) -> str:
        """The predicate of a macro over a source; its rules when it is first used there."""
        macro = self._macros.get(name.text)
        if macro is None:
            raise self._unknown(name)
        key = ("macro", name.text, source)
        if name.text in self._open:
            raise QueryError(
                "E-REC",
                f"the PATH {name.text} depends on itself: "
                f"{listed([*self._open[self._open.index(name.text) :], name.text])}",
                at=name.at,
                text=f"~{name.text}",
                hint="repetition is written with * or +, as ~name+",
            )
        if key in self._predicates:
            return self._predicates[key]
        if len(self._open) >= MOST_NESTED:
            raise QueryError(
                "E-SIZE",
                f"macros stand in each other, more than {MOST_NESTED} deep",
                at=name.at,
                text=f"~{name.text}",
            )
        if name.text not in self._used:
            self._program.heads.append(macro.name)
        self._used.add(name.text)
        self._open.append(name.text)
        self._predicates[key] = self._program.names.own(name.text)
        self._define(self._predicates[key], macro, source)
        self._open.pop()
        return self._predicates[key]

    def _define(self, predicate: str, macro: Macro, source: Source) -> None:
        located = [(pattern, source) for pattern in macro.patterns]
        for holds in alternatives(macro.condition, scope_of_macro(macro)):
            body, part = Body(self._program.variables()), Part.of(located, holds)
            first, *_ = [self.add(body, pattern, of) for pattern, of in part.located]
            body.hold(part.holds)
            rule = body.finished(predicate, (first[0], first[-1]), macro.name.at)
            self._program.rules.append(rule)

    def _unknown(self, name: Name) -> QueryError:
        close = get_close_matches(name.text, self._macros, n=1)
        return QueryError(
            "E-UNKNOWN",
            "there is no PATH of this name",
            at=name.at,
            text=f"~{name.text}",
            hint=f"did you mean ~{close[0]}?"
            if close
            else f"begin the query with PATH {name.text} = (x)-[:label]->(y)",
        )


def _tests(edge: Edge | Node, variable: str | None) -> list[Comparison]:
    """What an edge or a node says of its properties."""
    return [
        Comparison(
            Property(variable or "", key.text, key.at), "=", scalar.Literal(value.value), key.at
        )
        for key, value in edge.properties
    ]


def _symbols(path: Path) -> list[Name]:
    """The words that are left of an expression, each once, where it first stands."""
    left = {str(ref) for ref in regex.refs(path.expression.regex)}
    first: dict[str, Name] = {}
    for name in path.names:
        word = name.text if name.text.startswith("~") else f":{name.text}"
        if word in left:
            first.setdefault(word, Name(word, name.at))
    return list(first.values())


def _path_atom(path: Regex, source: Term, target: Term, at: Location) -> Atom:
    """A path; of one step, it is an edge."""
    match path:
        case regex.Symbol(ref, inverse):
            ends = (target, source) if inverse else (source, target)
            return EdgeAtom(str(ref), *ends, at)
        case _:
            return PathAtom(path, source, target, at)
