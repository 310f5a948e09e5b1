"""ActingConnector wraps the connector of an acting skill; each call is an effect.

An effect is claimed in the ledger, approved if its skill requires approval, and started once. A
call with an unknown outcome is settled by the `EffectDesk`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import structs

from prolocutor.asks.controls import find_control
from prolocutor.assistant.rounds.answer_context import language_of_request
from prolocutor.contracts.calls import RunningEffect, running_effect
from prolocutor.contracts.connector import Connector, Replies, Request
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import JsonObject, Plain, check, decode, encode, parse
from prolocutor.errors import PurseEmpty, ServiceError, ServiceLate, ServiceRaised
from prolocutor.functions import error_text
from prolocutor.pipeline.requests import PayloadRequest, StateRequest
from prolocutor.plan.stages import Skill
from prolocutor.plugins.effects import words
from prolocutor.plugins.effects.book import EffectBook
from prolocutor.plugins.effects.fields import (
    ApprovalRule,
    EffectPreview,
    bare_answer,
    field_question,
    field_title,
    given_value,
    read_preview,
)
from prolocutor.plugins.effects.ledger import NONE, EffectRecord, StoredEffect
from prolocutor.plugins.effects.words import APPROVE, DO_AGAIN, EDIT, REFUSE, WAS_DONE, EffectAsk
from prolocutor.reading.languages import asks, is_courtesy

log = logging.getLogger(__name__)

GRACE_SECONDS: Final = 5.0
"""Seconds after its time-out for which a call may still do something at its agent."""

MARGIN: Final = 0.1
"""The part of a time-out that is left to say that nothing is known yet."""

PERHAPS: Final = 0.5
"""The confidence of the question whether something may be done that nobody says is wanted."""

_DECIDES: Final = ("approve", "unknown")
"""The questions whose answers are decisions on an effect."""

MAX_ATTEMPTS: Final = 3
"""Times that a repeatable call is repeated."""


class EffectRequest:
    """The request of an effect, with its key and the approved fields; made of its record."""

    state = None
    deltas = None

    def __init__(self, record: EffectRecord) -> None:
        self.user = record.user
        self.service = record.service
        self.turn_id = record.turn_id
        self.key = record.key
        self.timeout = record.timeout
        self._body = _request_body(record)

    def value(self) -> Any:
        """Return a fresh copy of the request's value."""
        return decode(self._body)

    def body(self) -> bytes:
        """Return the request's value as JSON."""
        return self._body


def _request_body(record: EffectRecord) -> bytes:
    """Return the request with the key and the approved fields, if it has a place for them."""
    kept = bytes(record.body)
    if record.is_state:
        effect = {"key": record.key, "fields": record.fields, "approved_by": record.approved_by}
        added = {"idempotency_key": record.key, "effect": effect}
        return b"%b,%b" % (kept[:-1], encode(added)[1:])
    if record.fields is not None and kept.startswith(b"{"):
        return encode({**decode(kept), **record.fields})
    return kept


class ActingConnector:
    """The way to a skill that acts, through the ledger.

    `kept` is the connector itself, `status` asks for the outcome of an effect, `preview` for the
    fields of a planned effect; None if there is nobody to ask. `selected`: the skill is asked if a
    skill selector names it.
    """

    gathers_batches = True

    def __init__(
        self,
        skill: Skill,
        kept: Connector,
        book: EffectBook,
        *,
        status: Connector | None,
        preview: Connector | None,
        selected: bool = False,
    ) -> None:
        self.skill = skill
        self.kept = kept
        self.status = status
        self._preview = preview
        self._book = book
        self._selected = selected
        self._rule = None if skill.rule is None else ApprovalRule(skill.rule)
        self.format = getattr(kept, "format", "plain")
        if hasattr(kept, "describe"):
            self.describe = kept.describe

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Perform the effect of a request, once."""
        (request,) = requests
        return (await self._answer(request),)

    async def aclose(self) -> None:
        """Close the connectors to the agent, to its status and to its preview."""
        for one in (self.kept, self.status, self._preview):
            if one is not None:
                await one.aclose()

    # -- in a turn ------------------------------------------------------------------------------

    async def _answer(self, request: Request) -> Plain:
        state = getattr(request, "state", None)
        answer = None if state is None else state.member("answer")
        if state is not None and isinstance(answer, dict):
            about = _read_context(answer)
            if about is not None:
                user = state.snapshot.opening.user
                stored = await self._book.ledger.find(user, about.effect)
                if stored is None:
                    return words.says(words.say_forgotten(_language_code(state)))
                if not stored.record.language:
                    record = structs.replace(stored.record, language=_language_code(state))
                    stored = StoredEffect(record, stored.body)
                self._book.take_up(request.turn_id, stored.record)
                return await self._take_answer(request, stored, about, answer)
            if answer.get("kind") == "cancelled":  # nothing is done by that
                return await self._pass_on(request)
        user = "" if state is None else state.snapshot.opening.user
        stored = await self._book.ledger.find(user, request.key)
        if stored is not None:
            self._book.take_up(request.turn_id, stored.record)
            return await self._again(request, stored)
        return await self._claim(request, state)

    async def _pass_on(self, request: Request) -> Plain:
        (reply,) = await self.kept.send((request,))
        if isinstance(reply, ServiceError):
            raise reply
        return reply

    async def _claim(self, request: Request, state: StateRequest | None) -> Plain:
        """Write a new effect, and start it or have it approved."""
        now, skill = self._book.clock(), self.skill
        record = EffectRecord(
            key=request.key,
            user="",
            service=request.service,
            turn_id=request.turn_id,
            state="waiting",
            at=now,
            body=msgspec.Raw(request.body()),
            is_state=state is request,
            timeout=skill.timeout,
        )
        if state is not None:
            opening = state.snapshot.opening
            record = structs.replace(
                record,
                user=opening.user,
                dialog_name=opening.dialog_name,
                dialog_id=state.snapshot.dialog_id,
                title=words.make_title(opening.text),
                language=_language_code(state),
            )
            self._book.take_up(request.turn_id, record)
        if skill.approve is None and self._preview is None:
            return await self._start(None, record, request.timeout, "the turn")
        preview = await self._preview_call(request, state)
        if preview is None:
            return check([])
        record = structs.replace(
            record,
            title=words.make_title(preview.title) or record.title,
            fields=preview.fields,
            kinds=preview.kinds,
            fixed=not preview.changeable,
        )
        if skill.approve is None:
            return await self._start(None, record, request.timeout, "the turn")
        if self._rule is not None and self._rule.holds(preview.fields):
            by = f"the rule {self._rule.text}"
            record = structs.replace(record, approved_by=by)
            return await self._start(None, record, request.timeout, by)
        if state is None:
            what = "it needs an approval, which nobody outside of a turn is asked for"
            raise ServiceRaised(what)
        approver = "operator" if skill.approve == "operator" else "person"
        record = record.to(
            "waiting", now, "the turn", approver=approver, until=now + skill.approve_within
        )
        if (stored := await self._book.ledger.change(None, record)) is None:
            return await self._lost(request, record)
        self._book.note_change()
        return self._ask_approval(stored.record, preview.confidence)

    async def _preview_call(
        self, request: Request, state: StateRequest | None
    ) -> EffectPreview | None:
        """Return the preview of the call, None if the call would do nothing.

        A schema or a formatter knows the values of the call, but not whether the person wants the
        call: then the person's words decide, and a surer reply of another skill wins.
        """
        if self._preview is not None:
            (said,) = await self._preview.send((request,))
            if isinstance(said, ServiceError):
                raise said
            return read_preview(said.value)
        if state is not None and not self._may_be_meant(state):
            return None
        own = getattr(self.kept, "preview", None)
        if own is not None:
            preview = read_preview(await own(request))
        else:
            value, made = request.value(), request is not state
            given = made and isinstance(value, dict)
            preview = EffectPreview(value) if given else EffectPreview(changeable=False)
        return preview and structs.replace(preview, confidence=PERHAPS)

    def _may_be_meant(self, state: StateRequest) -> bool:
        """Return whether the person's words may ask for an action.

        An answer to the skill's own question may, mere courtesy never; a question for information
        only if a skill selector has chosen this skill for it.
        """
        text = state.snapshot.opening.text
        if state.member("answer") is not None:
            return True
        if is_courtesy(text) or find_control(text) is not None:
            return False
        return self._selected or not asks(text.rstrip("? "))

    async def _again(self, request: Request, stored: StoredEffect) -> Plain:
        """Answer a turn that is run again; do not start its effect a second time."""
        record = stored.record
        match record.state:
            case "done":
                return _done_reply(record)
            case "waiting":
                return self._ask_approval(record)
            case "not_done" if record.steps[-1].by == self.skill.name:
                body = msgspec.Raw(request.body())
                again = structs.replace(record, body=body)
                return await self._start(stored, again, request.timeout, "the turn, run again")
            case "started" | "unknown":
                return await self._settle(stored, request.timeout)
        return words.says(words.say_outcome(record))

    async def _lost(self, request: Request, record: EffectRecord) -> Plain:
        """Answer after another process has written the effect at the same moment."""
        stored = await self._book.ledger.find(record.user, record.key)
        if stored is None:  # its person was deleted meanwhile
            raise ServiceRaised("the effect was deleted in the meantime")
        return await self._again(request, stored)

    # -- answers of the person --------------------------------------------------------------------

    async def _take_answer(
        self, request: Request, stored: StoredEffect, about: EffectAsk, answer: JsonObject
    ) -> Plain:
        """Act on a person's answer about an effect."""
        record, said = stored.record, answer.get("value")
        offered = words.decisions(record)
        chosen = offered[said["idx"]] if isinstance(said, dict) and about.step in _DECIDES else None
        if about.step == "unknown":
            return await self._told(request, stored, chosen)
        if record.state != "waiting":
            return await self._again(request, stored)
        if self._book.clock() > record.until:
            await self._book.end(stored, "expired", "time")
            return words.says(words.say_outcome(structs.replace(record, state="expired")))
        if answer.get("kind") == "cancelled" or chosen == REFUSE or said is False:
            changed = await self._book.end(stored, "refused", record.user)
            return words.says(words.say_outcome(changed.record if changed else record))
        fields = dict(record.fields or {})
        if about.step == "value":
            fields[about.field] = given_value(about.field, record.kinds, said)
            edited = structs.replace(record, fields=fields)
            changed = await self._book.ledger.change(stored, edited)
            return self._ask_approval(changed.record if changed else record)
        if about.step == "field" and isinstance(said, dict):
            return self._ask_value(record, list(fields)[said["idx"]])
        if chosen == EDIT:
            if len(fields) == 1:
                return self._ask_value(record, next(iter(fields)))
            names = [field_title(field, record.kinds) for field in fields]
            about = EffectAsk(record.key, "field")
            return words.asks(words.which_field(record), "choice", about, names)
        if chosen == APPROVE or said is True:
            self._book.audit(record.user, "APPROVE", record.key)
            approved = structs.replace(record, approved_by=record.user)
            return await self._start(stored, approved, request.timeout, record.user, asked=True)
        return self._ask_approval(record)

    def _ask_approval(self, record: EffectRecord, confidence: float = 1.0) -> Plain:
        """Ask for the approval of an effect."""
        if record.approver == "operator":
            return words.says(words.waits_for_operator(record), confidence)
        about = EffectAsk(record.key, "approve")
        shown, choices = words.approval(record), words.choices(record)
        return words.asks(shown, "choice", about, choices, confidence)

    def _ask_value(self, record: EffectRecord, field: str) -> Plain:
        ask, choices = field_question(field, (record.fields or {}).get(field), record.kinds)
        text = words.value_of_field(record, field)
        return words.asks(text, ask, EffectAsk(record.key, "value", field), choices)

    async def _told(self, request: Request, stored: StoredEffect, chosen: str | None) -> Plain:
        """Accept a person's statement of the outcome of an effect."""
        record = stored.record
        if record.state != "unknown":
            return await self._again(request, stored)
        if chosen == DO_AGAIN:
            return await self._start(stored, record, request.timeout, record.user, asked=True)
        changed = await self._book.end(
            stored, "done" if chosen == WAS_DONE else "given_up", record.user
        )
        return words.says(words.say_outcome(changed.record if changed else record))

    # -- the call ---------------------------------------------------------------------------------

    async def _start(
        self,
        stored: StoredEffect | None,
        record: EffectRecord,
        seconds: float,
        by: str,
        *,
        asked: bool = False,
    ) -> Plain:
        """Start an effect, and wait for it as long as its turn does.

        `asked`: the person has asked for it in this turn, and is told of errors.
        """
        started = await self.begin(stored, record, by)
        if started is None:
            again = await self._book.ledger.find(record.user, record.key)
            if again is None:
                raise ServiceRaised("the effect was deleted in the meantime")
            if again.record.state in ("started", "unknown"):
                return words.says(words.not_known(again.record))
            return words.says(words.say_outcome(again.record))
        doing = self._book.calls.start(self.perform(started), awaited=True)
        heard = self._book.hears(record.key)
        try:
            await asyncio.wait({doing}, timeout=max(0.0, seconds * (1 - MARGIN)))
        finally:
            heard()
        if not doing.done():
            return words.says(words.not_known(started.record))
        outcome, after = doing.result()
        if isinstance(outcome, Plain) and (outcome.value or not asked or after is None):
            return outcome
        if after is not None and after.record.state == "unknown":
            return await self._settle(after, seconds * MARGIN, again=False)
        if after is not None and (asked or isinstance(outcome, PurseEmpty)):
            return words.says(words.say_outcome(after.record))
        assert isinstance(outcome, ServiceError)
        raise outcome

    async def begin(
        self, stored: StoredEffect | None, record: EffectRecord, by: str
    ) -> StoredEffect | None:
        """Record the start of an effect; return None if another process was faster."""
        now = self._book.clock()
        until = now + record.timeout + GRACE_SECONDS
        record = record.to(
            "started", now, by, until=until, ends=until, attempt=new_id(), untold=False, why=""
        )
        changed: StoredEffect | None = await self._book.ledger.change(stored, record)
        return changed

    async def perform(
        self, started: StoredEffect
    ) -> tuple[Plain | ServiceError, StoredEffect | None]:
        """Make the call of a started effect, and record its outcome.

        Return the outcome, and the effect as it is then; None in its place if another process has
        settled it, or if the call did nothing.
        """
        outcome = await self._make_call(started.record)
        for again in range(MAX_ATTEMPTS - 1 if self.skill.idempotent else 0):
            if isinstance(outcome, Plain) or not outcome.passing:
                break
            await asyncio.sleep(0.2 * 2**again)
            outcome = await self._make_call(started.record)
        return outcome, await self._book.finish(started, outcome)

    async def _make_call(self, record: EffectRecord) -> Plain | ServiceError:
        fields = None if record.fixed else record.fields
        token = running_effect.set(RunningEffect(record.key, fields))
        try:
            async with asyncio.timeout(record.timeout + GRACE_SECONDS / 2):
                (reply,) = await self.kept.send((EffectRequest(record),))
        except ServiceError as error:
            return error
        except TimeoutError:
            return ServiceLate("no answer in time")
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return ServiceRaised(error_text(error))
        finally:
            running_effect.reset(token)
        return reply

    async def _settle(self, stored: StoredEffect, seconds: float, *, again: bool = True) -> Plain:
        """Find out the outcome of an effect within a turn, or say that it is not known yet.

        `again`: an agent that promises to act once for each key is called again.
        """
        record = stored.record
        if self.skill.idempotent and again:
            return await self._start(stored, record, seconds, "the key's promise")
        if self.status is not None:
            try:
                async with asyncio.timeout(max(0.05, seconds * (1 - MARGIN))):
                    found = await self.ask_outcome(record)
            except TimeoutError:
                found = None
            if found is not None and found.state == "done":
                changed = await self._book.end(stored, "done", "its agent", reply=found.reply)
                changed = changed or await self._book.ledger.find(record.user, record.key)
                if changed is not None and changed.record.state == "done":
                    return _done_reply(changed.record)
        self._book.note_change()
        return words.says(words.not_known(record))

    async def ask_outcome(self, record: EffectRecord) -> Reconciled | None:
        """Ask for the outcome of an effect; return None without `status` or without answer."""
        if self.status is None:
            return None
        asked: JsonObject = {
            "key": record.key, "service": record.service, "turn_id": record.turn_id
        }  # fmt: skip
        if record.fields:
            asked["fields"] = record.fields
        request = PayloadRequest(
            record.service, record.turn_id, record.key, record.timeout, check(asked)
        )
        try:
            async with asyncio.timeout(record.timeout):
                (reply,) = await self.status.send((request,))
            if isinstance(reply, ServiceError):
                raise reply
            return read_reconciled(reply.value)
        except (ServiceError, TimeoutError) as error:
            log.warning(
                "the outcome of effect %s is not known: %s", record.key, str(error) or "late"
            )
            return None


def _done_reply(record: EffectRecord) -> Plain:
    """Return the agent's answer to an effect that is done, or a sentence that it is done."""
    if bytes(record.reply) == b"null":
        return words.says(words.say_outcome(record))
    return parse(bytes(record.reply))


class Reconciled(msgspec.Struct, frozen=True):
    """The state and the reply of an effect, as its agent reports them."""

    state: str
    reply: msgspec.Raw = NONE


def read_reconciled(value: Any) -> Reconciled:
    """Read `{state, text?, ...}`, true, false or null; anything else is not known."""
    value = bare_answer(value)
    if isinstance(value, bool):
        return Reconciled("done" if value else "not_done")
    if isinstance(value, str):
        value = {"state": value}
    if not isinstance(value, dict):
        return Reconciled("unknown")
    state = value.get("state", value.get("status"))
    if state not in ("done", "not_done"):
        return Reconciled("unknown")
    reply = value.get("reply")
    if reply is None and isinstance(value.get("text"), str):
        reply = [{"text": value["text"], "confidence": 1.0}]
    return Reconciled(state, NONE if reply is None else msgspec.Raw(encode(reply)))


def _language_code(state: StateRequest) -> str:
    """Return the code of the language in which a person is told of an effect, "" if unknown."""
    return language_of_request(state) or ""


def _read_context(answer: JsonObject) -> EffectAsk | None:
    """Return the effect and the step that an answer is about, None if it is about no effect."""
    given = answer.get("context")
    if not isinstance(given, dict) or words.CONTEXT not in given:
        return None
    try:
        return msgspec.convert(given, EffectAsk)
    except msgspec.ValidationError:
        return None
