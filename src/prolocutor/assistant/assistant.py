"""Assistant: the methods for callers; it composes engine, store, queues and feed."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, Unpack

from prolocutor.asks.answers import AskKind
from prolocutor.assistant.assembly import assemble
from prolocutor.assistant.assistant_settings import (
    DEFAULT_STORE,
    DEFAULTS,
    REPLICA,
    AssistantSettings,
    HandoverSettings,
    PurseSettings,
    RecordSettings,
    ReplicaSettings,
)
from prolocutor.assistant.call_recording import CallRecorder, current_recorder
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.assistant.runner import LoopThread
from prolocutor.assistant.services import ServiceStatus, service_statuses
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import FeedMessage, TurnStream, follow_feed
from prolocutor.connectors.connector_catalog import find_connector_name
from prolocutor.contracts.model_use import ModelInUse
from prolocutor.contracts.observer import Observer
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import Store
from prolocutor.contracts.store_options import StoreOptions
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.inputs import InputKeywords, TurnInput, turn_input
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import Pipeline
from prolocutor.stores.store_catalog import open_store

FROM_FILE = "prolocutor.config.building:assistant_of_file"
"""The function that makes an assistant of a file; imported late, as it imports this module."""


ASGI = "prolocutor.doors.asgi_app:asgi_app"
"""The function that makes an app of an assistant; imported late: doors are above this floor."""

MOVED: Final = {
    "begin_from": "archive.begin",
    "busy": "turns.busy",
    "close_dialog": "archive.close",
    "delete_conversation": "archive.delete",
    "delete_older": "archive.delete_older",
    "delete_person": "archive.delete_person",
    "following": "observers.following",
    "is_answering": "turns.is_answering",
    "is_cut_off": "life.is_cut_off",
    "is_running": "turns.is_running",
    "keep_records": "records.keep",
    "listening": "feeds.listening",
    "rate_utterance": "archive.rate",
    "recorder": "records.recorder",
    "succession": "sharing",
    "start_program": "agenda.start_program",
    "waiting": "archive.waiting",
}
"""Old names of the assistant itself and where that is now; they work for one release."""


class Assistant:
    """One assistant out of many agents; it runs the turns of a person in order.

    Use it as `async with Assistant(pipeline) as assistant`. `store` is a URL or a store.
    `AssistantSettings` describes the other settings, their defaults and bounds; a value out of
    bounds raises `ConfigError`. `observers` get a record of each turn. `programs` runs programs
    sent in place of a text (ThingTalk). `replica` and `broker` count only if several replicas share
    the store. `models` are the models that selectors read, `asks` the options of kinds of asks, by
    their names. `recorder` stands before all that it calls.

    Its parts do the rest: `turns` run, `archive` has the dialogs, `agenda` says things unasked,
    `feeds` wake followers, `observers` are told of turns, `records` keeps records of them; `desk`
    has the operators' actions on dialogs, `labels` their labels, `switches` switches services off
    and on, `alone` talks to a single service.


    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        store: str | Store | StoreOptions = DEFAULT_STORE,
        deadline: float = DEFAULTS.deadline,
        reserve: float | None = DEFAULTS.reserve,
        queue_timeout: float = DEFAULTS.queue_timeout,
        queue_limit: int = DEFAULTS.queue_limit,
        max_text: int = DEFAULTS.max_text,
        durability: Literal["full", "relaxed"] = DEFAULTS.durability,
        fallback: str = DEFAULTS.fallback,
        recover_within: float = DEFAULTS.recover_within,
        max_attributes: int = DEFAULTS.max_attributes,
        switch_confidence: float = DEFAULTS.switch_confidence,
        digressions: Literal["return", "keep", "drop"] = DEFAULTS.digressions,
        name: str = DEFAULTS.name,
        handover: HandoverSettings = DEFAULTS.handover,
        records: RecordSettings | None = DEFAULTS.records,
        replica: ReplicaSettings = REPLICA,
        broker: BrokerWakeUps | None = None,
        messages: str | None = DEFAULTS.messages,
        asks: Mapping[str, AskKind] | None = None,
        purse: PurseSettings | None = None,
        observers: Sequence[Observer] = (),
        programs: Programs | None = None,
        models: Sequence[ModelInUse] = (),
        recorder: CallRecorder | None = None,
    ) -> None:
        if not isinstance(pipeline, Pipeline):
            raise ConfigError(
                f"an assistant is made of a Pipeline, not of a {type(pipeline).__name__}:"
                " Assistant(Pipeline(skills=[...]))"
            )
        settings = AssistantSettings(
            name=name,
            durability=durability,
            deadline=deadline,
            reserve=reserve,
            queue_timeout=queue_timeout,
            queue_limit=queue_limit,
            max_text=max_text,
            fallback=fallback,
            recover_within=recover_within,
            max_attributes=max_attributes,
            switch_confidence=switch_confidence,
            digressions=digressions,
            messages=messages,
            handover=handover,
            records=records,
            asks=dict(asks or {}),
            purse=purse,
        )
        settings.check()
        replica.check()
        self.name = name
        self.currency = "" if purse is None else purse.currency
        """The currency of prices and costs, where it is known."""
        if isinstance(store, str | StoreOptions):
            store = open_store(store, durability=durability)
        self.store: Store = store
        self.observers = ObserverGroup(observers)
        self.labels = OperatorLabels(self.store)
        self.models = list(models)
        self.life = assemble(
            pipeline,
            settings,
            store=self.store,
            observers=self.observers,
            programs=programs,
            replica=replica,
            broker=broker,
            labels=self.labels,
            recorder=recorder or current_recorder(),
        )
        parts = self.life.parts
        self.engine, self.programs = parts.engine, parts.programs
        steps = self.engine.prepared.every()
        connectors = {
            (one.stage_name, one.name): find_connector_name(one.service.call) for one in steps
        }
        self.observers.join(name, connectors)
        self.turns, self.archive, self.agenda = parts.turns, parts.archive, parts.agenda
        self.desk, self.alone, self.switches = parts.desk, parts.alone, parts.switches
        self.feeds, self.records = parts.listeners, parts.records
        self.watchdog, self.store_health = parts.watchdog, parts.health
        self.sharing = parts.sharing
        """The work of this replica among others; None for a store of a single process."""
        self.stop, self.notify = self.turns.stop, self.agenda.notify
        self._thread: LoopThread[Assistant] | None = None
        if records is not None:
            self.records.keep(records)
        variants = self.engine.prepared.variants
        for one in (*self.life.keepers, *(() if variants is None else (variants,))):
            one.join(self)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        store: str | Store | None = None,
        observers: Sequence[Observer] = (),
    ) -> AbstractAsyncContextManager[Assistant]:
        """Return the assistant that a YAML file describes: `async with` starts and closes it.

        The processes of the file are started before it. `store` replaces the file's store.
        `ConfigError` names all faults of the file.
        """
        assistant: AbstractAsyncContextManager[Assistant] = resolve(FROM_FILE)(
            path, store=store, observers=observers
        )
        return assistant

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        thread: LoopThread[Assistant] = LoopThread(self, "assistant")
        self._thread = thread
        return self

    def __exit__(self, *_: object) -> None:
        thread, self._thread = self._thread, None
        assert thread is not None, "it was entered"
        thread.close()

    async def start(self, *, patient: bool = False) -> None:
        """Open the store and resume the turns that were cut off, each in its person's queue.

        Raise `StoreAway` if a database does not answer. With `patient` the assistant waits for it
        in the background: `ready` tells when turns are taken.
        """
        await self.life.start(patient=patient)

    async def aclose(self, *, grace: float | None = None) -> None:
        """Refuse new turns, wait for running turns (`grace` seconds at most), close all."""
        await self.life.end(grace)

    @property
    def started(self) -> bool:
        """Whether it has started, and perhaps waits for the store."""
        return self.life.started

    @property
    def ready(self) -> bool:
        """Whether turns are taken: it has started, is not stopping, and can reach the store."""
        return self.life.ready

    def asgi(
        self,
        doors: Sequence[object] | None = None,
        *,
        keys: Sequence[str] | Mapping[str, str] = (),
        tokens: Mapping[str, str] | None = None,
        anonymous: bool = False,
        origins: Collection[str] = (),
    ) -> Callable[..., Awaitable[None]]:
        """Return an ASGI app with doors (names, options, or channels), by default the usual doors.

        It can be served or mounted in another app. `keys`, `tokens`, `anonymous` and `origins` mean
        the same as in a file: without keys and tokens only this machine is admitted.
        """
        app: Callable[..., Awaitable[None]] = resolve(ASGI)(
            self, doors, keys=keys, tokens=tokens, anonymous=anonymous, origins=origins
        )
        return app

    def services(self) -> list[ServiceStatus]:
        """Return all services with their states, in declared order, the last chance last."""
        return service_statuses(self.engine.prepared)

    async def reply(
        self,
        text: str,
        user: str,
        dialog: str | None = None,
        attributes: JsonObject | None = None,
        request_id: str | None = None,
        *,
        parsed: JsonObject | None = None,
        program: str | None = None,
        skill: str | None = None,
    ) -> BotUtterance:
        """Return the reply to an input. Cancelling only stops waiting: the turn runs on.

        `dialog` names a dialog of the person ("main"). The same `request_id` gets the same
        reply; `Conflict` is raised if it came with another input before. The content of a button
        comes as `parsed`: `{code, entities}`, `{program}` or the value of a skill; `program` is
        the source of a ThingTalk program. `text` is then its title, if any. With `skill` only that
        skill is asked; for an unknown skill `NotFound` names the skills.
        """
        input = TurnInput(
            text, user, dialog or "main", attributes or {}, request_id,
            parsed=parsed, program=program, skill=skill,
        )  # fmt: skip
        return (await self.turns.begin(input)).reply

    def reply_sync(
        self, text: TurnInput | str, user: str = "", **keywords: Unpack[InputKeywords]
    ) -> BotUtterance:
        """Do as `reply` does, for callers that are not async: in `with Assistant(...)`."""
        if self._thread is None:
            raise RuntimeError("it is not open: with Assistant(...) as assistant: ...")
        return self._thread.call(self.turn(text, user, **keywords)).reply

    async def turn(
        self, text: TurnInput | str, user: str = "", **keywords: Unpack[InputKeywords]
    ) -> TurnResult:
        """Do as `reply` does, and return the whole result of the turn.

        It takes a `TurnInput`, or a text, a user and the other fields of a `TurnInput` by name.
        """
        return await self.turns.begin(turn_input(text, user, keywords))

    def stream(
        self, text: TurnInput | str, user: str = "", **keywords: Unpack[InputKeywords]
    ) -> TurnStream:
        """Do as `turn` does, and iterate over the turn's events; `ReplyGiven` comes last.

        The turn starts at once and ends with or without iteration. The iterator raises the errors
        of the turn. The `request_id` of a stored turn gets only `ReplyGiven`.
        """
        stream = TurnStream()
        return stream.follow(self.turns.begin(turn_input(text, user, keywords), stream.take))

    def feed(self, user: str, after: int = 0) -> AsyncIterator[FeedMessage]:
        """Iterate over everything said to or by a person with `n > after`, without end."""
        return follow_feed(self.feeds, self.store, user, after)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an object by its former name, with a warning."""
            if name not in MOVED:
                raise AttributeError(f"an Assistant has no attribute {name!r}")
            what = f"Assistant.{name} is Assistant.{MOVED[name]} now"
            warnings.warn(what, DeprecationWarning, stacklevel=2)
            return attrgetter(MOVED[name])(self)
