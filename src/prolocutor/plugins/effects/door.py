"""The door of effects: operators list waiting and unknown effects, and decide on them."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from prolocutor.contracts.channel import Channel, Route
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.effects.effect_desk import Decision, EffectDesk
from prolocutor.plugins.effects.ledger import EffectRecord, EffectStep
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

PATH: Final = "/api/console/effects"


class EffectLine(msgspec.Struct, frozen=True, kw_only=True):
    """An effect as operators see it.

    `kinds` describes the fields (by members of JSON Schema); `fixed`: no field can be changed.
    """

    key: str
    user: str
    service: str
    state: str
    at: float
    title: str
    fields: JsonObject | None
    kinds: JsonObject
    fixed: bool
    approver: str
    approved_by: str
    why: str
    reply: Any
    steps: list[EffectStep]


class EffectList(msgspec.Struct, frozen=True):
    """Effects, the oldest first."""

    items: list[EffectLine]


class ListQuery(msgspec.Struct, frozen=True):
    """The requested effects: the open effects, `all` of the latest, or the effect with a `key`."""

    all: bool = False
    key: str = ""


class EffectDecision(msgspec.Struct, frozen=True):
    """The decision on the effect with a key; `fields` are approved in place of its own."""

    key: str
    decision: Decision
    fields: JsonObject | None = None


class EffectsDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The effects of skills that act, for operators, at `/api/console/effects`."""

    is_usual: ClassVar[bool] = True
    operators_data: ClassVar[str] = PATH

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
        return EffectsChannel(context)


class EffectsChannel:
    """The effects of an assistant; without acting skills the list is empty."""

    name: Final = "effects"
    prefix: Final = "effects:"

    def __init__(self, context: DoorContext) -> None:
        assistant = context.assistant
        self._desk: EffectDesk = getattr(assistant, "effects", None) or EffectDesk(assistant.store)
        decide = OperatorWrite(self.decide, errors=[NotFound, BadInput])
        self.routes = [
            Route("GET", PATH, Operation(self.list_effects), "operators"),
            Route("POST", PATH, decide, "operators"),
            Route("POST", f"{PATH}/list", OperatorWrite(self.list_for_owner), "operators"),
        ]

    async def list_effects(self, request: TypedRequest[ListQuery, None]) -> EffectList:
        """List effects."""
        return await effect_list(self._desk, request.params.all, request.params.key)

    async def list_for_owner(self, request: TypedRequest[None, ListQuery]) -> EffectList:
        """List effects for the command line on the machine of the assistant."""
        return await effect_list(self._desk, request.body.all, request.body.key)

    async def decide(self, request: TypedRequest[None, EffectDecision]) -> EffectList:
        """Decide on an effect, and return it."""
        body = request.body
        by = request.visitor.name or "an operator"
        record = await self._desk.decide(body.key, body.decision, by, body.fields)
        return EffectList([effect_line(record)])


async def effect_list(desk: EffectDesk, every: bool = False, key: str = "") -> EffectList:
    """Return effects for operators: the open effects, all of the latest, or a single effect."""
    if key:
        one = await desk.ledger.find_effect(key)
        return EffectList([] if one is None else [effect_line(one.record)])
    found = await desk.ledger.list_effects()
    if every:
        found = [*await desk.ledger.list_effects(closed=True), *found]
    return EffectList([effect_line(one.record) for one in found])


def effect_line(record: EffectRecord) -> EffectLine:
    """Return the operators' view of an effect."""
    shown = {name: getattr(record, name) for name in EffectLine.__struct_fields__}
    return EffectLine(**{**shown, "reply": decode(bytes(record.reply))})
