"""Executor: runs the programs that people send, asks for what they lack, keeps what goes on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.asks.wanted import NOT_UNDERSTOOD
from prolocutor.assistant import phrases
from prolocutor.assistant.programs import asking, reading, results
from prolocutor.assistant.programs.apps import MOST, PROGRAMS, App, app_of, entry_of, listed
from prolocutor.assistant.programs.calling import Calls
from prolocutor.assistant.programs.describing import described
from prolocutor.assistant.programs.devices import Devices
from prolocutor.assistant.programs.person import Person, of_turn, unasked
from prolocutor.assistant.programs.statements import Doer, Done
from prolocutor.assistant.programs.streams import monitor_of, next_due
from prolocutor.assistant.programs.surroundings import Surroundings
from prolocutor.assistant.programs.trouble import Trouble
from prolocutor.contracts.caller import Caller
from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.contracts.store import Entry, Store
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import Words
from prolocutor.errors import BadInput, ProlocutorError
from prolocutor.pipeline.plan import Service
from prolocutor.thingtalk.checked import Checked, CheckedStatement, Slot
from prolocutor.thingtalk.checking import check
from prolocutor.thingtalk.parsing import parse
from prolocutor.thingtalk.printing import show, show_statement
from prolocutor.thingtalk.printing_tokens import show_tokens
from prolocutor.thingtalk.slots import fill
from prolocutor.thingtalk.tree import Program
from prolocutor.thingtalk.values import Array

log = logging.getLogger(__name__)

SHARE: Final = 0.8
"""How much of a turn's deadline its program may take."""


class Half(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program that waits for an answer: its source so far, and what the answer is for.

    `wants` is "slot" (its first), "place" (its first value that the person's attributes should
    tell), "more" (whether a list goes on) or "yes" (that it may run). `items` are the answers for a
    list so far.
    """

    code: str
    wants: str
    items: list[Any] = []


class Executor:
    """Runs programs through the guarded `caller`, for one assistant (`contracts/programs.py`).

    `expect` is called with the time of what is put on the agenda outside of turns.
    """

    def __init__(
        self,
        skills: Sequence[Service],
        caller: Caller,
        store: Store,
        *,
        deadline: float,
        expect: Callable[[float], None] = lambda due: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._skills = skills
        self._caller = caller
        self._store = store
        self._seconds = deadline * SHARE
        self._expect = expect
        self._clock = clock

    # -- in a turn --------------------------------------------------------------------------

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Run a program, or go on with one. What is wrong with it is said, not raised."""
        person = of_turn(start.begun)
        try:
            if start.context is None:
                return await self._advance(reading.program_of(start.parsed), person)
            half = msgspec.convert(start.context, Half)
            return await self._go_on(half, (start.answer or {}).get("value"), person)
        except ProlocutorError as error:
            return ProgramRun(words=phrases.says(_refusal(reading.shown(start.parsed), error)))
        except Trouble as trouble:
            return ProgramRun(words=phrases.says(trouble.sentence))

    async def _go_on(self, half: Half, answer: Any, person: Person) -> ProgramRun:
        """Take an answer, then run the program or ask for the next thing."""
        program = _program(half.code)
        if half.wants == "yes":
            if answer is not True:
                return ProgramRun(words=phrases.says(phrases.CANNOT_HELP))
            return await self._advance(program, person, confirmed=True)
        place = asking.unknown_place(program, person)
        if half.wants == "place" and place is not None:
            value = asking.value_of(asking.slot_of(place).type, answer)
            if value is None:
                return self._ask(program, asking.slot_of(place), "place", again=True)
            return await self._advance(asking.put_for(program, place, value), person)
        slots = check(program, self._devices.manifests).slots
        if not slots:
            return await self._advance(program, person)
        return await self._filled(program, slots[0], half, answer, person)

    async def _filled(
        self, program: Program, slot: Slot, half: Half, answer: Any, person: Person
    ) -> ProgramRun:
        """Put an answer into a slot; a list is asked for element by element."""
        is_list = slot.type.name == "Array"
        if is_list and half.wants == "more":
            if answer is True:
                return self._ask(program, slot, "slot", items=half.items)
            values = [asking.value_of(slot.type, one) for one in half.items]
            known = tuple(value for value in values if value is not None)
            return await self._advance(fill(program, 0, Array(known)), person)
        value = asking.value_of(slot.type, answer)
        if value is None:
            return self._ask(program, slot, "slot", items=half.items, again=True)
        if is_list:
            more = Half(code=half.code, wants="more", items=[*half.items, answer])
            return _asked(asking.yes_or_no(asking.ANY_MORE), more, program)
        return await self._advance(fill(program, 0, value), person)

    async def _advance(
        self, program: Program, person: Person, *, confirmed: bool = False
    ) -> ProgramRun:
        """Ask for the first thing that a program lacks; run it if there is none."""
        checked = check(program, self._devices.manifests)
        if checked.slots:
            return self._ask(checked.program, checked.slots[0], "slot")
        place = asking.unknown_place(checked.program, person)
        if place is not None:
            return self._ask(checked.program, asking.slot_of(place), "place")
        if not confirmed and any(each.confirm and each.action for each in checked.statements):
            what = _described(checked, Surroundings(person))
            question = asking.yes_or_no(f"Okay, so you want me to {what}. Is that right?")
            half = Half(code=show(checked.program), wants="yes")
            return _asked(question, half, checked.program)
        return await self._run(checked, person)

    def _ask(
        self,
        program: Program,
        slot: Slot,
        wants: str,
        *,
        items: Sequence[Any] = (),
        again: bool = False,
    ) -> ProgramRun:
        hint = asking.hint_for(slot.type) if again else ""
        half = Half(code=show(program), wants=wants, items=list(items))
        return _asked(asking.for_slot(slot, hint), half, program)

    async def _run(self, checked: Checked, person: Person) -> ProgramRun:
        """Run the statements one after the other."""
        calls = self._calls(person)
        messages: list[dict[str, Any]] = []
        entries: list[Entry] = []
        running = len(await self._entries(person.user)) if checked.kind == "stream" else 0
        for number, statement in enumerate(checked.statements):
            doer = Doer(self._devices, calls, f"{person.run_id}-{number}")
            told, entry = await self._statement(statement, doer, person, number, running)
            messages += told
            if entry is not None:
                entries.append(entry)
                running += 1
        return ProgramRun(
            words=Words(messages=messages),
            entries=[*entries, *calls.entries],
            struck=calls.struck,
            human_attributes=calls.learned,
        )

    async def _statement(
        self,
        statement: CheckedStatement,
        doer: Doer,
        person: Person,
        number: int,
        running: int,
    ) -> tuple[list[dict[str, Any]], Entry | None]:
        """Do one statement, or start it if it goes on; give what is said and its entry."""
        if statement.stream is None:
            done = await doer.do(statement)
            app = self._app(statement, doer, person, number, {})
            return _announced(app, done), None
        if running >= MOST:
            raise Trouble(
                "", f"you have {MOST} programs running, which is the most; stop one at /apps"
            )
        app, done, due = await self._started(statement, doer, person, number, {})
        going_to = results.text(f"Okay, I'm going to {app.description}.")
        entry = None if due is None else entry_of(app, person.user, person.dialog_name, due)
        return [going_to, *_announced(app, done)], entry

    async def _started(
        self,
        statement: CheckedStatement,
        doer: Doer,
        person: Person,
        number: int,
        about: dict[str, str | None],
    ) -> tuple[App, Done, float | None]:
        """Start a stream: a monitor looks at once. Gives the program and when it is due next."""
        app = self._app(statement, doer, person, number, about)
        due = next_due(statement, doer.surroundings, person.at, person.at)
        done = Done()
        if monitor_of(statement) is not None:
            done = await doer.happened(statement, None)
            app = replace(app, seen=done.seen, error=next(iter(done.errors), None), runs=1)
        return app, done, due

    def _app(
        self,
        statement: CheckedStatement,
        doer: Doer,
        person: Person,
        number: int,
        about: dict[str, str | None],
    ) -> App:
        whole = Program(statements=(statement.statement,))
        return App(
            id=f"{person.run_id}-{number}",
            code=show_statement(asking.settled(whole, person).statements[0]),
            name=about.get("name") or doer.name_of(statement),
            description=about.get("description") or described(statement, doer.surroundings),
            icon=about.get("icon") or doer.icon_of(statement),
            created=person.at,
            timezone=person.timezone,
        )

    # -- between turns ----------------------------------------------------------------------

    async def due(self, entry: Entry) -> ProgramRun:
        """Do what an entry of the agenda is for that a program left there."""
        now = self._clock()
        try:
            app = app_of(entry)
            (statement,) = check(_program(app.code), self._devices.manifests).statements
            run_id = f"{app.id}-{app.runs}"
            person = unasked(entry.user, entry.dialog_name, run_id, now, app.timezone)
            doer = Doer(self._devices, self._calls(person), app.id)
            due = next_due(statement, doer.surroundings, app.created, now)
            done = await doer.happened(statement, app.seen)
        except (ProlocutorError, Trouble, msgspec.ValidationError, ValueError) as error:
            log.warning("the program %s of %s ends: %s", entry.key, entry.user, error)
            return ProgramRun(words=phrases.says(f"A program of yours is over: {error}."))
        failure = next(iter(done.errors), None)
        app_after = replace(app, seen=done.seen, error=failure, runs=app.runs + 1)
        messages = _notified(app, done)
        if due is None:
            return ProgramRun(words=Words(messages=messages))
        again = entry_of(app_after, entry.user, entry.dialog_name, due)
        return ProgramRun(words=Words(messages=messages), entries=[again])

    async def apps(self, user: str) -> list[dict[str, Any]]:
        """Give the running programs of a person, as Almond's clients list them."""
        return [listed(app_of(entry)) for entry in await self._entries(user)]

    async def delete(self, user: str, unique_id: str) -> bool:
        """Stop a program for good; False if there is none of this id."""
        return await self._store.strike(user, PROGRAMS, unique_id)

    async def create(self, user: str, code: str, about: dict[str, str | None]) -> dict[str, Any]:
        """Run a program of one statement that lacks nothing, or start it if it goes on.

        `about` has its `name`, `description` and `icon`. Gives `{uniqueId, description, code, icon,
        results, errors}`; an action is not asked to be confirmed.
        """
        person = unasked(user, "main", new_id(), self._clock(), None, text=code)
        try:
            statement = self._only_statement(code, person)
            doer = Doer(self._devices, self._calls(person), f"{person.run_id}-0")
            if statement.stream is None:
                done = await doer.do(statement)
                app = self._app(statement, doer, person, 0, about)
            else:
                if len(await self._entries(user)) >= MOST:
                    raise BadInput(f"{MOST} programs are running; stop one first", field="code")
                app, done, due = await self._started(statement, doer, person, 0, about)
                if due is not None:
                    await self._store.schedule(entry_of(app, user, "main", due))
                    self._expect(due)
        except (ProlocutorError, Trouble) as error:
            return _created("", about.get("description") or "", code, about, [], [str(error)])
        return _created(app.id, app.description, app.code, about, [_result(done, app)], done.errors)

    def _only_statement(self, code: str, person: Person) -> CheckedStatement:
        checked = check(_program(code), self._devices.manifests)
        place = asking.unknown_place(checked.program, person)
        slots = [*checked.slots, *([asking.slot_of(place)] if place else [])]
        if slots:
            names = ", ".join(slot.name for slot in slots)
            raise BadInput(f"values are missing, which only a conversation asks for: {names}")
        if len(checked.statements) != 1:
            raise BadInput("one statement at a time can be created", field="code")
        return checked.statements[0]

    # -- both -------------------------------------------------------------------------------

    @cached_property
    def _devices(self) -> Devices:
        return Devices(self._skills)

    def _calls(self, person: Person) -> Calls:
        return Calls(self._devices, self._caller, self._store, person, self._seconds)

    async def _entries(self, user: str) -> list[Entry]:
        return await self._store.entries(user, PROGRAMS)


def _refusal(source: str, error: ProlocutorError) -> str:
    what = f"“{source}”" if source else "it"
    return f"Sorry, I cannot run {what}: {error}."


def _program(code: str) -> Program:
    tree = parse(code)
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput(NOT_UNDERSTOOD, field="code")
    return tree


def _asked(words: Words, half: Half, program: Program) -> ProgramRun:
    code, entities = show_tokens(program)
    context = msgspec.to_builtins(half)
    return ProgramRun(words=words, context=context, code=code, entities=entities)


def _described(checked: Checked, surroundings: Surroundings) -> str:
    return " and ".join(described(each, surroundings) for each in checked.statements)


def _announced(app: App, done: Done) -> list[dict[str, Any]]:
    """Give the message that tells of an executed statement, then what it says."""
    program = {
        "type": "new-program",
        "uniqueId": app.id,
        "name": app.name,
        "code": app.code,
        "results": results.objects(done.rows),
        "errors": done.errors,
        "icon": app.icon,
    }
    return [program, *_with_icon(done.messages, app), *map(results.text, done.errors)]


def _notified(app: App, done: Done) -> list[dict[str, Any]]:
    """Give what is said unasked; an error once, until the program has run well again."""
    messages = _with_icon(done.messages, app)
    texts = [one for one in messages if one["type"] == "text"]
    if messages and len(texts) == len(messages) == 1:
        messages = [{**messages[0], "text": f"Notification from {app.name}: {texts[0]['text']}"}]
    elif messages:
        messages = [results.text(f"Notification from {app.name}"), *messages]
    new = [error for error in done.errors if app.error is None]
    return [*messages, *map(results.text, new)]


def _with_icon(messages: list[dict[str, Any]], app: App) -> list[dict[str, Any]]:
    return [{"icon": app.icon, **one} for one in messages]


def _result(done: Done, app: App) -> dict[str, Any]:
    kind = done.rows[0].call if done.rows else None
    name = f"{kind.owner.name}:{kind.function.name}" if kind is not None else None
    return {
        "raw": results.objects(done.rows),
        "type": name,
        "formatted": _with_icon(done.messages, app),
    }


def _created(
    id_: str,
    description: str,
    code: str,
    about: dict[str, str | None],
    found: list[dict[str, Any]],
    errors: list[str],
) -> dict[str, Any]:
    return {
        "uniqueId": id_,
        "description": description,
        "code": code,
        "icon": about.get("icon"),
        "results": found,
        "errors": errors,
    }
