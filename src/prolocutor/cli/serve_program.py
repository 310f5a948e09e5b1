"""The program of `prolocutor serve`: an assistant and its doors, until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, chdir
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import run
from prolocutor.catalog import Catalog
from prolocutor.cli.owner import OwnerNote, check_free, leave_note
from prolocutor.cli.owner_channel import OwnerChannel
from prolocutor.cli.serve import ServeOptions
from prolocutor.config.agent_cards import read_card
from prolocutor.config.building import build_assistant
from prolocutor.config.check_warnings import told_hints
from prolocutor.config.loading import assistant_file, load
from prolocutor.config.other_hosts import read_hosts, replace_hosts
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import hide_password, sqlite_file, store_url
from prolocutor.contracts.channel import Channel
from prolocutor.contracts.observer import Observer, TurnRecord
from prolocutor.contracts.pairing import Card
from prolocutor.doors.door_catalog import (
    SessionChannel,
    find_operators_data,
    find_operators_page,
    usual_doors,
)
from prolocutor.errors import ConfigError, ProlocutorError, StoreLost
from prolocutor.observe.logs import JsonLogFormatter, TurnLog
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns, ServiceTimes
from prolocutor.plan.pipeline import Stage
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.builtin_routes import MonitoringApp
from prolocutor.web.door_context import DoorContext, DoorOptions, ServedFile
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener
from prolocutor.web.serving import bind, served_beside
from prolocutor.web.serving import serve as serve_app

DEMO: Final = ("what is 15% of 80 and what time is it in Tokyo?", "how long is 5 miles in km?")
OWN_KEY_NOTICE: Final = (
    "Operators need a key, also on this machine. Until this server ends: {} (send it as"
    " `Authorization: Bearer ...`, or give it to the page that asks for one)."
)
OBSERVERS: Final = Catalog[Callable[[], Observer]]("observer", "prolocutor.observers")
"""Observers of the turns of every served assistant."""

OTHER_EXAMPLES: Final = ("hello", "what can you do?")

_COLLECT_AFTER: Final = (5_000, 20, 100)
"""Allocations between garbage collections, by generation: turns that wait hold many containers and
leave no cycles, so the usual (700, 10, 10) looks at the same ones over and over."""

EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
NO_KEYS_WARNING: Final = (
    "warning: --without-keys: everybody who reaches {} may speak as any user, and read, change and"
    " delete all dialogs; only a closed network makes that safe"
)


def greeting(
    name: str,
    url: str,
    kept: str,
    *,
    file: Path | None,
    store: str | None,
    page: bool = False,
    operators_page: str | None = None,
    key: str | None = None,
) -> str:
    """Return the greeting: the assistant's address, its store, and three examples to try.

    `kept` is the store's URL; `file` and `store` are as given on the command line. `page`: whether
    a page can be opened in a browser. `operators_page`: the path of the page for operators. `key`:
    the key of this process, if only this key admits operators.
    """
    first, second = OTHER_EXAMPLES if file else DEMO
    path = sqlite_file(kept)
    said = f'{{"user_id": "ann", "payload": "{second}"}}'
    who = f" -H 'Authorization: Bearer {key}'" if key else ""
    post = f"curl {url}{who} -H 'Content-Type: application/json' -d '{said}'"
    if path is None:
        tries = [post, f"curl {url}/openapi.json", f"curl {url}/metrics{who}"]
    else:
        where = f" {shlex.quote(str(file))}" if file else ""
        which = f" --assistant{where}" if file else ""
        beside = f" --store {shlex.quote(store)}" if store else ""
        tries = [f"prolocutor chat{where}{beside}"]
        tries += [f'prolocutor ask "{first}"{which}{beside}', post]
    where_kept = path or hide_password(kept)
    return "\n".join(
        (
            f"{name} listens on {url} (Ctrl-C ends it).",
            f"Dialogs are kept in {where_kept}. Three things to try in another terminal:",
            *(f"  {one}" for one in tries),
            *([f"Or talk to it in a browser: {url}"] if page else []),
            *([f"Operators see and do more at {url}{operators_page}"] if operators_page else []),
            *([OWN_KEY_NOTICE.format(key)] if key else []),
        )
    )


def configured_doors(settings: Settings) -> Mapping[str, DoorOptions]:
    """Return the options of the doors to open, by name."""
    return usual_doors() if settings.doors is None else settings.doors


@asynccontextmanager
async def start_listener(
    settings: Settings,
    store: str,
    own_key: str,
    *,
    on_lost: Callable[[StoreLost], None],
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Listener]:
    """Start an assistant and yield its app, which is not open yet.

    `own_key` is the key of this process. `on_lost` is called when another process has taken the
    store.
    """
    metrics, load, recent = TurnMetrics(), ServiceTimes(), RecentTurns()
    watching: list[Observer] = [metrics, load, recent, TurnLog(), *observers]
    watching += [make() for _, make in OBSERVERS.import_all()]
    starting = build_assistant(settings, store=store, observers=watching, patient=True)
    async with starting as assistant:
        assistant.watchdog.arm()
        assistant.store_health.on_lost = on_lost
        ring = KeyRing(assistant.store)
        context = _context(settings, assistant, store, load, recent, ring)
        yield _app(settings, context, ring, metrics, own_key)


def tune_collector() -> None:
    """Let the garbage collector ignore the present objects and run less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _app(
    settings: Settings, context: DoorContext, ring: KeyRing, metrics: TurnMetrics, own_key: str
) -> Listener:
    assistant = context.assistant
    channels: list[Channel] = [OwnerChannel(assistant, ring)]
    channels += [options.build(context) for options in configured_doors(settings).values()]
    sessions: SessionChannel | None = None
    if settings.auth.sign_in:
        context = replace(context, prefixes=tuple(door.prefix for door in channels))
    for way in settings.auth.sign_in.values():
        sessions = way.build(context)
        channels.append(sessions)
    return Listener(
        assistant,
        channels,
        auth=AccessPolicy(
            settings.auth.keys,
            settings.auth.tokens,
            settings.auth.anonymous,
            settings.auth.loopback,
            own_key=own_key,
            trusted_proxies=settings.trusted_proxies,
            sign_in=sessions is not None,
            everybody=settings.auth.everybody,
        ),
        limits=settings.limits,
        origins=settings.origins,
        metrics=metrics,
        ring=ring,
        sessions=sessions,
    )


def _context(
    settings: Settings,
    assistant: Assistant,
    url: str,
    times: ServiceTimes,
    recent: RecentTurns,
    ring: KeyRing,
) -> DoorContext:
    store, folder = sqlite_file(url), settings.folder
    path = folder / Path(settings.file).name
    return DoorContext(
        assistant=assistant,
        folder=folder,
        file=ServedFile(path, partial(told_hints, path)) if settings.file else None,
        store=url,
        uploads=store.with_name(f"{store.stem}-uploads") if store is not None else None,
        ring=ring,
        recent=recent,
        times=times,
        starters=settings.starters,
        cards=_cards(assistant, folder),
        secured=settings.auth.is_closed,
        recording=settings.records is not None,
        operators_page=find_operators_page(configured_doors(settings).values()),
        operators_data=find_operators_data(configured_doors(settings).values()),
    )


def _cards(assistant: Assistant, folder: Path) -> dict[str, Card]:
    """Return every skill's card, which may be a separate file."""
    skills = [service for service in assistant.services() if service.stage is Stage.SKILL]
    return {skill.name: read_card(skill.name, skill.card or {}, folder) for skill in skills}


class ServePlan(msgspec.Struct, frozen=True):
    """The assistant to serve, its address and its store."""

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
    settings = _override_settings(settings, given)
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


def _override_settings(settings: Settings, options: ServeOptions) -> Settings:
    """Return the file's settings, overridden by the given options."""
    if options.hosts is not None:
        pipeline = replace_hosts(settings.pipeline, read_hosts(options.hosts))
        settings = msgspec.structs.replace(settings, pipeline=pipeline)
    if options.deadline is not None:
        settings = msgspec.structs.replace(settings, deadline=options.deadline)
    if options.metrics_host is not None:
        settings = msgspec.structs.replace(settings, metrics_host=options.metrics_host)
    if options.metrics_port is not None:
        settings = msgspec.structs.replace(settings, metrics_port=options.metrics_port)
    if options.without_keys:
        if settings.auth.is_closed or settings.auth.anonymous:
            what = "auth in the file says who comes in: take it out, or leave out --without-keys"
            raise ConfigError(what, key="auth")
        auth = msgspec.structs.replace(settings.auth, everybody=True)
        settings = msgspec.structs.replace(settings, auth=auth)
    if options.max_text is not None:
        limits = msgspec.structs.replace(settings.limits, text=options.max_text)
        settings = msgspec.structs.replace(settings, limits=limits)
    return settings


def _log_to_stderr(level: int, *, as_json: bool) -> None:
    """Log messages of at least a level to stderr, a line each."""
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLogFormatter() if as_json else plain)
    logging.basicConfig(level=level, handlers=[lines])


def _check_free(plan: ServePlan) -> None:
    """Check, before the start, that the store and the ports are free."""
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
    stop = _stop_event() if plan.once else None
    lost: list[StoreLost] = []
    metrics_host = plan.settings.metrics_host
    watching = [] if stop is None else [StopAfterFirstTurn(stop)]
    async with (
        start_listener(
            plan.settings, plan.store, plan.own_key, on_lost=partial(_end, lost), observers=watching
        ) as app,
        _serve_monitoring(app, plan.settings) as monitoring,
    ):

        def tell(url: str) -> None:
            tune_collector()
            url = url.replace(*_reachable(plan.host))
            doors = configured_doors(plan.settings)
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
                click.echo(NO_KEYS_WARNING.format(plan.host), err=True)
            if monitoring:
                click.echo(f"Metrics: {monitoring.replace(*_reachable(metrics_host))}/metrics")

        await serve_app(app, plan.host, plan.port, on_ready=tell, stop=stop)
    if lost:
        raise lost[0]


@asynccontextmanager
async def _serve_monitoring(app: Listener, settings: Settings) -> AsyncIterator[str]:
    """Serve metrics and health, and yield their URL; "" if the settings have no port for them."""
    if settings.metrics_port is None:
        yield ""
        return
    monitoring = MonitoringApp(app.monitoring, app.limits)
    async with served_beside(monitoring, settings.metrics_host, settings.metrics_port) as url:
        yield url


def _end(lost: list[StoreLost], error: StoreLost) -> None:
    """End this process in good order: another server has its store."""
    if not lost:
        lost.append(error)
        signal.raise_signal(signal.SIGTERM)


def _reachable(host: str) -> tuple[str, str]:
    shown = f"[{host}]" if ":" in host else host
    return f"//{shown}:", f"//{EVERYWHERE.get(host, shown)}:"


def _stop_event() -> asyncio.Event:
    """Return the event that stops the server after its only turn; a signal sets it earlier."""
    stop = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    return stop


class StopAfterFirstTurn:
    """An observer that stops the server after the first turn."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def turn_ended(self, record: TurnRecord) -> None:
        """Stop the server."""
        self._stop.set()
