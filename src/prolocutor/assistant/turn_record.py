"""The record of a turn, and TurnRecorder, which keeps records where they are wanted."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec

from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.assistant.journal import first_traceparent
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.observer import ProfileChange, TurnRecord
from prolocutor.contracts.store import NewProfileVersion, ProfileVersion, Store
from prolocutor.contracts.turn_record_store import KeepsTurnRecords, TurnRecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import StoreError, legible
from prolocutor.pipeline.turn import Turn

log = logging.getLogger(__name__)

FLUSH_SECONDS: Final = 0.25
"""Seconds within which a record is handed to the store."""
BATCH_RECORDS: Final = 100
"""Records that are handed over at once: turns that are stored meanwhile wait for them."""
MOST_WAITING: Final = 10_000
"""Records that wait for the store; beyond that they are dropped."""
UPKEEP_INTERVAL: Final = 60.0
"""Seconds between two looks at what is too old, where no turns come."""
_UPKEEP_PAUSE: Final = 0.25
"""Seconds between two pieces of upkeep, so that it takes little of a machine under load."""
_CLOSE_TIMEOUT: Final = 5.0
"""Seconds for what waits when the assistant closes."""
_WARNING_INTERVAL: Final = 60.0
"""Seconds between two warnings of lost records."""


def make_record(turn: Turn, seconds: float) -> TurnRecord:
    """Make the record of a turn that took so many seconds in all."""
    draft = turn.draft
    opened, reply = draft.opened, draft.final_reply()
    opening = opened.opening
    hypotheses, services = draft.hypotheses(), turn.records()
    pairing = _read_pairing(reply.attributes)
    changes: list[ProfileChange] = []
    if draft.human is not None:
        changes += _changes("person", opened.human, draft.human)
    if draft.bot is not None:
        changes += _changes("bot", opened.bot, draft.bot)
    return TurnRecord(
        turn_id=opening.turn_id,
        dialog_id=opened.dialog_id,
        user=opening.user,
        channel=opening.channel_type,
        started=opening.started,
        seconds=seconds,
        attempt=opened.attempt,
        text=opening.text,
        response=reply.text,
        active_skill=reply.active_skill,
        confidence=float(reply.confidence),  # no whole number of more than 64 bits is packed
        by=reply.by,
        chosen=reply.chosen,
        asked=turn.asked_skills(),
        services=services,
        hypotheses=hypotheses,
        faults=[{**one, "what": legible(one["what"])} for one in turn.faults],
        utt_id=opening.bot_utt_id,
        reasons=turn.reasons,
        remarks=turn.remarks,
        traceparent=first_traceparent(opened) if opened.attempt > 1 else None,
        cost=sum([one.cost for one in services]),
        scores=pairing.scores or _scores(pairing.ranked, hypotheses),
        version=_versions(legible(turn.router_version), pairing),
        changes=changes,
        ask=reply.ask,
        choices=turn.choices(),
        no_answer=b'"no_answer"' in reply.attributes
        and plain.decode(reply.attributes).get("no_answer") is True,
    )


class _Pairing(msgspec.Struct, frozen=True):
    """The estimates of a ranker in the attributes of a reply."""

    ranked: list[tuple[str, float]] = []
    scores: dict[str, float] = {}
    router: str = ""
    ranker: str = ""


class _Attributes(msgspec.Struct):
    """The attributes of a reply, as far as records have them."""

    pairing: _Pairing = msgspec.field(default_factory=_Pairing)


_DECODER: Final = msgspec.json.Decoder(_Attributes)
_NO_PAIRING: Final = _Pairing()


def _read_pairing(attributes: bytes) -> _Pairing:
    """Return the estimates of a ranker; a skill's own attribute of that name may be anything."""
    if b'"pairing"' in attributes:
        try:
            return _DECODER.decode(attributes).pairing
        except msgspec.DecodeError:
            pass
    return _NO_PAIRING


def _scores(ranked: list[tuple[str, float]], hypotheses: list[JsonObject]) -> dict[str, float]:
    """Return probabilities by the id of the hypothesis, if each agent gave a single hypothesis."""
    scores: dict[str, float] = {}
    for name, probability in ranked:
        of_agent = [one for one in hypotheses if one["hypothesis_id"].rpartition(".")[0] == name]
        if of_agent:
            scores[of_agent[0]["hypothesis_id"]] = probability
    return scores


def _versions(router: str, pairing: _Pairing) -> dict[str, str]:
    versions = {"router": pairing.router or router, "ranker": pairing.ranker}
    return {role: version for role, version in versions.items() if version}


def _changes(
    whose: Literal["person", "bot"], before: ProfileVersion, after: NewProfileVersion
) -> list[ProfileChange]:
    """Return the changes of a new version, each value once."""
    earlier, now = plain.decode(before.state), plain.decode(after.state)
    places = dict.fromkeys((change[0], change[1]) for change in after.changes)
    return [
        ProfileChange(
            whose=whose,
            part=part,
            key=key,
            before=_member_at_path(earlier, part, key),
            after=_member_at_path(now, part, key),
        )
        for part, key in places
    ]


def _member_at_path(state: JsonObject, part: str, key: str) -> Any:
    place = state.get(part, {}) if part else state
    return place.get(key, msgspec.UNSET) if isinstance(place, dict) else msgspec.UNSET


class RecordKeeping:
    """Whether an assistant keeps records of turns, and by what: `recorder`, None where it does not.

    `deadline` is that of a turn; by `clock` records get too old.
    """

    def __init__(
        self,
        store: Store,
        observers: ObserverGroup,
        deadline: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._store = store
        self._observers = observers
        self._deadline = deadline
        self._started = False
        self.recorder: TurnRecorder | None = None

    def keep(self, settings: RecordSettings) -> None:
        """Keep records of turns from now on, in place of none, if the store can."""
        if isinstance(self._store, KeepsTurnRecords):
            self.recorder = TurnRecorder(
                self._store.turn_records, settings, self._deadline, self._clock
            )
            self._observers.add(self.recorder)
            if self._started:
                self.recorder.start()

    def start(self) -> None:
        """Begin to delete old records."""
        self._started = True
        if self.recorder is not None:
            self.recorder.start()

    async def aclose(self) -> None:
        """Write waiting records, and stop."""
        if self.recorder is not None:
            await self.recorder.aclose()


class TurnRecorder:
    """An observer that keeps the records of turns in the store, after the replies are out.

    A turn never waits for it: records that the store cannot take are lost, and counted in `lost`.
    """

    def __init__(
        self,
        store: TurnRecordStore,
        settings: RecordSettings,
        deadline: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.lost = 0
        """Records that were not kept."""
        self._settings = settings
        self.slow = settings.slow_beyond(deadline)
        """Seconds beyond which a turn is slow."""
        self._clock = clock
        self._waiting: list[TurnRecord] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing = BackgroundTasks("turn records")
        self._upkeep = BackgroundTasks("upkeep of turn records")
        self._warned = float("-inf")
        self._due = asyncio.Event()

    def start(self) -> None:
        """Begin to delete old records."""
        self._upkeep.start(self._keep_up())

    async def aclose(self) -> None:
        """Write waiting records, and stop."""
        await self._upkeep.aclose()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await self.settle()

    def turn_ended(self, record: TurnRecord) -> None:
        """Take a record to be written soon."""
        waiting = self._waiting
        if len(waiting) >= MOST_WAITING:
            self._lose(1, "the store does not keep up")
            return
        waiting.append(record)
        if len(waiting) == 1 and not self._writing:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._begin)
        elif len(waiting) == BATCH_RECORDS and not self._writing:
            self._begin()

    async def settle(self) -> None:
        """Write the waiting records, and make some of them searchable."""
        wrote = False
        while self._waiting or self._writing:
            self._begin()
            await self._writing.wait_until_ended()
            wrote = True
        if wrote:
            await self._tend()

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and not self._writing:
            self._writing.start(self._write())

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:BATCH_RECORDS]
                del self._waiting[:BATCH_RECORDS]
                try:
                    await self.store.add(batch, slow=self.slow)
                except StoreError as error:
                    self._lose(len(batch), str(error))
                except Exception:
                    log.exception("records of turns cannot be kept")
                    self._lose(len(batch), "they cannot be kept")
                if len(self._waiting) < BATCH_RECORDS:
                    break
        finally:
            self._due.set()
            if self._waiting:
                self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._begin)

    async def _tend(self) -> bool:
        settings = self._settings
        try:
            return await self.store.tend(now=self._clock(), keep=settings.keep, most=settings.most)
        except StoreError as error:
            log.warning("old records of turns cannot be deleted: %s", error)
        except Exception:
            log.exception("old records of turns cannot be deleted")
        return False

    async def _keep_up(self) -> None:
        """Do the upkeep piece by piece, soon after records were written; never more than due."""
        while True:
            more = await self._tend()
            if not more:
                with suppress(TimeoutError):
                    async with asyncio.timeout(UPKEEP_INTERVAL):
                        await self._due.wait()
            self._due.clear()
            await asyncio.sleep(_UPKEEP_PAUSE)

    def _lose(self, number: int, why: str) -> None:
        self.lost += number
        now = time.monotonic()
        if now - self._warned > _WARNING_INTERVAL:
            self._warned = now
            log.warning("records of %d turns were lost so far: %s", self.lost, why)
