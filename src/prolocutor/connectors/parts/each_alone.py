"""One call for each request of a batch, where a service takes one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from prolocutor.contracts.connector import Replies, Request
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError


async def each_alone(
    ask: Callable[[Request], Awaitable[Plain | ServiceError]], requests: Sequence[Request]
) -> Replies:
    """Ask for each request at the same time; an error of one of several stands in its place.

    A single request raises its error.
    """
    if len(requests) == 1:
        return (await ask(requests[0]),)
    return await asyncio.gather(*[_settled(ask(request)) for request in requests])


async def _settled(asked: Awaitable[Plain | ServiceError]) -> Plain | ServiceError:
    try:
        return await asked
    except ServiceError as error:
        return error
