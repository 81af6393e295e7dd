"""Reads the cases of rules: ``tests/rules/cases/*.cases``.

A case is a paragraph. Its first line names the rule (or rules, with commas) and says why the case
is there. Then come, in the notation of :mod:`tests.rules.notation`:

=========================  ====================================================================
``given E = F``            expressions that the memo has already, in one group (any number of lines)
``with cross products``    the search may make cross products
``with paths of labels``   a path of one label is an expression of its own
``E``                      the expression that the rule is applied to
``→ E``                    what the rule makes of it: all that it makes, a line each
``↛ E``                    what it must not make
``unchanged``              the rule does not apply
=========================  ====================================================================

``Memo`` is not a rule: it marks a case in which the memo treats both sides as one expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headrace.algebra.logical import LogicalExpression
from tests.rules.notation import parse

FOLDER = Path(__file__).parent / "cases"
NO_RULE = "Memo"
CROSS_PRODUCTS = "with cross products"
PATHS_OF_LABELS = "with paths of labels"


@dataclass(frozen=True)
class Case:
    """One rule, applied to one expression.

    Attributes:
        place: the file and line of the case.
        rule: the name of the rule.
        why: the reason for the case.
        before: the expression that the rule is applied to.
        after: the results; empty if the rule does not apply.
        never: expressions that the rule must not make.
        given: the groups that the memo has before.
        options: the options of the search.
    """

    place: str
    rule: str
    why: str
    before: LogicalExpression
    after: tuple[LogicalExpression, ...] = ()
    never: tuple[LogicalExpression, ...] = ()
    given: tuple[tuple[LogicalExpression, ...], ...] = ()
    options: frozenset[str] = frozenset()


def all_cases() -> list[Case]:
    """The cases of all files, in order."""
    return [case for file in sorted(FOLDER.glob("*.cases")) for case in cases_of(file)]


def cases_of(file: Path) -> list[Case]:
    """The cases of a file.

    Raises:
        ValueError: if a paragraph is not a case; the message has file and line.
    """
    found: list[Case] = []
    number = 1
    for paragraph in file.read_text("utf-8").split("\n\n"):
        lines = paragraph.strip("\n").splitlines()
        if lines and not lines[0].startswith("#"):
            place = f"{file.name}:{number}"
            found += [_case(place, rule, lines) for rule in lines[0].split(":")[0].split(", ")]
        number += paragraph.count("\n") + 2
    return found


def _case(place: str, rule: str, lines: list[str]) -> Case:
    before: list[LogicalExpression] = []
    after: list[LogicalExpression] = []
    never: list[LogicalExpression] = []
    given: list[tuple[LogicalExpression, ...]] = []
    options: set[str] = set()
    unchanged = False
    for line in map(str.strip, lines[1:]):
        first, _, rest = line.partition(" ")
        if first == "→":
            after.append(parse(rest))
        elif first == "↛":
            never.append(parse(rest))
        elif first == "given":
            given.append(tuple(map(parse, rest.split(" = "))))
        elif line in (CROSS_PRODUCTS, PATHS_OF_LABELS):
            options.add(line)
        elif line == "unchanged":
            unchanged = True
        else:
            before.append(parse(line))
    why = lines[0].partition(": ")[2]
    if len(before) != 1 or unchanged == bool(after) or not why:
        raise ValueError(f"{place}: a case has a reason, one expression, and what comes of it")
    return Case(
        place, rule, why, before[0], tuple(after), tuple(never), tuple(given), frozenset(options)
    )
