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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from ...algebra import regex
from ...algebra.automaton import AutomatonError, minimal_dfa
from ...algebra.deadline import NO_DEADLINE, Deadline
from ...algebra.logical import (
    LogicalExpression,
    LogicalQuery,
    Path,
    PathSemantics,
    Pattern,
    Rewindow,
    Witness,
    WScan,
)
from ...algebra.regex import Regex
from ...algebra.window import Window
from ...catalog.model import Catalog, PropertyType
from ..query.answers import computes, is_aggregate
from ..query.checks import evaluation_order
from ..query.conditions import key_text, unified
from ..query.errors import QueryError, line_of
from ..query.predicates import aliases
from ..query.regular_query import EdgeAtom, Location, PathAtom, Property, RegularQuery, Rule
from ..query.returned_paths import check_paths, path_columns
from . import answer_algebra
from .atoms import Atoms
from .condition_types import resolved, types_in
from .filters import predicate
from .generated_names import apart_from_labels
from .inputs import Inputs
from .join_keys import JoinKeys, join_keys
from .label_sets import expanded
from .relations import Relation, called, filtered, nothing, over, projected, sized, union
from .reports import reported, streams_with_deletions
from .required_columns import RequiredColumns, columns_above_join, required_columns
from .vertex_properties import with_rows_of_vertices
from .views import with_views
from .witnesses import Ends, check_no_deletions, without_paths


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
    different: dict[str, dict[Rule | int, Rule]] = {}
    for number, rule in enumerate(query.rules):
        # A repeated rule is redundant, unless an aggregate counts bindings.
        same = number if is_aggregate(rule) else rule
        different.setdefault(rule.head, {}).setdefault(same, rule)
    rules = {head: tuple(alternatives.values()) for head, alternatives in different.items()}
    check_paths(rules[query.answer], query.emit)
    inputs = Inputs(query, catalog, default_window)
    translation = _Translation(rules, aliases(query.rules), inputs, semantics, deadline)
    for name in evaluation_order(query.rules):
        deadline.check("the query was translated")
        translation.define(name)
    head = next(rule for rule in query.rules if rule.head == query.answer)
    expression = translation.relations[query.answer].expression
    if path_columns(head):
        check_no_deletions(expression, head.location)
    return LogicalQuery(
        reported(expression, query.emit),
        _distinct(head.variables),
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
        semantics: the paths that count.
        deadline: the time limit of the translation.
        relations: the relations of the predicates translated so far (``exp`` in the algorithm).
        warnings: the warnings so far.
        atoms: the translation of single atoms.
    """

    rules: Mapping[str, Sequence[Rule]]
    aliases: Mapping[str, EdgeAtom | PathAtom]
    inputs: Inputs
    semantics: PathSemantics = PathSemantics.ARBITRARY
    deadline: Deadline = NO_DEADLINE
    relations: dict[str, Relation] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    atoms: Atoms = field(init=False)

    def __post_init__(self) -> None:
        self.atoms = Atoms(self.inputs, self.rules, self.relations, self._path, self.semantics)

    def define(self, name: str) -> None:
        """Translates one predicate; its dependencies must be translated already."""
        rules = self.rules.get(name)
        if rules:
            several = [unified(rule) for rule in rules]
            if is_aggregate(several[0]):
                relation = self._aggregated(several)
            else:
                relation = reduce(union, map(self._rule, several))
            relation = sized(relation, name, several[0].location)
        elif name in self.aliases:
            relation = self.atoms.plain(replace(self.aliases[name], alias=None))
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
            relation = self._witnessed(relation, path, keys, output)
        return called(sized(relation, rule.head, rule.location), rule.head)

    def _witnessed(
        self, rows: Relation, path: Ends, keys: tuple[int, ...], output: tuple[int, ...]
    ) -> Relation:
        """The rows with a path each, over the relations in the path expression."""
        alive = regex.nonempty(self._alive(path.atom.regex))
        refs = regex.refs(alive)
        numbered = regex.substitute(alive, lambda s: regex.Symbol(refs.index(s.ref), s.inverse))
        self._check_size(numbered, path.atom.location)
        witness = Witness(
            keys, output, path.source, path.target, numbered,
            tuple(map(self._called, refs)), self.semantics,
        )  # fmt: skip
        types = (*rows.types, None)
        inputs = [rows, *(self.relations[str(ref)] for ref in refs)]
        return over(witness, inputs, tuple(types[column] for column in output))

    def _called(self, ref: regex.Ref) -> str:
        """The name of a step of a returned path: its label, without the stream's name."""
        name = str(ref)
        scan = self.relations[name].expression.operator
        derived = name in self.rules or name in self.aliases
        return scan.label if isinstance(scan, WScan) and not derived else name

    def _aggregated(self, rules: Sequence[Rule]) -> Relation:
        """The aggregates of an answer over the full bindings of its rules."""
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
        types = answer_algebra.types_of_aggregates(aggregate, whole.types)
        return over(aggregate, [whole], types)

    def _bound(self, rule: Rule, *, counted: bool) -> tuple[answer_algebra.Columns, Relation]:
        """The columns of a rule's bindings, and their relation.

        The columns are those of the head; with ``counted``, all columns that identify a binding.
        """
        rule = with_rows_of_vertices(rule, self.inputs)
        identity: list[Property] = []
        if counted:
            rule = answer_algebra.with_named_edges(rule)
            identity = answer_algebra.identity(rule, self.inputs)
        referenced = bool(rule.conditions) or computes(rule)
        vertex_types = [self.atoms.plain(atom).types for atom in rule.body] if referenced else []
        conditions = resolved(rule, self.inputs, vertex_types)
        conditions, keys = join_keys(rule, conditions, types_in(rule, self.inputs, vertex_types))
        required = required_columns(rule, conditions, [*keys.properties, *identity])
        head, others = columns_above_join(rule, required.residual, keys)
        if counted:
            head = answer_algebra.bindings(rule, identity, keys)
            others = tuple(name for name in others if name not in head)
        relation = self._joined(rule, required, keys, head, others)
        return answer_algebra.Columns(rule, head, keys), relation

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
        self._warn_of_types(rule, atoms)
        if len(atoms) == 1:
            ((relation, binding),) = atoms
            columns = [binding.index(name) for name in head]
            relation = projected(relation, columns)
            if rule.window is not None:
                _check_no_deletions(relation.expression, rule)
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
            joined = projected(filtered(joined, condition), range(len(head)))
        return called(sized(joined, rule.head, rule.location), rule.head)

    def _path(self, path: Regex, at: Location) -> Relation:
        """PATH over the distinct relations of its steps, or a simpler equal relation."""
        alive = self._alive(path)
        used = {ref: self.relations[str(ref)] for ref in regex.refs(alive)}
        # Two names of one relation are one input. Relations are compared by identity, since
        # comparing whole expressions takes time in proportion to their size.
        relations = list({id(r.expression): r for r in used.values()}.values())
        position = {id(r.expression): i for i, r in enumerate(relations)}
        numbered = regex.substitute(
            alive, lambda s: regex.Symbol(position[id(used[s.ref].expression)], s.inverse)
        )
        match regex.nonempty(numbered):
            case regex.Nothing():
                return nothing(2)
            case regex.Symbol(_, inverse) if self.semantics is PathSemantics.ARBITRARY:
                return projected(relations[0], [1, 0]) if inverse else relations[0]
        self._check_size(numbered, at)
        types = {vertex_type for relation in relations for vertex_type in relation.types}
        vertex_type = types.pop() if len(types) == 1 else None
        return sized(
            over(Path(numbered, self.semantics), relations, (vertex_type, vertex_type)), "", at
        )

    def _alive(self, path: Regex) -> Regex:
        """The path expression without relations that are certainly empty."""
        return regex.substitute(
            path, lambda s: regex.NOTHING if self.relations[str(s.ref)].empty else s
        )

    @staticmethod
    def _check_size(numbered: Regex, at: Location) -> None:
        try:
            minimal_dfa(numbered)
        except AutomatonError as error:
            raise QueryError(
                "E-SIZE",
                f"the path expression is too large: {error}",
                at=at,
                hint="bounded repeats after a star multiply the states; say less, or a* for a{0,9}",
            ) from None

    def _warn_of_types(self, rule: Rule, atoms: Iterable[tuple[Relation, tuple[str, ...]]]) -> None:
        types: dict[str, PropertyType] = {}
        for relation, binding in atoms:
            for name, vertex_type in zip(binding, relation.types, strict=True):
                if vertex_type and types.setdefault(name, vertex_type) != vertex_type:
                    self.warnings.append(
                        line_of(
                            "W-TYPE",
                            rule.location,
                            name,
                            "it joins a stream of strings with one of integers, "
                            "whose vertices are never equal",
                            "set the vertex type in the catalog",
                        )
                    )


def _check_no_deletions(expression: LogicalExpression, rule: Rule) -> None:
    """Refuses a window over results that deletions may retract."""
    for stream in streams_with_deletions(expression):
        raise QueryError(
            "E-LATER",
            f"a window over results of {stream}, a stream with deletions, is not supported yet",
            at=rule.location,
            text=rule.head,
            hint="give the stream inside its window, and leave this one out",
        )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Column names; a repeated variable of the head gets a number: ``x``, ``x_2``."""
    taken = set(names)
    count = dict.fromkeys(names, 0)
    columns: list[str] = []
    for name in names:
        count[name] += 1
        column = name if count[name] == 1 else f"{name}_{count[name]}"
        while count[name] > 1 and column in taken:
            count[name] += 1
            column = f"{name}_{count[name]}"
        taken.add(column)
        columns.append(column)
    return tuple(columns)
