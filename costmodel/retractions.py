"""The share of a relation's rows that are retracted before they expire.

AGGREGATE below other operators, ANTI_JOIN, LEFT_JOIN and TOP_K retract rows on their own; rows over
such rows are retracted with them. Of the rows of TOP_K as many begin for want of an earlier row as
are pushed out, so half of them are, if the limit leaves rows out. How many edges a stream with
deletions deletes is not known, and not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ..algebra.logical import (
    Aggregate,
    AntiJoin,
    EventReport,
    LeftJoin,
    LogicalOperator,
    PartialAggregate,
    Report,
    Top,
    Union,
)
from .characteristics import Characteristics
from .joins import begun_keys, rows_of_key


def retracted_share(
    operator: LogicalOperator, inputs: Sequence[Characteristics], result: Characteristics
) -> float:
    """The share of an operator's rows that are retracted, from those of its inputs.

    Args:
        operator: the operator.
        inputs: the characteristics of its inputs.
        result: the characteristics of its result.
    """
    rate = result.arrival_rate
    match operator:
        case Aggregate(retracts=retracts):
            return 1.0 if retracts else 0.0
        case PartialAggregate(every=every):
            return 1.0 if every is None else 0.0
        case Report() | EventReport():
            return 0.0
        case Union():
            return retractions_per_row(inputs)
        case AntiJoin():
            left, right = inputs
            matched = begun_keys(right) * rows_of_key(operator.keys, left)
            own = min(matched / rate, 1.0) if rate else 0.0
            return 1 - (1 - own) * (1 - left.retracted)
        case LeftJoin() as join:
            left, right = inputs
            of_keys = replace(
                right, distinct=tuple([right.distinct[k] for k in join.keys.values()])
            )
            matched = begun_keys(of_keys) * rows_of_key(tuple(join.keys), left)
            own = min(matched / rate, 1.0) if rate else 0.0
            return 1 - (1 - own) * (1 - left.retracted) * (1 - right.retracted)
        case Top():
            (rows,) = inputs
            own = 0.5 if result.population < rows.population else 0.0
            return 1 - (1 - own) * (1 - rows.retracted)
        case _:
            return 1 - prod([1 - rows.retracted for rows in inputs])


def retractions_per_row(inputs: Sequence[Characteristics]) -> float:
    """The retractions that arrive from all inputs for each row that does."""
    retracted = sum([rows.arrival_rate * rows.retracted for rows in inputs])
    return retracted / sum([rows.arrival_rate for rows in inputs]) if retracted else 0.0
