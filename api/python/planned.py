"""A planned query that explains, draws, compares and runs its plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from os import PathLike, fspath
from typing import TYPE_CHECKING, get_args

from ...planning.errors import UsageError
from ...planning.planner import Planned

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ...executor.spark.options import RunOptions
    from ...planning.requests import Format, Stage
    from ...running.runs import EngineKind
    from .alternatives import AlternativePlans
    from .rows import Rows

FileNames = str | PathLike[str] | Sequence[str | PathLike[str]]
"""One name of a file, or several; each may be ``LABEL=FILE``."""


def file_names(files: FileNames) -> list[str]:
    """Returns the names as a list of texts."""
    several = (files,) if isinstance(files, str | PathLike) else files
    return [fspath(file) for file in several]


@dataclass(frozen=True, repr=False, eq=False)
class PlannedQuery(Planned):
    """The outcome of `headrace.optimize`: a `Planned` with the calls of a program or a notebook.

    A notebook shows it as the graph of the plan.
    """

    @classmethod
    def of(cls, planned: Planned) -> PlannedQuery:
        """Returns the same outcome of planning with these methods."""
        return cls(**{field.name: getattr(planned, field.name) for field in fields(Planned)})

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of the answer."""
        return self.plan.columns

    def explain(
        self,
        *,
        why: bool = False,
        costs: bool = False,
        analyze: bool = False,
        stage: Stage = "physical",
        format: Format = "text",
    ) -> str:
        """Returns the output of ``headrace explain``.

        Args:
            why: whether to add the reason for each operator.
            costs: whether to add the formula of the cost of each operator.
            analyze: whether to run the plan over its files and add measured numbers.
            stage: the stage of the query to show.
            format: the form to show it in.

        Raises:
            UsageError: if the stage has no such form, or cannot show the requested details.
        """
        from ..explanation import explained, misplaced

        wrong = misplaced(stage, format, why=why, costs=costs, analyze=analyze)
        if wrong is not None:
            raise UsageError(f"{wrong} needs the stage physical, as text or json")
        analysis = None
        if analyze:
            from ...running.analysis import analyze as measure
            from ...running.runs import files_alone, inputs_of_plan

            analysis = measure(self.plan, files_alone(inputs_of_plan(self.plan, self.catalog, [])))
        return explained(self, stage, format, why=why, costs=costs, analysis=analysis)

    def show(self) -> None:
        """Shows the graph of the plan in a notebook; elsewhere prints the plan as text."""
        from .display import displayed

        if not displayed(self):
            print(self.explain())

    def alternatives(
        self,
        limit: int = 10,
        *,
        seconds: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> AlternativePlans:
        """Returns the cheapest different plans of the query, by the cost of their trees.

        Args:
            limit: the number of plans.
            seconds: the time limit; by default as long again as the search was allowed.
            cancelled: polled between steps; once it returns true, the list ends.
        """
        from .alternatives import alternatives_of

        return alternatives_of(self, limit, seconds=seconds, cancelled=cancelled)

    def run(
        self,
        engine: EngineKind = "local",
        *,
        inputs: FileNames = (),
        stored: FileNames = (),
        vertices: FileNames = (),
        options: RunOptions | None = None,
        spark: SparkSession | None = None,
        progress: bool | None = None,
    ) -> Rows:
        """Returns the results of the plan; the run begins when the first one is read.

        Args:
            engine: ``local`` for this process without Spark, over files; ``spark`` for Spark in
                local mode, over files and live sources.
            inputs: the files of the stream; by default those of the catalog or of `optimize`.
            stored: the files of the stored graph, likewise.
            vertices: the files of stored vertices, likewise.
            options: the options of the run.
            spark: the session to run in; by default the session of this process, or else a new
                session that ends with the run.
            progress: whether to show progress; by default on a terminal and in a notebook.

        Raises:
            UsageError: if a stream has no input, or the engine cannot do what is asked for. Reading
                the results raises the other errors of `headrace.run_plan`.
        """
        from ...running.runs import EngineKind, check_local, inputs_of_plan
        from .rows import Rows, to_nowhere

        if engine not in get_args(EngineKind):
            raise UsageError(f"no engine is called {engine!r}", hint="the engines: spark, local")
        sources = inputs_of_plan(
            self.plan,
            self.catalog,
            file_names(inputs),
            stored=file_names(stored),
            vertices=file_names(vertices),
        )
        if engine == "local":
            check_local(sources, to_nowhere(), options, spark=spark is not None)
        return Rows(
            self.plan, sources, engine=engine, options=options, spark=spark, progress=progress
        )

    def __repr__(self) -> str:
        from ...documents.explained import minimised
        from ...documents.picture import picture_of_plan

        per, result = picture_of_plan(self.plan).per, self.optimization
        cost = result.shared_cost if minimised(self) == "shared_cost" else result.cost
        return (
            f"<PlannedQuery ({', '.join(self.columns)}): {len(self.plan.nodes)} operators, "
            f"cost {per(cost)}/{per.sign}, plan {self.plan.digest[:12]}>"
        )

    def _repr_html_(self) -> str:
        from ..explanation import fragment

        return fragment(self)
