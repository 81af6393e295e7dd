"""Random queries with ORDER BY, LIMIT and OFFSET: any case, some heads of which get a limit."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.query import Rule
from tests.oracles.roots import Agg, First
from tests.strategies.queries import Case, cases


@st.composite
def limited_cases(draw: st.DrawFn, of: st.SearchStrategy[Case] | None = None) -> Case:
    """A case with one or two heads that have a limit."""
    case = draw(cases() if of is None else of)
    rules = list(case.query.rules)
    heads = list(dict.fromkeys(rule.head for rule in rules))
    limited = draw(st.lists(st.sampled_from(heads), min_size=1, max_size=2, unique=True))
    rules = [_without_lists(rule) if rule.head in limited else rule for rule in rules]
    for head in limited:
        k = draw(st.sampled_from([k for k, rule in enumerate(rules) if rule.head == head]))
        rules[k] = replace(rules[k], first=draw(_firsts(rules[k])))
    return replace(case, query=replace(case.query, rules=tuple(rules)))


def _without_lists(rule: Rule) -> Rule:
    """The rule with counts of what it collects, since a limit cannot read lists."""
    columns = [
        (name, replace(of, function=of.function.replace("collect", "count")))
        if isinstance(of, Agg)
        else (name, of)
        for name, of in rule.properties
    ]
    return replace(rule, properties=tuple(columns))


@st.composite
def _firsts(draw: st.DrawFn, rule: Rule) -> First:
    """An order of some columns, a limit, and sometimes an offset."""
    columns = list(dict.fromkeys(rule.variables))
    chosen = draw(st.lists(st.sampled_from(columns), max_size=2, unique=True))
    order = tuple((name, draw(st.booleans())) for name in chosen)
    limit, offset = (
        draw(st.sampled_from([1, 1, 2, 2, 3, 5])),
        draw(st.sampled_from([0, 0, 0, 1, 2])),
    )
    return First(order, limit, offset)
