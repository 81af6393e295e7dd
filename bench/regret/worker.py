"""Measures one query in a process of its own: ``python -m bench.regret.worker``.

In: a job as JSON on standard input. Out: JSON lines on standard output, ``{"running": FORM}``
before each run of a plan, and ``{"row": {...}}`` at the end.
"""

from __future__ import annotations

import json
import resource
import sys
import traceback
from typing import Any

from bench.regret.job import Job
from bench.regret.measure import TooLargeError, measure_query
from headrace.planning.errors import HeadraceError

MOST_ADDRESSES = 12 * 2**30
"""The address space of the process; allocations above it fail."""


def measured_row(job: Job) -> dict[str, Any]:
    """The measurements of a job, or why there are none."""
    try:
        return measure_query(job, lambda form: _say({"running": form}))
    except TooLargeError as error:
        return {"status": "too large", "reason": str(error)}
    except HeadraceError as error:
        return {"status": "not planned", "reason": str(error)}
    except Exception:
        return {"status": "error", "reason": traceback.format_exc()}


def _say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    """Reads the job and writes the row."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    _say({"row": measured_row(Job.from_json(sys.stdin.read()))})


if __name__ == "__main__":
    main()
