"""Each form of queries with each feature: planned and run, or refused as the forms declare."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from headrace.algebra.combinations import FORMS, Feature, Form, go_together
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.values import PropertyType
from headrace.catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from headrace.catalog.model import Catalog, Stream
from headrace.executor import local
from headrace.planning.errors import HeadraceError
from headrace.planning.planner import optimize
from headrace.planning.requests import PathSemanticsKind, PlanningOptions, PlanRequest
from tests.executor.spark.chain import Chain


@dataclass(frozen=True)
class Sample:
    """Rules of a form.

    Attributes:
        rules: rules for ``{out}``, a relation of pairs; they read ``{into}``, one too.
        paths: the paths that count.
        answer: the columns that the answer has beside x, for a form of the answer alone.
        emit: the clause behind the windows, for a form that needs or is one.
    """

    rules: str = ""
    paths: PathSemanticsKind = "arbitrary"
    answer: str = ""
    emit: str = ""


SAMPLES = {
    "joins": Sample("{out}(x, z) <- {into}(x, y), b(y, z)."),
    "unions": Sample("{out}(x, y) <- {into}(x, y). {out}(x, y) <- b(x, y)."),
    "computed columns": Sample(
        "{out}V(x, e.n + 1 as m) <- a(x, _) as e. {out}(x, y) <- {out}V(x, m), {into}(x, y), m > 0."
    ),
    "rules with `not`": Sample("{out}(x, y) <- {into}(x, y), not b(x, y)."),
    "rules with `optional`": Sample(
        "{out}O(x, y, z) <- {into}(x, y), optional b(y, z). {out}(x, y) <- {out}O(x, y, z)."
    ),
    "rules with `LIMIT`": Sample("{out}(x, y) <- {into}(x, y) ORDER BY y DESC LIMIT 4."),
    "stored graphs": Sample("{out}(x, y) <- {into}(x, y), stored(y, _)."),
    "streams with deletions": Sample("{out}(x, y) <- {into}(x, y), gone(x, y)."),
    "windows over results": Sample(
        "{out}W(x, y) <- {into}(x, y). {out}(x, y) <- {out}W[WINDOW 4](x, y)."
    ),
    "paths": Sample("{out}(x, y) <- {into}+(x, y)."),
    "simple paths": Sample("{out}(x, y) <- x ({into}/{into})+ y.", "simple"),
    "trails that differ from any paths": Sample("{out}(x, y) <- x ({into}/{into})+ y.", "trail"),
    "shortest paths at instants": Sample(
        "{out}L(x, y, length(p) as n) <- shortest {into}+(x, y) as p. "
        "{out}(x, y) <- {out}L(x, y, n), n > 0.",
        emit="EMIT ON ENTERING EVERY 2",
    ),
    "aggregates that other rules read": Sample(
        "{out}N(x, count(*) as n) <- {into}(x, _). {out}(x, y) <- {out}N(x, n), a(x, y), n > 0."
    ),
    "aggregates in the answer": Sample(answer="count(*) as n"),
    "lists in the answer": Sample(answer="collect(y) as ys"),
    "paths in the answer": Sample(answer="p"),
    "reports at events": Sample(emit="EMIT ON ENTERING EVERY 2 EVENTS"),
    "reports with `EMIT`": Sample(emit="EMIT ON ENTERING EVERY 2"),
}
"""A sample of each form, by its name."""

EDGES: list[local.Edge] = [
    (str(k % 3), str((k + 1 + k // 5) % 3), "ab"[k % 2], k, "s", {"n": k}) for k in range(12)
]
EDGES += [(str(k), str(k), "stored", 0, "known") for k in range(3)]
EDGES += [(str(k % 3), str(k % 2), "gone", 1, "d") for k in range(6)]


def _catalog() -> Catalog:
    streams = dict.fromkeys(["a", "b"], DEFAULT_STATISTICS)
    properties: dict[str, PropertyType] = {"n": "integer"}
    return Catalog(
        {
            "s": Stream("s", streams, properties=properties),
            "d": Stream("d", {"gone": DEFAULT_STATISTICS}, deletions=True),
            "known": Stream("known", {"stored": DEFAULT_STORED}, stored=True),
        }
    )


def _query(*samples: Sample) -> str:
    """The samples upon each other, the first one lowest, and those of the answer above them."""
    into, rules = "a", []
    for number, sample in enumerate(samples):
        if sample.rules:
            rules.append(sample.rules.format(out=f"R{number}", into=into))
            into = f"R{number}"
    columns = ", ".join(["x", *filter(None, [sample.answer for sample in samples])])
    body = f"x {into}/b y as p" if "p" in columns.split(", ") else f"{into}(x, y)"
    emit = max((sample.emit for sample in samples), key=len)  # the one at events, if there is one
    return f"{' '.join(rules)} Answer({columns}) <- {body}.\nWINDOW 6 SLIDE 2 {emit}"


def _request(form: Form, feature: Feature) -> PlanRequest:
    """A query of a form with a feature."""
    samples = [SAMPLES[form.name]]
    for other in FORMS.values():
        if other.brings is feature and other is not form:
            is_above = form.brings in other.refuses
            samples.insert(len(samples) if is_above else 0, SAMPLES[other.name])
    paths = {sample.paths for sample in samples} - {"arbitrary"}
    options = PlanningOptions(
        parallelism=2 if feature is Feature.PARTITIONS else 1,
        evaluate="slide" if feature is Feature.SLIDES else "eager",
        path_semantics=next(iter(paths), "arbitrary"),
    )
    return PlanRequest(_query(*samples), catalog=_catalog(), options=options)


def _rebuilt(plan: PhysicalPlan) -> list[local.Result]:
    """The results of a run whose state is lost after each batch."""
    chain, rows = Chain(plan, 1), sorted(EDGES, key=lambda edge: edge[3])
    for start in range(0, len(rows), 6):
        chain.another_worker(gone=True)
        chain.batch(rows[start : start + 6], end=start + 6 >= len(rows))
    return chain.results


def test_each_form_has_a_sample() -> None:
    assert SAMPLES.keys() == FORMS.keys()


@pytest.mark.parametrize("name", FORMS)
def test_a_form_goes_with_each_feature_as_declared(name: str) -> None:
    form = FORMS[name]
    for feature in Feature:
        request = _request(form, feature)
        if go_together(form, feature):
            plan = optimize(request).plan
            results = _rebuilt(plan) if feature is Feature.RESTART else local.run_plan(plan, EDGES)
            assert list(results), request.query
        else:
            with pytest.raises(HeadraceError, match="are not supported with") as refused:
                optimize(request)
            assert refused.value.code in {"E-PLAN", "E-LATER"}, request.query
