"""Assistant: what callers may do; it composes the engine, the store, the queues and the feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack

from prolocutor.assistant.assembly import assemble
from prolocutor.assistant.assistant_settings import (
    DEFAULT_STORE,
    DEFAULTS,
    REPLICA,
    AssistantSettings,
    ReplicaSettings,
)
from prolocutor.assistant.feed_message import FeedMessage, followed
from prolocutor.assistant.handover_settings import HandoverSettings
from prolocutor.assistant.input_checks import check_name, check_words, checked_dialog, checked_input
from prolocutor.assistant.lifetime import Lifetime
from prolocutor.assistant.lone_talk import LoneTalk
from prolocutor.assistant.notification import AnyMessage, notification
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.operator_desk import OperatorDesk, TurnInLine
from prolocutor.assistant.operator_labels import OperatorLabels
from prolocutor.assistant.person_queues import Work
from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.assistant.service_status import ServiceStatus, services_of
from prolocutor.assistant.stoppable_turns import StoppableTurns
from prolocutor.assistant.succession import Succession
from prolocutor.assistant.turn_recorder import TurnRecorder
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.observer import Following, Observer
from prolocutor.contracts.programs import CreatedProgram, ProgramInfo, Programs
from prolocutor.contracts.quota import spend
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import Store
from prolocutor.contracts.store.turn_record_store import KeepsTurnRecords
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import EarlierTurn, InputKeywords, TurnInput, turn_input
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plugins.pairing.model_in_use import ModelInUse
from prolocutor.stores.store_catalog import open_store

T = TypeVar("T")


FROM_FILE = "prolocutor.config.building:assistant_of_file"
"""What makes an assistant of a file; imported when it is asked for, as it knows this module."""


class Assistant:
    """One assistant out of many agents; it runs one turn at a time for each person.

    Use it as `async with Assistant(pipeline) as assistant`. `store` is a URL or a store. The other
    settings, their defaults and bounds are those of `AssistantSettings`; a value out of bounds
    raises `ConfigError`. `observers` get a record of each turn. `programs` runs the programs that
    come in place of a text (ThingTalk). `replica` and `broker` count only where several replicas
    share the store. `models` are those that selectors read. `desk` is what operators do with
    dialogs, `labels` are those that they give, `hints` tends what routers learned without any,
    `switches` switches services off and on, `alone` talks to one of them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        store: str | Store = DEFAULT_STORE,
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
        name: str = DEFAULTS.name,
        handover: HandoverSettings = DEFAULTS.handover,
        records: RecordSettings | None = DEFAULTS.records,
        replica: ReplicaSettings = REPLICA,
        broker: BrokerWakeUps | None = None,
        messages: str | None = DEFAULTS.messages,
        observers: Sequence[Observer] = (),
        programs: Programs | None = None,
        models: Sequence[ModelInUse] = (),
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
            messages=messages,
            handover=handover,
            records=records,
        )
        settings.check()
        replica.check()
        self.name = name
        self.store = open_store(store, durability=durability) if isinstance(store, str) else store
        self._observers = ObserverGroup(observers)
        self.observers = self._observers.observers
        self.models = list(models)
        self.labels = OperatorLabels(self.store)
        parts = assemble(
            pipeline,
            settings,
            store=self.store,
            observers=self._observers,
            programs=programs,
            replica=replica,
            broker=broker,
            labels=self.labels,
        )
        self._life = Lifetime(self.store, parts)
        self._deadline = deadline
        self._max_text = max_text
        self._skills = [service.name for service in pipeline.of(Stage.SKILL)]
        self._stoppable = StoppableTurns()
        self._queues, self._access, self._succession = parts.queues, parts.access, parts.succession
        self._journal, self._scheduler = parts.journal, parts.scheduler
        self._changes, self._turns = parts.changes, parts.turns
        self._listeners = parts.listeners
        self.engine = parts.engine
        self.programs = parts.programs
        self.watchdog = parts.watchdog
        self.hints = parts.changes.hints
        self.switches = parts.switches
        self.store_health = parts.health
        self.alone = LoneTalk(self.store, self.engine, max_text)
        self.desk = OperatorDesk(self.store, self._turns, self._in_line, handover, max_text)
        if records is not None:
            self.keep_records(records)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        store: str | Store | None = None,
        observers: Sequence[Observer] = (),
    ) -> AbstractAsyncContextManager[Assistant]:
        """Return the assistant that a YAML file describes: `async with` starts and closes it.

        The processes of the file are started before it. `store` takes the place of the file's.
        `ConfigError` names everything that is wrong with the file.
        """
        made: AbstractAsyncContextManager[Assistant] = resolve(FROM_FILE)(
            path, store=store, observers=observers
        )
        return made

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self, *, patient: bool = False) -> None:
        """Open the store and take up the turns that were cut off, each in its person's queue.

        `StoreAway` where a database does not answer. With `patient` that is waited for in the
        background: `ready` says when turns are taken.
        """
        await self._life.start(patient=patient)

    async def aclose(self, *, grace: float | None = None) -> None:
        """Refuse new turns, wait for the running ones (`grace` seconds at most), close all."""
        await self._life.end(grace)

    @property
    def started(self) -> bool:
        """Whether it has started, and perhaps waits for the store."""
        return self._life.started

    @property
    def ready(self) -> bool:
        """Whether turns are taken: it has started, is not stopping, and can reach the store."""
        return self._life.ready

    @property
    def is_cut_off(self) -> bool:
        """Whether it has started, and cannot reach the store that it shares with others."""
        return self._life.is_cut_off

    def keep_records(self, settings: RecordSettings) -> None:
        """Keep records of turns from now on, in place of none, if the store can."""
        if isinstance(self.store, KeepsTurnRecords):
            recorder = TurnRecorder(self.store.turn_records, settings, self._deadline)
            self.observers.append(recorder)
            self._life.record(recorder)

    @property
    def recorder(self) -> TurnRecorder | None:
        """What keeps the records of turns; None where none are kept."""
        return self._life.recorder

    @property
    def succession(self) -> Succession | None:
        """What this replica does among others; None where the store is this process's alone."""
        return self._succession

    def following(self, follower: Following) -> AbstractContextManager[None]:
        """Let an observer follow the turns of this process for as long as the block runs."""
        return self._observers.following(follower)

    def is_running(self, turn_id: str) -> bool:
        """Return whether this turn runs now, in this process."""
        return turn_id in self._turns.running

    @property
    def busy(self) -> int:
        """The number of persons whose turns are running or waiting."""
        return len(self._queues) + (0 if self._succession is None else self._succession.running)

    @property
    def strays(self) -> int:
        """The number of calls of services that were cancelled and run on."""
        return len(self.engine.prepared.strays)

    def services(self) -> list[ServiceStatus]:
        """Return every service and its state now, in declared order, the last chance at the end."""
        return services_of(self.engine.prepared)

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
        """Return the reply to one input. Cancelling only stops waiting: the turn runs on.

        `dialog` names one of the person's dialogs ("main"). The same `request_id` gets the same
        reply; `Conflict` is raised if it came with another input before. The content of a button
        comes as `parsed`: `{code, entities}`, `{program}` or what a skill put in it; `program` is
        the source of a ThingTalk program. `text` is then its title, if any. With `skill` that
        skill alone is asked; `NotFound` names the skills where there is none of this name.
        """
        input = TurnInput(
            text, user, dialog or "main", attributes or {}, request_id,
            parsed=parsed, program=program, skill=skill,
        )  # fmt: skip
        return (await self._begin(input)).reply

    async def turn(
        self, text: TurnInput | str, user: str = "", **keywords: Unpack[InputKeywords]
    ) -> TurnResult:
        """Do as `reply` does, and return all that is known of the turn.

        It takes a `TurnInput`, or a text, a user and the other fields of one by their names.
        """
        return await self._begin(turn_input(text, user, keywords))

    def stream(
        self, text: TurnInput | str, user: str = "", **keywords: Unpack[InputKeywords]
    ) -> TurnStream:
        """Do as `turn` does, and iterate over what happens meanwhile; `ReplyGiven` comes last.

        The turn starts at once and ends whether it is iterated over or not. What it raises, the
        iterator raises. The `request_id` of a turn that was stored gets `ReplyGiven` alone.
        """
        stream = TurnStream()
        return stream.follow(self._begin(turn_input(text, user, keywords), stream.take))

    async def begin_from(
        self,
        turns: Sequence[EarlierTurn],
        user: str,
        dialog: str | None = None,
        *,
        channel: str = "python",
    ) -> bool:
        """Start a dialog with what was said before; nobody is asked, and nothing is done again.

        Return False, and change nothing, where a dialog of this name has begun.
        """
        if await self.store.active_dialog_id(user, checked_dialog(dialog)) is not None:
            return False
        for number, one in enumerate(turns):
            check_words(one.reply, self._max_text)
            input = TurnInput(one.text, user, dialog or "main", channel=channel, retold=one)
            await self._begin(input, counts=number == 0)
        return True

    async def notify(
        self,
        user: str,
        messages: AnyMessage | Sequence[AnyMessage],
        ask: str | None = None,
        *,
        skill: str = "",
        dialog: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> bool:
        """Send messages to a person unasked; return True if delivered, False if they wait.

        They wait while an ask is open in the dialog. The feed stores them for clients that are
        away. A person has at most 1,000 entries on the agenda; beyond that the earliest is dropped
        and counted. A text is a message. `ask` makes it a question; `skill` gets the answer, with
        `context` in it (`request["answer"]["context"]`). The same `key` sends the same messages
        once (stored for a day, the last 100 of a person); `Conflict` is raised if it came with
        other messages before.
        """
        check_name(user, "a user", "user")
        entry = notification(
            user,
            checked_dialog(dialog),
            messages,
            ask=ask,
            skill=skill,
            key=key,
            context=context,
            due=self._scheduler.clock(),
            known=self._skills,
        )
        return await self._enqueue_alone(user, partial(self._scheduler.notify, entry))

    async def start_program(
        self, user: str, code: str, info: ProgramInfo | None = None
    ) -> CreatedProgram:
        """Run a program, or start it if it goes on, outside of dialogs (`programs.create`)."""
        spend("programs", user)
        info = info or ProgramInfo()
        created = await self._enqueue_alone(user, partial(self.programs.create, user, code, info))
        for entry in created.entries:
            self._scheduler.expect(entry.due)
        return created

    async def waiting(self, user: str, dialog: str | None = None) -> PendingAsk | None:
        """Return the open ask of a dialog, None if there is none."""
        return rounds.decode(await self.store.round(user, checked_dialog(dialog))).waiting

    async def close_dialog(self, user: str, dialog: str | None = None) -> str | None:
        """End a dialog and return its id, if there is one; the next input starts a new one."""
        dialog_name = checked_dialog(dialog)
        close = partial(self._changes.close_dialog, user, dialog_name)
        return await self._enqueue_alone(user, close)

    async def delete_conversation(self, user: str, dialog: str) -> int:
        """Delete the dialogs of one name of a person, closed ones too; return their number."""
        name = checked_dialog(dialog)
        return await self._enqueue_alone(
            user, partial(self._changes.delete_conversation, user, name)
        )

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last turn was before then (ISO 8601); return their number."""
        return await self._changes.delete_older(before)

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown."""
        return await self._enqueue_alone(user, partial(self._changes.delete_person, user))

    def is_answering(self, user: str, dialog: str | None = None) -> bool:
        """Return whether a turn of a dialog waits or runs in this process."""
        return self._stoppable.has(user, checked_dialog(dialog))

    def stop(self, user: str, dialog: str | None = None) -> bool:
        """Stop the turn that runs in a dialog; return False where none runs in this process.

        Its services are cancelled. What was shown of its reply is stored, and marked with the
        attribute `stopped`; an ask that was open stays open. Work that waits for it goes on.
        """
        return self._stoppable.stop(user, checked_dialog(dialog))

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None) -> None:
        """Store a rating of an utterance by `user`, and pass it on to observers that learn from it.

        Raise `NotFound` for an unknown utterance.
        """
        if self.recorder is not None:
            await self.recorder.settle()
        await self._changes.rate_utterance(utt_id, rating, user)

    async def feed(self, user: str, after: int = 0) -> AsyncIterator[FeedMessage]:
        """Iterate over everything said to or by a person with `n > after`, without end."""
        async for message in followed(self._listeners, self.store, user, after):
            yield message

    def listening(self, user: str) -> AbstractContextManager[asyncio.Event]:
        """Return an event that is set when `store.feed` of this person may have something new."""
        return self._listeners.listening(user)

    def _begin(
        self, input: TurnInput, listener: TurnListener | None = None, *, counts: bool = True
    ) -> asyncio.Future[TurnResult]:
        """Make a turn; `counts` says whether the quota of its person has it."""
        input = checked_input(input, self._max_text, self._skills)
        if counts:
            spend("turns", input.user)
        stop = self._stoppable.enter(input)
        try:
            run = partial(self._turns.run, input, listener, stop)
            turn = self._in_line(input.user, run)
        except BaseException:
            self._stoppable.leave(input, stop)
            raise
        if turn.done():  # nothing had to be waited for
            self._stoppable.leave(input, stop)
        else:
            turn.add_done_callback(lambda _: self._stoppable.leave(input, stop))
        return turn

    def _in_line(self, user: str, run: TurnInLine) -> asyncio.Future[TurnResult]:
        """Make a turn when all that this person asked before is done, here and at replicas."""
        self._life.check_open()
        if self._access is None:
            return self._queues.enter(user, run)
        return self._access.enter(self._queues, user, lambda place: run(place=place))

    def _enqueue_alone(self, user: str, work: Work[T]) -> asyncio.Future[T]:
        """Do work that is no turn when no turn of the person runs, here or at another replica."""
        self._life.check_open()
        check_name(user, "a user", "user_id")
        access = self._access
        if access is None:
            return self._queues.enter(user, work)
        return access.enter(self._queues, user, lambda place: access.while_held(user, work, place))
