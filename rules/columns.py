"""The flattened form of joins and unions: their fingerprints and the order of columns.

The flattened form of a PATTERN, or of a PATH over a concatenation of single steps, is the atoms
below it with the variables that bind their columns. The flattened form of a UNION, or of a PATH
over an alternation of single forward steps, is the set of its parts. Any other group is an atom.
The flattened form determines the result completely, for any tree of joins that computes it.
Therefore it serves as the memo's second key, and it gives intermediate results one order of
columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ..algebra.labelling import Atom, Labels, canonical_atoms, canonical_labels, is_rigid
from ..algebra.logical import MultiwayPattern, Path, PathSemantics, Pattern, Union
from ..algebra.regex import Alternation, Concat, Regex, Symbol, inverse, symbols
from ..memo import Group, GroupId, Groups, MemoListener

Bindings = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """The atoms below a group, and the variable of each of its columns."""

    atoms: tuple[Atom, ...]
    columns: tuple[int, ...]


class FlatForms(MemoListener):
    """Flattened forms of the groups of one memo, computed when asked for."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._flat: dict[GroupId, Flat] = {}
        self._parts: dict[GroupId, frozenset[GroupId]] = {}
        self._computed: dict[tuple[Bindings, tuple[int, ...], tuple[GroupId, ...]], Flat] = {}
        self._labels: dict[tuple[tuple[Atom, ...], tuple[int, ...]], Labels] = {}
        self._rigid: dict[GroupId, bool] = {}
        self._orders: dict[Hashable, tuple[int, ...]] = {}
        self._order_of: dict[Hashable, tuple[int, ...]] = {}

    def fingerprint(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Hashable | None:
        """The second key of a PATTERN or UNION over groups; None for other operators."""
        joined = _as_join(operator)
        if joined is not None:
            flat = self._flattened(joined[0], joined[1], tuple([inputs[k] for k in joined[2]]))
            labels = self._labelled(flat.atoms, flat.columns)
            order = tuple([labels[v] for v in flat.columns])
            key = (canonical_atoms(flat.atoms, labels), tuple(sorted(order)))
            if len(set(order)) == len(order):
                self._orders.setdefault(key, order)
            return Pattern, key[0], order
        if _is_union(operator):
            return Union, frozenset().union(*map(self.parts, inputs))
        return None

    def parts(self, group: GroupId) -> frozenset[GroupId]:
        """The groups of which a group is the union."""
        parts = self._parts.get(group)
        if parts is None:
            first = self._groups[group].expressions[0]
            parts = self._parts[group] = frozenset((group,))  # meanwhile, to end circles
            if _is_union(first.operator):
                parts = frozenset().union(*map(self.parts, first.inputs))
            self._parts[group] = parts
        return parts

    def order(
        self, bindings: Bindings, needed: tuple[int, ...], inputs: tuple[GroupId, ...]
    ) -> tuple[int, ...]:
        """The variables ``needed`` in the order in which this join keeps them.

        All expressions of a relation have the order of its first expression. For a new relation
        with two columns the direction of its edges decides, so that a chain of edges runs from its
        source to its target. For other new relations the canonical labels decide.
        """
        join = (bindings, needed, inputs)
        order = self._order_of.get(join)
        if order is None:
            order = self._order_of[join] = self._order(bindings, needed, inputs)
        return order

    def atoms_below(self, group: GroupId) -> tuple[GroupId, ...]:
        """The relations of the atoms below a group; the group itself if it is an atom."""
        return tuple([relation for relation, _ in self._of(group).atoms])

    def repeats(self, inputs: tuple[GroupId, ...]) -> bool:
        """Whether some atom occurs twice below the inputs."""
        relations = [relation for group in inputs for relation, _ in self._of(group).atoms]
        return len(set(relations)) < len(relations)

    def atoms(
        self, bindings: Bindings, output: tuple[int, ...], inputs: tuple[GroupId, ...]
    ) -> Flat:
        """The atoms below a join without repeats, over canonical variables, and its columns."""
        flat = self._flattened(bindings, output, inputs)
        labels = self._labelled(flat.atoms, flat.columns)
        columns = tuple([labels[v] for v in flat.columns])
        return Flat(canonical_atoms(flat.atoms, labels), columns)

    def symmetry(
        self, bindings: Bindings, output: tuple[int, ...], inputs: tuple[GroupId, ...]
    ) -> Hashable | None:
        """A key of a binary join that is equal for its mirror images under symmetries of the atoms.

        Two joins of the same inputs have one key if they give the same relation, and a renaming of
        variables maps the atoms below each input of one on those of the other. So their plans are
        the same but for the names of variables. None where the join has no such image but itself.
        """
        if not self.repeats(inputs):
            return None
        flat = self._flattened(bindings, output, inputs)
        if all(map(self._is_rigid, inputs)) and is_rigid(flat.atoms, flat.columns):
            return None
        left = len(self._of(inputs[0]).atoms)
        sides = tuple([(2 * r + (k >= left), vs) for k, (r, vs) in enumerate(flat.atoms)])
        labels = self._labelled(sides, tuple(sorted(flat.columns)))
        kept = tuple(sorted([labels[v] for v in flat.columns]))
        relation = self.fingerprint(Pattern(bindings, output), inputs)
        return relation, inputs, canonical_atoms(sides, labels), kept

    def _is_rigid(self, group: GroupId) -> bool:
        rigid = self._rigid.get(group)
        if rigid is None:
            flat = self._of(group)
            rigid = self._rigid[group] = is_rigid(flat.atoms, flat.columns)
        return rigid

    def _labelled(self, atoms: tuple[Atom, ...], kept: tuple[int, ...]) -> Labels:
        """The canonical labels, computed once."""
        key = (atoms, kept)
        labels = self._labels.get(key)
        if labels is None:
            labels = self._labels[key] = canonical_labels(atoms, kept)
        return labels

    def runs_backwards(self, path: Path, inputs: tuple[GroupId, ...]) -> bool:
        """Whether the memo keeps the pairs of a path as (end, start).

        One direction for both makes a path and its inverse one relation in the memo. A
        concatenation of single steps has the column order of the equal join; for other paths the
        direction of most steps decides.
        """
        joined = _as_join(path)
        if joined is not None:
            bindings, ends, atoms = joined
            return self.order(bindings, ends, tuple([inputs[k] for k in atoms])) != ends
        return _direction(inverse(path.regex), inputs) < _direction(path.regex, inputs)

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Drops the flattened forms, which may name the absorbed group, and keeps column orders.

        Flattened forms are computed again on demand. A column order lives as long as the memo,
        since expressions were made with it, so its key is computed again over the survivor. Two
        relations may become one; then the older order stays.
        """
        gone = absorbed.id
        self._flat.clear()
        self._parts.clear()
        self._computed.clear()
        self._labels.clear()
        self._rigid.clear()
        self._order_of.clear()
        for key in [k for k in self._orders if _mentions(k, gone)]:
            order = self._orders.pop(key)
            atoms = tuple([(survivor.id if r == gone else r, vs) for r, vs in _atoms_of(key)])
            labels = canonical_labels(atoms, order)
            moved = tuple([labels[v] for v in order])
            new_key = (canonical_atoms(atoms, labels), tuple(sorted(moved)))
            self._orders.setdefault(new_key, moved)

    def _order(
        self, bindings: Bindings, needed: tuple[int, ...], inputs: tuple[GroupId, ...]
    ) -> tuple[int, ...]:
        flat = self._flattened(bindings, needed, inputs)
        # Only the set of columns counts here, not their order.
        labels = canonical_labels(flat.atoms, tuple(sorted(flat.columns)))
        # An input that has a column twice equates two variables; the output keeps both.
        variables: dict[int, list[int]] = {}
        for variable, column in zip(needed, flat.columns, strict=True):
            variables.setdefault(labels[column], []).append(variable)
        kept = tuple(sorted(variables))
        key = (canonical_atoms(flat.atoms, labels), kept)
        order = self._orders.get(key)
        if order is None:
            order = self._orders[key] = _preferred(key[0], kept)
        return tuple([variable for label in order for variable in variables[label]])

    def _of(self, group: GroupId) -> Flat:
        flat = self._flat.get(group)
        if flat is None:
            owner = self._groups[group]
            first = owner.expressions[0]
            columns = tuple(range(owner.properties.width))
            flat = self._flat[group] = Flat(((group, columns),), columns)
            joined = _as_join(first.operator)
            if joined is not None:
                bindings, output, atoms = joined
                flat = self._flattened(bindings, output, tuple([first.inputs[k] for k in atoms]))
                self._flat[group] = flat
        return flat

    def _flattened(
        self, bindings: Bindings, output: tuple[int, ...], inputs: tuple[GroupId, ...]
    ) -> Flat:
        """The flattened form of a join: the atoms of its inputs over variables of its own.

        The join's variables come first, then those that an input joins on and drops, numbered as
        they occur. If an input has a column twice, the two variables bound to it become one.
        """
        join = (bindings, output, inputs)
        computed = self._computed.get(join)
        if computed is not None:
            return computed
        count = 0
        for binding in bindings:
            for variable in binding:
                if variable >= count:
                    count = variable + 1
        same: list[tuple[int, int]] = []
        atoms: list[Atom] = []
        for binding, group in zip(bindings, inputs, strict=True):
            below = self._flat.get(group) or self._of(group)
            place: Labels = {}
            for inner, variable in zip(below.columns, binding, strict=True):
                if place.setdefault(inner, variable) != variable:
                    same.append((place[inner], variable))
            for relation, variables in below.atoms:
                for inner in variables:
                    if inner not in place:
                        place[inner] = count
                        count += 1
                atoms.append((relation, tuple([place[v] for v in variables])))
        columns = output
        if same:
            leader = unified(count, same)
            atoms = [(r, tuple([leader[v] for v in vs])) for r, vs in atoms]
            columns = tuple([leader[v] for v in output])
        flat = self._computed[join] = Flat(tuple(atoms), columns)
        return flat


def _as_join(
    operator: Hashable,
) -> tuple[Bindings, tuple[int, ...], tuple[int, ...]] | None:
    """An operator as a join: bindings, output, and which input each of them binds.

    A PATH over a concatenation of single steps is a join too: of a chain of edges.
    """
    if isinstance(operator, Pattern):
        return operator.bindings, operator.output, tuple(range(len(operator.bindings)))
    if isinstance(operator, MultiwayPattern) and operator.predicate is None:
        return operator.bindings, operator.output, operator.reads
    if (
        isinstance(operator, Path)
        and operator.semantics is PathSemantics.ARBITRARY
        and isinstance(operator.regex, Concat)
    ):
        bindings: list[tuple[int, ...]] = []
        inputs: list[int] = []
        for k, step in enumerate(operator.regex.parts):
            if not isinstance(step, Symbol):
                return None
            assert isinstance(step.ref, int)
            bindings.append((k + 1, k) if step.inverse else (k, k + 1))
            inputs.append(step.ref)
        return tuple(bindings), (0, len(bindings)), tuple(inputs)
    return None


def _is_union(operator: Hashable) -> bool:
    """Whether an operator unites its inputs: a UNION, or a PATH over either of single steps."""
    if isinstance(operator, Path):
        return (
            operator.semantics is PathSemantics.ARBITRARY
            and isinstance(operator.regex, Alternation)
            and all(isinstance(p, Symbol) and not p.inverse for p in operator.regex.parts)
        )
    return isinstance(operator, Union)


def _direction(r: Regex, inputs: tuple[GroupId, ...]) -> tuple[int, list[tuple[int, bool]]]:
    """The number of backward steps, and all steps in their order."""
    steps = [(inputs[int(s.ref)], s.inverse) for s in symbols(r)]
    return sum(backward for _, backward in steps), steps


def unified(count: int, same: Iterable[tuple[int, int]]) -> list[int]:
    """For each of ``count`` variables the least variable equal to it, from pairs of equal ones."""
    leader = list(range(count))

    def find(variable: int) -> int:
        while leader[variable] != variable:
            variable = leader[variable]
        return variable

    for one, other in same:
        low, high = sorted((find(one), find(other)))
        leader[high] = low
    return [find(v) for v in range(count)]


def _preferred(atoms: tuple[Atom, ...], kept: tuple[int, ...]) -> tuple[int, ...]:
    if len(kept) == 2:
        climb = _heights(atoms, kept[0]).get(kept[1], 0)
        ends = [_least_at(atoms, v) for v in kept]
        if climb < 0 or (climb == 0 and ends[1] < ends[0]):
            return kept[1], kept[0]
    return kept


def _least_at(atoms: tuple[Atom, ...], variable: int) -> GroupId:
    return min(relation for relation, variables in atoms if variable in variables)


def _heights(atoms: tuple[Atom, ...], start: int) -> dict[int, int]:
    """The number of forward steps along binary atoms from ``start`` to each variable."""
    steps: dict[int, list[tuple[int, int]]] = {}
    for _, variables in atoms:
        if len(variables) == 2:
            source, target = variables
            steps.setdefault(source, []).append((target, 1))
            steps.setdefault(target, []).append((source, -1))
    height = {start: 0}
    pending = [start]
    for at in pending:
        for other, step in steps.get(at, ()):
            if other not in height:
                height[other] = height[at] + step
                pending.append(other)
    return height


def _atoms_of(key: Hashable) -> tuple[Atom, ...]:
    assert isinstance(key, tuple)
    atoms: tuple[Atom, ...] = key[0]
    return atoms


def _mentions(key: Hashable, group: GroupId) -> bool:
    return any(relation == group for relation, _ in _atoms_of(key))
