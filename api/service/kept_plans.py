"""What the database keeps of plans: what was asked, and the answer as it was sent.

The id of a plan is the digest of what was asked, and the answer names it too. Both are compared
whenever a plan is written or read, so that no question gets the answer to another one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    LargeBinary,
    Row,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from .jobs import digest
from .kept_queries import METADATA, stop_queries_of_plans

_PLANS = Table(
    "headrace_plans",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("asked", Text, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    Column("stop_reason", String(40), nullable=False),
    Column("made_us", BigInteger, nullable=False, index=True),
)
_AT_ONCE = 100


class MisfiledPlanError(Exception):
    """An answer does not belong to the question that it is to be stored under."""


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan that is kept.

    ``asked`` is the document of the question, ``answer`` the body of the answer as it was sent.
    """

    asked: Mapping[str, Any]
    answer: bytes
    stop_reason: str

    @property
    def id(self) -> str:
        """The digest of what was asked."""
        return digest(self.asked)

    @property
    def misfiled(self) -> bool:
        """Whether the answer belongs to another question, or is no JSON."""
        try:
            return bool(json.loads(self.answer)["id"] != self.id)
        except (ValueError, TypeError, KeyError):
            return True


class PlanStore:
    """The table of plans; every method is one transaction."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Connection]],
        write: Callable[[Callable[[Connection], None]], None],
        most: int,
    ) -> None:
        """Keeps at most ``most`` plans and drops the oldest beyond that."""
        self._reading = reading
        self._write = write
        self._most = most

    def find(self, id_: str) -> KeptPlan | None:
        """The plan of an id; None if it is not stored, or misfiled."""
        with self._reading() as connection:
            row = connection.execute(select(_PLANS).where(_PLANS.c.id == id_)).one_or_none()
        if row is None:
            return None
        plan = _plan(row)
        return None if plan.id != id_ or plan.misfiled else plan

    def keep(self, plan: KeptPlan) -> None:
        """Stores a plan in place of an earlier one with its id.

        Raises:
            MisfiledPlanError: if its answer is the answer to another question.
        """
        if plan.misfiled:
            raise MisfiledPlanError(f"the answer for {plan.id} belongs to another question")
        values = {
            "asked": json.dumps(plan.asked),
            "answer": plan.answer,
            "stop_reason": plan.stop_reason,
            "made_us": time.time_ns() // 1000,
        }

        def keep(connection: Connection) -> None:
            changed = connection.execute(
                update(_PLANS).where(_PLANS.c.id == plan.id).values(**values)
            )
            if not changed.rowcount:
                connection.execute(insert(_PLANS).values(id=plan.id, **values))
            count = connection.execute(select(func.count()).select_from(_PLANS)).scalar_one()
            if count > self._most:
                oldest = (
                    select(_PLANS.c.id)
                    .order_by(_PLANS.c.made_us, _PLANS.c.id)
                    .limit(count - self._most)
                )
                connection.execute(delete(_PLANS).where(_PLANS.c.id.in_(oldest)))

        self._write(keep)


def drop_misfiled(connection: Connection) -> None:
    """Drops the plans that earlier versions kept under the ids of other questions.

    Queries that were started with such a plan are stopped: their results are those of another
    question.
    """
    rows = connection.execute(select(_PLANS).execution_options(yield_per=_AT_ONCE))
    wrong = [row.id for row in rows if (plan := _plan(row)).id != row.id or plan.misfiled]
    for start in range(0, len(wrong), _AT_ONCE):
        some = wrong[start : start + _AT_ONCE]
        connection.execute(delete(_PLANS).where(_PLANS.c.id.in_(some)))
    stop_queries_of_plans(connection, frozenset(wrong))


def _plan(row: Row[Any]) -> KeptPlan:
    return KeptPlan(json.loads(row.asked), row.answer, row.stop_reason)
