"""Default statistics, for labels without measured or declared ones.

Every label gets the same rough numbers, so the shape of the query alone decides the plan. A
measured sample (:func:`headrace.catalog.measurement.measure`) gives better plans.
"""

from __future__ import annotations

from collections.abc import Iterable

from .model import Catalog, LabelStatistics, Stream

DEFAULT_STATISTICS = LabelStatistics(
    rate=1.0,
    distinct_src=10_000.0,
    distinct_trg=10_000.0,
    vertices=10_000.0,
)
"""One edge per time unit; ten thousand vertices, each of which may be a source or a target."""

DEFAULT_STORED = LabelStatistics(
    rate=0.0,
    distinct_src=10_000.0,
    distinct_trg=10_000.0,
    vertices=10_000.0,
    population=10_000.0,
)
"""The defaults of a stored label: one edge for each vertex."""

DEFAULT_STREAM = "input"
"""The name of the only stream of a default catalog."""
VERTEX_STREAM = "vertices"
"""The name of the stored vertices of a default catalog."""


def default_catalog(
    labels: Iterable[str], streams: Iterable[str] = (), vertices: Iterable[str] = ()
) -> Catalog:
    """A catalog with ``labels``, each of :data:`DEFAULT_STATISTICS`, in one stream ``input``.

    A label ``stream.label`` of one of ``streams`` goes to that stream. The streams have open
    labels and no source, so a query can be planned over them but not run. The time unit is the
    second. Labels of ``vertices`` are stored. The exception is ``stream.label``, if no edge label
    of that stream is read.
    """
    named = set(streams)
    own: dict[str, set[str]] = {}
    for label in labels:
        stream, _, rest = label.partition(".")
        qualified = stream in named and rest != ""
        own.setdefault(stream if qualified else DEFAULT_STREAM, set()).add(
            rest if qualified else label
        )
    all_streams = {
        name: Stream(name, dict.fromkeys(sorted(own[name]), DEFAULT_STATISTICS), open_labels=True)
        for name in sorted(own)
    }
    of_vertices: dict[str, set[str]] = {}
    for label in vertices:
        stream, _, rest = label.partition(".")
        qualified = stream in named and rest != ""
        place = stream if qualified and stream not in own else VERTEX_STREAM
        of_vertices.setdefault(place, set()).add(rest if qualified else label)
    for name, mine in sorted(of_vertices.items()):
        stored = name == VERTEX_STREAM
        statistics = DEFAULT_STORED if stored else DEFAULT_STATISTICS
        all_streams[name] = Stream(
            name,
            dict.fromkeys(sorted(mine), statistics),
            open_labels=True,
            stored=stored,
            vertices=True,
        )
    return Catalog(all_streams or {DEFAULT_STREAM: Stream(DEFAULT_STREAM, {}, open_labels=True)})
