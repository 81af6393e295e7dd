"""The canonical translation: a Regular Query to the Streaming Graph Algebra.

Algorithm SGQParser of the thesis (5.2.2): predicates in topological order; an input label
becomes a WSCAN with the window of its clause, a closure or path atom a PATH over the
relations of its steps, a rule a PATTERN with an input for each atom, and several rules of
one head a left-deep UNION.

Beyond the algorithm:

- A constant in an atom, or a repeated variable, becomes a FILTER on the atom.
- A rule of one atom becomes a projection of the atom, or the atom itself.
- Certainly empty relations are removed.
- A condition over one atom becomes a FILTER on the atom, any other a FILTER above the PATTERN.
- A WSCAN provides the properties that conditions or the answer refer to. A PROJECT drops a property
  above its last use.
- Equal properties of two atoms become one variable of the PATTERN
  (:mod:`headrace.languages.translation.join_keys`).
- Computed columns, aggregates and reports stand above all other operators
  (:mod:`headrace.languages.translation.answer_algebra`,
  :mod:`headrace.languages.translation.reports`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from ...algebra.deadline import NO_DEADLINE, Deadline
from ...algebra.logical import (
    LogicalExpression,
    LogicalQuery,
    PathSemantics,
    Pattern,
    Rewindow,
)
from ...algebra.logical.roots import RETURNED_PATHS
from ...algebra.logical.rows import VIEWS
from ...algebra.window import Window
from ...catalog.model import Catalog, PropertyType
from ..query.answers import computes, is_aggregate
from ..query.atoms import BinaryAtom
from ..query.checks import evaluation_order
from ..query.conditions import key, key_text, unified
from ..query.limits import limit_of
from ..query.predicates import aliases, read_by
from ..query.regular_query import Property, RegularQuery, Rule
from ..query.returned_paths import check_paths, path_columns
from ..query.value_columns import ValueColumns, kinds_of, value_columns, values_in
from . import answer_algebra
from .any_vertex_label import with_labels_of_vertices
from .atoms import Atoms
from .combinations import check_below
from .condition_types import resolved, types_in
from .different_edges import DifferentEdges
from .edges_in_heads import with_edges_in_head
from .filters import predicate
from .generated_names import apart_from_labels, column_names
from .inputs import Inputs
from .join_keys import JoinKeys, join_keys
from .joined_types import check_joined_types
from .label_sets import expanded
from .negations import without_matches
from .optional_parts import OptionalParts, in_head
from .path_expressions import PathExpressions
from .relations import (
    Relation,
    called,
    filtered,
    first_rows,
    nothing,
    over,
    projected,
    sized,
    union,
    with_columns,
)
from .reports import reported
from .required_columns import RequiredColumns, columns_above_join, required_columns
from .shortest_paths import shortest_path_of, values_of, with_shortest_paths
from .vertex_properties import with_rows_of_vertices
from .views import with_views
from .witnesses import without_paths


def translate(
    query: RegularQuery,
    catalog: Catalog,
    default_window: Window | None = None,
    semantics: PathSemantics = PathSemantics.ARBITRARY,
    deadline: Deadline = NO_DEADLINE,
) -> LogicalQuery:
    """The canonical expression of ``query`` over the streams of ``catalog``.

    ``default_window`` is the window of streams without a clause, in the catalog's unit.
    ``semantics`` applies to all paths of the query.

    Raises:
        QueryError: for an unknown or ambiguous label or stream, a head that is an input label,
            a stream without a window, a constant that is not a vertex, or a query too large to
            plan.
        ValueError: if the time unit of the windows of ``query`` is not that of the catalog.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    if query.time_unit not in (None, catalog.time_unit):
        raise ValueError(
            f"the query's windows are in {query.time_unit}s and the catalog's time unit is "
            f"{catalog.time_unit}: parse the query with that time unit"
        )
    query = apart_from_labels(query, catalog)
    query, of_views = with_views(query, catalog, default_window, deadline)
    query, of_sets = expanded(query, catalog, deadline)
    query = with_labels_of_vertices(query, catalog)
    query = with_shortest_paths(query, catalog)
    different: dict[str, dict[Rule | int, Rule]] = {}
    for number, rule in enumerate(query.rules):
        # A repeated rule is redundant, unless an aggregate counts bindings.
        same = number if is_aggregate(rule) else rule
        different.setdefault(rule.head, {}).setdefault(same, rule)
    rules = {head: tuple(alternatives.values()) for head, alternatives in different.items()}
    check_paths(rules[query.answer], query.emit)
    inputs = Inputs(query, catalog, default_window)
    order = evaluation_order(query.rules)
    values = value_columns(query.rules, order)
    read = frozenset(read_by(query.rules))
    translation = _Translation(
        rules,
        aliases(query.rules),
        inputs,
        values,
        read,
        query.emit is not None and query.emit.at_multiples,
        semantics,
        deadline,
    )
    optional = {part.predicate for rule in query.rules for part in rule.optional}
    for name in order:
        deadline.check("the query was translated")
        if name not in optional:  # translated with the rule that has the part
            translation.define(name)
    head = next(rule for rule in query.rules if rule.head == query.answer)
    expression = translation.relations[query.answer].expression
    if path_columns(head):
        check_below(RETURNED_PATHS, expression, head.location)
    return LogicalQuery(
        reported(expression, query.emit, inputs.scans),
        column_names(head.variables),
        (*of_views, *of_sets, *inputs.unused_windows(), *translation.warnings),
        semantics,
    )


@dataclass(slots=True)
class _Translation:
    """The state of a translation.

    Attributes:
        rules: the rules of each derived predicate.
        aliases: the atoms by alias.
        inputs: the input labels of the query.
        values: the columns of derived predicates that hold values.
        read: the predicates that rules read.
        emits: whether the query reports its answer at the multiples of a period.
        semantics: the paths that count.
        deadline: the time limit of the translation.
        relations: the relations of the predicates translated so far (``exp`` in the algorithm).
        warnings: the warnings so far.
        different: the translation of groups of atoms with different edges.
        paths: the translation of path expressions.
        atoms: the translation of single atoms.
    """

    rules: Mapping[str, Sequence[Rule]]
    aliases: Mapping[str, BinaryAtom]
    inputs: Inputs
    values: ValueColumns
    read: frozenset[str]
    emits: bool
    semantics: PathSemantics = PathSemantics.ARBITRARY
    deadline: Deadline = NO_DEADLINE
    relations: dict[str, Relation] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    different: DifferentEdges = field(init=False)
    paths: PathExpressions = field(init=False)
    atoms: Atoms = field(init=False)

    def __post_init__(self) -> None:
        self.paths = PathExpressions(
            self.inputs,
            self.rules,
            self.aliases.keys(),
            self.relations,
            self.emits,
            self.semantics,
            self._full,
        )
        simple = self.semantics is PathSemantics.SIMPLE
        self.different = DifferentEdges(self.inputs, self.rules, simple)
        self.atoms = Atoms(
            self.inputs, self.rules, self.relations, self.paths.path, self.semantics, self.values
        )

    def define(self, name: str) -> None:
        """Translates one predicate; its dependencies must be translated already."""
        rules = self.rules.get(name)
        if rules:
            several = [unified(rule) for rule in rules]
            limit = limit_of(rules)
            path = shortest_path_of(rules)
            if path is not None:
                relation = self.paths.shortest(path, values_of(rules[0]))
            elif is_aggregate(several[0]):
                retracts = name in self.read or limit is not None
                relation = self._aggregated(several, retracts=retracts)
            else:
                relation = reduce(union, map(self._rule, several))
            if limit is not None:
                relation = first_rows(with_columns(relation, rules[0].variables), *limit)
            relation = sized(relation, name, several[0].location)
        elif name in self.aliases:
            atom = replace(self.aliases[name], alias=None, different=None)
            relation = self.atoms.plain(atom)
        else:
            scan, vertex_type = self.inputs.scan(name)
            relation = Relation(LogicalExpression(scan), (vertex_type, vertex_type))
        self.relations[name] = called(relation, name)

    def _rule(self, rule: Rule) -> Relation:
        """The rows of a rule's head."""
        self.deadline.check("the query was translated")
        if path_columns(rule):
            return self._with_paths(rule)
        columns, relation = self._bound(rule, counted=False)
        if relation.empty:
            return nothing(len(rule.variables))
        if computes(rule):
            compute = answer_algebra.computed(columns)
            relation = over(compute, [relation], answer_algebra.types_of(compute, relation.types))
        return called(relation, rule.head)

    def _with_paths(self, rule: Rule) -> Relation:
        """The rows of a head with path columns: the rows without paths, each joined with paths."""
        without, paths = without_paths(rule)
        for path in paths:
            self.different.check_returned(rule, path.atom)
        relation = self._rule(without)
        if relation.empty:
            return nothing(len(rule.variables))
        columns, own = list(without.variables), path_columns(rule)
        keys = tuple(range(sum(name not in own for name in rule.variables)))
        for path in paths:
            columns.append(path.name)
            output = tuple(range(len(columns)))
            if path == paths[-1]:
                place = {name: k for k, name in enumerate(columns) if name in own or k in keys}
                output = tuple(place[name] for name in rule.variables)
            relation = self.paths.witnessed(relation, path, keys, output)
        return called(sized(relation, rule.head, rule.location), rule.head)

    def _aggregated(self, rules: Sequence[Rule], *, retracts: bool) -> Relation:
        """The aggregates of a head over the full bindings of its rules."""
        parts = [self._bound(rule, counted=True) for rule in rules]
        parts = [(columns, relation) for columns, relation in parts if not relation.empty]
        if not parts:
            return nothing(len(rules[0].variables))
        computes, aggregate = answer_algebra.aggregated([columns for columns, _ in parts])
        relations = [relation for _, relation in parts]
        for place, compute in enumerate(computes):
            if compute is not None:
                types = answer_algebra.types_of(compute, relations[place].types)
                relations[place] = over(compute, [relations[place]], types)
        whole = reduce(union, relations)
        aggregate = replace(aggregate, retracts=retracts)
        types = answer_algebra.types_of_aggregates(aggregate, whole.types)
        return over(aggregate, [whole], types)

    def _bound(self, rule: Rule, *, counted: bool) -> tuple[answer_algebra.Columns, Relation]:
        """The columns of a rule's bindings, and their relation.

        The columns are those of the head; with ``counted``, all columns that identify a binding.
        """
        if rule.optional:
            return self._with_optional(rule, counted=counted)
        rule = with_rows_of_vertices(rule, self.inputs)
        identity: list[Property] = []
        if counted:
            rule = answer_algebra.with_named_edges(rule)
            identity = answer_algebra.identity(rule, self.inputs)
        counts = identity if counted else None
        parts = [self._part(rule, part, counts) for part in self.different.written_out(rule)]
        filled = [relation for _, relation in parts if not relation.empty]
        return parts[0][0], reduce(union, filled) if filled else parts[0][1]

    def _part(
        self, rule: Rule, part: Rule, identity: Sequence[Property] | None
    ) -> tuple[answer_algebra.Columns, Relation]:
        """The columns of a rule's bindings, and those that one of the rules that stand for it has.

        ``identity`` are the properties that identify the edges of the rule, if bindings count.
        """
        referenced = bool(part.conditions) or computes(part)
        types = [self.atoms.plain(atom).types for atom in part.body] if referenced else []
        conditions = resolved(part, self.inputs, types, values_in(part.body, self.values))
        rule, part = (with_edges_in_head(one, self.inputs) for one in (rule, part))
        conditions, keys = join_keys(part, conditions, types_in(part, self.inputs, types))
        required = required_columns(part, conditions, [*keys.properties, *(identity or ())])
        head, others = columns_above_join(part, required.residual, keys)
        if identity is not None:
            head = answer_algebra.bindings(rule, identity, keys)
            others = tuple(name for name in others if name not in head)
        relation = self._joined(part, required, keys, head, others)
        return answer_algebra.Columns(rule, head, keys), relation

    def _with_optional(
        self, rule: Rule, *, counted: bool
    ) -> tuple[answer_algebra.Columns, Relation]:
        """As :meth:`_bound`, of a rule with optional parts."""
        parts = OptionalParts(
            self.rules, self.values, lambda one, counted: self._bound(one, counted=counted)
        )
        columns, relation = parts.bound(rule, counted=counted)
        relation = self._without_matches(relation, rule, columns.names, columns.keys)
        relation = sized(relation, rule.head, rule.location)
        if counted or computes(rule):
            return columns, relation
        head = [columns.place[key(of)] for of in in_head(rule)]
        names = tuple([columns.names[place] for place in head])
        return replace(columns, names=names), projected(relation, head)

    def _joined(
        self,
        rule: Rule,
        required: RequiredColumns,
        keys: JoinKeys,
        head: tuple[str, ...],
        others: tuple[str, ...],
    ) -> Relation:
        """The columns ``head`` of the join of the atoms; conditions also refer to ``others``."""
        atoms = [
            self.atoms.bound(atom, number, required, keys) for number, atom in enumerate(rule.body)
        ]
        if any(relation.empty for relation, _ in atoms):
            return nothing(len(head))
        kinds = [kinds_of(atom, self.values) for atom in rule.body]
        warnings = check_joined_types(rule, atoms, kinds)
        self.warnings += (warning for warning in warnings if warning not in self.warnings)
        atoms = [
            (with_columns(relation, map(key_text, binding)), binding) for relation, binding in atoms
        ]
        if len(atoms) == 1:
            ((relation, binding),) = atoms
            output = (*head, *others)
            relation = projected(relation, [binding.index(name) for name in output])
            relation = self._without_matches(relation, rule, output, keys)
            relation = projected(relation, range(len(head)))
            if rule.window is not None:
                check_below(VIEWS, relation.expression, rule.location, rule.head)
                relation = over(Rewindow(rule.window), [relation], relation.types)
            return called(relation, rule.head)
        number: dict[str, int] = {}
        types: dict[str, PropertyType | None] = {}
        for relation, binding in atoms:
            for name, column_type in zip(binding, relation.types, strict=True):
                number.setdefault(name, len(number))
                types.setdefault(name, column_type)
        output = (*head, *others)
        pattern = Pattern(
            tuple(tuple(number[name] for name in binding) for _, binding in atoms),
            tuple(number[name] for name in output),
            tuple(map(key_text, number)),
        )
        inputs = [relation for relation, _ in atoms]
        joined = over(pattern, inputs, tuple(types[name] for name in output))
        if required.residual:
            place = {name: column for column, name in reversed(list(enumerate(output)))}
            place |= {name: place[lead] for name, lead in keys.leader.items() if lead in place}
            condition = predicate(required.residual, place, rule.location)
            joined = filtered(joined, condition)
        joined = self._without_matches(joined, rule, output, keys)
        joined = projected(joined, range(len(head)))
        return called(sized(joined, rule.head, rule.location), rule.head)

    def _without_matches(
        self, relation: Relation, rule: Rule, columns: tuple[str, ...], keys: JoinKeys
    ) -> Relation:
        """The rows of a rule's body that match none of its negated parts."""
        return without_matches(
            relation, rule, columns, keys, relations=self.relations, values=self.values
        )

    def _full(self, rule: Rule) -> tuple[answer_algebra.Columns, Relation]:
        """The columns of a rule's full bindings, and their relation."""
        return self._bound(rule, counted=True)
