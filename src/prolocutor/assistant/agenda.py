"""Agenda: unasked messages to persons, and programs that are started for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec

from prolocutor.assistant.agenda_scheduler import NOTIFICATIONS, AgendaScheduler
from prolocutor.assistant.turns import Turns, check_name, checked_dialog
from prolocutor.contracts.http import spend
from prolocutor.contracts.programs import CreatedProgram, ProgramInfo, Programs
from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import plain, schedules
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.messages import RichMessage, checked_ask, checked_messages
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.schedules import Notice
from prolocutor.errors import BadInput, BadReply

MAX_KEY: Final = 200
MAX_MESSAGES: Final = 100

AnyMessage = str | RichMessage | JsonObject


class Agenda:
    """Notifies persons and starts their programs, each in the queue of its person."""

    def __init__(
        self,
        turns: Turns,
        scheduler: AgendaScheduler,
        programs: Programs,
        skills: Sequence[str],
    ) -> None:
        self._turns = turns
        self._scheduler = scheduler
        self._programs = programs
        self._skills = skills

    async def notify(
        self,
        user: str,
        messages: AnyMessage | Sequence[AnyMessage],
        ask: str | None = None,
        *,
        skill: str = "",
        dialog: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> bool:
        """Send messages to a person unasked; return True if delivered, False if they wait.

        They wait while an ask is open in the dialog. The feed stores them for clients that are
        away. A person has at most 1,000 entries on the agenda; beyond that the earliest is dropped
        and counted. A text is a message. `ask` makes it a question; `skill` gets the answer, with
        `context` in it (`request["answer"]["context"]`). The same `key` sends the same messages
        once (stored for a day, the last 100 of a person); `Conflict` is raised if it came with
        other messages before.
        """
        check_name(user, "a user", "user")
        entry = notification(
            user,
            checked_dialog(dialog),
            messages,
            ask=ask,
            skill=skill,
            key=key,
            context=context,
            due=self._scheduler.clock(),
            known=self._skills,
        )
        return await self._turns.alone(user, partial(self._scheduler.notify, entry))

    async def start_program(
        self, user: str, code: str, info: ProgramInfo | None = None
    ) -> CreatedProgram:
        """Run a program, or start a continuous one, outside of dialogs (`programs.create`)."""
        spend("programs", user)
        create = partial(self._programs.create, user, code, info or ProgramInfo())
        created = await self._turns.alone(user, create)
        for entry in created.entries:
            self._scheduler.expect(entry.due)
        return created


def notification(
    user: str,
    dialog: str,
    messages: AnyMessage | Sequence[AnyMessage],
    *,
    ask: str | None,
    skill: str,
    key: str | None,
    context: Any,
    due: float,
    known: Sequence[str],
) -> AgendaEntry:
    """Return the agenda entry of a notification; raise `BadInput` with the faulty field.

    A text is a message. A question needs a `known` skill, which gets the answer.
    Notifications with the same `key` are delivered once.
    """
    if skill and skill not in known:
        raise BadInput(f"no skill is called {skill!r:.80}; {_there_are(known)}", field="skill")
    if ask is not None and not skill:
        raise BadInput(
            f"a question needs the skill that gets the answer; {_there_are(known)}", field="skill"
        )
    if key is not None and not 0 < len(key) <= MAX_KEY:
        raise BadInput(f"a key is a text of 1 to {MAX_KEY} characters", field="key")
    contents = _check_messages(messages)
    try:
        checked_ask(ask)
    except BadReply as error:
        raise BadInput(str(error), field="ask") from None
    try:
        plain.check(context)
    except BadReply as error:
        raise BadInput(str(error), field="context") from None
    digest = None if key is None else _digest([contents, ask, skill, dialog, context])
    notice = Notice(messages=contents, ask=ask, skill=skill, context=context, digest=digest)
    return AgendaEntry(
        user=user,
        dialog_name=dialog,
        skill=NOTIFICATIONS,
        key=key or new_id(),
        due=due,
        body=schedules.encode(notice),
    )


def permission_request(person: str, what: str) -> list[JsonObject]:
    """Return the messages that ask for a permission on behalf of another person, with six buttons.

    To be sent with the ask `generic` and the skill that acts for `person`, who wants to do `what`
    ("unlock the door"). The skill's `request["answer"]["value"]` is then true, false, "maybe" or
    the content of a rule's button: `{"allow": "this" | "person" | "anyone", "person"}`, where
    `this` is for this person and thing, `person` for all this person wants, `anyone` for this
    thing.
    """
    rules = {
        f"Always when {person} wants to {what}": "this",
        f"Whatever {person} wants": "person",
        f"Whoever wants to {what}": "anyone",
    }
    return [
        {"type": "text", "text": f"{person} wants to {what}. Do you allow that?"},
        _button("Yes", _special("yes")),
        *(
            _button(title, {"payload": {"allow": rule, "person": person}})
            for title, rule in rules.items()
        ),
        _button("No", _special("no")),
        _button("Maybe", _special("maybe")),
    ]


def _check_messages(messages: Any) -> list[JsonObject]:
    if isinstance(messages, str | dict | msgspec.Struct):
        messages = [messages]
    if not isinstance(messages, list | tuple) or not 0 < len(messages) <= MAX_MESSAGES:
        raise BadInput(f"messages are a list of 1 to {MAX_MESSAGES}, or a text", field="messages")
    contents = [{"type": "text", "text": one} if isinstance(one, str) else one for one in messages]
    try:
        return checked_messages(plain.check(contents).value)
    except BadReply as error:
        raise BadInput(str(error), field="messages") from None


def _digest(parts: list[Any]) -> str:
    return hashlib.blake2b(plain.encode(parts), digest_size=16).hexdigest()


def _there_are(known: Sequence[str]) -> str:
    return f"there are {', '.join(known)}" if known else "there are none"


def _button(title: str, json: JsonObject) -> JsonObject:
    return {"type": "button", "title": title, "json": json}


def _special(name: str) -> JsonObject:
    return {"code": ["bookkeeping", "special", f"special:{name}"], "entities": {}}
