"""Translates patterns to atoms.

Relationships of one MATCH are different from each other. Those that can be one edge get a group of
different edges; so does a path on which a relationship could be repeated otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...algebra import regex
from ...algebra.regex import Regex, Symbol
from ..parsing.paths import PathExpression
from ..query.atoms import EdgeAtom, PathAtom, ShortestPaths, Variable
from ..query.regular_query import Comparison, Rule
from . import errors
from .blocks import Block
from .bodies import Body
from .leaves import Direction, Hops, Name, Quantifier, Shortest
from .path_tests import is_of_nodes, repeats, shares
from .program import Choices, alternatives
from .scope import Edge, Node, Path, Steps
from .syntax import Expression, Part, Quantified, Relationship
from .syntax import Node as NodeText
from .values import compared_with

X, Y = Variable("x"), Variable("y")


Hold = Callable[[Body, Expression, bool], None]
"""Requires a condition of a body, or its negation."""


def _bound(one: Relationship, name: str, ends: tuple[str, str]) -> Edge:
    """What the variable of a relationship stands for; its source and target are ``ends``."""
    types = tuple(type_.text for type_ in one.types)
    return Edge(name, types, None if one.direction is Direction.EITHER else ends)


def add(body: Body, block: Block, hold: Hold) -> list[Expression]:
    """Adds the atoms of a block and the tests of properties; returns the conditions in brackets.

    Args:
        body: the body.
        block: the block.
        hold: requires the tests of each step of a path.

    Raises:
        QueryError: for a variable that is bound otherwise, or a part that is not supported.
    """
    group = body.groups
    body.groups += 1
    return _Adding(body, block, group, hold).added()


@dataclass(frozen=True, slots=True)
class _Adding:
    """Adds a block to a body; ``group`` is the number of its different edges."""

    body: Body
    block: Block
    group: int
    hold: Hold

    def added(self) -> list[Expression]:
        tests: list[tuple[str, Name, Expression]] = []
        conditions: list[Expression] = []
        for part in self.block.parts:
            names = [self._node(node) for node in part.pattern.nodes]
            for node, name in zip(part.pattern.nodes, names, strict=True):
                tests += [(name, *of) for of in node.properties]
                if node.condition is not None:
                    conditions.append(node.condition)
            self._part(part, names)
        conditions += [
            one.condition for one in self.block.relationships if one.condition is not None
        ]
        for name, key, value in tests:
            self._check_labels(name, key)
            self.body.conditions.append(compared_with(self.body, name, key, value))
        return conditions

    def _check_labels(self, name: str, key: Name) -> None:
        """Adds the labels of a node of which a property is tested."""
        for bound in self.body.scope.values():
            if isinstance(bound, Node) and bound.variable == name:
                self.body.for_properties(bound, key.at, key.text)
                return
        self.body.for_properties(Node(name), key.at, key.text)

    def _node(self, node: NodeText) -> str:
        """The variable of a node, with atoms for its labels."""
        body = self.body
        if node.variable is None:
            known = self._new_node(node)
        elif body.bound(node.variable) is None:
            if not self.block.new:
                raise errors.INNER_NEW.error(node.variable.at, node.variable.text)
            known = self._new_node(node)
            body.scope[node.variable.text] = known
        else:
            known = body.node(node.variable)
            if known.optional and not body.is_optional:
                raise errors.OPTIONAL_NODE.error(node.variable.at, node.variable.text)
        for label in node.labels:
            known = body.with_label(known, label.text, label.at)
        return known.variable

    def _new_node(self, node: NodeText) -> Node:
        name = self.body.new(node.variable)
        self.body.nodes[name] = (self.block.within, node.at)
        return Node(name)

    def _part(self, part: Part, names: Sequence[str]) -> None:
        """Adds the relationships between the nodes of a part."""
        if part.shortest is not None:
            self._shortest(part, names, part.shortest)
            return
        pattern = part.pattern
        if part.variable is not None and part.variable.text in self.block.read:
            self._walk(part, part.variable, names)
            return
        if part.variable is not None and len(pattern.relationships) != 1:
            raise errors.PATH_OF_STEPS.error(part.variable.at, part.variable.text)
        for (_, one, _), ends in zip(pattern.steps(), pairwise(names), strict=True):
            source, target = ends[::-1] if one.direction is Direction.LEFT else ends
            if one.hops is None and part.variable is None:
                self._edge(one, source, target)
            else:
                self._path(part, one, source, target)

    def _steps(self, one: Relationship) -> tuple[Symbol, ...]:
        either = one.direction is Direction.EITHER
        return self.body.program.steps(one.types, self.block.within, either=either)

    def _walk(self, part: Part, name: Name, names: Sequence[str]) -> None:
        """Adds each relationship of a path by itself, so that it can be read."""
        body = self.body
        own = self._new(name)
        if body.is_optional:
            raise errors.OPTIONAL_PATH.error(name.at, name.text)
        nodes, edges = [names[0]], list[Edge]()
        for (_, one, _), (left, right) in zip(part.pattern.steps(), pairwise(names), strict=True):
            backward = one.direction is Direction.LEFT
            source, target = (right, left) if backward else (left, right)
            inner: list[str] = []
            if one.hops is None:
                found = [self._edge(one, source, target, named=True)]
            else:
                inner, found = self._steps_between(one, one.hops, source, target)
            if not found:
                continue
            turn = -1 if backward else 1
            between = zip(found, pairwise([source, *inner, target]), strict=True)
            edges += [_bound(one, edge or "", ends) for edge, ends in between][::turn]
            nodes += [*inner[::turn], right]
        steps = Steps(tuple(nodes), tuple(edges))
        body.scope[name.text] = Path(own, False, (names[0], names[-1]), steps=steps)

    def _steps_between(
        self, one: Relationship, hops: Hops, source: str, target: str
    ) -> tuple[list[str], list[str | None]]:
        """Adds a path of one of its lengths, as :meth:`_chain` does."""
        self._check_path(one, hops)
        if hops.most is None:
            raise errors.READ_UNBOUNDED.error(hops.at, "*")
        if self._is_empty(hops):
            self.body.same.merge(source, target)
            return [], []
        return self._chain(one, source, target, self._length(hops), named=True)

    def _edge(
        self, one: Relationship, source: str, target: str, *, named: bool = False
    ) -> str | None:
        """Adds a relationship; returns its name in rules, which it has if it is ``named``."""
        body = self.body
        name: str | None = None
        if one.variable is not None:
            if isinstance(body.bound(one.variable), Edge):
                raise errors.RELATIONSHIP_AGAIN.error(one.variable.at, one.variable.text)
            name = self._new(one.variable)
            body.scope[one.variable.text] = _bound(one, name, (source, target))
        elif one.properties or named:
            name = body.new(None)
        group = self.group if shares(one, self.block.relationships) else None
        ends = Variable(source), Variable(target)
        body.atoms.append(EdgeAtom(self._steps(one), *ends, one.at, name, different=group))
        for key, value in one.properties:
            body.conditions.append(compared_with(body, name or "", key, value))
        return name

    def _new(self, name: Name) -> str:
        """A name in rules for a new relationship or path."""
        if not self.block.new:
            raise errors.INNER_NEW.error(name.at, name.text)
        if self.body.bound(name) is not None:
            raise errors.REBOUND.error(name.at, name.text)
        return self.body.new(name)

    def _path(self, part: Part, one: Relationship, source: str, target: str) -> None:
        """Adds a path of some lengths; one that is counted becomes the relationships on it."""
        body = self.body
        hops = one.hops or Hops(1, 1, one.at)
        self._check_path(one, hops)
        tests = self._tests(part)
        if self._is_empty(hops):
            if part.variable is not None:
                path = Path(self._new(part.variable), False, (source, target))
                body.scope[part.variable.text] = replace(path, steps=Steps((source,), ()))
            body.same.merge(source, target)
            self._hold(body, [test for test in tests if is_of_nodes(test.members)], [source])
            return
        if body.counted:
            if part.variable is not None and self._alias(part.variable, (source, target)):
                raise errors.COUNTED_COLUMN.error(part.variable.at, part.variable.text)
            self._chain(one, source, target, self._length(hops))
            return
        hops = replace(hops, least=max(hops.least, 1))
        others = self.block.relationships
        if hops.most is None and shares(one, others):
            raise errors.SHARED_PATH.error(hops.at, "*")
        body.atoms.append(
            PathAtom(
                self._repeated(one, hops, tests),
                Variable(source),
                Variable(target),
                one.at,
                None if part.variable is None else self._alias(part.variable, (source, target)),
                different=self.group if repeats(one, others) else None,
            )
        )

    def _is_empty(self, hops: Hops) -> bool:
        """Whether to take the path without relationships, if there is one."""
        return hops.least == 0 and (hops.most == 0 or self.body.pick(2) == 0)

    def _length(self, hops: Hops) -> int:
        """The number of relationships to take, one or more."""
        if hops.most is None:
            raise errors.COUNTED_PATHS.error(hops.at, "*")
        least = max(hops.least, 1)
        return least + self.body.pick(hops.most - least + 1)

    def _check_path(self, one: Relationship, hops: Hops) -> None:
        if one.variable is not None:
            raise errors.PATH_VARIABLE.error(one.variable.at, one.variable.text)
        if one.condition is not None:
            raise errors.CHAIN_CONDITION.error(one.condition.at, "WHERE")
        if hops.most is not None and hops.most < hops.least:
            raise errors.NO_LENGTH.error(hops.at, f"*{hops.least}..{hops.most}")

    def _alias(self, name: Name, ends: tuple[str, str]) -> str | None:
        """The name in rules of a path, if it is returned."""
        own = self._new(name)
        self.body.scope[name.text] = Path(own, False, ends)
        return own if name.text in self.block.returned else None

    def _chain(
        self, one: Relationship, source: str, target: str, count: int, *, named: bool = False
    ) -> tuple[list[str], list[str | None]]:
        """Adds ``count`` relationships in a row, so that each path is a binding.

        Returns the nodes between the ends, and the names of the relationships if ``named``.
        """
        body = self.body
        steps = self._steps(one)
        inner = [body.new(None) for _ in range(count - 1)]
        names: list[str | None] = []
        for ends in pairwise([source, *inner, target]):
            name = body.new(None) if one.properties or named else None
            names.append(name)
            left, right = map(Variable, ends)
            body.atoms.append(EdgeAtom(steps, left, right, one.at, name, different=self.group))
            for key, value in one.properties:
                body.conditions.append(compared_with(body, name or "", key, value))
        return inner, names

    def _tests(self, part: Part) -> tuple[Quantified, ...]:
        """The tests of each step of a path."""
        of_steps = self.block.conditions.of_steps
        return () if part.variable is None else of_steps.get(part.variable.text, ())

    def _hold(
        self,
        body: Body,
        tests: Sequence[Quantified],
        nodes: Sequence[str],
        edges: Sequence[Edge] = (),
    ) -> None:
        """Requires the tests of each step of these nodes and relationships."""
        for test in tests:
            positive = test.quantifier is Quantifier.ALL
            of_nodes = [Node(name, tuple(body.labels_of(name))) for name in nodes]
            for member in of_nodes if is_of_nodes(test.members) else edges:
                with body.naming(test.variable, member):
                    self.hold(body, test.condition, positive)

    def _repeated(self, one: Relationship, hops: Hops, tests: Sequence[Quantified]) -> Regex:
        step = self._step(one, tests)
        if (hops.least, hops.most) == (1, None):
            return regex.plus(step)
        whole = PathExpression(step, hops.at).repeat(hops.least, hops.most, hops.at)
        self.body.program.warnings += whole.warnings
        return whole.regex

    def _step(self, one: Relationship, tests: Sequence[Quantified]) -> Regex:
        """The step of a path; with tests it is a rule of its own, or several for their OR."""
        body = self.body
        if not one.properties and not tests:
            return regex.alternation(self._steps(one))
        labels = body.program.steps(one.types, self.block.within, either=False)
        types = tuple(type_.text for type_ in one.types)
        head = body.program.fresh("|".join(types) or "any")

        def build(choices: Choices) -> Rule:
            inside = body.inner(choices, counted=False)
            name = inside.new(None)
            inside.conditions += (compared_with(inside, name, *of) for of in one.properties)
            self._hold(inside, tests, ("x", "y"), [Edge(name, types)])
            inside.check_labels(set())
            atom = EdgeAtom(labels, X, Y, one.at, name)
            of_edge = not inside.atoms and not inside.negated
            return Rule(
                head, ("x", "y"), (atom, *inside.atoms), one.at, tuple(inside.conditions),
                negated=tuple(inside.negated), is_step=of_edge,
            )  # fmt: skip

        for rule in alternatives(build):
            body.program.add(rule)
        either = one.direction is Direction.EITHER
        return regex.alternation(Symbol(head, inverse) for inverse in (False, True)[: either + 1])

    def _shortest(self, part: Part, names: Sequence[str], kind: Shortest) -> None:
        body = self.body
        relationships = part.pattern.relationships
        if len(relationships) != 1 or relationships[0].hops is None:
            raise errors.SHORTEST_STEPS.error(part.at, kind.value)
        (one,) = relationships
        hops = relationships[0].hops
        self._check_path(one, hops)
        if hops.least > 1:
            raise errors.SHORTEST_BOUND.error(hops.at, f"*{hops.least}")
        if body.is_optional:
            raise errors.OPTIONAL_PATH.error(part.at, kind.value)
        source, target = names
        tests = self._tests(part)
        is_empty = self._is_empty(hops)
        own: str | None = None
        if part.variable is not None:
            own = self._new(part.variable)
            steps = Steps((source,), ()) if is_empty else None
            types = tuple(type_.text for type_ in one.types)
            path = Path(own, True, (source, target), steps=steps, types=types)
            body.scope[part.variable.text] = path
        if is_empty:
            body.same.merge(source, target)
            self._hold(body, [test for test in tests if is_of_nodes(test.members)], [source])
            return
        hops = replace(hops, least=1)
        ends = Variable(source), Variable(target)
        which: ShortestPaths = "shortest" if kind is Shortest.ONE else "all shortest"
        whole = self._repeated(one, hops, tests)
        if one.direction is Direction.LEFT:
            whole = regex.inverse(whole)
        body.atoms.append(PathAtom(whole, *ends, one.at, shortest=which, path=own))
        body.conditions.append(Comparison(ends[0], "<>", ends[1], one.at))
