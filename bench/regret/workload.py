"""The queries over a stream: the thesis's, the examples', and generated ones.

In: a cut of a stream and a seed. Out: queries in RQ without windows, the same for the same seed.
The labels of a query are drawn so that edges which meet in a variable have common vertices there,
as the schema of gMark (Bagan et al., TKDE 2017) ensures. Seed 1 is for tuning; other seeds are for
checking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import headrace.examples
from bench.corpus import Cut
from bench.queries import PAPER_Q4, STAR, TABLE_4_2, TABLE_5_1
from bench.regret.shapes import End, Shape, generated

TUNING = 1
"""The seed of the queries for tuning."""

_TRIES = 300
_EXAMPLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "mathoverflow": ("mathoverflow", {}),
    "amlsim": ("amlsim", {"transfer": "(small|middle|large)"}),
    "flows": ("flows", {"tcp": "(web|tcp)"}),
    "ldbc": ("ldbc", {}),
}
"""By stream: the folder of its examples, and the labels of the cut for those of an example."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query to measure; ``kind`` is table, example, path, pattern or mixed."""

    name: str
    kind: str
    text: str


def workload(cut: Cut, seed: int) -> list[Query]:
    """All queries over a stream for a seed."""
    random = Random(f"{seed} {cut.name}")
    meets, labels = _meeting_ends(cut), cut.labels
    queries = [
        Query(name, "table", _instance(shape, labels, meets, random)) for name, shape in _named()
    ]
    queries += _examples(cut)
    for name, kind, shape in generated(random, cut):
        queries.append(Query(name, kind, _instance(shape, labels, meets, random)))
    return queries


def _named() -> Iterator[tuple[str, Shape]]:
    """The queries of the thesis and the paper, with the ends that meet."""
    follow = {
        "Q1": "aa", "Q2": "ab bb", "Q3": "ab bb bc cc", "Q4": "aa", "Q5": "ab bb bc",
        "Q6": "aa ab bb", "Q7": "ab bc cc", "Q8": "ab bb", "Q9": "aa", "Q10": "ad bd cd dd",
        "Q11": "ab bc",
    }  # fmt: skip
    for name, path in TABLE_4_2.items():
        text = f"Answer(x, y) <- x {_braced(path)} y."
        yield f"Table 4.2 {name}", Shape(text, _after(follow[name]))
    abc = _after("ab bc ca")
    rl = (*_after("aa bc"), (("a", 0), ("b", 0)), (("a", 1), ("c", 1)))
    rr = (
        (("a", 0), ("b", 1)), (("a", 1), ("b", 1)), (("b", 0), ("c", 1)), (("b", 0), ("c", 0)),
    )  # fmt: skip
    ends: dict[str, tuple[tuple[End, End], ...]] = {
        "Q1": _after("aa"), "Q2": _after("ab bb"), "Q3": _after("ab bb bc cc"), "Q4": abc,
        "Q5": rr, "Q6": rl, "Q7": (*rl, (("a", 1), ("a", 0))),
    }  # fmt: skip
    for name, text in TABLE_5_1.items():
        yield f"Table 5.1 {name}", Shape(text, ends[name])
    star = tuple((("a", 0), (other, 0)) for other in "bcd")
    yield "Qs", Shape(_braced(STAR), star)
    yield "Q4 of the paper", Shape(PAPER_Q4, abc)
    yield "triangle", Shape("Answer(x, y, z) <- {a}(x, y), {b}(y, z), {c}(z, x).", abc)
    yield (
        "square",
        Shape(
            "Answer(w, x, y, z) <- {a}(w, x), {b}(x, y), {c}(y, z), {d}(z, w).",
            _after("ab bc cd da"),
        ),
    )
    yield (
        "Example 3",
        Shape(
            "RL(u, v) <- {a}(u, m), {b}+(u, v), {c}(v, m). Notify(u, m) <- RL+(u, v), {c}(v, m). "
            "Answer(u, m) <- Notify(u, m).",
            ((("a", 0), ("b", 0)), (("b", 1), ("c", 0)), (("a", 1), ("c", 1)), *_after("bb")),
        ),
    )
    yield (
        "Example 5",
        Shape(
            "ACQ(u, v) <- {a}(u, m), {b}(v, m). ACQ(u, v) <- {c}(u, v). "
            "Answer(u, p) <- ACQ(u, v), {d}(v, p).",
            ((("a", 1), ("b", 1)), (("b", 0), ("d", 0)), *_after("cd")),
        ),
    )


def _braced(text: str) -> str:
    return re.sub(r"\b([abcd])\b", r"{\1}", text)


def _after(pairs: str) -> tuple[tuple[End, End], ...]:
    """``ab bc``: the targets of a are sources of b, those of b sources of c."""
    return tuple(((pair[0], 1), (pair[1], 0)) for pair in pairs.split())


def _meeting_ends(cut: Cut) -> frozenset[tuple[End, End]]:
    """The pairs of (label, end) that have a common vertex at a tenth of the smaller's vertices."""
    values: dict[End, set[int]] = {}
    for edge in cut.edges:
        values.setdefault((edge.label, 0), set()).add(edge.src)
        values.setdefault((edge.label, 1), set()).add(edge.trg)
    return frozenset(
        (one, other)
        for one, first in values.items()
        for other, second in values.items()
        if 10 * len(first & second) >= min(len(first), len(second))
    )


def _instance(
    shape: Shape, names: Sequence[str], meets: frozenset[tuple[End, End]], random: Random
) -> str:
    """A shape with labels; of many tries the one with the fewest ends that do not meet."""
    slots = shape.slots
    best: tuple[int, dict[str, str]] | None = None
    for _ in range(_TRIES):
        labels = _drawn(slots, names, random)
        faults = sum(
            ((labels[a], i), (labels[b], j)) not in meets for (a, i), (b, j) in shape.meetings
        )
        if best is None or faults < best[0]:
            best = (faults, labels)
        if not faults:
            break
    assert best is not None
    return shape.text.format(**best[1])


def _drawn(slots: Sequence[str], labels: Sequence[str], random: Random) -> dict[str, str]:
    """A label for each slot: mostly different ones as long as there are any."""
    names = list(labels)
    if random.random() < 0.15:
        return {slot: random.choice(names) for slot in slots}
    drawn: list[str] = []
    while len(drawn) < len(slots):
        random.shuffle(names)
        drawn += names
    return dict(zip(slots, drawn, strict=False))


def _examples(cut: Cut) -> Iterator[Query]:
    """The examples over the labels of the stream, without windows of their own."""
    if cut.name not in _EXAMPLES:
        return
    folder, labels = _EXAMPLES[cut.name]
    for path in sorted((Path(headrace.examples.__file__).parent / folder).glob("*.rq")):
        lines = path.read_text("utf-8").splitlines()
        kept = [line for line in lines if not line.startswith(("%", "WINDOW", "ON "))]
        text = "\n".join(kept)
        for label, own in labels.items():
            text = re.sub(rf"\b{label}\(", f"{own}(", text)
        read = {word for word in re.findall(r"(\w+)\+?\(", text) if word[0].islower()}
        stored = {vertex.label for vertex in cut.vertices}
        if read - {"abs"} <= {*cut.labels, *stored}:
            yield Query(f"example {path.stem}", "example", text)
