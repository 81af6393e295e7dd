"""What each experiment measures: points, each of them a plan over a generated stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Literal

from bench.figures.plans import Models, Priced, operator_of, plans_of_shapes
from bench.figures.shapes import NAMES, has_joins_and_paths, is_join_tree, text
from bench.queries import RATES, STAR, VERTICES, cost_model, uniform_catalog
from bench.streams import Uniform

Experiment = Literal["operators", "trees", "paths"]
EXPERIMENTS: tuple[Experiment, ...] = ("operators", "trees", "paths")
WSCAN, PATTERN, PATH = "Figure 6.3, WSCAN", "Figure 6.4, PATTERN", "Figure 6.5, PATH a+"
FIGURES: Mapping[Experiment, tuple[str, ...]] = {
    "operators": (WSCAN, PATTERN, PATH),
    "trees": ("Figure 6.8, star Qs",),
    "paths": ("Figure 6.9, path Qp",),
}
QUERY_OF_PATHS = "Answer(x, y) <- x (a/b/c)+ y.\n"
TOTAL = 1000
"""The sum of the two rates of PATTERN, in edges per second."""
CALL = 2_000
"""The edges of one call of the pipeline, at every rate and window of an operator."""
RANGE = 100
"""The window of the queries of 6.5.3, in seconds."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an experiment.

    Attributes:
        rounds: the number of timed runs of each point.
        scale: rates and vertices of 6.5.3 are divided by this number.
        seconds: the length of the streams of 6.5.3 after the window has filled.
        edges: the edges of the other streams after the window has filled.
        few: whether the other experiments have few points.
    """

    rounds: int = 9
    scale: int = 10
    seconds: int = 100
    edges: int = 40_000
    few: bool = False

    @property
    def key(self) -> str:
        """What makes points of two sizes different: all but the number of rounds."""
        fields = asdict(self)
        del fields["rounds"]
        return " ".join(f"{name}={value}" for name, value in fields.items())


FULL = Size()
SHORT = Size(rounds=1, scale=1000, seconds=20, edges=1000, few=True)


@dataclass(frozen=True, slots=True)
class Point:
    """A plan over a stream.

    Attributes:
        figure: the figure of the thesis.
        name: the name, which no other point of the experiment has.
        priced: the plan.
        scales: by model, the rates of its statistics over those of ``stream``.
        stream: the input.
        window: its range in seconds.
        x: the position in the figure, such as a rate; 0 for plans.
        series: the name of the line in the figure, or of the plan in the thesis.
        call_rows: the edges of one call of the pipeline.
    """

    figure: str
    name: str
    priced: Priced
    scales: Mapping[str, float]
    stream: Uniform
    window: int
    x: float
    series: str
    call_rows: int

    def costs(self) -> dict[str, float]:
        """The estimated cost per second by model, at the rates of the stream."""
        return {model: self.priced.cost(model) / scale for model, scale in self.scales.items()}


def points_of(experiment: Experiment, size: Size) -> list[Point]:
    """The points of an experiment."""
    if experiment == "operators":
        return [*_scans(size), *_patterns(size), *_closures(size)]
    return _named_plans(experiment, size)


def _scans(size: Size) -> list[Point]:
    rates = (1000, 8000) if size.few else (1000, 2000, 4000, 8000)
    query = _Operator(WSCAN, "Answer(x, y) <- a(x, y).\n", "TO_KERNEL", 20_000, 2 * size.edges)
    windows = (5,) if size.few else (5, 25, 100)
    return [query.point({"a": rate}, window) for window in windows for rate in rates]


def _patterns(size: Size) -> list[Point]:
    rates = (100, 500, 900) if size.few else range(100, TOTAL, 100)
    query = _Operator(PATTERN, "Answer(x, z) <- a(x, y), b(y, z).\n", "HASH_JOIN", 500, size.edges)
    windows = (5,) if size.few else (20, 50, 80)
    return [
        query.point({"a": rate, "b": TOTAL - rate}, window) for window in windows for rate in rates
    ]


def _closures(size: Size) -> list[Point]:
    rates = (200, 800) if size.few else (200, 400, 600, 800)
    query = _Operator(PATH, "Answer(x, y) <- x a+ y.\n", "S_PATH", 20_000, size.edges // 2)
    windows = (5,) if size.few else (5, 10, 15, 20)
    return [query.point({"a": rate}, window) for window in windows for rate in rates]


@dataclass(frozen=True, slots=True)
class _Operator:
    """A query whose plan ends with one operator, over a window that fills and then some edges."""

    figure: str
    query: str
    op: str
    vertices: int
    edges: int

    def point(self, rates: Mapping[str, int], window: int) -> Point:
        """The point at rates by label and a window; the first rate is its position."""
        stated = {label: float(rate) for label, rate in rates.items()}
        known = uniform_catalog(stated, self.vertices)
        models: Models = {
            "saturating": cost_model("saturating", known),
            "thesis": cost_model("thesis", known),
        }
        total = sum(rates.values())
        seconds = window + ceil(max(self.edges, 2 * CALL) / total)
        return Point(
            figure=self.figure,
            name=f"{self.figure}, {' + '.join(map(str, rates.values()))}/s, {window} s, "
            f"{self.vertices} vertices",
            priced=operator_of(f"{self.query}WINDOW {window}s SLIDE 1s", models, self.op),
            scales=dict.fromkeys(models, 1.0),
            stream=Uniform(rates, self.vertices, seconds, start=1),
            window=window,
            x=next(iter(rates.values())),
            series=f"window {window} s",
            call_rows=CALL,
        )


def _named_plans(experiment: Experiment, size: Size) -> list[Point]:
    """All plans of a query of 6.5.3.

    The model ``thesis`` has the parameters of the thesis, undivided, since its choice depends on
    the number of vertices. Its costs are then divided, as rates are. The model ``saturating`` has
    the parameters of the stream that runs.
    """
    is_star = experiment == "trees"
    labels = "abcd" if is_star else "abc"
    rates = {label: int(RATES[label]) // size.scale for label in labels}
    vertices = int(VERTICES) // size.scale
    whole = uniform_catalog({label: RATES[label] for label in labels}, VERTICES, longest_path=3)
    scaled = {label: float(rate) for label, rate in rates.items()}
    of_stream = cost_model("saturating", uniform_catalog(scaled, vertices, longest_path=3))
    models: Models = {
        "thesis": cost_model("thesis", whole),
        "saturating": of_stream,
    }
    query = STAR if is_star else QUERY_OF_PATHS
    plans = plans_of_shapes(
        f"{query}WINDOW {RANGE}s SLIDE 1s", models, is_join_tree if is_star else has_joins_and_paths
    )
    return [
        Point(
            figure=FIGURES[experiment][0],
            name=text(priced.shape),
            priced=priced,
            scales={"saturating": 1.0, "thesis": size.scale},
            stream=Uniform(rates, vertices, RANGE + size.seconds, start=1),
            window=RANGE,
            x=0.0,
            series=NAMES.get(priced.shape, ""),
            call_rows=sum(rates.values()) * RANGE // 10,
        )
        for priced in plans
    ]
