"""The body of a rule while clauses are translated, and the rule that it becomes.

A body belongs to the clauses between two WITH that close a rule, to the patterns of an OPTIONAL
MATCH, or to a pattern in a condition. The last two have a body around them, whose nodes they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ...algebra.window import Window
from ..query import regular_query as rq
from ..query.atoms import Atom, Location, Variable, VertexAtom, variables_of
from ..query.conditions import named_edges, references, references_in, with_names
from ..query.disjoint_sets import DisjointSets
from ..query.predicates import first_free
from ..query.regular_query import Condition, Negation, OptionalPart, Output, Rule
from . import errors
from .leaves import Name
from .program import Choices, Program, reading
from .scope import Bound, Edge, Members, Node, Path, Value

Column = tuple[str, Output]
"""The name of a column, and its value."""


@dataclass(slots=True)
class Body:
    """The atoms, conditions and parts of a rule, and the variables in scope.

    Attributes:
        program: the results of the text.
        choices: the alternatives to take.
        counted: whether an aggregate counts the bindings of the body.
        around: the body around this one.
        scope: the variables by their names in the text.
        names: the names of variables and relationships in rules, of all bodies of the rule.
        same: the variables of rules that are one node.
        outer: the variables of nodes from around that the body uses.
        unlabelled: the variables of nodes without a label of which properties are read, each with
            the place and the text of the first one.
        nodes: the variables of the nodes that patterns of the body add, each with the window of its
            pattern and its place.
        groups: the number of MATCHes so far.
        is_optional: whether the body is that of an OPTIONAL MATCH.
    """

    program: Program
    choices: Choices
    counted: bool
    around: Body | None = None
    scope: dict[str, Bound] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    atoms: list[Atom] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    negated: list[Negation] = field(default_factory=list)
    optional: list[tuple[Body, Location]] = field(default_factory=list)
    same: DisjointSets[str] = field(default_factory=DisjointSets)
    outer: set[str] = field(default_factory=set)
    unlabelled: dict[str, tuple[Location, str]] = field(default_factory=dict)
    nodes: dict[str, tuple[Window | None, Location]] = field(default_factory=dict)
    is_optional: bool = False
    groups: int = 0

    def inner(self, choices: Choices, *, counted: bool, is_optional: bool = False) -> Body:
        """The body of a part of this one."""
        return Body(self.program, choices, counted, self, names=self.names, is_optional=is_optional)

    def new(self, name: Name | None) -> str:
        """A name in rules for a variable of the text, or for an anonymous one."""
        is_written = name is not None and not name.text.startswith("(")
        own = first_free(name.text, self.names) if name and is_written else self.program.variable()
        self.names.add(own)
        return own

    def pick(self, several: int) -> int:
        """The number of the alternative to take of ``several``."""
        return self.choices.pick(several)

    # -- variables ------------------------------------------------------------------------

    def bound(self, name: Name) -> Bound | None:
        """What a variable is bound to, here or around; a node from around is shared then, and so
        are the keys of a list."""
        if name.text in self.scope or self.around is None:
            return self.scope.get(name.text)
        outer = self.around.bound(name)
        if isinstance(outer, Node):
            self.scope[name.text] = outer
            self.outer.add(outer.variable)
        if isinstance(outer, Members):
            self.outer.update(outer.keys)
        return outer

    @contextmanager
    def naming(self, name: Name, bound: Bound) -> Iterator[None]:
        """Binds a name for a while, also one that is bound already."""
        before = self.scope.get(name.text)
        self.scope[name.text] = bound
        yield
        if before is None:
            del self.scope[name.text]
        else:
            self.scope[name.text] = before

    @contextmanager
    def under(self, atoms: Sequence[Atom], conditions: Sequence[Condition]) -> Iterator[None]:
        """Adds atoms and conditions for a while."""
        before = self.atoms, self.conditions
        self.atoms, self.conditions = [*before[0], *atoms], [*before[1], *conditions]
        yield
        self.atoms, self.conditions = before

    def is_outer(self, name: Name) -> bool:
        """Whether a variable other than a node is of a body around this one."""
        return name.text not in self.scope

    def node(self, name: Name) -> Node:
        """The node of a variable.

        Raises:
            QueryError: E-SAFE for a variable that is not bound, E-LATER for another kind.
        """
        bound = self.bound(name)
        if bound is None:
            raise errors.UNBOUND.error(name.at, name.text)
        if isinstance(bound, Value):
            raise errors.DERIVED_NODE.error(name.at, name.text)
        if not isinstance(bound, Node):
            raise errors.REBOUND.error(name.at, name.text)
        return bound

    def labels_of(self, name: str) -> list[str]:
        """The labels that atoms give a variable of rules."""
        at = Variable(name)
        return [a.predicate for a in self.atoms if isinstance(a, VertexAtom) and a.vertex == at]

    def with_label(self, node: Node, label: str, at: Location) -> Node:
        """Adds the atom of a node's label; returns the node with it."""
        if label not in self.labels_of(node.variable):
            self.atoms.append(VertexAtom(label, Variable(node.variable), at))
        known = replace(node, labels=tuple(dict.fromkeys((*node.labels, label))))
        for name, bound in self.scope.items():
            if isinstance(bound, Node) and bound.variable == node.variable:
                self.scope[name] = known
        return known

    def for_properties(self, node: Node, at: Location, text: str) -> None:
        """Adds the labels of a node to this body, whose properties are read.

        The properties of a node without a label are those of its rows of any label, which
        :meth:`rule` adds.
        """
        if not (node.labels or node.optional):
            self.unlabelled.setdefault(node.variable, (at, text))
        if not node.optional:
            for label in node.labels:
                self.with_label(node, label, at)

    def check_labels(self, bound: Set[str]) -> None:
        """Checks that nodes without a label whose properties are read are among those ``bound``.

        Raises:
            QueryError: E-LATER for another one.
        """
        for variable, (at, text) in self.unlabelled.items():
            if variable not in bound:
                raise errors.UNKNOWN_LABELS.error(at, text)

    def bindings(self) -> set[str]:
        """The variables that the atoms of the body bind."""
        return set(variables_of(self.atoms))

    # -- rules ----------------------------------------------------------------------------

    def shared(self) -> tuple[str, ...]:
        """The variables of nodes from around that the atoms bind, in their order."""
        leader, outer = self.same.leader, sorted(self.outer)
        bound = dict.fromkeys(map(leader, variables_of(self.atoms)))
        return tuple([name for one in bound for name in outer if leader(name) == one])

    def bind_nodes(self) -> None:
        """Adds an atom for each node of the patterns to which no other atom gives a value.

        Such a node stands alone and without a label, or at both ends of a path of no relationships.
        It is any node of the program, unless it is one from around.
        """
        outer = {self.same.leader(name) for name in self.outer}
        for name, (within, at) in self.nodes.items():
            is_bound = self._leaders()(name) in self.bindings()
            if not is_bound and self.same.leader(name) not in outer:
                self.atoms.append(reading(self.program.any_node(within, at), (name,), at))

    def rule(
        self,
        head: str,
        columns: Sequence[Column],
        at: Location,
        limit: rq.Limit | None = None,
    ) -> Rule:
        """The rule of the body; adds those of its parts.

        Raises:
            QueryError: E-LATER for a node from around that no atom binds.
        """
        if not self.names:
            raise errors.NO_ROWS.error(at, "RETURN")
        self.bind_nodes()
        if not self.atoms:
            self.check_labels(set())
            name = next((of.name for _, of in columns if isinstance(of, Variable)), "()")
            raise self._unbound(name).error(at, name)
        read = [of for condition in self.conditions for of in references(condition)]
        read += [of for _, output in columns for of in references_in(output)]
        leader = self._leaders()
        of_atoms = {leader(name) for name in self.bindings()}
        self.check_labels({name for name in self.unlabelled if leader(name) in of_atoms})
        parts = (*self._parts(read), *self._properties(read, leader, of_atoms, at))
        bound = of_atoms | {of.name for p in parts for of in p.own if isinstance(of, Variable)}
        edges = {**named_edges(self.atoms)}
        keys = [Variable(v) for inside, _ in self.optional for v in inside.shared()]
        keys += [Variable(v) for n in self.negated for v in n.variables]
        for of in (*read, *keys):
            if isinstance(of, Variable) and of.name not in edges and leader(of.name) not in bound:
                raise self._unbound(of.name).error(at, of.name)
        names = _without_collisions(columns, {*bound, *edges}, leader)
        called = tuple(name for name, _ in columns)
        values = tuple(
            (name, of)
            for name, of in columns
            if not (isinstance(of, Variable) and names(of.name) == name)
        )
        plain = Rule(
            head,
            called,
            tuple(self.atoms),
            at,
            tuple(self.conditions),
            values,
            negated=tuple(self.negated),
            optional=parts,
            limit=limit,
        )
        return with_names(plain, names, names)

    def _unbound(self, name: str) -> errors.Fault:
        """The fault of a variable that no atom binds."""
        if any(self.same.leader(name) == self.same.leader(n) for n in self.names - {name}):
            return errors.ZERO_HOPS
        return errors.DEEP_EXISTS

    def _leaders(self) -> Callable[[str], str]:
        """The variable that stands for each; one that an atom binds in each set of equal ones."""
        bound = self.bindings()
        chosen: dict[str, str] = {}
        for name in sorted(self.names):
            leader = self.same.leader(name)
            if name in bound and (leader not in chosen or name < chosen[leader]):
                chosen[leader] = name
        return lambda name: chosen.get(self.same.leader(name), name)

    def _parts(self, read: list[Variable | rq.Property]) -> Iterator[OptionalPart]:
        """The optional parts with the values that are read of them; adds their rules."""
        for body, at in self.optional:
            own = dict.fromkeys(variables_of(body.atoms))
            shared = body.shared()
            known = {of.name for of in read if isinstance(of, Variable)}
            added = tuple(n for n in own if n not in shared and (n in known or body.is_named(n)))
            edges = named_edges(body.atoms)
            added += tuple(name for name in edges if name in known)
            properties = [
                of
                for of in dict.fromkeys(read)
                if isinstance(of, rq.Property) and (of.edge in edges or of.edge in added)
            ]
            head = self.program.fresh("optional")
            columns: list[Column] = [(name, Variable(name)) for name in (*shared, *added)]
            columns += [(f"{of.edge}.{of.name}", of) for of in properties]
            self.program.add(body.rule(head, columns, at))
            keys = tuple(map(Variable, (*shared, *added)))
            yield OptionalPart(head, (*keys, *properties), len(shared), at)

    def _properties(
        self,
        read: list[Variable | rq.Property],
        leader: Callable[[str], str],
        of_atoms: Set[str],
        at: Location,
    ) -> Iterator[OptionalPart]:
        """The parts with the properties of nodes to which no atom gives a label; adds their rules.

        A node without rows that have the property has none, as in Cypher.
        """
        labelled = {leader(name) for name in self._labelled()}
        edges = named_edges(self.atoms)
        known: set[tuple[str, str]] = set()
        for of in read:
            if isinstance(of, Variable) or of.edge in edges:
                continue
            owner = leader(of.edge)
            if owner not in of_atoms - labelled or (owner, of.name) in known:
                continue
            known.add((owner, of.name))
            property_ = self.program.property_of_nodes(of.name, of.location or at)
            head = self.program.fresh("optional")
            columns = (owner, f"{owner}.{of.name}")
            self.program.add(Rule(head, columns, (reading(property_, columns, at),), at))
            yield OptionalPart(head, (Variable(owner), replace(of, edge=owner)), 1, at)

    def _labelled(self) -> Iterator[str]:
        """The variables to which atoms give labels."""
        for atom in self.atoms:
            if isinstance(atom, VertexAtom) and isinstance(atom.vertex, Variable):
                yield atom.vertex.name

    def is_named(self, variable: str) -> bool:
        """Whether a variable of a rule is one of the text."""
        return any(isinstance(b, Node) and b.variable == variable for b in self.scope.values())


def require_any(body: Body, inner: Sequence[Body], base: str, at: Location) -> None:
    """Requires that one of the bodies inside a body has a match; their rules have one head.

    Raises:
        QueryError: E-LATER for a node from around that some of them bind, and others do not.
    """
    shared = tuple(dict.fromkeys(name for inside in inner for name in inside.shared()))
    head = body.program.fresh(base)
    for inside in inner:
        body.program.add(inside.rule(head, [(name, Variable(name)) for name in shared], at))
    body.atoms.append(reading(head, shared, at))


def _without_collisions(
    columns: Sequence[Column], taken: set[str], leader: Callable[[str], str]
) -> Callable[[str], str]:
    """New names for variables and relationships that have the name of another column."""
    kept = {name for name, of in columns if isinstance(of, Variable) and leader(of.name) == name}
    aliases = {name for name, of in columns if not isinstance(of, rq.Witnessed)} - kept
    used = taken | aliases | kept
    renamed: dict[str, str] = {}
    for name in sorted(taken & aliases):
        renamed[name] = first_free(name, used)
        used.add(renamed[name])

    def new(name: str) -> str:
        one = leader(name)
        return renamed.get(one, one)

    return new


def optional_scope(body: Body) -> dict[str, Bound]:
    """The variables that an OPTIONAL MATCH adds to the scope around it."""
    added: dict[str, Bound] = {}
    assert body.around is not None
    for name, bound in body.scope.items():
        if body.around.bound(Name(name, Location(1, 1))) is None:
            assert isinstance(bound, Node | Edge | Path)
            added[name] = replace(bound, optional=True)
    return added
