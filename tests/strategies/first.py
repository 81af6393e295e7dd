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
    for head in limited:
        k = draw(st.sampled_from([k for k, rule in enumerate(rules) if rule.head == head]))
        rules[k] = replace(rules[k], first=draw(_firsts(rules[k])))
    return replace(case, query=replace(case.query, rules=tuple(rules)))


@st.composite
def _firsts(draw: st.DrawFn, rule: Rule) -> First:
    """An order of some columns that are no lists, a limit, and sometimes an offset."""
    collected = {
        name
        for name, of in rule.properties
        if isinstance(of, Agg) and of.function.startswith("collect")
    }
    columns = [name for name in dict.fromkeys(rule.variables) if name not in collected]
    chosen = draw(st.lists(st.sampled_from(columns), max_size=2, unique=True)) if columns else []
    order = tuple((name, draw(st.booleans())) for name in chosen)
    limit, offset = (
        draw(st.sampled_from([1, 1, 2, 2, 3, 5])),
        draw(st.sampled_from([0, 0, 0, 1, 2])),
    )
    return First(order, limit, offset)
