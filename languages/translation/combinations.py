"""Refuses rules that do not go with what they read (:mod:`headrace.algebra.combinations`)."""

from __future__ import annotations

from ...algebra.combinations import Feature, Form
from ...algebra.logical import LogicalExpression
from ..query.atoms import Location
from ..query.errors import QueryError
from .reports import operators_in


def features_in(expression: LogicalExpression) -> frozenset[Feature]:
    """The features that the operators of an expression bring."""
    forms = (operator.form for operator in operators_in(expression))
    return frozenset(form.brings for form in forms if form is not None and form.brings is not None)


def check_below(form: Form, below: LogicalExpression, at: Location, text: str = "") -> None:
    """Refuses a form over rows with features that it does not go with.

    Raises:
        QueryError: E-LATER.
    """
    feature = form.refused(features_in(below))
    if feature is not None:
        raise QueryError("E-LATER", form.refusal(feature), at=at, text=text, hint=form.hint)
