"""`prolocutor serve`: an assistant and its doors, until a signal comes."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Final, Literal

import click
import msgspec

from prolocutor.assistant.runner import run
from prolocutor.channels.channel_catalog import CHANNELS, SIGN_IN
from prolocutor.cli.assistant_access import leave_note
from prolocutor.cli.greeting import greeting
from prolocutor.cli.options import DREAM_OPTION, STORE_OPTION
from prolocutor.cli.owner import OwnerNote, check_free
from prolocutor.cli.served_assistant import doors_of, served, tune_collector
from prolocutor.cli.tenant_server import TenantServer
from prolocutor.config.assistant_file import assistant_file
from prolocutor.config.loading import load
from prolocutor.config.other_hosts import at_other_hosts, read_hosts
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import store_url
from prolocutor.config.tenants_file import TenantsSettings, is_tenants_file, load_tenants
from prolocutor.contracts.observer import TurnRecord
from prolocutor.errors import ConfigError, ProlocutorError, StoreLost
from prolocutor.observe.logs import JsonLogFormatter, TenantMark
from prolocutor.web.serving import bind
from prolocutor.web.serving import serve as serve_app

EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}


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


@click.command(short_help="Open an assistant's doors to the network.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--host", metavar="HOST", help="Where to listen.  [default: the file's, 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port; 0 takes a free one.  [default: the file's, else 4242]",
)
@STORE_OPTION
@click.option(
    "--hosts",
    metavar="HOST|MAP.json",
    help="Call all HTTP services at this host, or at the URLs of a map from host:port.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds after which a reply is out.  [default: the file's]",
)
@click.option(
    "--max-text",
    metavar="CHARACTERS",
    type=click.IntRange(min=1),
    help="The longest text that is taken.  [default: the file's, else 100,000]",
)
@DREAM_OPTION
@click.option("--once", is_flag=True, help="End after the first turn (for tests).")
@click.option(
    "--log",
    type=click.Choice(["plain", "json"]),
    help="Log every turn to stderr, as text or JSON lines.  [default: only what goes wrong]",
)
def serve(
    file: Path | None,
    host: str | None,
    port: int | None,
    store: str | None,
    hosts: str | None,
    deadline: float | None,
    max_text: int | None,
    dream: Path | None,
    once: bool,
    log: Literal["plain", "json"] | None,
) -> None:
    """Serve an assistant: the demo, or the one that FILE describes.

    FILE may be DeepPavlov Agent's own pipeline_conf.json, which is run as it stands, or one with
    `tenants:`, several assistants in one server.

    It starts the processes that the file names, opens the doors, prints the URL and three things
    to try, and serves until Ctrl-C or SIGTERM. Then no new turns are taken, running ones end, and
    the processes are stopped. `POST /` answers as DeepPavlov Agent does; /openapi.json describes
    all addresses, /metrics, /health/live and /health/ready are for monitoring.

    Clients on this machine need no key. For any other address set auth.keys or auth.tokens in the
    file. Meanwhile `ask`, `chat` and `dialogs` work as usual: they come in by a door.

    \b
    Examples:
      prolocutor serve
      prolocutor serve my-assistant/assistant.yaml --port 8080
      prolocutor serve --store memory:
      prolocutor serve pipeline_conf.json --hosts 127.0.0.1
    """
    _log_to_stderr(logging.INFO if log else logging.WARNING, as_json=log == "json")
    found = assistant_file(file).absolute()
    if is_tenants_file(found):
        given = {"--store": store, "--hosts": hosts, "--deadline": deadline, "--dream": dream}
        given |= {"--max-text": max_text, "--once": once or None}
        run(_serve_tenants(load_tenants(found), host, port, given))
        return
    with chdir(dream or Path.cwd()):
        settings = load(found, dream=dream)
    settings = _changed(settings, hosts, deadline, max_text)
    plan = ServePlan(
        settings=settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        store=store_url(store, settings.store),
        once=once,
        file_given=file,
        store_given=store,
    )
    _check_free(plan)
    if dream is not None:
        os.chdir(dream)  # where DREAM's code looks for the files that it reads
    run(_serve(plan))


async def _serve_tenants(
    settings: TenantsSettings, host: str | None, port: int | None, given: Mapping[str, object]
) -> None:
    """Serve the tenants of a file; raise `ConfigError` for options of a single assistant."""
    for option, value in given.items():
        if value is not None:
            raise ConfigError(f"{option} goes with the file of one assistant, not with tenants")
    host = settings.host if host is None else host
    port = settings.port if port is None else port
    _check_address(host, port)
    server = TenantServer(settings)

    def tell(url: str) -> None:
        tune_collector()
        click.echo(server.greeting(url.replace(*_reachable(host))))

    await serve_app(server.app(), host, port, on_ready=tell)


def _changed(
    settings: Settings, hosts: str | None, deadline: float | None, max_text: int | None
) -> Settings:
    """Return the settings with what the options say in place of what the file says."""
    if hosts is not None:
        pipeline = at_other_hosts(settings.pipeline, read_hosts(hosts))
        settings = msgspec.structs.replace(settings, pipeline=pipeline)
    if deadline is not None:
        settings = msgspec.structs.replace(settings, deadline=deadline)
    if max_text is not None:
        settings = msgspec.structs.replace(settings, max_text=max_text)
    return settings


def _log_to_stderr(level: int, *, as_json: bool) -> None:
    """Log what is at least of this level, one line each."""
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(tenant)s%(message)s")
    lines = logging.StreamHandler(sys.stderr)
    lines.addFilter(TenantMark())
    lines.setFormatter(JsonLogFormatter() if as_json else plain)
    logging.basicConfig(level=level, handlers=[lines])


def _check_free(plan: ServePlan) -> None:
    """Check before anything is started that doors, store and port can be had."""
    for name in doors_of(plan.settings):
        CHANNELS.load(name)
    if plan.settings.auth.openid is not None:
        SIGN_IN.load("openid")
    check_free(plan.store)
    _check_address(plan.host, plan.port)


def _check_address(host: str, port: int) -> None:
    try:
        for each in bind(host, port):
            each.close()
    except ConfigError as error:
        raise ProlocutorError(f"{error.what} with --{error.key}") from None


async def _serve(plan: ServePlan) -> None:
    stop = _once() if plan.once else None
    lost: list[StoreLost] = []
    watching = [] if stop is None else [_Once(stop)]
    async with served(
        plan.settings, plan.store, plan.own_key, on_lost=partial(_end, lost), observers=watching
    ) as app:

        def tell(url: str) -> None:
            tune_collector()
            url = url.replace(*_reachable(plan.host))
            note = OwnerNote("serve", plan.settings.file, url, plan.own_key)
            leave_note(app.assistant.store, note)
            click.echo(
                greeting(
                    plan.settings.name,
                    url,
                    plan.store,
                    file=plan.file_given,
                    store=plan.store_given,
                    page="page" in doors_of(plan.settings),
                )
            )

        await serve_app(app, plan.host, plan.port, on_ready=tell, stop=stop)
    if lost:
        raise lost[0]


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
