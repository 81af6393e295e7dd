"""The streams by name, with the size of their cuts and the windows to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from . import bundled, published
from .cuts import Cut, Row, Value, Window, cut

Vertices = dict[str, tuple[str, Mapping[str, Value]]]


@dataclass(frozen=True, slots=True)
class Stream:
    """How to read and cut a stream.

    Attributes:
        about: the publisher's data set, and how labels are derived.
        read: reads the publisher's files in a folder.
        windows: the windows to try, the largest first. A window has some hundred to some ten
            thousand valid edges.
        bundled: reads the slice in `examples/`; None if there is none.
        vertices: reads the stored vertices beside the stream.
        bundled_vertices: reads those in `examples/`.
        count: the edges of a cut.
        at: the position of its first edge, as a part of the stream.
        time_unit: the unit of times.
    """

    about: str
    read: Callable[[Path], Iterable[Row]]
    windows: tuple[Window, ...]
    bundled: Callable[[], Iterable[Row]] | None = None
    vertices: Callable[[Path], Vertices] | None = None
    bundled_vertices: Callable[[], Vertices] | None = None
    count: int = 60_000
    at: float = 0.5
    time_unit: str = "second"


STREAMS: Mapping[str, Stream] = MappingProxyType(
    {
        "mathoverflow": Stream(
            "MathOverflow of SNAP; labels a2q, c2a, c2q are the publisher's",
            published.mathoverflow,
            (("30d", "1d"), ("10d", "1d"), ("3d", "6h"), ("1d", "1h")),
            bundled.mathoverflow,
        ),
        "collegemsg": Stream(
            (
                "CollegeMsg of SNAP, one label; derived: opens (first message of a pair),"
                " replies (the latest had the other direction), repeats"
            ),
            published.collegemsg,
            (("2d", "2h"), ("12h", "1h"), ("3h", "10m"), ("1h", "5m")),
        ),
        "sfhh": Stream(
            (
                "SocioPatterns, a conference, one label; derived: meets (first contact of"
                " a pair), stays (also 20 seconds before), returns"
            ),
            published.sfhh,
            (("1h", "5m"), ("15m", "1m"), ("5m", "20s"), ("1m", "20s")),
        ),
        "invs15": Stream(
            (
                "SocioPatterns, an office, one label; derived from departments: core (the"
                " largest), within another, across two"
            ),
            published.invs15,
            (("2h", "10m"), ("30m", "2m"), ("10m", "1m"), ("2m", "20s")),
        ),
        "ethereum": Stream(
            (
                "Ethereum transactions; derived from input data and value: transfer, "
                "call, pay; properties ether, price"
            ),
            published.ethereum,
            (("2h", "10m"), ("30m", "2m"), ("10m", "1m")),
        ),
        "flows": Stream(
            (
                "CTU-13 sample; labels are protocols, with derived web (TCP to ports 80 "
                "and 443) and dns (UDP to port 53); properties port, bytes, seconds, bot"
            ),
            published.flows,
            (("30m", "1m"), ("10m", "1m"), ("2m", "10s")),
            bundled.flows,
        ),
        "amlsim": Stream(
            (
                "AMLSim, one label; derived: small, middle, large, a third of the edges "
                "each by amount; property amount; stored vertices account"
            ),
            published.amlsim,
            (("10d", "1d"), ("4d", "1d"), ("2d", "1d"), ("1d", "1d")),
            bundled.amlsim,
            published.amlsim_accounts,
            bundled.amlsim_accounts,
            time_unit="day",
        ),
        "ldbc": Stream(
            "LDBC SNB Interactive update streams; labels are the relations",
            published.ldbc,
            (("5d", "1d"), ("2d", "4h"), ("12h", "1h")),
            bundled.ldbc,
        ),
        "traffic": Stream(
            (
                "CityBench, road segments of Aarhus, one label; derived: slow, middle, "
                "fast, a third of the readings each by speed; properties speed, cars"
            ),
            published.traffic,
            (("30m", "5m"), ("15m", "5m"), ("10m", "5m"), ("5m", "5m")),
        ),
    }
)


def cut_of(name: str, folder: Path | None, count: int | None = None) -> Cut | None:
    """The cut of a stream, of the publisher's files in a folder or of the bundled slice.

    Args:
        name: a name in :data:`STREAMS`.
        folder: the folder of data sets; None for the bundled slices.
        count: the number of edges; by default that of the stream.

    Returns:
        None without a folder, for a stream that has no bundled slice.
    """
    stream = STREAMS[name]
    if folder is not None:
        rows, vertices = stream.read(folder), stream.vertices and stream.vertices(folder)
    elif stream.bundled is not None:
        rows, vertices = stream.bundled(), stream.bundled_vertices and stream.bundled_vertices()
    else:
        return None
    return cut(
        name,
        rows,
        stream.windows,
        count=count or stream.count,
        at=stream.at,
        time_unit=stream.time_unit,
        vertices=vertices,
    )
