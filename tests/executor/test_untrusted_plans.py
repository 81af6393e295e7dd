"""Untrusted plan documents are refused with an error or run with right results."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import MOST_STATES
from headrace.algebra.physical import (
    Coalesce,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    ToKernel,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.algebra.untrusted import (
    DEEPEST_DOCUMENT,
    LONGEST_DOCUMENT,
    LONGEST_STRING,
    MOST_INPUTS,
    MOST_NODES,
    MOST_OPERATORS,
    MOST_TRANSITIONS,
    MOST_VARIABLES,
    WIDEST,
)
from headrace.algebra.window import LONGEST_WINDOW
from headrace.api.explanation import stored_plan
from headrace.executor.local import Edge, run_plan
from headrace.executor.scans import MOST_FILTERS
from headrace.executor.spark.results.formats import ResultShape
from tests.executor.plans import MEANINGS, answer, path_over, plan_of
from tests.strategies.amount import examples

PLAN = plan_of(
    [
        (WindowScan("s", "a", 6, 2), ()),
        (ToKernel(), (0,)),
        (WindowScan("s", "b", 9, 1), ()),
        (FilterRows("c0 <> c1"), (2,)),
        (ToKernel(), (3,)),
        (MergeUnion(), (1, 4)),
        (path_over(regex.plus(regex.Symbol(0))), (5,)),
        (HashJoin(((0, 1), (1, 2)), (0, 2)), (6, 1)),
        (FilterRows("c1 >= 'b'"), (7,)),
        (ProjectColumns((1, 0)), (8,)),
        (EmptyRelation(2), ()),
        (MergeUnion(), (9, 10)),
        (Coalesce(), (11,)),
    ]
)
SPREAD = plan_of(
    [
        (WindowScan("s", "a", 6, 1), ()),
        (ToKernel(), (0,)),
        (Exchange("hash", (1,)), (1,)),
        (WindowScan("s", "b", 9, 3), ()),
        (ToKernel(), (3,)),
        (Exchange("broadcast"), (4,)),
        (HashJoin(((0, 1), (1, 2)), (0, 2)), (2, 5)),
    ]
).model_copy(update={"parallelism": 2, "streams": PLAN.streams})
EDGES: list[Edge] = [
    ("a", "b", "a", 0), ("b", "c", "b", 1), ("c", "a", "a", 1), ("b", "b", "b", 3),
    ("a", "c", "b", 4),
]  # fmt: skip

Change = Callable[[dict[str, Any]], object]


def changed(change: Change, plan: PhysicalPlan = PLAN) -> str:
    document = copy.deepcopy(plan.to_document())
    del document["digest"]
    change(document)
    return json.dumps(document)


def node(number: int, **values: Any) -> Change:
    return lambda document: document["nodes"][number].update(values)


def args(number: int, **values: Any) -> Change:
    return lambda document: document["nodes"][number]["args"].update(values)


def filters(sql: str) -> Change:
    return args(8, predicate=sql)


def many_nodes(count: int, op: str, arguments: Mapping[str, Any]) -> Change:
    """So many nodes on the root, one above the other."""

    def change(document: dict[str, Any]) -> None:
        for i in range(len(document["nodes"]), len(document["nodes"]) + count):
            below = document["nodes"][-1]
            document["nodes"].append(
                {**below, "id": i, "op": op, "args": arguments, "inputs": [i - 1]}
            )
        document["root"] = len(document["nodes"]) - 1

    return change


def path(**values: Any) -> Change:
    return args(6, **values)


GOOD = json.dumps(PLAN.to_document())
MALICIOUS: dict[str, tuple[str | Change, str]] = {
    # the text
    "no JSON": ("{", "not JSON"),
    "nothing": ("", "not JSON"),
    "a list": ("[]", "a plan is a JSON object"),
    "deep lists": ("[" * 100_000 + "]" * 100_000, f"nest more than {DEEPEST_DOCUMENT} deep"),
    "deep objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "nest more than"),
    "deep inside": ('{"version":1,"nodes":' + "[" * 30 + "]" * 30 + "}", "nest more than"),
    "long": (" " * (LONGEST_DOCUMENT + 1), f"more than {LONGEST_DOCUMENT:,} characters"),
    "an integer of many digits": ('{"version":' + "9" * 5000 + "}", "not an integer of 64 bits"),
    "an integer of 65 bits": (node(0, id=2**64), "not an integer of 64 bits"),
    "NaN": (GOOD.replace('"rate": 0.0', '"rate": NaN', 1), "NaN is not JSON"),
    "Infinity": (GOOD.replace('"rate": 0.0', '"rate": Infinity', 1), "Infinity is not JSON"),
    "a float too large": (GOOD.replace('"rate": 0.0', '"rate": 1e999', 1), "not a number of 64"),
    "a key twice": ('{"version": 1, ' + GOOD[1:], "'version' stands twice"),
    "a string of half a character": (args(0, label="\ud800"), "not Unicode text"),
    "a key of half a character": (args(0, **{"\ud800": 1}), "not Unicode text"),
    "a long string": (node(0, columns=["x" * (LONGEST_STRING + 1)]), "a string of more than"),
    # the schema
    "another version": (lambda d: d.update(version=2), "plan version 2 is not known"),
    "true for 1": (lambda d: d.update(version=True), "plan version True is not known"),
    "no version": (lambda d: d.pop("version"), "plan version None"),
    "no nodes": (lambda d: d.update(nodes=[]), "nodes: "),
    "nodes are missing": (lambda d: d.pop("nodes"), "'nodes'"),
    "nodes are null": (lambda d: d.update(nodes=None), "not iterable"),
    "nodes are words": (lambda d: d.update(nodes=["ab"]), "nodes are objects"),
    "args are a word": (node(0, args="xy"), "nodes are objects"),
    "an unknown operator": (node(0, op="SHELL"), "'SHELL'"),
    "an operator of Python": (node(0, op="__import__"), "__import__"),
    "an unknown field": (node(0, code="x"), "nodes.0.code"),
    "an unknown argument": (args(0, code="x"), "code"),
    "text for a number": (args(0, range="10"), "valid integer"),
    "a broken number": (args(0, range=1.5), "valid integer"),
    "true for a number": (node(1, inputs=[False]), "valid integer"),
    "a negative rate": (lambda d: d["nodes"][0]["estimate"].update(rate=-1), "estimate.rate"),
    "another digest": (lambda d: d.update(digest="0" * 16), "changed by hand"),
    # the shape
    "a cycle": (node(6, inputs=[11]), "does not come before it"),
    "itself": (node(6, inputs=[6]), "does not come before it"),
    "a negative input": (node(6, inputs=[-1]), "does not come before it"),
    "an input that is not there": (node(6, inputs=[99]), "does not come before it"),
    "ids out of order": (node(3, id=4), "stands at position 3"),
    "another root": (lambda d: d.update(root=3), "the root is not the last node"),
    "a node for nothing": (node(11, inputs=[9]), r"node 10 \(EMPTY\) is not needed"),
    "inputs too few": (node(7, inputs=[6]), "a join has two inputs"),
    "inputs too many": (node(12, inputs=[11] * 2), "it has one input"),
    "a scan of a node": (node(2, inputs=[1]), "it has no input"),
    "very many inputs": (node(11, inputs=[9, 10] * MOST_INPUTS), f"{MOST_INPUTS:,} are the most"),
    "very many nodes": (many_nodes(MOST_NODES, "COALESCE", {}), f"{MOST_NODES:,} are the most"),
    "very many partitions": (lambda d: d.update(parallelism=10**6), "less than or equal to 1024"),
    "no partition": (lambda d: d.update(parallelism=0), "greater than or equal to 1"),
    "many nodes on many partitions": (
        lambda d: (many_nodes(200, "COALESCE", {})(d), d.update(parallelism=1024)),
        f"{MOST_OPERATORS:,} are the most",
    ),
    "names too few": (node(12, columns=["x"]), "2 columns, and 1 names"),
    "TO_KERNEL in the middle": (node(11, op="TO_KERNEL", inputs=[9]), "node 10 "),
    "TO_KERNEL at the top": (node(12, op="TO_KERNEL", args={}), "its input is not a scan"),
    "an exchange to nowhere": (
        node(12, op="EXCHANGE", args={"spread": "single", "columns": []}),
        "parallelism 1",
    ),
    # streams and windows
    "a stream twice": (lambda d: d["streams"].append(d["streams"][0]), "'s' stands there twice"),
    "a label twice": (lambda d: d["streams"][0].update(labels=["a", "b", "a"]), "twice"),
    "an unknown stream": (args(0, stream="t"), "the plan has no stream 't'"),
    "an unknown label": (args(0, label="z"), "has no label 'z'"),
    "no stream": (lambda d: d.update(streams=[]), "the plan has no stream"),
    "a scan of no label": (
        node(0, op="WSCAN_UNION", args={"stream": "s", "selections": [], "range": 6, "slide": 1}),
        "it reads no label",
    ),
    "a property of no type": (args(0, properties=["p"]), "the property p of s has no type"),
    "an unknown type": (lambda d: d["streams"][0].update(vertex_type="object"), "vertex_type"),
    "a window of nothing": (args(0, range=0), "a window needs"),
    "a slide of nothing": (args(0, slide=0), "a window needs"),
    "a slide backwards": (args(0, slide=-1), "a window needs"),
    "a slide beyond the range": (args(0, slide=7), "a window needs"),
    "a window beyond all time": (args(0, range=LONGEST_WINDOW + 1), "a window needs"),
    # operators
    "no such column": (args(9, columns=[0, 7]), "its input has no such column"),
    "a negative column": (args(9, columns=[-1, 0]), "its input has no such column"),
    "very many columns": (args(9, columns=[0] * (WIDEST + 1)), "columns, where"),
    "a very wide relation": (args(10, width=2**40), f"from 0 to {WIDEST:}"),
    "a relation of negative width": (args(10, width=-1), "the width is -1"),
    "unequal widths": (args(10, width=3), "unequal widths"),
    "a variable bound by nobody": (args(7, output=[0, 5]), "is not bound"),
    "a variable twice": (args(7, bindings=[[0, 0], [1, 2]]), "occurs twice in one input"),
    "too many variables": (args(7, bindings=[[0, 1, 2], [1, 2]]), "3 variables for 2 columns"),
    "a negative variable": (args(7, bindings=[[-1, 1], [1, 2]]), "a variable is -1"),
    "a variable of a large number": (
        args(7, bindings=[[MOST_VARIABLES, 1], [1, 2]]),
        f"a variable is {MOST_VARIABLES}",
    ),
    "a residual that runs code": (args(7, residual="rm(c0) = 1"), "not allowed"),
    "a residual over nothing": (args(7, residual="c0 = c9"), "not allowed"),
    "a horizon of no column": (args(7, horizon=[[7, 1], None]), "a horizon names a column"),
    "a horizon beyond all time": (args(7, horizon=[[0, 2**62], None]), "or no bound"),
    # automata
    "very many states": (path(states=10**10), f"from 1 to {MOST_STATES + 1}"),
    "very many states of simple paths": (
        node(6, op="SIMPLE_PATH", args={"states": 10**10, "transitions": [], "accepting": []}),
        f"from 1 to {MOST_STATES + 1}",
    ),
    "no states": (path(states=0), "number of states is 0"),
    "a state that is not there": (path(transitions=[[5, 0, False, 1]]), "a state is 5"),
    "a negative state": (path(transitions=[[-1, 0, False, 1]]), "a state is -1"),
    "a next state that is not there": (path(transitions=[[0, 0, False, 5]]), "leads to is 5"),
    "back to the start": (path(transitions=[[1, 0, False, 0]]), "leads to is 0"),
    "an input of no number": (path(transitions=[[0, 1, False, 1]]), "input of a transition is 1"),
    "sources by a function": (path(sources="rm(c0)"), "not allowed"),
    "sources by their targets": (path(sources="c1 = 'a'"), "not allowed"),
    "sources that are no text": (path(sources=7), "valid string"),
    "a negative input number": (path(transitions=[[0, -1, False, 1]]), "transition is -1"),
    "two ways at once": (
        path(states=3, accepting=[1, 2], transitions=[[0, 0, False, 1], [0, 0, False, 2]]),
        "stands there twice",
    ),
    "accepting what is not there": (path(accepting=[2**62]), "an accepting state is"),
    "accepting the start": (path(accepting=[0]), "an accepting state is 0"),
    "accepting twice": (path(accepting=[1, 1]), "stands there twice"),
    "very many transitions": (
        path(transitions=[[0, 0, False, 1]] * (MOST_TRANSITIONS + 1)),
        "transitions, where",
    ),
    "a path over nothing": (node(6, inputs=[]), "node "),
    # predicates
    "reflection": (filters("reflect('java.lang.System', 'exit', 0) = 1"), "not allowed"),
    "a method of Java": (filters("java_method('java.lang.System', 'exit', 0) = 1"), "not allowed"),
    "a function of somebody's": (filters("rm(c0)"), "not allowed"),
    "a function of a wrong number of values": (filters("TEXT_LEFT(c0) = 'a'"), "not allowed"),
    "deep functions": (filters("TO_LOWER(" * 40 + "c0" + ")" * 40 + " = 'a'"), "not allowed"),
    "a function that Spark SQL lacks below TO_KERNEL": (
        args(3, predicate="TO_LOWER(c0) = 'a'"), "Spark SQL does not have all functions"),
    "a function that Spark SQL lacks in a scan": (
        args(0, predicate="TO_LOWER(c0) = 'a'"), "only FILTER above it computes"),
    "a sub-query": (filters("c0 = (SELECT max(c0) FROM t)"), "not allowed"),
    "EXISTS": (filters("EXISTS(SELECT 1)"), "not allowed"),
    "two statements": (filters("c0 = '1'; DROP TABLE t"), "not allowed"),
    "a pattern that takes for ever": (filters("c0 RLIKE '(a+)+$'"), "not allowed"),
    "a column of nobody": (filters("c7 = c0"), "not allowed"),
    "a column of a table": (filters("t.c0 = c1"), "not allowed"),
    "a template": (filters("{{ c0 }}"), "not allowed"),
    "no predicate": (filters(""), "does not parse"),
    "half a string": (filters("c0 = 'a"), "does not parse"),
    "deep parentheses": (filters("(" * 3_000 + "c0 = c1" + ")" * 3_000), "does not parse|deep"),
    "many conditions": (filters(" AND ".join(["c0 = c1"] * 300)), "200 deep"),
    "many alternatives": (filters(f"c0 IN ({', '.join(['1'] * 300)})"), "not allowed"),
    "deep arithmetic": (filters("ABS(" * 40 + "c0" + ")" * 40 + " = 1"), "not allowed"),
    "a number without end": (filters("c0 = 1e999"), "not allowed"),
    "many filters on a scan input": (
        lambda d: (
            d.update(nodes=d["nodes"][:1], root=0),
            many_nodes(MOST_FILTERS + 1, "FILTER", {"predicate": "c0 <> c1"})(d),
        ),
        f"more than {MOST_FILTERS} FILTERs",
    ),
    "in a scan": (args(0, predicate="rm(c0) = 1"), "not allowed"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALICIOUS)
def test_a_malicious_plan_is_refused(name: str) -> None:
    what, why = MALICIOUS[name]
    text = what if isinstance(what, str) else changed(what)
    with pytest.raises(PlanError, match=why) as refused:
        list(run_plan(PhysicalPlan.from_json(text), EDGES))
    assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize("plan", [PLAN, SPREAD])
def test_the_unchanged_plans_run(plan: PhysicalPlan) -> None:
    check_run(PhysicalPlan.from_json(json.dumps(plan.to_document())))


def check_run(plan: PhysicalPlan) -> None:
    """A plan that is not refused gives what it means, and can be shown."""
    found = list(run_plan(plan, EDGES))
    assert len(ResultShape.of(plan).types) == len(plan.columns)
    predicates = [n.operator.predicate for n in plan.nodes if isinstance(n.operator, FilterRows)]
    of_scans = [scan.predicate for _, scan in plan.scans]
    if set(predicates) <= MEANINGS.keys() and set(of_scans) <= {None}:
        for t in range(16):
            assert {r.bindings for r in found if r.ts <= t < r.exp} == answer(plan, EDGES, t)
    for form in ("text", "json", "dot", "mermaid", "html"):
        assert stored_plan(plan, "plan.json", "physical", form)


NASTY: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, False, -1, 0, 1, 2, 3, 5, 9, 64, 2**31, 2**62 - 1, 2**62, 2**63 - 1, 2**63,
        10**30, -(2**63), 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "a", "b", "s", "c0",
        "c0 = c1", "c0 = 'a'", "c1 >= 'b'", "TRUE", "reflect(c0)", "\ud800", "\0", "hash", "own",
        "string", "integer", "FILTER", "UNION", "COALESCE", "S_PATH", "EXCHANGE", "x" * 300,
        "with_deletions", "RETRACT", {"update_pattern": "with_deletions"},
        [], {}, [0], [1], [0, 1], [1, 0], [[0, 1], [0, 1]], [[0, 0, False, 1]], [[[[[]]]]],
        {"predicate": "c0 <> c1"}, {"columns": [0, 1]}, {"spread": "single"}, {"op": "FILTER"},
    ]
)  # fmt: skip


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values in a document."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    return [above, *(p for key, part in inner for p in places(part, (*above, key)))]


@st.composite
def mutations(draw: st.DrawFn) -> Any:
    """A document with one to three values replaced, left out, doubled or added."""
    document = copy.deepcopy(draw(st.sampled_from([PLAN, SPREAD])).to_document())
    del document["digest"]
    for _ in range(draw(st.integers(1, 3))):
        # Estimates and what nodes deliver are most of a document and least of what matters.
        ways = [p for p in places(document)[1:] if not {"estimate", "properties"} & set(p[2:3])]
        *above, last = draw(st.sampled_from(ways))
        holder: Any = document
        for key in above:
            holder = holder[key]
        match draw(
            st.sampled_from(["replace", "replace", "replace", "leave out", "double", "add"])
        ):
            case "replace":
                holder[last] = copy.deepcopy(draw(NASTY))
            case "leave out":
                del holder[last]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
            case "add" if isinstance(holder, dict):
                holder[str(last) + "_"] = copy.deepcopy(draw(NASTY))
            case _:
                holder[last] = [copy.deepcopy(holder[last])]
    return document


@given(document=mutations())
@examples(300)
def test_a_changed_plan_is_refused_or_has_right_results(document: Any) -> None:
    note(repr(document))
    try:
        check_run(PhysicalPlan.from_json(json.dumps(document)))
    except PlanError as error:
        refused = str(error)
    else:
        refused = ""
    assert len(refused) < 1_000
