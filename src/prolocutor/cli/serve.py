"""`prolocutor serve`: an assistant and its doors, until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import signal
import sys
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import click
import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import run
from prolocutor.channels.channel_catalog import CHANNELS
from prolocutor.cli.assistant_access import leave_note
from prolocutor.cli.greeting import greeting
from prolocutor.cli.options import DREAM_OPTION, STORE_OPTION
from prolocutor.cli.owner import OwnerNote, check_free
from prolocutor.cli.owner_channel import OwnerChannel
from prolocutor.config.assistant_file import assistant_file
from prolocutor.config.building import assistant_from
from prolocutor.config.loading import load
from prolocutor.config.other_hosts import at_other_hosts, read_hosts
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import sqlite_file, store_url
from prolocutor.contracts.channel import Channel
from prolocutor.contracts.observer import Observer, TurnRecord
from prolocutor.errors import ConfigError, ProlocutorError, StoreLost
from prolocutor.observe.logs import JsonLogFormatter, TurnLog
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.observe.service_times import ServiceTimes
from prolocutor.observe.spans import TurnSpans
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener, make_app
from prolocutor.web.serving import bind
from prolocutor.web.serving import serve as serve_app

USUAL_DOORS: Final = ("deeppavlov", "almond", "page", "console", "openai", "a2a", "mcp", "agui")
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

    def doors(self) -> dict[str, dict[str, Any]]:
        """Return the doors to open: their options by name."""
        doors = self.settings.doors
        return {name: {} for name in USUAL_DOORS} if doors is None else doors


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
    dream: Path | None,
    once: bool,
    log: Literal["plain", "json"] | None,
) -> None:
    """Serve an assistant: the demo, or the one that FILE describes.

    FILE may be DeepPavlov Agent's own pipeline_conf.json, which is run as it stands.

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
    with chdir(dream or Path.cwd()):
        settings = load(found, dream=dream)
    settings = _changed(settings, hosts, deadline)
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


def _changed(settings: Settings, hosts: str | None, deadline: float | None) -> Settings:
    """Return the settings with what the options say in place of what the file says."""
    if hosts is not None:
        pipeline = at_other_hosts(settings.pipeline, read_hosts(hosts))
        settings = msgspec.structs.replace(settings, pipeline=pipeline)
    if deadline is not None:
        settings = msgspec.structs.replace(settings, deadline=deadline)
    return settings


def _log_to_stderr(level: int, *, as_json: bool) -> None:
    """Log what is at least of this level, one line each."""
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLogFormatter() if as_json else plain)
    logging.basicConfig(level=level, handlers=[lines])


def _check_free(plan: ServePlan) -> None:
    """Check before anything is started that doors, store and port can be had."""
    for name in plan.doors():
        CHANNELS.load(name)
    check_free(plan.store)
    try:
        for each in bind(plan.host, plan.port):
            each.close()
    except ConfigError as error:
        raise ProlocutorError(f"{error.what} with --{error.key}") from None


_COLLECT_AFTER: Final = (5_000, 20, 100)
"""Allocations between garbage collections, by generation: turns that wait hold many containers and
leave no cycles, so the usual (700, 10, 10) looks at the same ones over and over."""


async def _serve(plan: ServePlan) -> None:
    stop = _once() if plan.once else None
    metrics, load, recent = TurnMetrics(), ServiceTimes(), RecentTurns()
    observers: list[Observer] = [metrics, load, recent, TurnLog(), TurnSpans()]
    if stop is not None:
        observers.append(_Once(stop))
    starting = assistant_from(plan.settings, store=plan.store, observers=observers, patient=True)
    async with starting as assistant:
        assistant.watchdog.arm()
        lost: list[StoreLost] = []
        assistant.store_health.on_lost = partial(_end, lost)
        app = _app(plan, assistant, metrics, _shown(plan, load, recent))

        def tell(url: str) -> None:
            # What is there now stays: the garbage collector need not look at it again.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*_COLLECT_AFTER)
            url = url.replace(*_reachable(plan.host))
            _leave_note(assistant, plan, url)
            click.echo(
                greeting(
                    plan.settings.name,
                    url,
                    plan.store,
                    file=plan.file_given,
                    store=plan.store_given,
                    page="page" in plan.doors(),
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


def _app(
    plan: ServePlan, assistant: Assistant, metrics: TurnMetrics, shown: dict[str, dict[str, Any]]
) -> Listener:
    settings = plan.settings
    ring = KeyRing(assistant.store)
    channels: list[Channel] = [OwnerChannel(assistant, ring)]
    for name, options in plan.doors().items():
        channels.append(CHANNELS.make(name, assistant, **{**shown.get(name, {}), **options}))
    return make_app(
        assistant,
        channels,
        auth=AccessPolicy(
            settings.auth.keys,
            settings.auth.tokens,
            settings.auth.anonymous,
            settings.auth.loopback,
            own_key=plan.own_key,
            trusted_proxies=settings.trusted_proxies,
        ),
        limits=settings.limits,
        origins=settings.origins,
        metrics=metrics,
        ring=ring,
    )


def _shown(plan: ServePlan, load: ServiceTimes, recent: RecentTurns) -> dict[str, dict[str, Any]]:
    """Return what a door may show beside its options, by the door's name."""
    store = sqlite_file(plan.store)
    uploads = store.with_name(f"{store.stem}-uploads") if store is not None else None
    auth, folder = plan.settings.auth, plan.settings.folder
    return {
        "deeppavlov": {"load": load},
        "page": {"recent": recent, "uploads": uploads},
        "openai": {"recent": recent},
        "console": {"folder": folder},
        "a2a": {"secured": bool(auth.keys or auth.tokens), "folder": folder},
    }


def _leave_note(assistant: Assistant, plan: ServePlan, url: str) -> None:
    """Leave a note for the other commands of this user: the door's address and a key for it."""
    note = OwnerNote("serve", plan.settings.file, url, plan.own_key)
    leave_note(assistant.store, note)


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
