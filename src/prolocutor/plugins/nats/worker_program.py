"""The process of `prolocutor worker`: starts workers, and drains them when a signal comes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click
from prometheus_client import CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from prolocutor.assistant.wiring import connect
from prolocutor.background import beside
from prolocutor.contracts.connector import Connector
from prolocutor.errors import ConfigError
from prolocutor.pipeline.guard import Batcher
from prolocutor.plugins.nats.nats_address import NatsServers
from prolocutor.plugins.nats.nats_connection import NatsConnection
from prolocutor.plugins.nats.service_loop import ServiceLoop
from prolocutor.plugins.nats.wire import WorkerLoad
from prolocutor.plugins.nats.worker import CountedConnector, Worker
from prolocutor.plugins.nats.worker_services import ServedService
from prolocutor.plugins.nats.worker_settings import WorkerSettings

log = logging.getLogger(__name__)

_GAUGES: Final = {
    "held": "Calls that wait or run.",
    "hold": "The most calls that are held; more are answered busy.",
    "fill": "Calls held for each place in a batch; above 1 some wait for the next one.",
    "batch_size": "The most requests in one call of the function.",
}
_COUNTERS: Final = {
    "calls": "Calls of the function.",
    "requests": "Requests that calls of the function were about.",
    "busy": "Calls that were answered busy.",
    "late": "Calls that were dropped as nobody waited for the answer any more.",
}

Loads = Callable[[], Mapping[str, WorkerLoad]]

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
CLOSE_SECONDS: Final = 5.0


class WorkerMetrics:
    """Serves the load of workers by service; `is_ready` tells whether calls can come in."""

    def __init__(self, loads: Loads, is_ready: Callable[[], bool]) -> None:
        registry = CollectorRegistry()
        registry.register(_LoadCollector(loads))
        self._metrics = make_wsgi_app(registry)
        self._is_ready = is_ready
        self._server: WSGIServer | None = None

    def start(self, host: str, port: int) -> int:
        """Listen and return the port; raise `ConfigError` if the port cannot be opened."""
        try:
            self._server = make_server(host, port, self._answer, handler_class=_QuietHandler)
        except OSError as error:
            raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}") from None
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()
        return self._server.server_port

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if path == "/metrics":
            answer: Iterable[bytes] = self._metrics(environ, start_response)
            return answer
        if path == "/health/live":
            status = "200 OK"
        elif path == "/health/ready":
            status = "200 OK" if self._is_ready() else "503 Service Unavailable"
        else:
            status = "404 Not Found"
        start_response(status, [("Content-Type", "application/json")])
        return [b'"%b"' % status[4:].encode()]


class _LoadCollector(Collector):
    def __init__(self, loads: Loads) -> None:
        self._loads = loads

    def collect(self) -> Iterable[Metric]:
        """Return the gauges and counters of all services."""
        loads = self._loads()
        for name, what in _GAUGES.items():
            gauge = GaugeMetricFamily(f"prolocutor_worker_{name}", what, labels=["service"])
            for service, load in loads.items():
                gauge.add_metric([service], getattr(load, name))
            yield gauge
        for name, what in _COUNTERS.items():
            counter = CounterMetricFamily(f"prolocutor_worker_{name}", what, labels=["service"])
            for service, load in loads.items():
                counter.add_metric([service], getattr(load, name))
            yield counter


class _QuietHandler(WSGIRequestHandler):
    timeout = 5.0

    def log_message(self, format: str, *args: Any) -> None:
        """Log requests at the level DEBUG."""
        log.debug(format, *args)


async def run_workers(
    served: Sequence[ServedService], *, hold: int | None, host: str, port: int | None
) -> None:
    """Run services until SIGTERM or SIGINT, then finish accepted calls; a second ends at once.

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
