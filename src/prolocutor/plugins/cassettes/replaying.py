"""CassettePlayer: answers the calls of an assistant from a cassette, and compares them with it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.call_recording import CallRecorder, record_calls
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.config.building import build
from prolocutor.config.settings import Settings
from prolocutor.contracts.connector import Connector, DeltaSink, Replies, Request
from prolocutor.contracts.store import Store
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject, Plain
from prolocutor.errors import (
    BadData,
    BadReply,
    BreakerOpen,
    NoPlace,
    ProlocutorError,
    ServiceError,
    ServiceLate,
    ServiceRaised,
    ServiceRefused,
    ServiceUnreachable,
    SwitchedOff,
)
from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.plan.pipeline import Breaker, Call, Pipeline, Stage, StageService
from prolocutor.plugins.cassettes.cassette import (
    Cassette,
    RecordedCall,
    RecordedReply,
    RecordedTurn,
)
from prolocutor.plugins.cassettes.comparing import (
    Difference,
    compare_replies,
    compare_services,
    diff_lines,
    drop_ignored,
)
from prolocutor.plugins.cassettes.recording import (
    MODELS,
    PendingCall,
    RecordedConnector,
    ServiceFacts,
    endpoint_body,
    find_piece,
    is_own,
    know_ids,
    recorded_reply,
    service_key,
)
from prolocutor.plugins.cassettes.redaction import Mask, Names, Redaction
from prolocutor.stores.store_catalog import open_store

NEVER: Final = Breaker(failures=1_000_000)
"""The breaker of services in a replay: it never opens, as the cassette records open breakers."""

UNHURRIED: Final = 120.0
"""Seconds that turns and calls may take in a replay without pace, also on a busy machine."""

_SKILLS: Final = (Stage.SKILL, Stage.LAST_CHANCE)
_QUIET_ROUNDS: Final = 4
"""Rounds of the event loop without a further call, after which the next reply comes."""

_STOPPED: Final = "stopped"

_FAILURES: Final[Sequence[type[ServiceError]]] = (
    BadReply,
    BreakerOpen,
    NoPlace,
    ServiceLate,
    ServiceRaised,
    ServiceUnreachable,
    SwitchedOff,
)

_BY_TIME: Final = (ServiceLate.code, BreakerOpen.code, NoPlace.code)


class CassettePlayer:
    """Answers the calls of a conversation, turn by turn, with the recorded replies.

    Calls that leave the assistant, and all skills, are answered from the cassette; the assistant's
    own Python functions at other stages run, as do the services named `live` (`tea` or
    `skills.tea`). Replies arrive in the recorded order, without delay, or with `pace` 1.0 after the
    recorded time, with 2.0 after half of it.
    """

    def __init__(
        self,
        cassette: Cassette,
        *,
        pace: float = 0.0,
        live: Sequence[str] = (),
        redaction: Redaction | None = None,
    ) -> None:
        self.cassette = cassette
        self.differences: list[Difference] = []
        self.replies: list[RecordedReply] = []
        """The replies of the finished turns."""
        self._live = {*live, *cassette.header.live}
        self._redaction = redaction or Redaction()
        self._mask = Mask(self._redaction, Names())
        self._facts = ServiceFacts(self._redaction)
        self.order = ReplyOrder(pace)
        self._limits: StageDeadlines | None = None
        self._asked: list[PendingCall] = []
        self._waiting: dict[tuple[str, str], deque[RecordedCall]] = {}
        self._load()

    @property
    def turn(self) -> RecordedTurn | None:
        """The recorded turn that is being played; None after the last turn."""
        at = len(self.replies)
        return self.cassette.turns[at] if at < len(self.cassette.turns) else None

    def clock(self) -> float:
        """Return the time of the played turn, in UNIX seconds."""
        turns = self.cassette.turns
        turn = self.turn or (turns[-1] if turns else None)
        return self.cassette.header.at if turn is None else turn.at

    def begin(self, name: str, pipeline: Pipeline, file: Path | None = None) -> None:
        """Learn the services of the assistant."""
        self._facts.add(name, pipeline, file)

    def connect(self, service: StageService, make: Callable[[], Connector]) -> Connector:
        """Return a connector that answers from the cassette, or a recorded connector of its own."""
        key = service_key(service)
        if self._runs(key, service):
            return OwnService(self, key, make())
        options = service.call.options
        inline = options.get("inline") or getattr(service.call.target, "inline", False)
        format = self.cassette.header.services.get(key, {}).get("format", "plain")
        return PlayedConnector(self, key, inline=bool(inline), format=format)

    def endpoint(self, name: str, call: Call, verb: str, make: Callable[[], Any]) -> Any:
        """Return an endpoint that answers from the cassette."""
        self._facts.add_endpoint(name, call)
        key = f"{MODELS}.{name}"
        if name in self._live or key in self._live:
            return make()
        return PlayedEndpoint(self, key, verb, str(call.options.get("model", name)))

    def follow(self, input: TurnInput, turn: asyncio.Future[TurnResult]) -> None:
        """Compare the turn after its end."""
        if turn.done():
            self._turn_over(turn)
        else:
            turn.add_done_callback(self._turn_over)

    def note(self, turn_id: str, call: PendingCall) -> None:
        """Record a call of one of the assistant's own services."""
        self._asked.append(call)
        self.order.running.append(call)

    def take(self, key: str, piece: str, body: bytes) -> RecordedCall | ServiceError:
        """Return the recorded call that matches a call, or the error if there is none."""
        self._asked.append(PendingCall(key, piece, body))
        waiting = self._waiting.get((key, piece if self.cassette.header.complete else ""))
        if waiting:
            return waiting.popleft()
        turn = self.turn
        if turn is not None and (code := turn.reply.failed.get(key)) is not None:
            return _error_of_code(code)  # such as an open breaker: no call was made
        if not self.cassette.header.complete:  # it was asked in several pieces
            return RecordedCall(call=key, gave=[])
        return ServiceUnreachable(f"{key} was not asked in this turn when it was recorded")

    def limit(self, limits: StageDeadlines) -> None:
        """Set the time limits of stages, for simulated time."""
        self._limits = limits

    def is_late(self, call: RecordedCall) -> bool:
        """Return whether a reply came too late by the assistant's present time-outs."""
        if call.dropped:
            return True
        stage = call.call.partition(".")[0]
        if self.order.pace or self._limits is None or stage == MODELS:
            return False
        within = self._facts.services.get(call.call, {}).get("within", call.took)
        return call.took > within or call.after + call.took > self._limits.stage_end(Stage(stage))

    async def reply_to(self, call: RecordedCall, deltas: Any) -> Plain:
        """Return a reply at its time, or raise its error."""
        sink: DeltaSink | None = deltas
        before = 0.0
        for at, text in call.chunks if sink is not None else ():
            await self.order.wait_until_passed(at - before)
            before = at
            if text is None:
                sink.restart()  # type: ignore[union-attr]
            else:
                sink.add(text)  # type: ignore[union-attr]
        await self.order.wait_until_passed(max(0.0, call.took - before))
        if self.is_late(call):
            raise ServiceLate("no answer in time")
        return recorded_result(call)

    def finish(self) -> None:
        """Report the recorded turns that were not said, at the end."""
        if self.turn is not None:
            lines = [f"  - {turn.says}" for turn in self.cassette.turns[len(self.replies) :]]
            number = len(self.replies) + 1
            self.differences.append(
                Difference(turn=number, kind="calls", where="turns that were not said", lines=lines)
            )
        if "*" not in self.cassette.header.ignore.get("services", ()):
            called = {call.call for turn in self.cassette.turns for call in turn.calls}
            known = [key for key in self.cassette.header.services if key in called]
            told = compare_services(self.cassette.header.services, self._facts.services, known)
            self.differences[:0] = told

    def _runs(self, key: str, service: StageService) -> bool:
        if key in self._live or service.name in self._live or "all" in self._live:
            return True
        stage = key.partition(".")[0]
        return is_own(service) and stage not in _SKILLS

    def _load(self) -> None:
        """Prepare the calls of the next turn."""
        waiting: dict[tuple[str, str], deque[RecordedCall]] = defaultdict(deque)
        for call in self.turn.calls if self.turn is not None else ():
            waiting[call.call, call.piece].append(call)
        self._waiting = dict(waiting)

    def _turn_over(self, done: asyncio.Future[TurnResult]) -> None:
        if done.cancelled():
            return
        turn, number = self.turn, len(self.replies) + 1
        asked, self._asked = self._asked, []
        error = done.exception()
        if error is not None:
            now = RecordedReply(error=f"{type(error).__name__}: {error}")
        else:
            result = done.result()
            know_ids(self._mask.names, result, number)
            for call in asked:
                self._redaction.answers(plain.decode(call.body))
            now = recorded_reply(result, self._mask)
        if turn is None:
            what = [f"  + {now.reply}"]
            self.differences.append(
                Difference(turn=number, kind="calls", where="was not recorded", lines=what)
            )
        elif turn.reply.by != _STOPPED:
            if self.cassette.header.complete:
                self.differences += self._compare_calls(turn, asked)
            self.differences += compare_replies(
                number, self._comparable_reply(turn.reply), self._comparable_reply(now)
            )
        self.replies.append(now)
        self._load()

    def _comparable_reply(self, reply: RecordedReply) -> RecordedReply:
        """Return the comparable parts of a reply; stored conversations lack some of them."""
        if self.cassette.header.complete:
            return reply
        return RecordedReply(reply=reply.reply, agent=reply.agent, asks=reply.asks)

    def _compare_calls(
        self, turn: RecordedTurn, calls: Sequence[PendingCall]
    ) -> Iterator[Difference]:
        recorded: dict[tuple[str, str], list[RecordedCall]] = defaultdict(list)
        for call in turn.calls:
            recorded[call.call, call.piece].append(call)
        for now in calls:
            before = recorded[now.key, now.piece]
            if not before:
                if now.key in turn.reply.failed:
                    continue
                what = [f"  + {plain.encode(self._mask.request(now.body)).decode():.160}"]
                where = f"of {now.key}: it was not asked when this was recorded"
                yield Difference(turn=turn.number, kind="calls", where=where, lines=what)
                continue
            lines = self._drift(before.pop(0), now)
            if lines:
                where = f"to {now.key}"
                yield Difference(turn=turn.number, kind="request", where=where, lines=lines)
        for (key, _), left in recorded.items():
            for _ in left:
                where = f"of {key}: it was asked when this was recorded, and is not now"
                yield Difference(turn=turn.number, kind="calls", where=where, lines=[])

    def _drift(self, before: RecordedCall, now: PendingCall) -> list[str]:
        said = self._mask.request(now.body)
        if said == before.asked:
            return []
        ignored = self.cassette.header.ignore
        paths = [*ignored.get(now.key, ()), *ignored.get("*", ())]
        return diff_lines(drop_ignored(before.asked, paths), drop_ignored(said, paths))


def _error_of_code(code: str) -> ServiceError:
    kind = next((failure for failure in _FAILURES if failure.code == code), ServiceError)
    return kind("as it was when this was recorded")


def recorded_result(call: RecordedCall) -> Plain:
    """Return the reply of a recorded call, or raise its error."""
    failed = call.failed
    if failed is None:
        return plain.check(call.gave)
    what, kind = failed.get("what", ""), failed.get("kind")
    if kind == ServiceRefused.__name__:
        raise ServiceRefused(what, status=int(failed.get("status", 500)))
    raise next((failure for failure in _FAILURES if failure.__name__ == kind), ServiceError)(what)


class ReplyOrder:
    """Delivers replies in their recorded order, independent of the present speed.

    Without a pace time is simulated: the next reply is delivered when no service is about to call.
    """

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.running: list[PendingCall] = []
        """Calls of services that run here; a reply waits until they are over."""
        self.nested = 0
        """The number of running calls that wait for a reply themselves."""
        self._now = 0.0
        self._places = itertools.count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._quiet = 0
        self._ticks = False

    async def wait_until_passed(self, seconds: float) -> None:
        """Wait until some seconds have passed in the conversation's time."""
        if self.pace:
            await asyncio.sleep(seconds / self.pace)
            return
        loop = asyncio.get_running_loop()
        come: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._places), come))
        self._quiet = 0
        if not self._ticks:
            self._ticks = True
            loop.call_soon(self._tick, loop)
        await come

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting and self._waiting[0][2].done():  # nobody waits for it any more
            heapq.heappop(self._waiting)
        if not self._waiting:
            self._ticks = False
            return
        self.running = [call for call in self.running if call.took is None]
        if len(self.running) > self.nested:
            self._quiet = 0
            loop.call_later(0.001, self._tick, loop)
            return
        self._quiet += 1
        if self._quiet > _QUIET_ROUNDS:
            self._quiet = 0
            self._now, _, come = heapq.heappop(self._waiting)
            come.set_result(None)
        loop.call_soon(self._tick, loop)


class OwnService(RecordedConnector):
    """A service of the assistant itself, which runs.

    It fails as in the recording if it was late or skipped by its breaker, because the machine
    caused that.
    """

    def __init__(self, player: CassettePlayer, key: str, inner: Connector) -> None:
        super().__init__(player, key, inner)
        self._player = player
        if self.answer is not None:
            self.answer = self._answer_again

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Call the service, or fail as in the recording."""
        if (failed := self._recorded_failure()) is not None:
            await super().send(requests)
            raise failed
        return await super().send(requests)

    def _answer_again(self, request: Request) -> Plain | ServiceError:
        reply = self._answer(request)
        return self._recorded_failure() or reply

    def _recorded_failure(self) -> ServiceError | None:
        turn = self._player.turn
        code = None if turn is None else turn.reply.failed.get(self._key)
        return _error_of_code(code) if code in _BY_TIME else None


class PlayedConnector:
    """A connector that answers from a cassette; an `inline` service answers without waiting."""

    def __init__(
        self, player: CassettePlayer, key: str, *, inline: bool, format: str = "plain"
    ) -> None:
        self.format = format
        self._player = player
        self._key = key
        self.answer = self._answer if inline else None

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Return the recorded reply to each request."""
        calls = [self._take_call(request) for request in requests]
        replies: list[Plain | ServiceError] = []
        for request, call in zip(requests, calls, strict=True):
            if isinstance(call, ServiceError):
                reply: Plain | ServiceError = call
            else:
                try:
                    reply = await self._player.reply_to(call, request.deltas)
                except ServiceError as error:
                    reply = error
            replies.append(reply)
        if len(replies) == 1 and isinstance(replies[0], ServiceError):
            raise replies[0]
        return replies

    async def aclose(self) -> None:
        """Close nothing."""

    def _answer(self, request: Request) -> Plain | ServiceError:
        call = self._take_call(request)
        if isinstance(call, ServiceError):
            return call
        if self._player.is_late(call):
            return ServiceLate("no answer in time")
        try:
            return recorded_result(call)
        except ServiceError as error:
            return error

    def _take_call(self, request: Request) -> RecordedCall | ServiceError:
        return self._player.take(self._key, find_piece(request), request.body())


class PlayedEndpoint:
    """An endpoint, such as a router's model, that answers from a cassette."""

    def __init__(self, player: CassettePlayer, key: str, verb: str, model: str) -> None:
        self._player = player
        self._key = key
        self.model = model
        setattr(self, verb, self._answered)

    async def aclose(self) -> None:
        """Close nothing."""

    async def _answered(self, asked: Any) -> Any:
        call = self._player.take(self._key, "", endpoint_body(asked))
        if isinstance(call, ServiceError):
            raise call
        order = self._player.order
        order.nested += 1
        try:
            reply = await self._player.reply_to(call, None)
        finally:
            order.nested -= 1
        return reply.value


@contextmanager
def use_timezone(name: str) -> Iterator[None]:
    """Change the process's time zone within the block."""
    before = os.environ.get("TZ")
    if not name or not hasattr(time, "tzset"):
        yield
        return
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


def disable_breakers(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline whose breakers never open."""
    return pipeline.change_services(partial(replace, breaker=NEVER))


def _lengthen_timeouts(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline with long time-outs, because lateness is recorded, not measured."""
    return pipeline.change_services(partial(replace, timeout=UNHURRIED))


def _add_cards(pipeline: Pipeline, cards: dict[str, JsonObject]) -> Pipeline:
    def with_card(skill: StageService) -> StageService:
        return replace(skill, card=cards.get(skill.name, skill.card))

    return pipeline.change_services(with_card, Stage.SKILL)


def _drop_reply_formatters(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline whose skills reply with their stored hypotheses."""
    bare = partial(replace, response_formatter=None)
    return pipeline.change_services(bare, Stage.SKILL)


def memory_store(clock: Callable[[], float]) -> Store:
    """Return an empty store in memory with a given clock."""
    store: Store = open_store("memory:")
    store.clock = clock  # type: ignore[attr-defined]  # what a shared store has (`store_clock`)
    return store


@asynccontextmanager
async def played_assistant(
    settings: Settings, player: CassettePlayer, recorder: CallRecorder | None = None
) -> AsyncIterator[Assistant]:
    """Run the assistant of a file, with agents that answer from a cassette.

    Its processes are not started. `recorder` may wrap the player.
    """
    with use_timezone(player.cassette.header.timezone):
        player.begin(settings.name, settings.pipeline, Path(settings.file))
        nowhere = {name: f"http://{name}.invalid" for name in settings.processes}
        pipeline = disable_breakers(settings.resolve_processes(nowhere))
        if not player.order.pace:
            player.limit(StageDeadlines.divide_deadline(settings.deadline, settings.reserve))
            settings = replace(settings, deadline=UNHURRIED, reserve=None)
            pipeline = _lengthen_timeouts(pipeline)
        pipeline = _add_cards(pipeline, player.cassette.header.cards)
        if not player.cassette.header.complete:
            pipeline = _drop_reply_formatters(pipeline)
        with record_calls(recorder or player):
            store = memory_store(player.clock)
            assistant = build(settings, pipeline, store=store, recording=False)
        async with assistant:
            yield assistant


def read_input(turn: RecordedTurn) -> TurnInput:
    """Return the person's input of a recorded turn; raise `BadData` if it is invalid."""
    written = dict(turn.input)
    try:
        found: TurnInput = msgspec.convert({"text": written.pop("says"), **written}, TurnInput)
    except (KeyError, msgspec.ValidationError) as error:
        raise BadData(f"turn {turn.number} of the cassette cannot be said ({error})") from None
    return found


async def play(assistant: Assistant, player: CassettePlayer) -> None:
    """Say the person's recorded words; the player compares the replies."""
    for turn in player.cassette.turns:
        try:
            await assistant.turn(read_input(turn))
        except ProlocutorError:
            continue  # the player has noted it
    player.finish()
