"""The assistant's answer to a request, whole or piece by piece, with its details."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.observer import Reason
from prolocutor.contracts.selection import cut_quotes
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.turn_events import Delta, Replaced, ReplyGiven, TurnEvent, TurnStarted
from prolocutor.errors import Forbidden
from prolocutor.plugins.openai.door.dialog_finder import DialogFinder, FoundDialog
from prolocutor.plugins.openai.door.requests import ChatInput
from prolocutor.plugins.openai.door.side_tasks import SideTask
from prolocutor.plugins.openai.door.tool_rounds import ToolRounds, check_form
from prolocutor.web.error_table import name_text_field
from prolocutor.web.event_writing import batches, begun, event_stream

_SAID_ALREADY: Final = frozenset({"messages", "ask", "handover"})


class AnswerDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The details of a reply beside its text: an extension of OpenAI's API.

    - `ask` is the kind of the requested value, `choices` the titles to choose from.
    - `messages` are the rich messages.
    - `by` is the origin of the reply, `asked` names the asked agents, `reasons` gives the reasons.
    - `handover` is present if a person has the dialog, and names the person.
    - `replaced`: the last words replace the provisional words before the blank line.
    - `text` then counts.
    - `attributes` are the others of the reply.
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
    """The tokens read and written: an estimate of four characters each."""

    prompt_tokens: int
    completion_tokens: int

    @property
    def total_tokens(self) -> int:
        """Both together."""
        return self.prompt_tokens + self.completion_tokens


class ChatAnswer(msgspec.Struct, kw_only=True):
    """The reply to a request: its text as it was sent, and the details.

    `rest` is the part of the text not sent in a stream. `calls` are the calls of the client's
    tools with awaited results, in the form of chat completions.
    """

    text: str
    rest: str = ""
    calls: Sequence[dict[str, Any]] = ()
    turn_id: str
    usage: Usage
    details: AnswerDetails


class AnswerWriter(Protocol):
    """Writes a streamed reply in the form of an API."""

    def start(self, utt_id: str) -> bytes:
        """Write the beginning before the words; `utt_id` is the id of the coming reply."""

    def words(self, text: str) -> bytes:
        """Write words."""

    def end(self, answer: ChatAnswer) -> bytes:
        """Write the end; `answer.rest` has not been written."""

    def failure(self, error: Exception) -> bytes:
        """Write the failure of the reply."""


class SentWords:
    """The words sent in a stream; their replacement follows after a blank line."""

    def __init__(self) -> None:
        self.text = ""
        self.was_replaced = False
        self._start = 0

    def add(self, words: str) -> str:
        """Add words, and return the text to send."""
        gap = "\n\n" if self.text and self._start == len(self.text) else ""
        self.text += gap
        self._start += len(gap)
        self.text += words
        return gap + words

    def replace(self) -> None:
        """Let later words replace the sent words."""
        self._start = len(self.text)
        self.was_replaced = bool(self.text)

    def finish(self, said: str) -> str:
        """Return the unsent part of a reply."""
        current = self.text[self._start :]
        if not said.startswith(current):
            self.replace()
            current = ""
        rest = said[len(current) :]
        return self.add(rest) if rest else ""


class Answering:
    """Asks the assistant; `tasks` is the skill for side tasks, None for a rule."""

    def __init__(self, assistant: Assistant, finder: DialogFinder, tasks: str | None) -> None:
        self._assistant = assistant
        self._side_tasks = tasks
        self._finder = finder
        self._tools = ToolRounds(assistant.store)

    def check_loop(self, turns: str | None) -> None:
        """Raise `Forbidden` if an assistant asks itself, within a running turn."""
        for turn_id in (turns or "").split(","):
            if turn_id and self._assistant.turns.is_running(turn_id.strip()):
                what = f"the assistant asks itself: turn {turn_id.strip()} waits for this one"
                raise Forbidden(what)

    async def do_side_task(self, given: ChatInput, task: SideTask) -> ChatAnswer:
        """Return the answer to a side task, which is not a word of a person and in no dialog."""
        text, skill, confidence = task.answer(), "", 1.0
        if self._side_tasks is not None:
            alone = await self._assistant.alone.ask(given.text, self._side_tasks)
            for hypothesis in alone.hypotheses[:1]:
                text, skill, confidence = (
                    hypothesis["text"],
                    self._side_tasks,
                    hypothesis["confidence"],
                )
        id_ = new_id()
        details = AnswerDetails(
            conversation_id="", dialog_id="", utt_id=id_, skill=skill, confidence=confidence
        )
        usage = Usage(tokens(given.text), tokens(text))
        return ChatAnswer(text=text, rest=text, turn_id=id_, usage=usage, details=details)

    async def whole(
        self, found: FoundDialog, given: ChatInput, skill: str | None, *, operator: bool
    ) -> ChatAnswer:
        """Return the reply at once."""
        try:
            skill = await self._find_skill(found, given, skill)
            await self._finder.begin(found)
            with name_text_field(given.field):
                result = await self._assistant.turn(_turn_input(found, given, skill))
            return await self._answer(found, given, result, SentWords(), operator)
        finally:
            self._finder.release(found)

    async def stream(
        self,
        found: FoundDialog,
        given: ChatInput,
        skill: str | None,
        make_writer: Callable[[str], AnswerWriter],
        *,
        operator: bool,
    ) -> HttpResponse:
        """Return the reply as a stream, which begins once the input is stored.

        `make_writer` makes a writer for the id of the turn. Sent words cannot be taken back: if
        another answer wins after all, it follows after a blank line, and the details say so.
        """
        try:
            skill = await self._find_skill(found, given, skill)
            await self._finder.begin(found)
            with name_text_field(given.field):
                stream = self._assistant.stream(_turn_input(found, given, skill))
                happened = await begun(stream)
        except BaseException:
            self._finder.release(found)
            raise
        first = happened[0]
        assert isinstance(first, TurnStarted | ReplyGiven)
        writer = make_writer(first.turn_id)
        pieces = self._write_events(found, given, stream, happened, writer, operator)
        return event_stream(pieces, writer.failure, {"X-Request-Id": first.turn_id})

    async def _find_skill(
        self, dialog: FoundDialog, chat_input: ChatInput, skill: str | None
    ) -> str | None:
        """Return the skill to ask alone: the skill with the calls of these results."""
        if not chat_input.results or chat_input.wishes is None:
            return skill
        return await self._tools.go_on(dialog.user, chat_input.results, chat_input.wishes)

    async def _write_events(
        self,
        dialog: FoundDialog,
        chat_input: ChatInput,
        stream: TurnStream,
        happened: list[TurnEvent],
        writer: AnswerWriter,
        operator: bool,
    ) -> AsyncGenerator[bytes, None]:
        """Write the events of a turn; simultaneous events are sent together."""
        sent, first = SentWords(), happened[0]
        assert isinstance(first, TurnStarted | ReplyGiven)
        utt_id = first.utt_id if isinstance(first, TurnStarted) else first.utterance.utt_id
        pieces = [writer.start(utt_id)]
        try:
            async for batch in batches(stream, happened):
                for event in batch:
                    if isinstance(event, Delta):
                        pieces.append(writer.words(sent.add(event.text)))
                    elif isinstance(event, Replaced):
                        sent.replace()
                    elif isinstance(event, ReplyGiven):
                        answer = await self._answer(
                            dialog, chat_input, stream.result, sent, operator
                        )
                        pieces.append(writer.end(answer))
                yield b"".join(pieces)
                pieces = []
        finally:
            self._finder.release(dialog)

    async def _answer(
        self,
        dialog: FoundDialog,
        chat_input: ChatInput,
        result: TurnResult,
        sent: SentWords,
        operator: bool,
    ) -> ChatAnswer:
        """Return a reply, after noting the history for the client's next request."""
        reply = result.spoken
        said = said_as_text(reply.text, reply.attributes)
        calls: Sequence[dict[str, Any]] = ()
        if (wishes := chat_input.wishes) is not None:
            round_ = await self._tools.make_round(dialog.user, reply, wishes)
            if round_ is None:
                check_form(said, reply.active_skill, wishes.response_format)
            else:
                said, calls = round_.text, round_.calls
        rest = sent.finish(said)
        ids = [str(call["id"]) for call in calls]
        await self._finder.note(
            dialog, chat_input, sent.text, reply.utt_id, repeated=result.repeated, calls=ids
        )
        details = _details(dialog, result, operator)
        details.replaced = sent.was_replaced
        details.text = said if sent.was_replaced else None
        usage = Usage(sum(map(tokens, chat_input.prompt)), tokens(sent.text))
        return ChatAnswer(
            text=sent.text,
            rest=rest,
            calls=calls,
            turn_id=result.turn_id,
            usage=usage,
            details=details,
        )


def _turn_input(dialog: FoundDialog, chat_input: ChatInput, skill: str | None) -> TurnInput:
    return TurnInput(
        chat_input.text,
        dialog.user,
        dialog.dialog,
        chat_input.attributes,
        dialog.key,
        "openai",
        chat_input.parsed,
        skill=skill,
        wishes=chat_input.wishes,
    )


def _details(dialog: FoundDialog, result: TurnResult, operator: bool) -> AnswerDetails:
    reply, turn, waiting = result.spoken, result.turn, result.waiting
    messages = reply.attributes.get("messages")
    reasons = turn.reasons if turn is not None else []
    return AnswerDetails(
        conversation_id=dialog.id,
        dialog_id=result.dialog_id,
        utt_id=reply.utt_id,
        skill=reply.active_skill,
        confidence=reply.confidence,
        by=turn.draft.final_reply().by if turn is not None else "",
        asked=turn.asked_skills() if turn is not None else [],
        reasons=reasons if operator else [cut_quotes(reason) for reason in reasons],
        ask=waiting.ask if waiting is not None else None,
        choices=[choice.title for choice in waiting.choices] if waiting is not None else (),
        messages=messages if isinstance(messages, list) else [],
        handover=reply.attributes.get("handover"),
        attributes={
            key: value for key, value in reply.attributes.items() if key not in _SAID_ALREADY
        },
    )


def tokens(text: str) -> int:
    """Return the approximate number of tokens of a text."""
    return (len(text) + 3) // 4
