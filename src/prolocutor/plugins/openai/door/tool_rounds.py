"""ToolRounds: calls of the clients' tools that wait for their results.

A model's calls are handed to the client. They are kept beside the dialog, so that the results in
the client's next request find the skill whose model wants them, also after a restart; no service
sees them in the dialog.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import SpokenReply
from prolocutor.dialog.inputs import ModelWishes, ToolRound
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput
from prolocutor.plugins.openai.door.json_schema import schema_fault
from prolocutor.plugins.openai.door.requests import ChatTurnMessage
from prolocutor.web.error_table import HttpError

KIND: Final = "openai-tools:"


class StoredRound(ToolRound):
    """A round with the skill that waits for its results."""

    skill: str


class ToolRounds:
    """The calls that were handed to clients, by their reply and by their ids."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def round_of(
        self, user: str, reply: SpokenReply, wishes: ModelWishes
    ) -> ToolRound | None:
        """Return the calls in a reply, None if it is words; keep the calls for their results."""
        round_ = wishes.rounds.get(reply.active_skill)
        if round_ is None:
            return await self.stored(user, reply.utt_id) if wishes.tools else None
        kept = StoredRound(
            calls=round_.calls, messages=round_.messages, text=round_.text, skill=reply.active_skill
        )
        body = plain.encode(kept)
        for name in [reply.utt_id, *(str(one.get("id")) for one in round_.calls)]:
            await self._records.put_record(user, KIND + name, "", body, reply.utt_id)
        return round_

    async def go_on(
        self, user: str, results: Sequence[ChatTurnMessage], wishes: ModelWishes
    ) -> str:
        """Return the skill that waits for these results; its model gets the messages before them.

        Raise `BadInput` for the result of a call that nobody waits for.
        """
        stored: StoredRound | None = None
        for one in results:
            stored = await self.stored(user, one.tool_call_id or "")
            if stored is None:
                what = f"no call of a tool here has the id {one.tool_call_id!r:.80}"
                raise BadInput(f"{what}: its result is waited for by nobody", field="tool_call_id")
        assert stored is not None
        if not any(one.get("tool_calls") for one in wishes.messages or ()):
            called = {"role": "assistant", "content": stored.text or None}
            told = msgspec.to_builtins(results)
            wishes.messages = [*stored.messages, {**called, "tool_calls": stored.calls}, *told]
        return stored.skill

    async def stored(self, user: str, name: str) -> StoredRound | None:
        """Return the calls of the reply with an id, or the calls that include a call with it."""
        body = (await self._records.records(user, KIND + name)).get("")
        return None if body is None else msgspec.json.decode(body, type=StoredRound)


def check_form(text: str, skill: str, form: JsonObject | None) -> None:
    """Raise `HttpError` (422) for an answer that does not fit the client's format."""
    if form is None:
        return
    try:
        value: Any = plain.decode(text)
    except ValueError:
        fault = "it is no JSON"
    else:
        schema = (form.get("json_schema") or {}).get("schema", {"type": "object"})
        try:
            fault = schema_fault(schema, value)
        except (TypeError, AttributeError) as error:
            raise BadInput(f"the schema cannot be read: {error}", field="response_format") from None
    if fault:
        what = f"the answer of {skill or 'the assistant'} does not fit the schema: {fault}"
        refused = HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{what}; it says: {text:.200}")
        refused.field, refused.code = "response_format", "answer_does_not_fit"
        raise refused
