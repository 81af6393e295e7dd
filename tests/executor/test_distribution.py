"""Plans whose inputs are not distributed as operators require are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.algebra.physical import (
    Coalesce,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    SPath,
    ToKernel,
    WindowScan,
    WitnessPaths,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.executor.checking import check, distributions
from headrace.executor.local import run_plan
from tests.executor.plans import Node, plan_of

LEAF: tuple[Node, ...] = ((WindowScan("s", "a", 8, 1), ()), (ToKernel(), (0,)))
CHAIN = HashJoin(((0, 1), (1, 2)), (0, 2))
WITH_KEY = HashJoin(((0, 1), (1, 2)), (2, 1))
CROSS = HashJoin(((0, 1), (2, 3)), (0, 3))
SINGLE, EVERYWHERE = Exchange("single"), Exchange("broadcast")
BY_0, BY_1 = Exchange("hash", (0,)), Exchange("hash", (1,))
PLUS = SPath(2, ((0, 0, False, 1), (1, 0, False, 1)), (1,))
OWN = replace(PLUS, roots="own")
WITNESS = WitnessPaths(
    (1,), (1, 2, 0), 0, 1, 2, ((0, 0, False, 1), (1, 0, False, 1)), (1,), ("a",)
)  # fmt: skip


def over_scan_input(*nodes: Node, partitions: int = 2) -> PhysicalPlan:
    """Nodes over a scan input, whose id is 1."""
    return plan_of([*LEAF, *nodes]).model_copy(update={"parallelism": partitions})


@pytest.mark.parametrize(
    ("nodes", "root"),
    [
        ((), "any"),
        ([(BY_1, (1,))], "hash(1)"),
        ([(SINGLE, (1,))], "single"),
        ([(BY_0, (1,)), (SINGLE, (2,))], "single"),
        ([(FilterRows("c0 = c1"), (1,))], "any"),
        ([(BY_1, (1,)), (ProjectColumns((1, 0, 1)), (2,))], "hash(0, 2)"),
        ([(BY_1, (1,)), (ProjectColumns((0,)), (2,))], "any"),
        ([(BY_1, (1,)), (Coalesce(), (2,))], "hash(1)"),
        ([(EVERYWHERE, (1,)), (OWN, (2,))], "hash(0)"),
        ([(SINGLE, (1,)), (PLUS, (2,))], "single"),
        ([(EVERYWHERE, (1,)), (PLUS, (2,)), (CHAIN, (1, 3))], "any"),
        ([(EVERYWHERE, (1,)), (CHAIN, (2, 1))], "any"),
        ([(EVERYWHERE, (1,)), (BY_1, (1,)), (CHAIN, (2, 3))], "hash(1)"),
        ([(EVERYWHERE, (1,)), (SINGLE, (1,)), (CROSS, (2, 3))], "single"),
        ([(SINGLE, (1,)), (CROSS, (2, 2))], "single"),
        ([(BY_1, (1,)), (BY_0, (1,)), (CHAIN, (2, 3))], "any"),
        ([(BY_1, (1,)), (BY_0, (1,)), (WITH_KEY, (2, 3))], "hash(1)"),
        ([(BY_1, (1,)), (BY_0, (1,)), (MergeUnion(), (2, 3))], "any"),
        ([(BY_1, (1,)), (SINGLE, (1,)), (MergeUnion(), (2, 3, 1))], "any"),
        ([(BY_1, (1,)), (EmptyRelation(2), ()), (MergeUnion(), (2, 3))], "hash(1)"),
        ([(EmptyRelation(2), ()), (MergeUnion(), (2, 2)), (OWN, (3,))], "nothing"),
        ([(EmptyRelation(2), ()), (CROSS, (1, 2)), (Coalesce(), (3,))], "nothing"),
        ([(BY_1, (1,)), (EVERYWHERE, (1,)), (WITNESS, (2, 3))], "hash(0)"),
        ([(SINGLE, (1,)), (SINGLE, (1,)), (WITNESS, (2, 3))], "single"),
        ([(SINGLE, (1,)), (EVERYWHERE, (1,)), (WITNESS, (2, 3))], "single"),
        ([(EmptyRelation(2), ()), (WITNESS, (2, 1))], "nothing"),
    ],
)
def test_the_root_delivers_the_derived_distribution(nodes: list[Node], root: str) -> None:
    plan = over_scan_input(*nodes)
    assert str(distributions(plan)[plan.root]) == root


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ([(EVERYWHERE, (1,))], r"node 2 \(EXCHANGE\): the root would return every row several"),
        ([(EVERYWHERE, (1,)), (PLUS, (2,))], r"node 3 \(S_PATH\): the root would return"),
        ([(EVERYWHERE, (1,)), (BY_0, (2,))], r"node 3 \(EXCHANGE\): its input is on every"),
        ([(Exchange("hash"), (1,))], "hashes on one column, not on 0"),
        ([(Exchange("hash", (0, 1)), (1,))], "hashes on one column, not on 2"),
        ([(Exchange("hash", (2,)), (1,))], "no such column"),
        ([(Exchange("single", (0,)), (1,))], "single takes no columns"),
        ([(Exchange("hash", (0,)), (1, 1))], "it has one input"),
        ([(Coalesce(), (1,))], r"node 2 \(COALESCE\): the rows of a value may lie on several"),
        ([(BY_0, (1,)), (ProjectColumns((1,)), (2,)), (Coalesce(), (3,))], "several partitions"),
        ([(PLUS, (1,))], r"node 2 \(S_PATH\): edges of one path may lie on several"),
        ([(BY_0, (1,)), (PLUS, (2,))], "edges of one path"),
        ([(OWN, (1,))], "each partition needs every edge"),
        ([(SINGLE, (1,)), (OWN, (2,))], "each partition needs every edge"),
        ([(CHAIN, (1, 1))], r"node 2 \(HASH_JOIN\): its inputs lie any and any"),
        ([(BY_0, (1,)), (CHAIN, (2, 2))], r"its inputs lie hash\(0\) and hash\(0\)"),
        ([(BY_1, (1,)), (CHAIN, (2, 1))], r"its inputs lie hash\(1\) and any"),
        ([(BY_1, (1,)), (SINGLE, (1,)), (CHAIN, (2, 3))], r"its inputs lie hash\(1\) and single"),
        ([(BY_1, (1,)), (BY_0, (1,)), (CROSS, (2, 3))], "may lie apart"),
        ([(EVERYWHERE, (1,)), (MergeUnion(), (2, 1))], "some inputs are on every partition"),
        (
            [(BY_0, (1,)), (ToKernel(), (2,))],
            r"node 3 \(TO_KERNEL\): its input is not a scan with filters",
        ),
        ([(CHAIN, (1,))], "two inputs"),
        (
            [(BY_0, (1,)), (EVERYWHERE, (1,)), (WITNESS, (2, 3))],
            r"distributed by hash\(0\), which hashes no key",
        ),
        ([(EVERYWHERE, (1,)), (WITNESS, (1, 2))], "the rows of a key may lie on several"),
        ([(BY_1, (1,)), (WITNESS, (2, 1))], r"node 3 \(WITNESS\): edges of a path may lie apart"),
        ([(BY_1, (1,)), (SINGLE, (1,)), (WITNESS, (2, 3))], "edges of a path may lie apart"),
        ([(SINGLE, (1,)), (WITNESS, (2,))], "an input of rows and an input of edges"),
        ([(SINGLE, (1,)), (replace(WITNESS, keys=(2,)), (2, 2))], "no such column"),
        ([(SINGLE, (1,)), (replace(WITNESS, output=(3,)), (2, 2))], "no such column"),
        (
            [(SINGLE, (1,)), (replace(WITNESS, labels=()), (2, 2))],
            "each input of edges has a label",
        ),
        ([(SINGLE, (1,)), (replace(WITNESS, states=1), (2, 2))], "automaton names a state"),
        ([(SINGLE, (1,)), (WITNESS, (2, 2)), (WITNESS, (2, 3))], "a path is made of pairs"),
    ],
)
def test_a_plan_with_wrongly_distributed_inputs_is_refused(nodes: list[Node], problem: str) -> None:
    plan = over_scan_input(*nodes)
    with pytest.raises(PlanError, match=problem):
        check(plan)
    with pytest.raises(PlanError, match=problem):
        list(run_plan(plan, []))


def test_an_exchange_is_refused_in_a_plan_for_one_partition() -> None:
    plan = over_scan_input((SINGLE, (1,)), partitions=1)
    with pytest.raises(PlanError, match=r"node 2 \(EXCHANGE\): .* nothing to exchange"):
        check(plan)


def test_nodes_that_the_root_does_not_read_are_not_checked() -> None:
    check(over_scan_input((Coalesce(), (1,)), (BY_0, (1,))))
