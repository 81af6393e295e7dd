"""Which forms of queries go with which features, as their operators declare.

A *form* is what a user writes: negation, a path, an aggregate. Its logical operator declares it
(:attr:`headrace.algebra.logical.LogicalOperator.form`), with the *features* that it is refused
with: a feature of the rows below the operator, or of the run. Translation and planning refuse a
query by these declarations, and the table of the docs is written from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from .registry import Registry
from .remedy import Remedy


class Feature(StrEnum):
    """What a query or its run may have; the value is the name for people."""

    DELETIONS = "streams with deletions"
    NEGATION = "`not`"
    OPTIONAL = "`optional`"
    AGGREGATES = "aggregates that other rules read"
    LIMITS = "`LIMIT`"
    WINDOWS = "windows over results"
    PATHS = "paths in the answer"
    LISTS = "lists in the answer"
    EMIT = "`EMIT`"
    EVENTS = "reports at events"
    TRAILS = "trails that differ from any paths"
    SHORTEST = "shortest paths at instants"
    SLIDES = "evaluation per slide"
    PARTITIONS = "several partitions"
    RESTART = "a restart"


RETRACTING = frozenset(
    {
        Feature.DELETIONS,
        Feature.NEGATION,
        Feature.OPTIONAL,
        Feature.AGGREGATES,
        Feature.LIMITS,
    }
)
"""The features below which rows may be retracted."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of queries: a row of the table.

    Attributes:
        name: the name for people, a plural.
        brings: the feature that the form is for what stands above it, if it is one.
        refuses: the features below the form, or of the run, with which the form is refused.
        hint: advice for a refused query.
        remedy: a setting that helps a refused query.
    """

    name: str
    brings: Feature | None = None
    refuses: frozenset[Feature] = frozenset()
    hint: str = ""
    remedy: Remedy | None = None

    def refused(self, features: Iterable[Feature]) -> Feature | None:
        """The first of the features that the form is refused with; None if there is none."""
        return min(self.refuses & set(features), key=list(Feature).index, default=None)

    def refusal(self, feature: Feature) -> str:
        """The message that the form is refused with a feature."""
        return f"{self.name} are not supported with {feature} yet"


FORMS: Registry[str, Form] = Registry()
"""All forms by name."""


def declared(form: Form) -> Form:
    """Adds a form to :data:`FORMS`."""
    FORMS[form.name] = form
    return form


def go_together(form: Form, feature: Feature) -> bool:
    """Whether a form is allowed with a feature, whichever of the two stands above the other."""
    bringing = [other for other in FORMS.values() if other.brings is feature]
    above = any(other.refused([form.brings]) for other in bringing if form.brings is not None)
    return not above and feature not in form.refuses
