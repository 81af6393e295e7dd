"""The routes of the service, by what they are about. They hold no logic."""

from typing import Annotated

from fastapi import Depends, Request

from ..service import Service


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Shared = Annotated[Service, Depends(_service)]
"""What all routes share."""
