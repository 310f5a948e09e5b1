"""WorkerMetrics: `/metrics`, `/health/live` and `/health/ready` of a worker process, over HTTP.

It has a thread of its own and answers one request after the other.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from prolocutor.errors import ConfigError
from prolocutor.plugins.nats.wire import WorkerLoad

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
