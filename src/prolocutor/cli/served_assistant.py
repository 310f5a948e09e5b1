"""One assistant as it is served: started, with its doors, its observers and its keys."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner_channel import OwnerChannel
from prolocutor.config.agent_cards import card_of
from prolocutor.config.building import assistant_from
from prolocutor.config.file_hints import told_hints
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import sqlite_file
from prolocutor.contracts.channel import Channel
from prolocutor.contracts.observer import Observer
from prolocutor.contracts.pairing import Card
from prolocutor.doors.door_catalog import SessionChannel, find_operators_page, usual_doors
from prolocutor.errors import StoreLost
from prolocutor.observe.logs import TurnLog
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.observe.service_times import ServiceTimes
from prolocutor.observe.spans import TurnSpans
from prolocutor.plan.pipeline import Stage
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext, DoorOptions, ServedFile
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener, make_app

_COLLECT_AFTER: Final = (5_000, 20, 100)
"""Allocations between garbage collections, by generation: turns that wait hold many containers and
leave no cycles, so the usual (700, 10, 10) looks at the same ones over and over."""


def doors_of(settings: Settings) -> Mapping[str, DoorOptions]:
    """Return the doors to open: their options by name."""
    return usual_doors() if settings.doors is None else settings.doors


@asynccontextmanager
async def served(
    settings: Settings,
    store: str,
    own_key: str,
    *,
    on_lost: Callable[[StoreLost], None],
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Listener]:
    """Start an assistant and return its app, which is not open yet.

    `own_key` is the key of this process. `on_lost` is called when another process has taken the
    store.
    """
    metrics, load, recent = TurnMetrics(), ServiceTimes(), RecentTurns()
    watching: list[Observer] = [metrics, load, recent, TurnLog(), TurnSpans(), *observers]
    starting = assistant_from(settings, store=store, observers=watching, patient=True)
    async with starting as assistant:
        assistant.watchdog.arm()
        assistant.store_health.on_lost = on_lost
        ring = KeyRing(assistant.store)
        context = _context(settings, assistant, store, load, recent, ring)
        yield _app(settings, context, ring, metrics, own_key)


def tune_collector() -> None:
    """Have the garbage collector leave alone what is there now, and look less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _app(
    settings: Settings, context: DoorContext, ring: KeyRing, metrics: TurnMetrics, own_key: str
) -> Listener:
    assistant = context.assistant
    channels: list[Channel] = [OwnerChannel(assistant, ring)]
    channels += [options.build(context) for options in doors_of(settings).values()]
    sessions: SessionChannel | None = None
    if settings.auth.sign_in:
        context = replace(context, prefixes=tuple(door.prefix for door in channels))
    for way in settings.auth.sign_in.values():
        sessions = way.build(context)
        channels.append(sessions)
    return make_app(
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
        operators_page=find_operators_page(doors_of(settings).values()),
    )


def _cards(assistant: Assistant, folder: Path) -> dict[str, Card]:
    """Return every skill's card, which may be a file of its own."""
    skills = [one for one in assistant.services() if one.stage is Stage.SKILL]
    return {one.name: card_of(one.name, one.card or {}, folder) for one in skills}
