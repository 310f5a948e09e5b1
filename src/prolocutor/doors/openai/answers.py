"""What the assistant said to a request, whole or piece by piece, with who said it and why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.observer import Reason, TurnRecord
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import Delta, Replaced, ReplyGiven, ServiceAsked, TurnStarted
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.doors.openai.dialog_finder import DialogFinder, FoundDialog
from prolocutor.doors.openai.requests import ChatInput
from prolocutor.errors import BadInput, Forbidden
from prolocutor.observe.reasons import without_quotes
from prolocutor.observe.recent_turns import RecentTurns

EVENT_STREAM: Final = "text/event-stream"
STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class AnswerDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the reply is beside its text: an extension of OpenAI's API.

    `ask` is the kind of value that is asked for, `choices` the titles to choose from; `messages`
    are the rich messages. `by` says which way the reply came about, `asked` who was asked,
    `reasons` why. `handover` is there where a person has the dialog, and says who.
    `replaced`: the last words replace the provisional ones before the blank line; `text` is then
    what counts. `attributes` are the others of the reply.
    """

    conversation_id: str
    dialog_id: str
    utt_id: str
    skill: str
    confidence: float
    by: str = ""
    asked: Sequence[str] = ()
    reasons: Sequence[Reason] = ()
    ask: str | None = None
    choices: Sequence[str] = ()
    messages: Sequence[dict[str, Any]] = ()
    handover: dict[str, Any] | None = None
    replaced: bool = False
    text: str | None = None
    attributes: dict[str, Any] = {}


class Usage(msgspec.Struct):
    """How much was read and written, in tokens: an estimate of four characters each."""

    prompt_tokens: int
    completion_tokens: int

    @property
    def total_tokens(self) -> int:
        """Both together."""
        return self.prompt_tokens + self.completion_tokens


class ChatAnswer(msgspec.Struct, kw_only=True):
    """The reply to a request: its text as it was sent, and the details.

    `rest` is what a stream has not sent of the text.
    """

    text: str
    rest: str = ""
    turn_id: str
    usage: Usage
    details: AnswerDetails


class ShownUtterance(msgspec.Struct):
    """What is shown of a bot utterance in agent state JSON."""

    utt_id: str
    text: str
    active_skill: str
    confidence: float
    attributes: dict[str, Any]


class AnswerWriter(Protocol):
    """Writes a streamed reply in the form of one API."""

    def start(self, utt_id: str) -> bytes:
        """Write what comes before the words; `utt_id` is the id that the reply will have."""

    def words(self, text: str) -> bytes:
        """Write words."""

    def end(self, answer: ChatAnswer) -> bytes:
        """Write the end; `answer.rest` has not been written."""

    def failure(self, error: Exception) -> bytes:
        """Write that there will be no reply."""


class SentWords:
    """The words that a stream has sent; what replaces them follows after a blank line."""

    def __init__(self) -> None:
        self.text = ""
        self.was_replaced = False
        self._start = 0

    def add(self, words: str) -> str:
        """Add words, and return what is to be sent."""
        gap = "\n\n" if self.text and self._start == len(self.text) else ""
        self.text += gap
        self._start += len(gap)
        self.text += words
        return gap + words

    def replace(self) -> None:
        """Let words that come replace those that were sent."""
        self._start = len(self.text)
        self.was_replaced = bool(self.text)

    def finish(self, said: str) -> str:
        """Return what is still to be sent of a reply."""
        current = self.text[self._start :]
        if not said.startswith(current):
            self.replace()
            current = ""
        rest = said[len(current) :]
        return self.add(rest) if rest else ""


class Answering:
    """Asks the assistant; `recent` knows why a streamed reply is what it is."""

    def __init__(
        self, assistant: Assistant, finder: DialogFinder, recent: RecentTurns | None
    ) -> None:
        self._assistant = assistant
        self._finder = finder
        self._recent = recent

    def check_loop(self, turns: str | None) -> None:
        """Raise `Forbidden` where an assistant asks itself, within a turn that is running."""
        for turn_id in (turns or "").split(","):
            if turn_id and self._assistant.turns.is_running(turn_id.strip()):
                what = f"the assistant asks itself: turn {turn_id.strip()} waits for this one"
                raise Forbidden(what)

    async def whole(
        self, found: FoundDialog, given: ChatInput, skill: str | None, *, operator: bool
    ) -> ChatAnswer:
        """Return the reply at once."""
        try:
            await self._finder.begin(found)
            result = await self._assistant.turn(_input(found, given, skill))
            reply = _SPOKEN.decode(result.reply_state)
            text = said_as_text({"text": reply.text, "attributes": reply.attributes})
            await self._finder.note(found, given, text, reply.utt_id, repeated=result.repeated)
        except BadInput as error:
            if error.field == "text":
                error.field = given.field
            raise
        finally:
            self._finder.release(found)
        return ChatAnswer(
            text=text,
            turn_id=result.turn_id,
            usage=_usage(given, text),
            details=_details(
                found, reply, result.dialog_id, result.waiting, result.record, operator
            ),
        )

    async def stream(
        self,
        found: FoundDialog,
        given: ChatInput,
        skill: str | None,
        writer: Callable[[str], AnswerWriter],
        *,
        operator: bool,
    ) -> HttpResponse:
        """Return the reply as a stream, which begins once the input is stored.

        `writer` makes a writer for the id of the turn. What was sent cannot be taken back: where
        another answer wins after all, it follows after a blank line, and the details say so.
        """
        try:
            await self._finder.begin(found)
            events = self._assistant.stream(_input(found, given, skill))
            first = await anext(events)
        except BaseException as error:
            self._finder.release(found)
            if isinstance(error, BadInput) and error.field == "text":
                error.field = given.field
            raise
        assert isinstance(first, TurnStarted | ReplyGiven)
        headers = {**STREAM_HEADERS, "X-Request-Id": first.turn_id}
        body = self._written(found, given, events, first, writer(first.turn_id), operator)
        return HttpResponse(body, content_type=EVENT_STREAM, headers=headers)

    async def _written(
        self,
        found: FoundDialog,
        given: ChatInput,
        events: TurnStream,
        first: TurnStarted | ReplyGiven,
        writer: AnswerWriter,
        operator: bool,
    ) -> AsyncIterator[bytes]:
        """Write the events of a turn; those that came together are sent together."""
        sent = SentWords()
        asked: list[str] = []
        utt_id = first.utt_id if isinstance(first, TurnStarted) else first.utterance.utt_id
        pieces, ready = [writer.start(utt_id)], [first, *events.ready()]
        try:
            while True:
                for event in ready:
                    kind = type(event)
                    if kind is Delta:
                        assert isinstance(event, Delta)
                        pieces.append(writer.words(sent.add(event.text)))
                    elif kind is ServiceAsked:
                        assert isinstance(event, ServiceAsked)
                        if event.stage == "skills":
                            asked.append(event.service)
                    elif kind is Replaced:
                        sent.replace()
                    elif isinstance(event, ReplyGiven):
                        answer = await self._streamed(found, given, event, sent, operator)
                        answer.details.asked = answer.details.asked or asked
                        yield b"".join([*pieces, writer.end(answer)])
                        return
                if pieces:
                    yield b"".join(pieces)
                    pieces = []
                ready = [await anext(events), *events.ready()]
        except Exception as error:
            yield writer.failure(error)
        finally:
            self._finder.release(found)

    async def _streamed(
        self,
        found: FoundDialog,
        given: ChatInput,
        event: ReplyGiven,
        sent: SentWords,
        operator: bool,
    ) -> ChatAnswer:
        """Return a reply that was streamed, after what a client will resend was noted."""
        reply = event.utterance
        said = said_as_text({"text": reply.text, "attributes": reply.attributes})
        rest = sent.finish(said)
        await self._finder.note(found, given, sent.text, reply.utt_id, repeated=event.repeated)
        record = self._recent.of_reply(reply.utt_id) if self._recent is not None else None
        details = _details(found, reply, event.dialog_id, event.waiting, record, operator)
        details.replaced = sent.was_replaced
        details.text = said if sent.was_replaced else None
        return ChatAnswer(
            text=sent.text,
            rest=rest,
            turn_id=event.turn_id,
            usage=_usage(given, sent.text),
            details=details,
        )


def _input(found: FoundDialog, given: ChatInput, skill: str | None) -> TurnInput:
    return TurnInput(
        given.text,
        found.user,
        found.dialog,
        given.attributes,
        found.key,
        "openai",
        given.parsed,
        skill=skill,
    )


def _details(
    found: FoundDialog,
    reply: BotUtterance | ShownUtterance,
    dialog_id: str,
    waiting: PendingAsk | None,
    record: TurnRecord | None,
    operator: bool,
) -> AnswerDetails:
    messages = reply.attributes.get("messages")
    reasons = record.reasons if record is not None else []
    return AnswerDetails(
        conversation_id=found.id,
        dialog_id=dialog_id,
        utt_id=reply.utt_id,
        skill=reply.active_skill,
        confidence=reply.confidence,
        by=record.by if record is not None else "",
        asked=record.asked if record is not None else [],
        reasons=reasons if operator else [without_quotes(one) for one in reasons],
        ask=waiting.ask if waiting is not None else None,
        choices=[one.title for one in waiting.choices] if waiting is not None else (),
        messages=messages if isinstance(messages, list) else [],
        handover=reply.attributes.get("handover"),
        attributes={
            key: value for key, value in reply.attributes.items() if key not in _SAID_ALREADY
        },
    )


def _usage(given: ChatInput, text: str) -> Usage:
    return Usage(sum(map(tokens, given.prompt)), tokens(text))


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return (len(text) + 3) // 4


_SAID_ALREADY: Final = frozenset({"messages", "ask", "handover"})
_SPOKEN: Final = msgspec.json.Decoder(ShownUtterance)
