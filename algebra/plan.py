"""The physical plan: a DAG of physical operators, and its versioned JSON document.

This document is the contract between the optimizer and the executor: the
executor reads nothing else. ``plan.schema.json`` beside this module is the published
schema of it, generated from these types (a test keeps the two equal).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from . import untrusted
from .logical import PathSemantics
from .physical import (
    PhysicalOperator,
    Rewindow,
    Scan,
    ShortestPath,
    SimplePath,
    TrailPath,
    WindowScan,
    WitnessPaths,
)
from .plan_parts import PlanError, PlanModel, PlanNode, PlanStream, PlanWindow
from .properties import UpdatePattern
from .window import LONGEST_WINDOW

PLAN_VERSION: Literal[1] = 1


class PhysicalPlan(PlanModel):
    """A runnable plan: nodes in topological order, the root last.

    Attributes:
        version: the version of the document's format.
        time_unit: the unit of times and windows.
        parallelism: the number of partitions.
        nodes: the operators, each after its inputs.
        root: the id of the last node, which computes the answer.
        streams: the streams that the plan reads.
        windows: the windows of the labels that the plan reads.
        path_semantics: which paths the query counts; the document leaves it out if any path counts.
        evaluate_every: the period, in time units, at whose multiples results are right; each
            multiple shows the instant just before it. The document leaves it out if results are
            right at every instant.
    """

    version: Literal[1] = PLAN_VERSION
    time_unit: str = "second"
    parallelism: int = Field(default=1, ge=1, le=1024, description="partitions it is made for")
    nodes: tuple[PlanNode, ...] = Field(min_length=1)
    root: int
    streams: tuple[PlanStream, ...]
    windows: tuple[PlanWindow, ...]
    path_semantics: PathSemantics = PathSemantics.ARBITRARY
    evaluate_every: int | None = Field(default=None, gt=0, le=LONGEST_WINDOW)

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        for position, node in enumerate(self.nodes):
            if node.id != position:
                raise ValueError(f"node {node.id} stands at position {position}")
            if any(not 0 <= i < position for i in node.inputs):
                raise ValueError(f"node {node.id} reads a node that does not come before it")
        if self.root != len(self.nodes) - 1:
            raise ValueError("the root is not the last node")
        for node, scan in self.scans:
            if (scan.range is None) != (scan.slide is None):
                raise ValueError(f"node {node.id} has a window of a range or a slide alone")
        self._check_evaluation()
        return self

    def _check_evaluation(self) -> None:
        """Refuses operators that have no meaning under ``evaluate_every``."""
        every = self.evaluate_every
        if every is None:
            return
        for node, scan in self.scans:
            if scan.slide is not None and scan.slide % every:
                raise ValueError(
                    f"node {node.id}: evaluate_every {every} is not a divisor of its slide"
                )
            if scan.update_pattern is not None:
                raise ValueError(f"node {node.id}: evaluate_every does not go with deletions")
        for node in self.nodes:
            periods = (getattr(node.operator, name, None) for name in ("every", "events"))
            if any(period is not None for period in periods):
                raise ValueError(f"node {node.id}: evaluate_every does not go with another period")
            if isinstance(node.operator, Rewindow):
                raise ValueError(f"node {node.id}: evaluate_every does not go with {node.op}")
            if getattr(node.operator, "retracts", False):
                raise ValueError(f"node {node.id}: evaluate_every does not go with retracted rows")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer."""
        return self.nodes[self.root].columns

    @property
    def shared_cost(self) -> float:
        """The cost per time unit with shared sub-plans and shared indexes counted once."""
        estimates = [node.estimate for node in self.nodes]
        return sum([each.cost - (each.saved or 0.0) for each in estimates])

    @property
    def scans(self) -> tuple[tuple[PlanNode, WindowScan], ...]:
        """The scans of the plan, each with every label that it reads."""
        return tuple(
            (node, scan)
            for node in self.nodes
            if isinstance(node.operator, Scan)
            for scan in node.operator.scans
        )

    @property
    def digest(self) -> str:
        """A hash of what the plan computes and how, without its estimates."""
        essence = [
            [n.op, _args(n.operator), list(n.inputs), n.properties.model_dump(mode="json")]
            for n in self.nodes
        ]
        made_for: list[object] = [self.version, self.time_unit, self.parallelism]
        if self.path_semantics is not PathSemantics.ARBITRARY:
            made_for.append(self.path_semantics)
        if self.evaluate_every is not None:
            made_for.append(["evaluate_every", self.evaluate_every])
        disorder = [
            [stream.name, stream.delay, stream.idle_ms]
            for stream in self.streams
            if stream.delay or stream.idle_ms
        ]
        disorder_part = [disorder] if disorder else []  # plans without any keep their digests
        text = json.dumps([*made_for, essence, self.columns, *disorder_part], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def update_patterns(self) -> list[UpdatePattern]:
        """The update pattern of each node's rows, derived from the operators.

        Raises:
            PlanError: if an operator does not support its inputs; the message names the node.
        """
        patterns: list[UpdatePattern] = []
        for node in self.nodes:
            below = [patterns[i] for i in node.inputs]
            try:
                patterns.append(node.operator.update_pattern_over(below))
            except ValueError as error:
                raise PlanError(f"node {node.id} ({node.op}): {error}") from error
        return patterns

    def with_simple_budget(self, steps: int) -> PhysicalPlan:
        """The same plan with another budget for each search of paths that has one."""
        nodes = tuple(
            node.model_copy(update={"operator": replace(node.operator, budget=steps)})
            if isinstance(node.operator, ShortestPath | SimplePath | TrailPath | WitnessPaths)
            else node
            for node in self.nodes
        )
        return self.model_copy(update={"nodes": nodes})

    def to_document(self) -> dict[str, Any]:
        """The JSON document as Python values."""
        dumped = self.model_dump(mode="json")
        nodes = []
        for node in dumped["nodes"]:
            operator = node.pop("operator")
            op = operator.pop("op")
            nodes.append({"id": node.pop("id"), "op": op, "args": operator, **node})
        simple = self.path_semantics is not PathSemantics.ARBITRARY
        return {
            "version": dumped["version"],
            "digest": self.digest,
            "time_unit": dumped["time_unit"],
            "parallelism": dumped["parallelism"],
            **({"path_semantics": dumped["path_semantics"]} if simple else {}),
            **({"evaluate_every": self.evaluate_every} if self.evaluate_every else {}),
            "nodes": nodes,
            "root": dumped["root"],
            "streams": [stream.to_document() for stream in self.streams],
            "windows": dumped["windows"],
        }

    def to_json(self) -> str:
        """The document as text, the same bytes for the same plan."""
        return json.dumps(self.to_document(), indent=2, ensure_ascii=False) + "\n"

    @staticmethod
    def from_document(document: object) -> PhysicalPlan:
        """Reads an untrusted document (:mod:`headrace.algebra.untrusted`).

        Raises:
            PlanError: if it has another version, does not fit the schema or its bounds, or its
                digest does not match its content.
        """
        try:
            untrusted.refuse_values(document)
            plan = _validated(document)
            _check_bounds(plan)
        except untrusted.DocumentError as error:
            raise PlanError(f"not a valid plan: {error}") from error
        return plan

    @staticmethod
    def from_json(text: str) -> PhysicalPlan:
        """Reads a document from text; errors as :meth:`from_document`."""
        try:
            document = untrusted.parsed(text)
        except untrusted.DocumentError as error:
            raise PlanError(f"not a valid plan: {error}") from error
        return PhysicalPlan.from_document(document)


def _validated(document: object) -> PhysicalPlan:
    """The plan that a document of checked values describes."""
    if not isinstance(document, dict):
        raise PlanError("a plan is a JSON object")
    version = document.get("version")
    if version != PLAN_VERSION or isinstance(version, bool):
        raise PlanError(
            f"plan version {repr(version)[:80]} is not known here; this Headrace reads "
            f"version {PLAN_VERSION}: optimize the query again"
        )
    fields = dict(document)
    digest = fields.pop("digest", None)
    try:
        fields["nodes"] = [_with_operator(node) for node in fields["nodes"]]
        # As JSON, where a list may stand for a tuple and yet no text for a number.
        plan = PhysicalPlan.model_validate_json(json.dumps(fields), strict=True)
    except (ValidationError, TypeError, KeyError) as error:
        raise PlanError(f"not a valid plan: {_first_problem(error)}") from error
    if digest is not None and digest != plan.digest:
        raise PlanError("the plan's digest does not match its content: it was changed by hand")
    return plan


def _check_bounds(plan: PhysicalPlan) -> None:
    """Checks the rules of a plan that its types do not express.

    Raises:
        DocumentError: if a rule does not hold; the message names the node.
    """
    partitions = plan.parallelism
    untrusted.at_most(len(plan.nodes), untrusted.MOST_NODES, "nodes")
    operators = len(plan.nodes) * partitions
    untrusted.at_most(operators, untrusted.MOST_OPERATORS, "nodes times partitions")
    needed = {plan.root}
    for node in reversed(plan.nodes):
        if node.id not in needed:
            raise untrusted.DocumentError(f"node {node.id} ({node.op}) is not needed for the root")
        needed.update(node.inputs)
    untrusted.distinct([stream.name for stream in plan.streams], "stream")
    for stream in plan.streams:
        untrusted.distinct(stream.labels, f"label of {stream.name[:80]!r}")
    labels = {stream.name: stream.labels for stream in plan.streams}
    for node in plan.nodes:
        try:
            untrusted.at_most(len(node.inputs), untrusted.MOST_INPUTS, "inputs")
            untrusted.at_most(len(node.columns), untrusted.WIDEST, "columns")
            node.operator.check_bounds(len(node.inputs))
            if isinstance(node.operator, Scan):
                _check_labels(node.operator, labels)
        except ValueError as error:
            raise untrusted.DocumentError(f"node {node.id} ({node.op}): {error}") from error


def _check_labels(scan: Scan, labels: Mapping[str, Collection[str]]) -> None:
    """Checks that the plan has the stream and the labels of a scan."""
    if scan.stream not in labels:
        raise ValueError(f"the plan has no stream {scan.stream[:80]!r}")
    for each in scan.scans:
        if each.label not in labels[scan.stream]:
            raise ValueError(f"the stream {scan.stream[:80]!r} has no label {each.label[:80]!r}")


def accept_operators() -> None:
    """Lets plans hold the operators that were registered since this module was imported.

    Only a program that registers operators of its own needs this; those of
    :mod:`headrace.algebra.physical` are there from the start.
    """
    for model in (PlanNode, PhysicalPlan):
        model.model_rebuild(force=True)


def _args(operator: PhysicalOperator) -> dict[str, Any]:
    dataclass: Any = operator
    names = [f.name for f in fields(dataclass) if f.compare and f.name != "op"]
    values = {name: getattr(operator, name) for name in names}
    # Null and empty values are left out, so that a field of a later release keeps older digests.
    return {k: value for k, value in values.items() if value not in (None, ())}


def _with_operator(node: object) -> dict[str, Any]:
    if not isinstance(node, dict) or not isinstance(node.get("args"), dict):
        raise TypeError("nodes are objects, each with op and an object args")
    rest = dict(node)
    op, args = rest.pop("op"), dict(rest.pop("args"))
    if "operator" in rest or "op" in args:
        raise KeyError("operator" if "operator" in rest else "op")
    return {**rest, "operator": {**args, "op": op}}


def _first_problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part)[:80] for part in first["loc"]) or "plan"
        return f"{where}: {first['msg'][:400]}"
    return f"missing or misplaced {error}" if isinstance(error, KeyError) else str(error)
