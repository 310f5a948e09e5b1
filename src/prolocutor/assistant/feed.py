"""The rows that turns write to a person's feed, and the listeners that wait for new rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final

from prolocutor.contracts.shared_store import WakeUps
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import AGAIN_OF, OPERATOR, STOPPED, TurnInput, is_utterance_id
from prolocutor.dialog.plain import JsonObject
from prolocutor.pipeline.draft import DraftReply

NO_MARKS: Final[JsonObject] = {}


def row_of_input(input: TurnInput, encoded_text: bytes, bot_utt_id: str) -> bytes:
    """Return the row for an input, whose text is given as JSON.

    The row of an operator's input is a message to the person.
    """
    act, again_of = input.operator, input.attributes.get(AGAIN_OF)
    if act is not None:
        message = {"type": "text", "text": act.text, "handover": {"by": act.by, "state": act.state}}
        (row,) = reply_messages(act.text, [message], OPERATOR, bot_utt_id)
        return row
    more = b""
    if input.parsed is not None:
        more = b',"json":%b' % plain.encode(input.parsed)
    if again_of is not None and is_utterance_id(again_of):
        more += b',"again_of":%b' % plain.encode(again_of)
    return b'{"type":"command","command":%b%b}' % (encoded_text, more)


def rows_of_reply(reply: DraftReply, utt_id: str, markdown: Set[str]) -> list[bytes]:
    """Return the rows for a reply, [] for a silent reply.

    Marks on texts tell that a skill in `markdown` wrote them, that the turn was stopped, and which
    `skills` composed them.
    """
    if reply.silent:
        return []
    marks: JsonObject = {}
    if reply.active_skill in markdown:
        marks["format"] = "markdown"
    if reply.by == STOPPED:
        marks[STOPPED] = True
    if len(reply.chosen) > 1:
        skills = plain.decode(reply.attributes).get("skills")
        marks.update({"skills": skills} if skills else {})
    return reply_messages(reply.text, reply.messages, reply.active_skill, utt_id, marks)


def reply_messages(
    text: str,
    messages: Sequence[Any],
    skill: str,
    utt_id: str | None,
    marks: JsonObject = NO_MARKS,
) -> list[bytes]:
    """Return the feed's messages for a reply: its messages, or its text as a message.

    `marks` are further keys of texts that do not have them. The fallback of a result comes before
    it, for clients that cannot show the result. A notification is not an utterance, so it has no
    `utt_id`.
    """
    ids = {} if utt_id is None else {"utt_id": utt_id}
    if messages:
        messages = [one for one in messages if isinstance(one, dict) and "type" in one]
    if not messages:
        text_message = {"type": "text", "text": text, **marks, "icon": skill or None, **ids}
        return [plain.encode(text_message)]
    if any(message["type"] == "result" for message in messages):
        messages = list(_add_fallbacks(messages))
    if marks:
        messages = [{**one, **marks, **one} if one["type"] == "text" else one for one in messages]
    return [
        plain.encode({**message, "icon": message.get("icon") or skill or None, **ids})
        for message in messages
    ]


def _add_fallbacks(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    earlier_text = None
    for message in messages:
        if message["type"] == "result" and message.get("fallback") not in (None, "", earlier_text):
            yield {"type": "text", "text": message["fallback"], "icon": message.get("icon")}
        earlier_text = message.get("text")
        yield message


class FeedListeners:
    """Wakes the listeners of a person's feed, at other replicas too (`wake_ups`).

    A wake-up is a hint: the stored feed has every message, so a missed hint costs a query.
    """

    def __init__(self, wake_ups: WakeUps | None = None) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}
        self._wake_ups = wake_ups

    @property
    def users(self) -> list[str]:
        """The users with listeners to their feeds."""
        return list(self._events)

    def wake(self, user: str) -> None:
        """Wake the listeners of a person, who may have new rows."""
        for event in self._events.get(user, ()):
            event.set()
        if self._wake_ups is not None:
            self._wake_ups.wake(user)

    def wake_here(self, user: str) -> None:
        """Wake the listeners of a person at this replica alone."""
        for event in self._events.get(user, ()):
            event.set()

    def wake_others(self, user: str) -> None:
        """Wake the listeners of a person at other replicas."""
        if self._wake_ups is not None:
            self._wake_ups.wake(user)

    @contextmanager
    def listening(self, user: str) -> Iterator[asyncio.Event]:
        """Return an event that is set when a person may have new rows; the caller clears it."""
        event = asyncio.Event()
        self._events.setdefault(user, set()).add(event)
        try:
            yield event
        finally:
            self._events[user].discard(event)
            if not self._events[user]:
                del self._events[user]
