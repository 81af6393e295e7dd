"""The oracle's paths against networkx, relational algebra and Python's own regexes."""

import re
from collections.abc import Iterator
from functools import partial, reduce
from itertools import accumulate, product, repeat

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.paths import Pair, path_pairs, simple_pairs
from tests.oracles.query import (
    Alt,
    AnyBut,
    Back,
    Regex,
    Repeat,
    Seq,
    Step,
    maybe,
    plus,
    regex_text,
    star,
)
from tests.strategies.amount import examples
from tests.strategies.queries import regexes

VERTICES = range(4)
IDENTITY: set[Pair] = {(vertex, vertex) for vertex in VERTICES}
Graph = dict[str, frozenset[Pair]]

graphs = st.fixed_dictionaries(
    {
        label: st.frozensets(st.tuples(*[st.sampled_from(VERTICES)] * 2), max_size=6)
        for label in "ab"
    }
)


def _compose(left: set[Pair], right: set[Pair]) -> set[Pair]:
    return {(x, z) for x, y in left for w, z in right if y == w}


def _words(regex: Regex, graph: Graph) -> set[Pair]:
    """All paths of a language by relational algebra, the empty one as the identity."""
    match regex:
        case Step(label):
            return set(graph[label])
        case Back(part):
            return {(y, x) for x, y in _words(part, graph)}
        case Alt(parts):
            return set().union(*(_words(part, graph) for part in parts))
        case Seq(parts):
            return reduce(_compose, (_words(part, graph) for part in parts), IDENTITY)
        case Repeat(part, least, most):
            one = _words(part, graph)
            last = least + len(VERTICES) ** 2 if most is None else most
            powers = list(accumulate(repeat(one, last), _compose, initial=IDENTITY))
            return set().union(*powers[least:])
        case AnyBut():
            raise AssertionError("only a snapshot knows all labels")


def _marked(regex: Regex) -> Iterator[Regex]:
    """Regexes in which one step must be taken: their union is the language without ε."""
    match regex:
        case Step():
            yield regex
        case Back(part):
            yield from map(Back, _marked(part))
        case Alt(parts):
            for part in parts:
                yield from _marked(part)
        case Seq(parts):
            for i, part in enumerate(parts):
                for marked in _marked(part):
                    yield Seq((*parts[:i], marked, *parts[i + 1 :]))
        case Repeat(part, least, most):
            if most is None or most >= max(least, 1):
                for marked in _marked(part):
                    for before in range(max(least, 1)):
                        after = max(least - 1 - before, 0)
                        rest = None if most is None else most - 1 - before
                        yield Seq((Repeat(part, before, before), marked, Repeat(part, after, rest)))


@given(graph=graphs, regex=regexes("ab"))
@examples(300)
def test_pairs_equal_relational_algebra(graph: Graph, regex: Regex) -> None:
    expected = set().union(*(_words(marked, graph) for marked in _marked(regex)))
    assert path_pairs(regex, graph) == expected


@given(graph=graphs)
@examples(50)
def test_plus_of_a_label_is_transitive_closure(graph: Graph) -> None:
    directed = nx.DiGraph(list(graph["a"]))
    assert path_pairs(plus(Step("a")), graph) == set(nx.transitive_closure(directed).edges)


def _pattern(regex: Regex) -> str:
    """The same language as a Python regex: small letters forwards, capitals backwards."""
    match regex:
        case Step(label):
            return label
        case Back(Step(label)):
            return label.upper()
        case Back(Seq(parts)):
            return "".join(_pattern(Back(part)) for part in reversed(parts))
        case Back(Alt(parts)):
            return _pattern(Alt(tuple(Back(part) for part in parts)))
        case Back(Repeat(part, least, most)):
            return _pattern(Repeat(Back(part), least, most))
        case Back(Back(part)):
            return _pattern(part)
        case Back() | AnyBut():
            raise AssertionError("all cases of an inverse stand above")
        case Seq(parts):
            return "".join(_pattern(part) for part in parts)
        case Alt(parts):
            return f"(?:{'|'.join(map(_pattern, parts))})"
        case Repeat(part, least, most):
            bounds = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{_pattern(part)}){bounds}"


@given(word=st.text("abAB", min_size=1, max_size=5), regex=regexes("ab"))
@examples(300)
def test_a_single_path_matches_like_a_python_regex(word: str, regex: Regex) -> None:
    edges: dict[str, set[Pair]] = {"a": set(), "b": set()}
    for i, letter in enumerate(word):
        edges[letter.lower()].add((i, i + 1) if letter.islower() else (i + 1, i))
    # A path may repeat edges in both directions, so each word that Python accepts must be there.
    found = (0, len(word)) in path_pairs(regex, edges)
    accepted = re.fullmatch(_pattern(regex), word) is not None
    assert found or not accepted
    if word.islower() and "^" not in regex_text(regex):
        assert found == accepted


def _letters(graph: Graph, x: int, y: int) -> list[str]:
    """The word of the edges between two vertices, from the first to the second."""
    forwards = [label for label in graph if (x, y) in graph[label]]
    return forwards + [label.upper() for label in graph if (y, x) in graph[label]]


@given(graph=graphs, regex=regexes("ab"))
@examples(100)
def test_simple_pairs_have_a_simple_path_of_networkx_whose_word_python_accepts(
    graph: Graph, regex: Regex
) -> None:
    directed = nx.DiGraph([pair for pairs in graph.values() for pair in pairs])
    directed.add_nodes_from(VERTICES)
    directed.add_edges_from([(y, x) for x, y in directed.edges])
    accepted = re.compile(_pattern(regex))
    expected = {
        (x, y)
        for x in VERTICES
        for y in set(VERTICES) - {x}
        for path in nx.all_simple_paths(directed, x, y)
        for word in product(*map(partial(_letters, graph), path, path[1:]))
        if accepted.fullmatch("".join(word))
    }
    assert simple_pairs(regex, graph) == expected


def test_simple_pairs_are_pairs_of_different_vertices() -> None:
    graph = {"a": {(1, 2), (2, 1), (2, 3), (3, 3)}}
    assert simple_pairs(plus(Step("a")), graph) == {(1, 2), (2, 1), (1, 3), (2, 3)}
    assert simple_pairs(Seq((Step("a"), Step("a"))), graph) == {(1, 3)}


def test_empty_paths_are_no_paths() -> None:
    graph = {"a": {(1, 2)}, "b": {(2, 2)}}
    assert path_pairs(star(Step("a")), graph) == {(1, 2)}
    assert path_pairs(Seq((Step("a"), star(Step("b")))), graph) == {(1, 2)}
    assert path_pairs(Seq((maybe(Step("a")), star(Step("b")))), graph) == {(1, 2), (2, 2)}
    assert path_pairs(Repeat(Step("a"), 0, 0), graph) == set()
    assert path_pairs(Repeat(Step("a"), 3, 2), graph) == set()


def test_inverse_reverses_sequences() -> None:
    graph = {"a": {(1, 2)}, "b": {(2, 3)}}
    assert path_pairs(Back(Seq((Step("a"), Step("b")))), graph) == {(3, 1)}
    assert path_pairs(Seq((Step("a"), Back(Step("a")))), graph) == {(1, 1)}
