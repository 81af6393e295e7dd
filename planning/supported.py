"""Refuses queries whose forms do not go together, and finds the period of a slide's evaluation.

The operators declare what they are refused with (:mod:`headrace.algebra.combinations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ..algebra.combinations import Feature, Form
from ..algebra.logical import LogicalExpression
from ..algebra.remedy import Remedy
from ..languages.translation.combinations import features_in
from ..languages.translation.reports import windows_in
from .errors import UsageError
from .requests import PlanningOptions
from .translating import Translated


def features_of(options: PlanningOptions) -> frozenset[Feature]:
    """The features of a run with these options; any run may be restarted."""
    features = {Feature.RESTART}
    if options.parallelism > 1:
        features.add(Feature.PARTITIONS)
    if options.evaluate == "slide":
        features.add(Feature.SLIDES)
    return frozenset(features)


def check_combinations(translated: Translated) -> None:
    """Refuses a query with an operator that does not go with the features of its inputs or the run.

    Raises:
        UsageError: E-PLAN.
    """
    of_run = features_of(translated.request.options)
    for part in _parts(translated.logical.expression):
        form = part.operator.form
        if form is None or not form.refuses:
            continue
        below = frozenset[Feature]().union(*map(features_in, part.inputs))
        feature = form.refused(below | of_run)
        if feature is not None:
            raise UsageError(
                form.refusal(feature),
                code="E-PLAN",
                hint=form.hint,
                remedies=_remedies(form, translated.request.options),
            )


def _remedies(form: Form, options: PlanningOptions) -> tuple[Remedy, ...]:
    """The form's remedy, unless the request has that setting already."""
    remedy = form.remedy
    if remedy is None or getattr(options, remedy.setting, None) == remedy.value:
        return ()
    return (remedy,)


def _parts(expression: LogicalExpression) -> Iterator[LogicalExpression]:
    """The expression and its subexpressions, a shared one once."""
    pending, seen = [expression], set[int]()
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            pending.extend(current.inputs)
            yield current


def evaluate_every(translated: Translated) -> int | None:
    """Returns the period of an evaluation per slide: the greatest common divisor of all slides.

    Returns None for evaluation at every instant, and for queries over stored graphs only.
    """
    if translated.request.options.evaluate == "eager":
        return None
    windows = windows_in(translated.logical.expression)
    return gcd(*(window.slide for window in windows)) or None
