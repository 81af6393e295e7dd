"""Random streams: few vertices, bursts, and gaps longer than a window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from hypothesis import strategies as st

from tests.oracles.query import Source, Vertex
from tests.oracles.snapshot import Edge

UNREAD = "unread"
"""A label that occurs in streams and that no query reads."""

LONGEST_RANGE = 12


@st.composite
def sources(draw: st.DrawFn, streams: Sequence[str] = ("s",)) -> Source:
    """A window, of one of the given streams; its slide need not divide its range."""
    length = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 11, LONGEST_RANGE]))
    slide = draw(st.one_of(st.just(1), st.integers(1, length)))
    return Source(draw(st.sampled_from(streams)), length, slide)


GAPS = st.sampled_from([0] * 8 + [1] * 8 + [2] * 3 + [3, 3, 5, LONGEST_RANGE, 3 * LONGEST_RANGE])
"""Time from one edge to the next: none in a burst, and now and then more than any window."""


@st.composite
def edges(
    draw: st.DrawFn, labels: Sequence[str], vertices: Sequence[Vertex], longest: int = 24
) -> tuple[Edge, ...]:
    """Edges in time order; the first may be at time 0."""
    vertex = st.sampled_from(vertices)
    label = st.sampled_from([*labels] * (12 // len(labels)) + [UNREAD])
    event = st.tuples(label, vertex, vertex, GAPS)
    length = draw(st.integers(0, longest))
    drawn = draw(st.lists(event, min_size=length, max_size=length))
    times = accumulate(gap for *_, gap in drawn)
    return tuple(
        Edge(time, source, target, name)
        for time, (name, source, target, _) in zip(times, drawn, strict=True)
    )


def long_stream(
    seed: int, labels: Sequence[str], vertices: Sequence[Vertex], length: int, pace: float
) -> tuple[Edge, ...]:
    """A long stream of a seed, ``pace`` edges per time unit on average.

    A tenth of the edges comes in bursts at one time; once in a while nothing comes for
    longer than a window.
    """
    random = Random(seed)
    found = []
    now = 0.0
    for _ in range(length):
        if random.random() > 0.1:
            now += random.expovariate(pace)
        if random.random() < 0.002:
            now += 4 * LONGEST_RANGE
        source, target = random.choice(vertices), random.choice(vertices)
        found.append(Edge(int(now), source, target, random.choice(labels)))
    return tuple(found)
