"""ToolRounds: calls of the clients' tools that wait for their results.

A model's calls are handed to the client. They are kept beside the dialog, so that the results in
the client's next request find the skill whose model wants them, also after a restart; no service
sees them in the dialog.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import SpokenReply
from prolocutor.dialog.inputs import ModelWishes, ToolRound
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput
from prolocutor.plugins.openai.door.requests import ChatTurnMessage
from prolocutor.web.error_table import HttpError

KIND: Final = "openai-tools:"

MAX_DEPTH: Final = 64

_TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}

_SIZES: Final[dict[str, Any]] = {"Length": str, "Items": list, "Properties": dict}


class StoredRound(ToolRound):
    """A round with the skill of its calls."""

    skill: str


class ToolRounds:
    """The clients' calls, by their reply and by their ids."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def make_round(
        self, user: str, reply: SpokenReply, wishes: ModelWishes
    ) -> ToolRound | None:
        """Return the calls in a reply, None if it is words; keep the calls for their results."""
        round_ = wishes.rounds.get(reply.active_skill)
        if round_ is None:
            return await self.find_round(user, reply.utt_id) if wishes.tools else None
        kept = StoredRound(
            calls=round_.calls, messages=round_.messages, text=round_.text, skill=reply.active_skill
        )
        body = plain.encode(kept)
        for name in [reply.utt_id, *(str(call.get("id")) for call in round_.calls)]:
            await self._records.put_record(user, KIND + name, "", body, reply.utt_id)
        return round_

    async def go_on(
        self, user: str, results: Sequence[ChatTurnMessage], wishes: ModelWishes
    ) -> str:
        """Return the skill of these results; its model gets the messages before them.

        Raise `BadInput` for the result of an unknown call.
        """
        stored: StoredRound | None = None
        for result in results:
            stored = await self.find_round(user, result.tool_call_id or "")
            if stored is None:
                what = f"no call of a tool here has the id {result.tool_call_id!r:.80}"
                raise BadInput(f"{what}: no call waits for its result", field="tool_call_id")
        assert stored is not None
        if not any(message.get("tool_calls") for message in wishes.messages or ()):
            called = {"role": "assistant", "content": stored.text or None}
            told = msgspec.to_builtins(results)
            wishes.messages = [*stored.messages, {**called, "tool_calls": stored.calls}, *told]
        return stored.skill

    async def find_round(self, user: str, name: str) -> StoredRound | None:
        """Return the calls of the reply with an id, or the calls that include a call with it."""
        body = (await self._records.records(user, KIND + name)).get("")
        return None if body is None else msgspec.json.decode(body, type=StoredRound)


def check_form(text: str, skill: str, form: JsonObject | None) -> None:
    """Raise `HttpError` (422) for an answer in another format than the client's."""
    if form is None:
        return
    try:
        value: Any = plain.decode(text)
    except ValueError:
        fault = "it is not JSON"
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


def schema_fault(schema: Any, value: Any) -> str:
    """Return the fault and its place, as in `$.age: not of type integer`; "" without a fault."""
    return next(_faults(schema, value, "$", schema, MAX_DEPTH), "")


def _faults(schema: Any, value: Any, path: str, root: Any, depth: int) -> Iterator[str]:
    if schema is False:
        yield f"{path}: not allowed"
    if not isinstance(schema, dict) or not depth:
        return
    if isinstance(ref := schema.get("$ref"), str):
        yield from _faults(_resolve_reference(ref, root), value, path, root, depth - 1)
    types = schema.get("type")
    kinds = types if isinstance(types, list) else [types] if isinstance(types, str) else []
    if kinds and not any(_is_kind(value, kind) for kind in kinds):
        yield f"{path}: not of type {' or '.join(map(str, kinds))}"
        return
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        yield f"{path}: none of {schema['enum']!r:.200}"
    if "const" in schema and not _is_same(value, schema["const"]):
        yield f"{path}: not {schema['const']!r:.200}"
    yield from _bounds(schema, value, path)
    for part in schema.get("allOf") or ():
        yield from _faults(part, value, path, root, depth - 1)
    for key in ("anyOf", "oneOf"):
        found = [
            next(_faults(part, value, path, root, depth - 1), "") for part in schema.get(key) or ()
        ]
        if found and (all(found) or (key == "oneOf" and found.count("") != 1)):
            yield next(filter(None, found), f"{path}: fits several of oneOf")
    yield from _parts(schema, value, path, root, depth)


def _parts(schema: Any, value: Any, path: str, root: Any, depth: int) -> Iterator[str]:
    """Return the faults of the members of an object or the items of a list."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        for name in schema.get("required") or ():
            if name not in value:
                yield f"{path}.{name}: missing"
        others = schema.get("additionalProperties", True)
        for name, one in value.items():
            part = properties.get(name, others)
            yield from _faults(part, one, f"{path}.{name:.80}", root, depth - 1)
    if isinstance(value, list):
        first = schema.get("prefixItems") or ()
        for number, one in enumerate(value):
            part = first[number] if number < len(first) else schema.get("items", True)
            yield from _faults(part, one, f"{path}[{number}]", root, depth - 1)


def _bounds(schema: Any, value: Any, path: str) -> Iterator[str]:
    broken = []
    for name, kind in _SIZES.items():
        if isinstance(value, kind):
            size = len(value)
            broken += [f"min{name}"] if size < schema.get(f"min{name}", 0) else []
            broken += [f"max{name}"] if size > schema.get(f"max{name}", size) else []
    if _is_kind(value, "number"):
        broken += [
            key
            for key, is_out in (
                ("minimum", value < schema.get("minimum", value)),
                ("maximum", value > schema.get("maximum", value)),
                ("exclusiveMinimum", value <= schema.get("exclusiveMinimum", value - 1)),
                ("exclusiveMaximum", value >= schema.get("exclusiveMaximum", value + 1)),
            )
            if is_out
        ]
    for key in broken:
        yield f"{path}: {key} is {schema[key]}"


def _resolve_reference(ref: str, root: Any) -> Any:
    """Return the schema of a reference within the same document; True for another reference."""
    if not ref.startswith("#"):
        return True
    found = root
    for step in ref[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name, True) if isinstance(found, dict) else True
    return found


def _is_kind(value: Any, kind: object) -> bool:
    if kind in ("number", "integer"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or float(value).is_integer())
    known = _TYPES.get(str(kind))
    return known is None or isinstance(value, known)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
