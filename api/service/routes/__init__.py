"""The routes of the service, by subject.

In: requests. Out: documents, documents as bytes from a worker, and refusals.

Invariant: routes have no logic: a route calls the `Service` and names the class of its answer.

May import: documents, and the modules of the service.
Start with: ``plans.py``.
"""

from typing import Annotated

from fastapi import Depends, Request

from ..service import Service


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Shared = Annotated[Service, Depends(_service)]
"""The service, as a parameter of a route."""
