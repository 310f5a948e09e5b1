"""Finds the running workers by NATS's micro services, without a registry of our own."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from prolocutor.plugins.nats.nats_address import read_servers
from prolocutor.plugins.nats.nats_connection import NatsConnection
from prolocutor.plugins.nats.wire import WorkerLoad

LISTEN_SECONDS: Final = 0.5
"""How long answers are waited for: there is no telling how many will come."""
CONNECT_SECONDS: Final = 3.0

_STATS: Final = "$SRV.STATS"


class FoundWorker(msgspec.Struct, frozen=True):
    """A running worker: its id at NATS, its service, the assistant that calls it, its load."""

    id: str
    service: str
    assistant: str
    version: str
    started: str
    received: int
    errors: int
    last_error: str
    load: WorkerLoad


class _Endpoint(msgspec.Struct):
    num_requests: int = 0
    num_errors: int = 0
    last_error: str | None = None
    data: WorkerLoad | None = None


class _Stats(msgspec.Struct):
    id: str
    version: str = ""
    started: str = ""
    metadata: dict[str, str] = {}
    endpoints: list[_Endpoint] = []


async def find_workers(messages: str, seconds: float = LISTEN_SECONDS) -> list[FoundWorker]:
    """Return the workers of all assistants at the NATS servers of `url`, sorted by service.

    Raise `ServiceUnreachable` where NATS is away, `ConfigError` for a wrong URL.
    """
    connection = NatsConnection(read_servers(messages), name="prolocutor")
    connection.open()
    try:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection.wait_until_connected()
        except TimeoutError:
            pass  # asking says why there is no connection
        answers = await connection.gather(_STATS, seconds)
    finally:
        await connection.aclose()
    workers = [worker for answer in answers if (worker := _read(answer)) is not None]
    return sorted(workers, key=lambda one: (one.service, one.assistant, one.id))


def _read(answer: bytes) -> FoundWorker | None:
    """Return a worker; None for a foreign micro service."""
    try:
        stats = msgspec.json.decode(answer, type=_Stats)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    service = stats.metadata.get("service")
    endpoint = next((one for one in stats.endpoints if one.data is not None), None)
    if service is None or endpoint is None or endpoint.data is None:
        return None
    return FoundWorker(
        id=stats.id,
        service=service,
        assistant=stats.metadata.get("assistant", "*"),
        version=stats.version,
        started=stats.started,
        received=endpoint.num_requests,
        errors=endpoint.num_errors,
        last_error=endpoint.last_error or "",
        load=endpoint.data,
    )
