"""Random cases have answers and cover all features of queries."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.conditions import Calc
from tests.oracles.conditions import text as condition_text
from tests.oracles.query import Atom, Closure, Const, PathAtom, Source, Var
from tests.oracles.snapshot import Edge, Truth, expiry, labels_of
from tests.strategies.amount import MORE, examples
from tests.strategies.properties import property_cases
from tests.strategies.queries import LABELS, Case, aliases, cases
from tests.strategies.streams import LONGEST_RANGE, edges, long_stream

TRIED = 400


def test_most_cases_have_answers_and_all_features_occur() -> None:
    seen: Counter[str] = Counter()

    @given(case=cases())
    @settings(max_examples=TRIED * max(MORE, 1))
    def look(case: Case) -> None:
        truth = Truth(case.query, case.edges)
        rules = case.query.rules
        atoms = [atom for rule in rules for atom in rule.body]
        terms = [term for atom in atoms for term in atom.terms]
        sources = list(case.query.source.values())
        heads = [rule.head for rule in rules]
        features = {
            "case": True,
            "answers": any(map(truth.at, truth.changes)),
            "closure": any(isinstance(atom, Closure) for atom in atoms),
            "path": any(isinstance(atom, PathAtom) for atom in atoms),
            "closure of a derived predicate": any(
                isinstance(atom, Closure) and atom.label in heads for atom in atoms
            ),
            "union": len(heads) > len(set(heads)),
            "constant": any(isinstance(term, Const) for term in terms),
            "nameless": Var("_") in terms,
            "loop": any(isinstance(a, Atom) and a.source == a.target for a in atoms),
            "named closure read elsewhere": any(
                label in aliases(rules) for atom in atoms for label in labels_of(atom)
            ),
            "a variable twice in a head": any(
                len(rule.variables) > len(set(rule.variables)) for rule in rules
            ),
            "more than two columns": len(case.query.columns) > 2,
            "one column": len(case.query.columns) == 1,
            "integers": case.integers,
            "unequal windows": len({(s.range, s.slide) for s in sources}) > 1,
            "two streams": len({source.stream for source in sources}) > 1,
            "slide": any(source.slide > 1 for source in sources),
            "slide does not divide": any(source.range % source.slide for source in sources),
            "equal times": len({edge.ts for edge in case.edges}) < len(case.edges),
            "time 0": any(edge.ts == 0 for edge in case.edges),
        }
        seen.update(name for name, there in features.items() if there)

    look()
    assert seen["answers"] >= seen["case"] / 3
    assert {name for name, times in seen.items() if times < seen["case"] / 50} == set()
    assert len(seen) == 20


@given(stream=edges(LABELS, ("1", "2")), source=st.just(Source("s", 5, 2)))
@examples(50)
def test_streams_are_in_time_order(stream: tuple[Edge, ...], source: Source) -> None:
    times = [edge.ts for edge in stream]
    assert times == sorted(times)
    assert all(time >= 0 for time in times)
    assert all(expiry(edge, source) > edge.ts for edge in stream)


def test_long_streams_are_the_same_for_a_seed_and_have_bursts_and_gaps() -> None:
    stream = long_stream(7, LABELS, ("1", "2", "3"), 2000, 2.0)
    assert stream == long_stream(7, LABELS, ("1", "2", "3"), 2000, 2.0)
    assert stream != long_stream(8, LABELS, ("1", "2", "3"), 2000, 2.0)
    gaps = [after.ts - before.ts for before, after in pairwise(stream)]
    assert min(gaps) == 0
    assert max(gaps) > LONGEST_RANGE


def test_cases_over_properties_have_answers_and_all_features() -> None:
    seen: Counter[str] = Counter()

    @given(case=property_cases())
    @settings(max_examples=TRIED * max(MORE, 1))
    def look(case: Case) -> None:
        truth = Truth(case.query, case.edges)
        rules = case.query.rules
        conditions = [c for rule in rules for c in rule.conditions]
        bare = replace(case.query, rules=tuple(replace(rule, conditions=()) for rule in rules))
        answers = [truth.at(t) for t in truth.changes]
        written = [condition_text(c) for c in conditions]
        features = {
            "case": True,
            "answers": any(answers),
            "conditions that tell": any(
                Truth(bare, case.edges).at(t) != answers[i] for i, t in enumerate(truth.changes)
            ),
            "properties in the answer": any(rule.properties for rule in rules),
            "missing values in the answer": any(None in row for rows in answers for row in rows),
            "computed": any(isinstance(c.left, Calc) for c in conditions),
            "over two edges": any(len(set(re.findall(r"e\d\.", w))) > 1 for w in written),
            "edges compared": any("." not in w and "e" in w.split()[0] for w in written),
            "below the answer": any(r.conditions and r.head != "Answer" for r in rules),
            "parallel edges": any(
                len(edges) > len(truth.snapshot(t)[label])
                for t in truth.changes[:3]
                for label, edges in truth.snapshot(t).edges.items()
            ),
        }
        seen.update(name for name, there in features.items() if there)

    look()
    assert seen["answers"] > seen["case"] / 3
    assert seen["conditions that tell"] > seen["case"] / 5
    assert all(seen[name] > 1 for name in seen.keys() | _PROPERTY_FEATURES), seen


_PROPERTY_FEATURES = {
    "properties in the answer",
    "missing values in the answer",
    "computed",
    "over two edges",
    "edges compared",
    "below the answer",
    "parallel edges",
}
