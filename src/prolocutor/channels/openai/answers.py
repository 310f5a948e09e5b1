"""What the assistant said to a request, whole or piece by piece, with who said it and why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.channels.openai.dialog_finder import DialogFinder, FoundDialog
from prolocutor.channels.openai.requests import ChatInput
from prolocutor.contracts.observer import Reason, TurnRecord
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.turn_events import Delta, Replaced, ReplyGiven, ServiceAsked, TurnStarted
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.errors import BadInput, Stopping
from prolocutor.observe.reasons import without_quotes
from prolocutor.observe.recent_turns import RecentTurns


class AnswerDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the reply is beside its text: an extension of OpenAI's API.

    `ask` is the kind of value that is asked for, `choices` the titles to choose from; `messages`
    are the rich messages. `by` says which way the reply came about, `asked` who was asked,
    `reasons` why.
    `replaced`: the last words replace the provisional ones before the blank line.
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
    replaced: bool = False


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


class AnswerStart(msgspec.Struct, frozen=True):
    """The ids of a turn and of its reply, at the start of a stream."""

    turn_id: str
    utt_id: str


class AnswerPiece(msgspec.Struct, frozen=True):
    """A piece of a reply's text, in a stream."""

    text: str


class Answering:
    """Asks the assistant; `recent` knows why a streamed reply is what it is."""

    def __init__(
        self, assistant: Assistant, finder: DialogFinder, recent: RecentTurns | None
    ) -> None:
        self._assistant = assistant
        self._finder = finder
        self._recent = recent

    async def whole(
        self, found: FoundDialog, given: ChatInput, skill: str | None, *, operator: bool
    ) -> ChatAnswer:
        """Return the reply at once."""
        try:
            await self._finder.begin(found)
            result = await self._assistant.turn(
                given.text,
                user=found.user,
                dialog=found.dialog,
                attributes=given.attributes,
                request_id=found.key,
                channel="openai",
                skill=skill,
            )
            text = said_as_text(result.state)
            utterance = result.reply
            await self._finder.note(found, given, text, utterance.utt_id, repeated=result.repeated)
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
                found, utterance, result.dialog_id, result.waiting, result.record, operator
            ),
        )

    async def pieces(
        self, found: FoundDialog, given: ChatInput, skill: str | None, *, operator: bool
    ) -> AsyncIterator[AnswerStart | AnswerPiece | ChatAnswer]:
        """Yield the ids of turn and reply, the text piece by piece, and the whole at the end.

        What was sent cannot be taken back: where another answer wins after all, it follows after a
        blank line, and the details say so.
        """
        try:
            await self._finder.begin(found)
            stream = self._assistant.stream(
                given.text,
                found.user,
                found.dialog,
                given.attributes,
                found.key,
                channel="openai",
                skill=skill,
            )
            sent, replaced, started = "", False, False
            asked: list[str] = []
            async for event in stream:
                if isinstance(event, Delta):
                    if replaced and sent and not sent.endswith("\n\n"):
                        sent += "\n\n"
                        yield AnswerPiece("\n\n")
                    sent += event.text
                    yield AnswerPiece(event.text)
                elif isinstance(event, Replaced):
                    replaced = replaced or bool(sent)
                elif isinstance(event, TurnStarted):
                    started = True
                    yield AnswerStart(event.turn_id, event.utt_id)
                elif isinstance(event, ServiceAsked) and event.stage == "skills":
                    asked.append(event.service)
                elif isinstance(event, ReplyGiven):
                    if not started:
                        yield AnswerStart(event.turn_id, event.utterance.utt_id)
                    said = _said(event.utterance)
                    rest = said[len(sent) :] if said.startswith(sent) else f"\n\n{said}"
                    if replaced and sent.endswith(f"\n\n{said}"):
                        rest = ""
                    elif not said.startswith(sent):
                        replaced = True
                    utt_id, repeated = event.utterance.utt_id, event.repeated
                    await self._finder.note(found, given, sent + rest, utt_id, repeated=repeated)
                    record = self._recent.of_reply(utt_id) if self._recent is not None else None
                    details = _details(
                        found, event.utterance, event.dialog_id, event.waiting, record, operator
                    )
                    if not details.asked:
                        details.asked = asked
                    details.replaced = replaced
                    text = sent + rest
                    yield ChatAnswer(
                        text=text,
                        rest=rest,
                        turn_id=event.turn_id,
                        usage=_usage(given, text),
                        details=details,
                    )
                    return
            raise Stopping("the assistant was stopped before the reply")
        except BadInput as error:
            if error.field == "text":
                error.field = given.field
            raise
        finally:
            self._finder.release(found)


def _said(utterance: BotUtterance) -> str:
    return said_as_text({"text": utterance.text, "attributes": utterance.attributes})


def _details(
    found: FoundDialog,
    reply: BotUtterance,
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
    )


def _usage(given: ChatInput, text: str) -> Usage:
    return Usage(sum(map(tokens, given.prompt)), tokens(text))


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return (len(text) + 3) // 4
