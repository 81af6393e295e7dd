"""Translates the edges and paths of patterns to atoms, and other links to predicates."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import regex, scalar
from ...algebra.regex import Regex
from ..query.atoms import Atom, EdgeAtom, Location, PathAtom, Term, Variable, VertexAtom
from ..query.errors import QueryError, closest, line_of, listed
from ..query.regular_query import Comparison, LabelSet, Property, Rule
from . import errors
from .bodies import Body, Part
from .conditions import alternatives
from .program import Program
from .scope import scope_of_macro
from .sources import DerivedSource, Source
from .syntax import Direction, Edge, Macro, Name, Node, Path, Pattern

MOST_NESTED = 50
"""The deepest nesting of macros."""
X, Y = Variable("x"), Variable("y")


class Links:
    """Translates the links of one statement, which may use its PATH macros."""

    def __init__(self, program: Program, macros: Sequence[Macro]) -> None:
        self._program = program
        self._macros: dict[str, Macro] = {}
        self._predicates: dict[tuple[object, ...], str] = {}
        self._open: list[str] = []
        self._used: set[str] = set()
        self._returned: dict[str, str] = {}
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

    def returned(self, path: str) -> str:
        """The name in rules of a path variable in the answer; call before adding its pattern."""
        if path not in self._returned:
            self._returned[path] = self._program.names.own(path)
            self._program.names.generated.add(self._returned[path])
        return self._returned[path]

    def add(self, body: Body, pattern: Pattern, source: Source) -> list[str]:
        """Adds the atoms of a pattern of this source; returns the variables of its vertices."""
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
        """Adds a warning for each unused macro."""
        for name, macro in self._macros.items():
            if name not in self._used:
                reason = "no pattern uses this PATH"
                self._program.warnings.append(line_of("W-UNUSED", macro.name.at, name, reason))

    def _test(self, body: Body, node: Node, name: str, source: Source) -> None:
        """Adds the label and property tests of a node."""
        places: list[int] = []
        for labels in node.labels:
            read = [self._program.reads.vertices(label, source) for label in labels]
            read = list(dict.fromkeys(read))
            body.bind(name, source)
            if len(read) == 1:
                places.append(body.test(read[0], name, labels[0].at))
            else:
                choice = self._choice(read, labels, node, source)
                body.atoms.append(EdgeAtom.of(choice, Variable(name), Variable(name), labels[0].at))
        if not node.properties or any(len(labels) > 1 for labels in node.labels):
            return  # the predicate of a choice tests its properties
        # With one label, the properties are those of its row.
        of = body.row(places[0]) if len(places) == 1 else name
        body.conditions += _tests(node, of)

    def _choice(
        self, read: Sequence[str], labels: Sequence[Name], node: Node, source: Source
    ) -> str:
        """The predicate of vertices with any of several labels; relates each vertex to itself."""
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
        place = edge.labels[0].at if edge.labels else edge.at
        steps = self._steps_of(edge, at)
        if isinstance(at, DerivedSource) and edge.properties:
            key = edge.properties[0][0]
            raise errors.DERIVED_EDGE.error(key.at, key.text)
        variable = None if edge.variable is None else edge.variable.text
        if variable is not None and variable in body.edges:
            variable = _again(body, variable, (source, target), place)
        elif variable is not None:
            fault = errors.DERIVED_EDGE if isinstance(at, DerivedSource) else None
            body.edges[variable] = fault
        if variable is None and edge.properties:
            variable = next(body.anonymous)
        body.conditions += _tests(edge, variable)
        return EdgeAtom(steps, source, target, place, variable)

    def _steps_of(self, edge: Edge, source: Source) -> tuple[regex.Symbol, ...]:
        """The labels of an edge, or any label, forwards or in either direction."""
        reads = self._program.reads
        if edge.labels:
            read = dict.fromkeys(reads.predicate(name, source) for name in edge.labels)
            steps = tuple(map(regex.Symbol, read))
        else:
            steps = reads.steps(LabelSet(), edge.at, source)
        if edge.direction is Direction.EITHER:
            steps += tuple(regex.Symbol(step.ref, True) for step in steps)
        return steps

    def _path(self, path: Path, source: Term, target: Term, at: Source) -> Atom:
        self._program.warnings += path.expression.warnings
        named = {name.text: self._step(name, path, at) for name in _symbols(path)}

        def step(symbol: regex.Symbol) -> Regex:
            meaning = named[str(symbol.ref)]
            return regex.inverse(meaning) if symbol.inverse else meaning

        whole = regex.substitute(path.expression.regex, step)
        place = path.names[0].at
        if path.variable is not None and path.variable.text in self._returned and not self._open:
            if path.direction is Direction.EITHER:
                whole = regex.alternation((whole, regex.inverse(whole)))
            alias = self._returned[path.variable.text]
            if path.variable not in self._program.heads:
                self._program.heads.append(path.variable)
            return PathAtom(whole, source, target, place, alias)
        if path.direction is not Direction.EITHER:
            return PathAtom(whole, source, target, place)
        key = ("path", at, whole)
        if key not in self._predicates:
            self._predicates[key] = self._program.names.fresh("path")
            for ends in ((X, Y), (Y, X)):
                atom = PathAtom(whole, *ends, place)
                self._program.rules.append(Rule(self._predicates[key], ("x", "y"), (atom,), place))
        return EdgeAtom.of(self._predicates[key], source, target, place)

    def _step(self, symbol: Name, path: Path, source: Source) -> Regex:
        name = Name(symbol.text[1:], symbol.at)
        match symbol.text[0]:
            case ":":
                return regex.Symbol(self._program.reads.predicate(name, source))
            case "~":
                return regex.Symbol(self._macro(name, source))
            case _:
                labels = dict(path.expression.leaves)[symbol.text]
                steps = self._program.reads.steps(labels, symbol.at, source)
                if not steps:
                    reason = "it leaves out all labels"
                    self._program.warnings.append(line_of("W-EMPTY", symbol.at, name.text, reason))
                return regex.alternation(steps)

    def _macro(self, name: Name, source: Source) -> str:
        """The predicate of a macro over a source; adds its rules on first use."""
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
                f"macros are nested more than {MOST_NESTED} deep",
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
        close = closest(name.text, self._macros)
        return QueryError(
            "E-UNKNOWN",
            "no PATH has this name",
            at=name.at,
            text=f"~{name.text}",
            hint=f"did you mean ~{close}?"
            if close
            else f"begin the query with PATH {name.text} = (x)-[:label]->(y)",
        )


def _again(body: Body, variable: str, ends: tuple[Term, Term], at: Location) -> str | None:
    """A new name for an edge whose ``variable`` another edge has; requires both to be equal."""
    if body.edges[variable] is not None:
        # A constructed edge is identified by its ends.
        first = next(a for a in body.atoms if isinstance(a, EdgeAtom) and a.edge == variable)
        for one, other in zip((first.source, first.target), ends, strict=True):
            assert isinstance(one, Variable)
            assert isinstance(other, Variable)
            body.conditions.append(Comparison(one, "=", other, at))
        return None
    name = next(body.anonymous)
    body.edges[name] = None
    body.conditions.append(Comparison(Variable(variable), "=", Variable(name), at))
    return name


def _tests(edge: Edge | Node, variable: str | None) -> list[Comparison]:
    """The conditions on properties in an edge or a node."""
    return [
        Comparison(
            Property(variable or "", key.text, key.at), "=", scalar.Literal(value.value), key.at
        )
        for key, value in edge.properties
    ]


def _symbols(path: Path) -> list[Name]:
    """The distinct words of an expression, each at its first place."""
    left = {str(ref) for ref in regex.refs(path.expression.regex)}
    first: dict[str, Name] = {}
    for name in path.names:
        if name.text in left:
            first.setdefault(name.text, name)
    return list(first.values())
