"""The process of `prolocutor worker`: starts workers, and drains them when a signal comes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn

import click

from prolocutor.assistant.wiring import connect
from prolocutor.background import beside
from prolocutor.contracts.connector import Connector
from prolocutor.pipeline.guard import Batcher
from prolocutor.plugins.nats.nats_address import NatsServers
from prolocutor.plugins.nats.nats_connection import NatsConnection
from prolocutor.plugins.nats.service_loop import ServiceLoop
from prolocutor.plugins.nats.worker import CountedConnector, Worker
from prolocutor.plugins.nats.worker_metrics import WorkerMetrics
from prolocutor.plugins.nats.worker_services import ServedService
from prolocutor.plugins.nats.worker_settings import WorkerSettings

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
CLOSE_SECONDS: Final = 5.0


async def run_workers(
    served: Sequence[ServedService], *, hold: int | None, host: str, port: int | None
) -> None:
    """Run services until SIGTERM or SIGINT, then finish accepted calls; a second one ends at once.

    `hold`: the limit of accepted calls of each worker. `port`: where metrics are served; None:
    nowhere.
    """
    stop = _stop_by_signal()
    services = ServiceLoop()
    connections: dict[NatsServers, NatsConnection] = {}
    workers = [_worker(each, hold, services, connections) for each in served]
    metrics = WorkerMetrics(
        lambda: {worker.settings.service: worker.load for worker in workers},
        lambda: not stop.is_set() and all(each.client for each in connections.values()),
    )
    if port is not None:
        click.echo(f"metrics are served at http://{host}:{metrics.start(host, port)}/metrics")
    for connection in connections.values():
        connection.open()
    for worker in workers:
        await worker.start()
    try:
        with beside(_tell(workers, connections)):
            await stop.wait()
            await asyncio.gather(*(worker.drain() for worker in workers))
    finally:
        for worker in workers:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await worker.aclose()
        for connection in connections.values():
            await connection.aclose()
        metrics.close()
        services.close()


def _worker(
    each: ServedService,
    hold: int | None,
    services: ServiceLoop,
    connections: dict[NatsServers, NatsConnection],
) -> Worker:
    service = each.service
    counted = CountedConnector(connect(service))
    batched = service.batch_size > 1
    connector: Connector = Batcher(counted, service.batch_size) if batched else counted
    settings = WorkerSettings(
        service=each.name,
        assistant=each.assistant,
        batch_size=service.batch_size,
        hold=hold,
        description=str(service.card_members.get("description") or ""),
        card=service.card_members,
    )
    if each.servers not in connections:
        connections[each.servers] = NatsConnection(each.servers, name=f"worker {each.name}")
    connection = connections[each.servers]
    return Worker(settings, connector, counted, connection=connection, services=services)


async def _tell(workers: Sequence[Worker], connections: dict[NatsServers, NatsConnection]) -> None:
    """Print the served services as soon as calls can come in."""
    for connection in connections.values():
        if connection.client is None:
            await connection.wait_for_first_try()
        if connection.client is None:
            why = f" ({connection.failure})" if connection.failure else ""
            click.echo(f"waiting for NATS at {connection.servers}{why}", err=True)
        await connection.wait_until_connected()
    for worker in workers:
        settings = worker.settings
        batches = f" in batches of up to {settings.batch_size}" if settings.batch_size > 1 else ""
        click.echo(f"{settings.service} takes calls on {settings.subject}{batches}")


def _stop_by_signal() -> asyncio.Event:
    """Return the event that the first signal sets; a second signal ends the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if stop.is_set():
            _end(number)
        click.echo("no more calls are taken; a second signal ends it at once", err=True)
        stop.set()

    for each in SIGNALS:
        loop.add_signal_handler(each, on_signal, each)
    return stop


def _end(number: int) -> NoReturn:
    os._exit(128 + number)
