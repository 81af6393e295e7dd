"""Checks the edge names of a rule, and the conditions over edges."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from .answers import location_in
from .atoms import EdgeAtom, Location, PathAtom, Row, Variable, variables_of
from .condition_text import value_text
from .conditions import comparisons, named_edges, references, references_in, references_of
from .errors import QueryError, listed
from .regular_query import (
    Aggregated,
    Comparison,
    Output,
    Property,
    Rule,
    Value,
    Witnessed,
)
from .shortest_paths import LENGTH, NODES, PLACE, RELATIONSHIPS, VALUES, shortest_paths


def check_edges(rules: Sequence[Rule], derived: Collection[str]) -> None:
    """Checks the names of edges, and the conditions and heads that use them.

    ``derived`` are the predicates that rules define.

    Raises:
        QueryError: E-EDB for a repeated name, E-SAFE for an unbound variable,
            E-PROPERTY for a property of anything but a row of an input label.
    """
    for rule in rules:
        _check_names(rule)
        if rule.conditions or rule.properties:
            _Scope(rule, derived).check()


def _check_names(rule: Rule) -> None:
    variables = {*variables_of(rule.body), *_of_optional_parts(rule)}
    names: set[str] = set()
    for atom in rule.body:
        if isinstance(atom, Row) and atom.edge is not None:
            if atom.edge in variables | names:
                what = "an edge" if atom.edge in names else "a vertex"
                raise _taken(atom.edge, what, atom.location)
            names.add(atom.edge)
        if isinstance(atom, PathAtom) and atom.path is not None:
            if atom.path in variables | names:
                what = "a vertex" if atom.path in variables else "an edge or a path"
                raise _taken(atom.path, what, atom.location)
            names.add(atom.path)
    for name, of in rule.properties:
        if name in variables | names and not isinstance(of, Witnessed):
            what = "an edge" if name in names else "a vertex"
            raise _taken(name, what, location_in(of, rule.location))


class _Scope:
    """The names of one rule."""

    def __init__(self, rule: Rule, derived: Collection[str]) -> None:
        self._rule = rule
        self._derived = derived
        self._edges = named_edges(rule.body)
        self._vertices = {*variables_of(rule.body), *_of_optional_parts(rule)}
        self._shortest = shortest_paths(rule.body)
        self._paths = self._shortest.keys() | {
            atom.alias for atom in rule.body if isinstance(atom, PathAtom) and atom.alias
        }

    def check(self) -> None:
        for comparison in comparisons(self._rule.conditions):
            self._check_comparison(comparison)
        for condition in self._rule.conditions:
            for reference in references(condition):
                if isinstance(reference, Property):
                    self._check_no_list(reference, self._rule.location)
                    self._check_property(reference, self._rule.location)
        for _, of in self._rule.properties:
            self._check_output(of, location_in(of, self._rule.location))

    def _check_output(self, of: Output, at: Location) -> None:
        """Checks a column of the head; only a count may refer to an edge, and one of all bindings
        to a path."""
        if isinstance(of, Aggregated) and of.argument is not None and self._is_edge(of.argument):
            is_distinct = of.function == "count_distinct" and self._is_atom(of.argument)
            if of.function != "count" and not is_distinct:
                self._check_no_edge_inside(of.argument, at)
            return
        for reference in references_in(of):
            if isinstance(reference, Property):
                if reference != of:
                    self._check_no_list(reference, at)
                self._check_property(reference, at)
            else:
                self._check_bound(reference.name, at)
                self._check_no_edge_inside(reference, at)

    def _check_bound(self, name: str, at: Location) -> None:
        if name in self._edges or name in self._paths or name in self._vertices:
            return
        bound = sorted(self._vertices | self._edges.keys())
        raise QueryError(
            "E-SAFE",
            "no atom of the body binds it",
            at=at,
            text=name,
            hint=f"the body binds {listed(bound)}" if bound else "",
        )

    def _check_comparison(self, comparison: Comparison) -> None:
        at, sides = comparison.location, (comparison.left, comparison.right)
        for name in (r.name for s in sides for r in references_of(s) if isinstance(r, Variable)):
            self._check_bound(name, at)
            self._check_no_path(name, name, at)
        named = [self._is_edge(side) for side in sides]
        if not any(named):
            for side in sides:
                self._check_no_edge_inside(side, at)
            return
        edge = next(side for side, is_edge in zip(sides, named, strict=True) if is_edge)
        if not all(named) or comparison.sign not in ("=", "<>"):
            raise QueryError(
                "E-PROPERTY",
                f"{value_text(edge)} is an edge, and edges are compared with = and <> only",
                at=at,
                text=value_text(edge),
                hint=f"compare one of its properties, as {value_text(edge)}.ts",
            )
        for side in sides:
            assert isinstance(side, Variable)
            self._check_input(side.name, side.name, at)

    def _is_edge(self, side: Value) -> bool:
        return isinstance(side, Variable) and (side.name in self._edges or side.name in self._paths)

    def _is_atom(self, side: Value) -> bool:
        """Whether a value is an edge, and neither a path nor the row of a vertex."""
        return isinstance(side, Variable) and isinstance(self._edges.get(side.name), EdgeAtom)

    def _check_no_edge_inside(self, side: Value, at: Location) -> None:
        for reference in references_of(side):
            if isinstance(reference, Variable):
                self._check_no_path(reference.name, reference.name, at)
            if self._is_edge(reference):
                raise QueryError(
                    "E-PROPERTY",
                    "it is an edge, and arithmetic is for numbers",
                    at=at,
                    text=value_text(reference),
                    hint=f"use one of its properties, as {value_text(reference)}.ts",
                )

    def _check_no_path(self, name: str, text: str, at: Location) -> None:
        if name in self._paths:
            raise QueryError(
                "E-PATHVAR",
                f"{name} is a path, which can only be returned",
                at=at,
                text=text,
                hint=f"let it be a column of the answer by itself, as Answer(x, {name}); "
                "conditions look at vertices, edges, and lengths of shortest paths, as "
                f"shortest x pays+ y as {name}, length({name}) < 4",
            )

    def _check_no_list(self, of: Property, at: Location) -> None:
        """Checks that a list of the steps or vertices of a path is not used as a value."""
        if of.edge in self._shortest and of.name in (NODES, RELATIONSHIPS):
            raise QueryError(
                "E-PATHVAR",
                f"{of.name}({of.edge}) is a list, which can only be returned",
                at=of.location or at,
                text=f"{of.name}({of.edge})",
                hint=f"let it be a column of the answer by itself; {LENGTH}({of.edge}) is a number",
            )

    def _check_property(self, of: Property, at: Location) -> None:
        if of.edge in self._shortest:
            if of.name == PLACE and not self._shortest[of.edge].over:
                raise QueryError(
                    "E-PATHVAR",
                    "a place is that of a vertex or a step, and the path is over neither",
                    at=of.location or at,
                    text=f"{PLACE}({of.edge})",
                    hint=f"write `as {of.edge} over n`, or `as {of.edge} over u -> v`",
                )
            if of.name not in (*VALUES, PLACE):
                raise QueryError(
                    "E-PROPERTY",
                    f"{of.edge} is a path, which has no such property",
                    at=of.location or at,
                    text=value_text(of),
                    hint=f"a shortest path has {listed([f'{name}({of.edge})' for name in VALUES])}",
                )
        elif of.edge not in self._vertices and of not in self._rule.missing:
            self._check_input(of.edge, value_text(of), of.location or at)

    def _check_input(self, name: str, text: str, at: Location) -> None:
        """Checks that ``name`` is a row of an input label."""
        self._check_no_path(name, text, at)
        atom = self._edges.get(name)
        derived = (
            [ref for ref in atom.refs if ref in self._derived] if isinstance(atom, EdgeAtom) else []
        )
        if atom is not None and not derived:
            return
        if atom is not None:
            reason = f"{name} is of the derived predicate {derived[0]}, which has no properties"
            hint = "properties are those of edges of input labels: use them in its rule"
        elif name in self._paths:
            reason, hint = f"{name} is a path, which has no properties", "name an edge instead"
        else:
            reason = f"no atom of the body is called {name}"
            close = get_close_matches(name, sorted(self._edges), 1)
            hint = f"did you mean {close[0]}? {_NAMING}" if close else _NAMING
        raise QueryError("E-PROPERTY", reason, at=at, text=text, hint=hint)


def _of_optional_parts(rule: Rule) -> set[str]:
    """The variables that a rule has from its optional parts."""
    return {of.name for of in rule.missing if isinstance(of, Variable)}


_NAMING = "an edge gets a name by `as`, as in likes(x, y) as e"


def _taken(name: str, what: str, at: Location) -> QueryError:
    return QueryError(
        "E-EDB",
        f"the name is already that of {what} in this rule",
        at=at,
        text=name,
        hint="choose another name after `as`",
    )
