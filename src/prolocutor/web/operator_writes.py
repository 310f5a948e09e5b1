"""OperatorWrite: an operation by which operators change something."""

from __future__ import annotations

import msgspec

from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.errors import Forbidden
from prolocutor.web.cors import is_own_page
from prolocutor.web.operations import Operation


class EmptyBody(msgspec.Struct, frozen=True):
    """An empty object: the body of a write that needs no more than its address."""


class OperatorWrite(Operation):
    """An operation that needs a key, or loopback without a page of another site.

    Pages of the sites under `origins` need a key too: otherwise, every visitor of these sites on
    this machine would be an operator. Browsers send `Origin` with each write; other clients need
    not send it. A body has to be `application/json`.
    """

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        """Check the origin of a request, and handle it."""
        given = request.header("authorization") or request.query("access_token")
        if not given and not is_own_page(request.header("origin"), request.header("host")):
            raise Forbidden("pages of other sites need a key")
        return await super().__call__(request)
