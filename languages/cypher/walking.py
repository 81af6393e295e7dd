"""The parts of expressions, and expressions with other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeGuard, TypeVar, get_args

from .leaves import HasLabels, Name, Property, Variable
from .syntax import (
    And,
    Comprehension,
    Exists,
    Expression,
    MatchCount,
    MatchList,
    Part,
    Quantified,
    Reduced,
)

Tree = TypeVar("Tree")
_EXPRESSIONS: tuple[type, ...] = get_args(Expression)


def parts_of(tree: Any) -> Iterator[Expression]:
    """The expressions directly in a tree, in the order of its fields."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from outermost(part)
    elif is_dataclass(tree):
        for field in fields(tree):
            yield from outermost(getattr(tree, field.name))


def outermost(tree: Any) -> Iterator[Expression]:
    """A tree that is an expression, or else the expressions directly in it."""
    if _is_expression(tree):
        yield tree
    else:
        yield from parts_of(tree)


def everywhere(tree: Any) -> Iterator[Expression]:
    """All expressions in a tree, the outer ones first."""
    for part in outermost(tree):
        yield part
        yield from everywhere(tuple(parts_of(part)))


def _is_expression(tree: Any) -> TypeGuard[Expression]:
    return isinstance(tree, _EXPRESSIONS)


def names_in(of: Expression) -> Iterator[str | None]:
    """The variables that an expression reads; None for those of a pattern."""
    match of:
        case Variable(name) | Property(name) | HasLabels(name):
            yield name.text
        case Exists() | MatchCount() | MatchList():
            yield None
        case Quantified(variable=variable) | Comprehension(variable):
            own = {variable.text}
            yield from (n for part in parts_of(of) for n in names_in(part) if n not in own)
        case Reduced(result=result, variable=variable):
            own = {result.text, variable.text}
            yield from (n for part in parts_of(of) for n in names_in(part) if n not in own)
        case _:
            for part in parts_of(of):
                yield from names_in(part)


def conjuncts(of: Expression) -> Iterator[Expression]:
    """The conditions that AND joins; a condition of another kind itself."""
    if isinstance(of, And):
        for part in of.parts:
            yield from conjuncts(part)
    else:
        yield of


def variables_of_patterns(parts: Sequence[Part]) -> set[str]:
    """The variables of patterns."""
    names = [part.variable for part in parts]
    for part in parts:
        names += [node.variable for node in part.pattern.nodes]
        names += [one.variable for one in part.pattern.relationships]
    return {name.text for name in names if name is not None}


def names_everywhere(tree: Any) -> set[str]:
    """All names in a tree, also those of properties, labels and types."""
    if isinstance(tree, Name):
        return {tree.text}
    if isinstance(tree, tuple):
        return {name for part in tree for name in names_everywhere(part)}
    if not is_dataclass(tree):
        return set()
    return names_everywhere(tuple(getattr(tree, field.name) for field in fields(tree)))


def renamed_variable(tree: Tree, old: str, new: str) -> Tree:
    """The tree with another name of a variable, also in its patterns."""
    if _binds(tree, old):
        return tree
    names = {"name", "owner"} if isinstance(tree, Variable | Property | HasLabels) else {"variable"}

    def renamed(field: str, value: Any) -> Any:
        is_name = field in names and isinstance(value, Name) and value.text == old
        return replace(value, text=new) if is_name else renamed_variable(value, old, new)

    return _with_fields(tree, renamed)


def _binds(tree: Any, name: str) -> bool:
    """Whether an expression gives a variable another meaning inside."""
    if isinstance(tree, Reduced) and tree.result.text == name:
        return True
    return isinstance(tree, Quantified | Comprehension | Reduced) and tree.variable.text == name


def with_parts(tree: Tree, change: Callable[[Expression], Expression]) -> Tree:
    """The tree with other expressions in place of those directly in it."""
    return _with_fields(tree, lambda _, part: changed(part, change))


def _with_fields(tree: Tree, change: Callable[[str, Any], Any]) -> Tree:
    """The tree with other fields, from their names and values; parts of a tuple have no name."""
    if isinstance(tree, tuple):
        return tuple(change("", part) for part in tree)  # type: ignore[return-value]
    if not is_dataclass(tree):
        return tree
    values = {field.name: getattr(tree, field.name) for field in fields(tree)}
    others = {name: change(name, value) for name, value in values.items()}
    if all(others[name] is value for name, value in values.items()):
        return tree
    return replace(tree, **others)  # type: ignore[type-var]


def changed(tree: Any, change: Callable[[Expression], Expression]) -> Any:
    """A tree that is an expression changed, or else one with other expressions directly in it."""
    return change(tree) if _is_expression(tree) else with_parts(tree, change)
