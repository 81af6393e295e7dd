"""The table of plans: for each question its answer, as the bytes that were sent.

The id of a plan is the digest of its question, and the answer has the id too. Reading and writing a
plan compare both, so that no question gets the answer to another one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
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
    """An answer belongs to another question than the one to store it under."""


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A stored plan.

    ``question`` is the document of the question, and ``answer`` the body of the answer. ``made_us``
    is when it was stored, in microseconds since 1970; 0 before.
    """

    question: Mapping[str, Any]
    answer: bytes
    stop_reason: str
    made_us: int = field(default=0, compare=False)

    @property
    def id(self) -> str:
        """The digest of the question."""
        return digest(self.question)

    @property
    def misfiled(self) -> bool:
        """Whether the answer belongs to another question, or is not JSON."""
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
        """Stores at most ``most`` plans: a further plan replaces the oldest one."""
        self._reading = reading
        self._write = write
        self._most = most

    def find(self, id_: str) -> KeptPlan | None:
        """Returns the plan with an id; None if the plan is not stored, or misfiled."""
        with self._reading() as connection:
            row = connection.execute(select(_PLANS).where(_PLANS.c.id == id_)).one_or_none()
        if row is None:
            return None
        plan = _plan(row)
        return None if plan.id != id_ or plan.misfiled else plan

    def keep(self, plan: KeptPlan) -> None:
        """Stores a plan, and replaces an earlier plan with the same id.

        Raises:
            MisfiledPlanError: if the answer belongs to another question.
        """
        if plan.misfiled:
            raise MisfiledPlanError(f"the answer for {plan.id} belongs to another question")
        values = {
            "asked": json.dumps(plan.question),
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
    """Deletes the plans that earlier versions stored under the ids of other questions.

    Also stops the queries that run a misfiled plan: their results answer another question.
    """
    rows = connection.execute(select(_PLANS).execution_options(yield_per=_AT_ONCE))
    wrong = [row.id for row in rows if (plan := _plan(row)).id != row.id or plan.misfiled]
    for start in range(0, len(wrong), _AT_ONCE):
        some = wrong[start : start + _AT_ONCE]
        connection.execute(delete(_PLANS).where(_PLANS.c.id.in_(some)))
    stop_queries_of_plans(connection, frozenset(wrong))


def _plan(row: Row[Any]) -> KeptPlan:
    return KeptPlan(json.loads(row.asked), row.answer, row.stop_reason, row.made_us)
