"""The names of the columns of a plan: the query's own names where it has any.

In: the steps of a plan, the names of the answer's columns, and the atoms of the query. Out: names
of each step's columns, and joins with names for their variables. Names are for people: the meaning
of a plan does not depend on them.

The scans and paths of the plan are matched to the atoms of the query
(:mod:`headrace.optimizer.atom_names`). An operator that several others read has the names of its
first use. A column that the query does not have is called as in the operators above, or else as in
those below: ``src`` or the name of a property in a scan.
"""

from __future__ import annotations

from dataclasses import replace

from ..algebra.notation import apart
from ..algebra.physical import PhysicalOperator
from .atom_names import names_of_uses
from .plan_atoms import Joins, Ordered, plan_uses
from .query_atoms import QueryAtoms

Names = tuple[str, ...]
"""The names of columns; an empty name is not known."""


def named(
    ordered: Ordered, answer: Names, query: QueryAtoms
) -> tuple[tuple[PhysicalOperator, Names], ...]:
    """The operators of a plan, joins with names for their variables, and the names of columns.

    Args:
        ordered: each operator after its inputs, with their positions, and its number of columns.
        answer: the names of the answer's columns.
        query: the atoms of the query.
    """
    operators, names = _after_query(ordered, query)
    names[-1] = answer
    for position in range(len(ordered) - 1, -1, -1):
        operator, (_, inputs, _) = operators[position], ordered[position]
        if isinstance(operator, Joins):
            operator = operators[position] = operator.named(names[position])
        for k, input_ in enumerate(inputs):
            wanted = operator.input_names(k, names[position], ordered[input_][2])
            names[input_] = _completed(names[input_], wanted)
    for position, (_, inputs, width) in enumerate(ordered):
        operator = operators[position]
        of_inputs = [names[k] for k in inputs]
        if isinstance(operator, Joins):
            operator = operators[position] = operator.named_by_inputs(of_inputs)
        if "" in names[position]:
            own = _without_copies(operator.output_names(of_inputs, width))
            whole = _completed(names[position], own)
            names[position] = tuple(name or f"#{k + 1}" for k, name in enumerate(whole))
    return tuple(zip(operators, names, strict=True))


def _after_query(ordered: Ordered, query: QueryAtoms) -> tuple[list[PhysicalOperator], list[Names]]:
    """The operators with the query's names of their variables, and those of their columns."""
    operators = [operator for operator, _, _ in ordered]
    names: list[Names] = [() for _ in ordered]
    uses, atoms = plan_uses(ordered)
    called = names_of_uses(uses, atoms, query)
    for number in range(len(uses) - 1, -1, -1):  # the first use is the last to be written
        use, of = uses[number], called[number]
        own = tuple([of.get(variable, "") for variable in use.columns])
        names[use.position] = _completed(("",) * len(own), own)
        join = operators[use.position]
        if isinstance(join, Joins):
            # Equal joins share an operator, whatever the variables of each are called.
            own_names = dict(enumerate(join.variables))
            variables = {v: of.get(use.bound[v], "") or own_names.get(v, "") for v in use.bound}
            in_order = tuple([variables.get(v, "") for v in range(1 + max(variables, default=-1))])
            operators[use.position] = replace(join, variables=in_order)
    unread = [("",) * width for _, _, width in ordered]
    return operators, [own or other for own, other in zip(names, unread, strict=True)]


def _completed(own: Names, others: Names) -> Names:
    """Names, with other ones in place of those that are not known."""
    completed = list(own)
    for column, name in enumerate(others):
        if name and not completed[column]:
            completed[column] = apart(name, completed)
    return tuple(completed)


def _without_copies(names: Names) -> Names:
    """Names, of which the second of two equal ones is that of a place without a variable."""
    repeated = [bool(name) and name in names[:column] for column, name in enumerate(names)]
    return tuple(["_" if again else name for name, again in zip(names, repeated, strict=True)])
