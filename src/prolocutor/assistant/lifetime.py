"""Lifetime: the parts of an assistant are started in their order, and ended in theirs."""

from __future__ import annotations

from functools import partial

from prolocutor.assistant.assembly import AssistantParts
from prolocutor.assistant.late_start import LateStart
from prolocutor.assistant.turn_recorder import TurnRecorder
from prolocutor.contracts.store import Store
from prolocutor.errors import Stopping, StoreAway, StoreError


class Lifetime:
    """Whether an assistant has started, takes turns, and is stopping; `recorder` may come late."""

    def __init__(self, store: Store, parts: AssistantParts) -> None:
        self._store = store
        self._parts = parts
        self._late_start = LateStart(self._start)
        self.recorder: TurnRecorder | None = None
        self.started = False
        self.stopping = False

    @property
    def ready(self) -> bool:
        """Whether turns are taken: it has started, is not stopping, and can reach the store."""
        return self.started and not self.stopping and not self.is_cut_off

    @property
    def is_cut_off(self) -> bool:
        """Whether it has started, and cannot reach the store that it shares with others."""
        succession = self._parts.succession
        return self.started and succession is not None and not succession.reachable

    def check_open(self) -> None:
        """Raise `Stopping` or `StoreAway` where no turns are taken."""
        if self.stopping:
            raise Stopping("the assistant is shutting down")
        if self._late_start.waits:
            raise StoreAway("the store has not answered since the start")

    def record(self, recorder: TurnRecorder) -> None:
        """Keep records of turns from now on."""
        self.recorder = recorder
        if self.started:
            recorder.start()

    async def start(self, *, patient: bool) -> None:
        """Open the store and start all; where it is away, try on in the background if `patient`."""
        try:
            await self._start()
        except StoreAway as error:
            if not patient:
                raise
            self._late_start.begin(error)
        self.started = True

    async def end(self, grace: float | None) -> None:
        """Refuse new turns, wait for the running ones (`grace` seconds at most), close all."""
        self.stopping = True
        parts = self._parts
        await self._late_start.aclose()
        if parts.succession is not None:
            parts.succession.decline()
        await parts.scheduler.aclose()
        await parts.queues.drain(grace)
        parts.watchdog.stop()
        await parts.health.aclose()
        await parts.journal.settle_all()
        if parts.succession is not None:
            await parts.succession.aclose(grace)
        await parts.handovers.aclose()
        if parts.broker is not None:
            await parts.broker.aclose()
        await parts.engine.aclose()
        if self.recorder is not None:
            await self.recorder.aclose()
        await self._store.aclose()

    async def _start(self) -> None:
        parts = self._parts
        await self._store.open()
        unfinished = []
        try:
            if parts.succession is None:
                unfinished = await self._store.unfinished_turns()
            else:
                await parts.succession.start()
        except StoreError:
            await self._store.aclose()
            raise
        if parts.broker is not None:
            await parts.broker.open()
        await parts.switches.refresh()
        await parts.changes.hints.check()
        await parts.changes.lesson_files.note()
        parts.watchdog.start()
        for turn in unfinished:
            recover = partial(parts.turns.recover, turn)
            recovered = parts.queues.enter(turn.user, recover, patient=True)
            recovered.add_done_callback(lambda done: done.cancelled() or done.exception())
        parts.scheduler.start()
        parts.handovers.start()
        if self.recorder is not None:
            self.recorder.start()
