"""What `prolocutor serve` runs: an assistant and its doors, until a signal comes."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec

from prolocutor.assistant.runner import run
from prolocutor.cli.assistant_access import leave_note
from prolocutor.cli.greeting import greeting
from prolocutor.cli.owner import OwnerNote, check_free
from prolocutor.cli.serve_options import ServeOptions
from prolocutor.cli.served_assistant import doors_of, served, tune_collector
from prolocutor.config.assistant_file import assistant_file
from prolocutor.config.loading import load
from prolocutor.config.other_hosts import at_other_hosts, read_hosts
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import store_url
from prolocutor.contracts.observer import TurnRecord
from prolocutor.doors.door_catalog import find_operators_page
from prolocutor.errors import ConfigError, ProlocutorError, StoreLost
from prolocutor.observe.logs import JsonLogFormatter
from prolocutor.web.listener import Listener
from prolocutor.web.monitoring import MonitoringApp
from prolocutor.web.serving import bind, served_beside
from prolocutor.web.serving import serve as serve_app

EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
OPEN: Final = (
    "warning: --without-keys: everybody who reaches {} may speak as any user, and read, change and"
    " delete all dialogs; only a closed network makes that safe"
)


class ServePlan(msgspec.Struct, frozen=True):
    """What is to be served, and where."""

    settings: Settings
    host: str
    port: int
    store: str
    once: bool
    file_given: Path | None
    store_given: str | None
    own_key: str = msgspec.field(default_factory=secrets.token_urlsafe)


def serve_file(given: ServeOptions) -> None:
    """Serve the assistant of a file until a signal comes."""
    _log_to_stderr(logging.INFO if given.log else logging.WARNING, as_json=given.log == "json")
    found = assistant_file(given.file).absolute()
    with chdir(given.code or Path.cwd()):
        settings = load(found, code=given.code)
    settings = _changed(settings, given)
    plan = ServePlan(
        settings=settings,
        host=settings.host if given.host is None else given.host,
        port=settings.port if given.port is None else given.port,
        store=store_url(given.store, settings),
        once=given.once,
        file_given=given.file,
        store_given=given.store,
    )
    _check_free(plan)
    if given.code is not None:
        os.chdir(given.code)  # where it looks for the files that it reads
    run(_serve(plan))


def _changed(settings: Settings, given: ServeOptions) -> Settings:
    """Return the settings with what the options say in place of what the file says."""
    if given.hosts is not None:
        pipeline = at_other_hosts(settings.pipeline, read_hosts(given.hosts))
        settings = msgspec.structs.replace(settings, pipeline=pipeline)
    if given.deadline is not None:
        settings = msgspec.structs.replace(settings, deadline=given.deadline)
    if given.metrics_host is not None:
        settings = msgspec.structs.replace(settings, metrics_host=given.metrics_host)
    if given.metrics_port is not None:
        settings = msgspec.structs.replace(settings, metrics_port=given.metrics_port)
    if given.without_keys:
        if settings.auth.is_closed or settings.auth.anonymous:
            what = "auth in the file says who comes in: take it out, or leave out --without-keys"
            raise ConfigError(what, key="auth")
        auth = msgspec.structs.replace(settings.auth, everybody=True)
        settings = msgspec.structs.replace(settings, auth=auth)
    if given.max_text is not None:
        limits = msgspec.structs.replace(settings.limits, text=given.max_text)
        settings = msgspec.structs.replace(settings, limits=limits)
    return settings


def _log_to_stderr(level: int, *, as_json: bool) -> None:
    """Log what is at least of this level, one line each."""
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLogFormatter() if as_json else plain)
    logging.basicConfig(level=level, handlers=[lines])


def _check_free(plan: ServePlan) -> None:
    """Check before anything is started that doors, store and port can be had."""
    check_free(plan.store)
    _check_address(plan.host, plan.port)
    settings = plan.settings
    if settings.metrics_port is not None:
        _check_address(settings.metrics_host, settings.metrics_port, "metrics-")


def _check_address(host: str, port: int, prefix: str = "") -> None:
    try:
        for each in bind(host, port):
            each.close()
    except ConfigError as error:
        raise ProlocutorError(f"{error.what} with --{prefix}{error.key}") from None


async def _serve(plan: ServePlan) -> None:
    stop = _once() if plan.once else None
    lost: list[StoreLost] = []
    metrics_host = plan.settings.metrics_host
    watching = [] if stop is None else [_Once(stop)]
    async with (
        served(
            plan.settings, plan.store, plan.own_key, on_lost=partial(_end, lost), observers=watching
        ) as app,
        _monitored(app, plan.settings) as monitoring,
    ):

        def tell(url: str) -> None:
            tune_collector()
            url = url.replace(*_reachable(plan.host))
            doors = doors_of(plan.settings)
            note = OwnerNote("serve", plan.settings.file, url, plan.own_key)
            leave_note(app.assistant.store, note)
            click.echo(
                greeting(
                    plan.settings.name,
                    url,
                    plan.store,
                    file=plan.file_given,
                    store=plan.store_given,
                    page="page" in doors,
                    operators_page=find_operators_page(doors.values()),
                    key=plan.own_key if app.authenticator.lacks_operators else None,
                )
            )
            if plan.settings.auth.everybody:
                click.echo(OPEN.format(plan.host), err=True)
            if monitoring:
                click.echo(f"Metrics: {monitoring.replace(*_reachable(metrics_host))}/metrics")

        await serve_app(app, plan.host, plan.port, on_ready=tell, stop=stop)
    if lost:
        raise lost[0]


@asynccontextmanager
async def _monitored(app: Listener, settings: Settings) -> AsyncIterator[str]:
    """Serve metrics and health at the URL that is returned; "" where the settings have none."""
    if settings.metrics_port is None:
        yield ""
        return
    monitoring = MonitoringApp(app.monitoring, app.limits)
    async with served_beside(monitoring, settings.metrics_host, settings.metrics_port) as url:
        yield url


def _end(lost: list[StoreLost], error: StoreLost) -> None:
    """End this process in good order: another one has its store."""
    if not lost:
        lost.append(error)
        signal.raise_signal(signal.SIGTERM)


def _reachable(host: str) -> tuple[str, str]:
    shown = f"[{host}]" if ":" in host else host
    return f"//{shown}:", f"//{EVERYWHERE.get(host, shown)}:"


def _once() -> asyncio.Event:
    """Return what stops the server after its only turn; a signal does so before."""
    stop = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    return stop


class _Once:
    """An observer that stops the server after the first turn."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def turn_ended(self, record: TurnRecord) -> None:
        """Stop the server."""
        self._stop.set()

    def breaker_changed(self, service: str, state: str) -> None:
        """Leave it."""
