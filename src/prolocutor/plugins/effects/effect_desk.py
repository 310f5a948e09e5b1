"""EffectDesk: the keeper of effects; it settles open effects, and effects decided by operators.

Every few seconds it looks through the open effects: overdue approvals, calls of dead processes,
outcomes to tell the person. Several processes may do so at once, because each step in the ledger is
made by a single process.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.connector import Connector, ServiceContext
from prolocutor.contracts.store import Store, TurnOpening
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadInput, NotFound, ProlocutorError, StoreError
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plan.stages import Call, Skill
from prolocutor.plugins.effects import words
from prolocutor.plugins.effects.acting_connector import ActingConnector
from prolocutor.plugins.effects.book import LONGEST_PAUSE, EffectBook, is_unsure
from prolocutor.plugins.effects.ledger import EffectRecord, EffectState, StoredEffect
from prolocutor.plugins.effects.words import EffectAsk

log = logging.getLogger(__name__)

LOOK_INTERVAL: Final = 2.0
"""Seconds between two looks at what is open."""

MAX_LOOKS: Final = 5
"""Times that an agent is asked for the outcome of an effect, before a person is asked."""

LATER: Final = 1e11
"""A time that never comes, in UNIX seconds: only a person or an operator can say more."""

CLOSE_TIMEOUT: Final = 10.0
"""Seconds for which calls that run may go on when the assistant stops."""

Decision = Literal["approve", "refuse", "done", "not_done", "again"]


class EffectDesk:
    """Keeps the calls of acting skills."""

    def __init__(self, store: Store, pipeline: Pipeline | None = None) -> None:
        self.book = EffectBook(store)
        self.ledger = self.book.ledger
        self._selected = bool(pipeline and pipeline.services_at(Stage.SKILL_SELECTOR))
        self._connectors: dict[str, ActingConnector] = {}
        self._assistant: Any = None
        self._looking = BackgroundTasks("look at effects")

    # -- as a keeper ------------------------------------------------------------------------------

    def around(self, service: Any, connector: Connector, context: ServiceContext) -> Connector:
        """Return the connector of an acting skill, wrapped by the ledger."""
        if not isinstance(service, Skill) or not service.acts:
            return connector
        kept = ActingConnector(
            service,
            connector,
            self.book,
            selected=self._selected,
            status=_target(service.reconcile, context),
            preview=_target(service.preview, context),
        )
        self._connectors[service.name] = kept
        return kept

    def join(self, assistant: Any) -> None:
        """Keep the assistant, through which persons are told of outcomes."""
        self._assistant = assistant
        assistant.effects = self

    async def turn_was_cut_off(self, opening: TurnOpening) -> None:
        """Have the person told of the outcomes of a turn's effects, since its reply was cut off."""
        self.book.leave(opening.turn_id)
        for stored in await self.ledger.find_touched(
            opening.user, opening.turn_id, opening.started
        ):
            record = stored.record
            if record.state != "waiting":
                await self._tell_later(stored)
            elif record.turn_id == opening.turn_id:  # nobody was asked
                await self.ledger.drop(stored)

    async def turn_ends(self, opening: TurnOpening, spoken: Collection[str]) -> None:
        """Settle the effects missing in the reply, because another skill's answer won.

        An unseen question is dropped, and the person is told of completed effects.
        """
        for key, service in self.book.leave(opening.turn_id).items():
            if service in spoken:
                continue
            try:
                stored = await self.ledger.find(opening.user, key)
                if stored is not None:
                    await self._settle_unsaid(stored, stored.record.turn_id == opening.turn_id)
            except StoreError as error:
                log.warning("effect %s: %s", key, error)

    async def _settle_unsaid(self, stored: StoredEffect, new: bool) -> None:
        record = stored.record
        if record.state == "waiting" and new:
            await self.ledger.drop(stored)
        elif record.state == "done" and not (new and is_unsure(decode(record.reply))):
            await self._tell_later(stored, aside=new)

    async def _tell_later(self, stored: StoredEffect, *, aside: bool = False) -> None:
        later = msgspec.structs.replace(stored.record, untold=True, aside=aside)
        await self.ledger.change(stored, later)
        self.book.note_change()

    async def start(self) -> None:
        """Begin to look at the open effects."""
        self._looking.start(self._look_on())

    async def aclose(self) -> None:
        """Stop looking, and let running calls go on for a while."""
        await self._looking.aclose()
        await self.book.aclose(CLOSE_TIMEOUT)

    # -- what operators decide --------------------------------------------------------------------

    async def decide(
        self, key: str, decision: Decision, by: str, fields: JsonObject | None = None
    ) -> EffectRecord:
        """Carry out an operator's decision on an effect, and return the effect as it is then.

        Raise `NotFound` for an unknown key, `BadInput` if the effect's state does not admit the
        decision.
        """
        stored = await self.ledger.find_effect(key)
        if stored is None:
            raise NotFound(f"there is no effect {key!s:.200}", field="key")
        record = stored.record
        wanted = "waiting" if decision in ("approve", "refuse") else "unknown"
        if record.state != wanted:
            what = f"the effect is {record.state.replace('_', ' ')}: nothing to {decision}"
            raise BadInput(what, field="decision")
        if decision == "refuse":
            changed = await self.book.end(stored, "refused", by, untold=True)
        elif decision in ("approve", "again"):
            if fields:
                record = _change_fields(record, fields)
            changed = await self._go_on(stored, record, by)
        else:
            state: EffectState = "done" if decision == "done" else "not_done"
            changed = await self.book.end(stored, state, by, untold=True, why=f"as {by} says")
        if changed is None:
            raise BadInput("somebody else decided at the same moment; look again", field="key")
        self.book.audit(by, decision.upper(), key)
        return changed.record

    async def _go_on(
        self, stored: StoredEffect, record: EffectRecord, by: str
    ) -> StoredEffect | None:
        """Start an effect outside of its turn."""
        connector = self._connectors.get(record.service)
        if connector is None:
            what = f"no skill that acts is called {record.service!r}; start it by an assistant"
            raise BadInput(f"{what} whose file has it", field="key")
        if record.state == "waiting":
            record = msgspec.structs.replace(record, approved_by=by)
        started = await connector.begin(stored, record, by)
        if started is not None:
            self.book.calls.start(connector.perform(started))
        return started

    # -- what is open -----------------------------------------------------------------------------

    async def _look_on(self) -> None:
        while True:
            self.book.news.clear()
            try:
                await self.look()
            except ProlocutorError as error:
                log.warning("the open effects cannot be read: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_INTERVAL):
                    await self.book.news.wait()
                    await asyncio.sleep(LOOK_INTERVAL / 10)

    async def look(self) -> None:
        """Take the due step of each open effect."""
        for stored in await self.ledger.list_effects():
            try:
                await self._take_step(stored)
            except (ProlocutorError, TimeoutError) as error:
                log.warning("effect %s: %s", stored.record.key, error)

    async def _take_step(self, stored: StoredEffect) -> None:
        record, now = stored.record, self.book.clock()
        if record.state == "waiting":
            if now > record.until:
                await self.book.end(stored, "expired", "time", untold=True)
        elif record.state == "started":
            if now > record.until:
                after = record.to("unknown", now, "time", until=now, asked=0)
                if (changed := await self.ledger.change(stored, after)) is not None:
                    await self._settle(changed)
        elif record.state == "unknown":
            if now >= record.until and not self.book.is_taken_up(record.key):
                await self._settle(stored)
        else:
            await self._tell(stored)

    async def _settle(self, stored: StoredEffect) -> None:
        """Ask for the unknown outcome of an effect after its call."""
        record = stored.record
        connector = self._connectors.get(record.service)
        if connector is None:
            return
        asked, now = record.asked + 1, self.book.clock()
        until = now + min(LONGEST_PAUSE, 2.0**asked)
        noted = msgspec.structs.replace(record, asked=asked, until=until)
        claimed = await self.ledger.change(stored, noted)
        if claimed is None:
            return
        if connector.skill.idempotent and asked <= MAX_LOOKS:
            await self._go_on(claimed, noted, "the key's promise")
            return
        if connector.status is not None and asked <= MAX_LOOKS:
            outcome = await connector.ask_outcome(record)
            if outcome is not None and outcome.state == "done":
                await self.book.end(claimed, "done", "its agent", untold=True, reply=outcome.reply)
            elif outcome is not None and outcome.state == "not_done" and now >= record.ends:
                await self.book.end(claimed, "not_done", "its agent", untold=True)
            return
        if now < record.ends:  # it may still be done
            later = msgspec.structs.replace(noted, asked=record.asked, until=record.ends)
            await self.ledger.change(claimed, later)
            return
        await self._when_unknown(connector.skill, claimed)

    async def _when_unknown(self, skill: Skill, stored: StoredEffect) -> None:
        record = stored.record
        if skill.on_unknown == "retry" and record.asked <= 2 * MAX_LOOKS:
            await self._go_on(stored, record, "retry")
            return
        if skill.on_unknown == "give_up":
            await self.book.end(stored, "given_up", "the file", untold=True)
            return
        if skill.on_unknown == "ask_person" and record.user:
            await self._notify(
                record,
                words.question(words.which(record), words.choices(record)),
                ask="choice",
                context=EffectAsk(record.key, "unknown"),
            )
        await self.ledger.change(stored, msgspec.structs.replace(record, until=LATER))

    async def _tell(self, stored: StoredEffect) -> None:
        """Tell a person the outcome of an effect, once."""
        record = stored.record
        if record.user:
            await self._notify(record, words.told(record))
        await self.ledger.change(stored, msgspec.structs.replace(record, untold=False))

    async def _notify(
        self,
        record: EffectRecord,
        messages: list[JsonObject],
        ask: str | None = None,
        context: EffectAsk | None = None,
    ) -> None:
        digest = hashlib.blake2b(f"{record.key} {record.state} {record.attempt}".encode())
        await self._assistant.agenda.notify(
            record.user,
            messages,
            ask,
            skill=record.service,
            dialog=record.dialog_name,
            key=f"effect {digest.hexdigest()[:32]}",
            context=None if context is None else msgspec.to_builtins(context),
        )


def _change_fields(record: EffectRecord, fields: JsonObject) -> EffectRecord:
    """Return an effect with changed fields; raise `BadInput` if it lacks such a field."""
    known = {} if record.fixed else record.fields or {}
    if unknown := [name for name in fields if name not in known]:
        what = f"the effect has no field {unknown[0]!s:.100} that can be changed"
        raise BadInput(what, field="fields")
    return msgspec.structs.replace(record, fields={**known, **fields})


def _target(given: Any, context: ServiceContext) -> Connector | None:
    """Make the connector of the status or the preview of a skill."""
    if given is None:
        return None
    if not isinstance(given, dict):
        return context.connect(Call(given))
    options = dict(given)
    call, connector = options.pop("call", None), options.pop("connector", None)
    if isinstance(call, dict):
        options, call = {**options, **call}, ""
    return context.connect(Call(call or "", connector, options))
