"""What turns write to the feed of a person, and the listeners that wait for new rows of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from prolocutor.contracts.shared_store import WakeUps
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import is_utterance_id
from prolocutor.dialog.plain import JsonObject


def human_message(
    encoded_text: bytes, parsed: JsonObject | None = None, again_of: object = None
) -> bytes:
    """Return the feed's message for an input, of which the text is given as JSON.

    `again_of` counts where it is the `utt_id` of a reply.
    """
    again = b',"again_of":%b' % plain.encode(again_of) if is_utterance_id(again_of) else b""
    if parsed is not None:
        json = plain.encode(parsed)
        return b'{"type":"command","command":%b,"json":%b%b}' % (encoded_text, json, again)
    return b'{"type":"command","command":%b%b}' % (encoded_text, again)


def reply_messages(
    text: str,
    attributes: JsonObject,
    skill: str,
    utt_id: str | None,
    marks: JsonObject | None = None,
) -> list[bytes]:
    """Return the feed's messages for a reply: its messages, or its text as one.

    `marks` are further keys of texts that do not have them. The fallback of a result comes before
    it, for clients that cannot show the result. A notification is no utterance, so it has no
    `utt_id`.
    """
    messages = [m for m in attributes.get("messages") or () if isinstance(m, dict) and "type" in m]
    if not messages:
        messages = [{"type": "text", "text": text}]
    elif any(message["type"] == "result" for message in messages):
        messages = list(_with_fallbacks(messages))
    if marks:
        messages = [{**one, **marks, **one} if one["type"] == "text" else one for one in messages]
    ids = {} if utt_id is None else {"utt_id": utt_id}
    return [
        plain.encode({**message, "icon": message.get("icon") or skill or None, **ids})
        for message in messages
    ]


def _with_fallbacks(messages: list[JsonObject]) -> Iterator[JsonObject]:
    said = None
    for message in messages:
        if message["type"] == "result" and message.get("fallback") not in (None, "", said):
            yield {"type": "text", "text": message["fallback"], "icon": message.get("icon")}
        said = message.get("text")
        yield message


class FeedListeners:
    """Wakes the listeners of a person's feed, at other replicas too (`wake_ups`).

    A wake-up is a hint: the stored feed has every message, so a missed one costs a query.
    """

    def __init__(self, wake_ups: WakeUps | None = None) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}
        self._wake_ups = wake_ups

    @property
    def users(self) -> list[str]:
        """The users whose feeds are listened to."""
        return list(self._events)

    def wake(self, user: str) -> None:
        """Wake the listeners of a person: there may be something new."""
        self.wake_here(user)
        self.wake_others(user)

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
        """Return an event, set when a person may have something new; the caller clears it."""
        event = asyncio.Event()
        self._events.setdefault(user, set()).add(event)
        try:
            yield event
        finally:
            self._events[user].discard(event)
            if not self._events[user]:
                del self._events[user]
