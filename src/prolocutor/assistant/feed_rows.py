"""The rows of the feed that a turn adds: what was said, and the reply."""

from __future__ import annotations

from collections.abc import Set

from prolocutor.assistant.feed import human_message, reply_messages
from prolocutor.dialog.inputs import AGAIN_OF, OPERATOR, TurnInput
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.stop_signal import STOPPED
from prolocutor.pipeline.draft import DraftReply


def row_of_input(input: TurnInput, encoded_text: bytes, bot_utt_id: str) -> bytes:
    """Return the row for an input; that of an operator is a message to the person."""
    act = input.operator
    if act is None:
        return human_message(encoded_text, input.parsed, input.attributes.get(AGAIN_OF))
    message = {"type": "text", "text": act.text, "handover": {"by": act.by, "state": act.state}}
    (row,) = reply_messages(act.text, {"messages": [message]}, OPERATOR, bot_utt_id)
    return row


def rows_of_reply(reply: DraftReply, utt_id: str, markdown: Set[str]) -> list[bytes]:
    """Return the rows for a reply; none if the reply is silent.

    Texts of the skills in `markdown` say so, and those of a stopped turn that it was stopped.
    """
    if reply.silent:
        return []
    marks: JsonObject = {}
    if reply.active_skill in markdown:
        marks["format"] = "markdown"
    if reply.by == STOPPED:
        marks[STOPPED] = True
    attributes = {"messages": reply.messages}
    return reply_messages(reply.text, attributes, reply.active_skill, utt_id, marks)
