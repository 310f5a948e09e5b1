"""Executor: runs programs, asks for their missing values, and starts streams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.rounds import own_words
from prolocutor.contracts.connector import Caller
from prolocutor.contracts.programs import (
    CreatedProgram,
    ProgramInfo,
    ProgramRun,
    ProgramSource,
    ProgramStart,
    RunningProgram,
)
from prolocutor.contracts.shared_store import store_clock
from prolocutor.contracts.store import AgendaEntry, Store
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import DirectReply
from prolocutor.errors import BadInput, Forbidden, ProlocutorError
from prolocutor.plan.pipeline import Skill
from prolocutor.plugins.almond.programs import result_messages, running_apps
from prolocutor.plugins.almond.programs.calling import ProgramCalls
from prolocutor.plugins.almond.programs.configured_devices import ConfiguredDevices, OpenChoice
from prolocutor.plugins.almond.programs.describing import describe
from prolocutor.plugins.almond.programs.device_classes import KIND, DeviceClasses
from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.filling import (
    MUST_LOG_IN,
    SlotFilling,
    acts,
    personal_slot,
    put_constants,
    unknown_personal_value,
)
from prolocutor.plugins.almond.programs.program_user import ProgramUser, idle_user, turn_user
from prolocutor.plugins.almond.programs.program_wishes import (
    find_program_wish,
    fulfil,
    read_stop_choice,
    stop_chosen,
)
from prolocutor.plugins.almond.programs.running_apps import (
    MAX_PROGRAMS,
    PROGRAMS,
    AppState,
    describe_app,
    make_entry,
    program_id,
    read_app,
)
from prolocutor.plugins.almond.programs.sources import parse_program, quote_source, read_program
from prolocutor.plugins.almond.programs.statements import StatementOutcome, StatementRunner
from prolocutor.plugins.almond.programs.streams import find_monitor, next_due
from prolocutor.plugins.almond.thingtalk.checked import Checked, CheckedStatement
from prolocutor.plugins.almond.thingtalk.checking import check
from prolocutor.plugins.almond.thingtalk.parsing import warm_grammars
from prolocutor.plugins.almond.thingtalk.printing import show_statement
from prolocutor.plugins.almond.thingtalk.tree import Program

log = logging.getLogger(__name__)

DEADLINE_SHARE: Final = 0.8
"""The share of a turn's deadline for its program."""

LARGE_CHARACTERS: Final = 1_000
"""The length in characters from which a program is read in a thread (8 KB take up to 0.5 s, this
length 20 ms).
"""

T = TypeVar("T")


class Executor:
    """Runs programs through the guarded `caller`, for an assistant (`contracts/programs.py`)."""

    def __init__(
        self,
        skills: Sequence[Skill],
        caller: Caller,
        store: Store,
        *,
        deadline: float,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._skills = skills
        self._caller = caller
        self._store = store
        self._seconds = deadline * DEADLINE_SHARE
        self._clock = clock or store_clock(store)

    async def warm(self) -> None:
        """Make the grammars and read the manifests, in a thread."""
        with suppress(ProlocutorError):
            await asyncio.to_thread(warm_grammars)
            await self._load_manifests()

    # -- in a turn --------------------------------------------------------------------------

    find_wish = staticmethod(find_program_wish)

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Run or continue a program. Its errors are said, not raised."""
        person, read = turn_user(start.opened), start.context is not None
        if start.wish is not None:
            return fulfil(start.wish, await self.apps(person.user))
        if (choice := read_stop_choice(start.context)) is not None:
            return stop_chosen(choice, start.answer, await self.apps(person.user))
        try:
            await self._load_manifests()
            devices = await self._load_devices(person.user)
            filling = SlotFilling(person, self._devices.manifests, devices)
            if start.context is None:
                source = start.source or ProgramSource()
                person.size = program_size(source)
                program = await run_bounded(person.size, partial(read_program, source))
                read = True
                ready = await run_bounded(person.size, partial(filling.begin, program))
            else:
                person.size = len(str(start.context))
                go_on = partial(filling.go_on, start.context, start.answer)
                ready = await run_bounded(person.size, go_on)
            run = await self._run(ready, person) if isinstance(ready, Checked) else ready
            return replace(run, human_attributes={**filling.learned, **run.human_attributes})
        except Forbidden as error:
            return ProgramRun(words=DirectReply(messages=log_in_messages(error)))
        except ProlocutorError as error:
            words = own_words.says(refusal(quote_source(start.source), error))
            return ProgramRun(words=words, refused=not read)

    async def _run(self, checked: Checked, person: ProgramUser) -> ProgramRun:
        """Run the statements in order; a failed statement does not stop the others."""
        calls = self._calls(person)
        more: str | None = None
        messages: list[dict[str, Any]] = []
        entries: list[AgendaEntry] = []
        running = len(await self._entries(person.user)) if checked.kind == "stream" else 0
        for number, statement in enumerate(checked.statements):
            runner = StatementRunner(self._devices, calls, program_id(person.run_id, number))
            try:
                said, entry, more = await self._statement(
                    statement, runner, person, number, running
                )
            except ProgramFailure as failure:
                said, entry, more = [result_messages.text(failure.sentence)], None, None
            messages += said
            if entry is not None:
                entries.append(entry)
                running += 1
        return ProgramRun(
            words=DirectReply(messages=messages),
            entries=[*entries, *calls.entries],
            struck=calls.struck,
            human_attributes=calls.learned,
            more=more,
        )

    async def _statement(
        self,
        statement: CheckedStatement,
        runner: StatementRunner,
        person: ProgramUser,
        number: int,
        running: int,
    ) -> tuple[list[dict[str, Any]], AgendaEntry | None, str | None]:
        """Run a statement, or start it if it is a stream.

        Return its messages, its entry, and the program for further results.
        """
        if statement.stream is None:
            done = await runner.run(statement)
            app = await self._app(statement, runner, person, number, ProgramInfo())
            return running_apps.announcement(app, done), None, done.more
        if running >= MAX_PROGRAMS:
            raise ProgramFailure(
                "",
                f"you have {MAX_PROGRAMS} programs running, which is the most; stop one at /apps",
            )
        app, done, due = await self._start(statement, runner, person, number, ProgramInfo())
        going_to = result_messages.text(f"Okay, I'm going to {app.description}.")
        entry = make_entry(app, person.user, person.dialog_name, due)
        return [going_to, *running_apps.announcement(app, done)], entry, None

    async def _start(
        self,
        statement: CheckedStatement,
        runner: StatementRunner,
        person: ProgramUser,
        number: int,
        info: ProgramInfo,
    ) -> tuple[AppState, StatementOutcome, float]:
        """Start a stream (a monitor polls at once); return its state, outcome and next time."""
        app = await self._app(statement, runner, person, number, info)
        (settled,) = (await self._check(app.code)).statements
        due = next_due(settled, runner.resolver, person.at)
        if due is None:
            raise ProgramFailure("", "the program would never run")
        done = StatementOutcome()
        if find_monitor(statement) is not None:
            done = await runner.run_stream(statement, None)
            app = replace(
                app, seen=done.seen, held=done.held, error=next(iter(done.errors), None), runs=1
            )
        return app, done, due

    async def _app(
        self,
        statement: CheckedStatement,
        runner: StatementRunner,
        person: ProgramUser,
        number: int,
        info: ProgramInfo,
    ) -> AppState:
        whole = Program(statements=(statement.statement,))
        return AppState(
            id=program_id(person.run_id, number),
            code=await run_bounded(person.size, partial(_code, whole, person)),
            name=info.name or runner.program_name(statement),
            description=info.description or describe(statement, runner.resolver),
            icon=info.icon or runner.program_icon(statement),
            created=person.at,
            timezone=person.timezone,
        )

    # -- between turns ----------------------------------------------------------------------

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        """Run the program of a due agenda entry."""
        now = self._clock()
        await self._load_manifests()
        try:
            app = read_app(entry)
            (statement,) = (await self._check(app.code)).statements
            run_id = f"{app.id}-{app.runs}"
            person = idle_user(entry.user, entry.dialog_name, run_id, now, app.timezone)
            calls = self._calls(person)
            runner = StatementRunner(self._devices, calls, app.id)
            due = next_due(statement, runner.resolver, now)
            done = await runner.run_stream(statement, app.seen, held=app.held)
        except (ProlocutorError, ProgramFailure, msgspec.ValidationError, ValueError) as error:
            log.warning("the program %s of %s ends: %s", entry.key, entry.user, error)
            return ProgramRun(words=own_words.says(f"A program of yours is over: {error}."))
        last_error = next(iter(done.errors), None)
        if find_monitor(statement) is None:
            done = running_apps.quiet(app, done)
        app_after = replace(
            app,
            seen=done.seen,
            held=done.held,
            error=last_error,
            runs=app.runs + 1,
            told=app.told or done.acted,
        )
        messages = running_apps.notify(app, done)
        again = [] if due is None else [make_entry(app_after, entry.user, entry.dialog_name, due)]
        return ProgramRun(
            words=DirectReply(messages=messages),
            entries=[*again, *calls.entries],
            struck=calls.struck,
        )

    async def apps(self, user: str) -> list[RunningProgram]:
        """Return the running programs of a person, in the order in which they were started."""
        apps = map(read_app, await self._entries(user))
        return [describe_app(app) for app in sorted(apps, key=lambda app: app.created)]

    async def delete(self, user: str, program_id: str) -> bool:
        """Stop a program for good; False if its id is unknown."""
        return await self._store.strike(user, PROGRAMS, program_id)

    async def create(self, user: str, code: str, info: ProgramInfo) -> CreatedProgram:
        """Run a complete program, or start it if it is a single stream.

        Actions run without confirmation. Call it between the turns of the person.
        """
        person = idle_user(user, "main", new_id(), self._clock(), None, text=code)
        person.size = len(code)
        made: list[tuple[AppState, StatementOutcome]] = []
        try:
            await self._load_manifests()
            calls = self._calls(person)
            devices = await self._load_devices(user)
            whole = await run_bounded(len(code), partial(self._whole, code, person, devices))
            for number, statement in enumerate(whole.statements):
                runner = StatementRunner(self._devices, calls, program_id(person.run_id, number))
                if statement.stream is None:
                    done = await runner.run(statement)
                    app = await self._app(statement, runner, person, number, info)
                else:
                    if len(await self._entries(user)) >= MAX_PROGRAMS:
                        raise BadInput(
                            f"{MAX_PROGRAMS} programs are running; stop one first", field="code"
                        )
                    app, done, due = await self._start(statement, runner, person, number, info)
                    if not done.errors:
                        calls.entries.append(make_entry(app, user, "main", due))
                made.append((app, done))
            await self._apply(user, calls)
        except (ProlocutorError, ProgramFailure) as error:
            return running_apps.refusal_result(code, info, error)
        return running_apps.creation_result(made, calls.entries)

    async def _apply(self, user: str, calls: ProgramCalls) -> None:
        """Apply a program's changes to the agenda outside of a turn."""
        for skill, key in calls.struck:
            await self._store.strike(user, skill, key)
        for entry in calls.entries:
            await self._store.schedule(entry)

    def _whole(self, code: str, person: ProgramUser, devices: ConfiguredDevices) -> Checked:
        """Read a program; `BadInput` if it lacks a value or has a stream beside statements."""
        checked = check(parse_program(code), self._devices.manifests)
        if person.is_anonymous and acts(checked):
            raise Forbidden(MUST_LOG_IN)
        settled = devices.settle_devices(checked.program)
        if isinstance(settled, OpenChoice):
            names = ", ".join(device.id for device in settled.devices)
            raise BadInput(f"there are several devices, choose one by its id: {names}")
        checked = check(settled, self._devices.manifests)
        personal = unknown_personal_value(checked.program, person)
        slots = [*checked.slots, *([personal_slot(personal)] if personal else [])]
        if slots:
            names = ", ".join(slot.name for slot in slots)
            raise BadInput(f"values are missing, which only a conversation asks for: {names}")
        if checked.kind == "stream" and len(checked.statements) != 1:
            raise BadInput("what goes on has to be created alone", field="code")
        return checked

    # -- both -------------------------------------------------------------------------------

    @cached_property
    def _devices(self) -> DeviceClasses:
        return DeviceClasses(self._skills, alone=False)

    async def _load_manifests(self) -> None:
        """Read the manifests once, in a thread: that takes too long for the event loop."""
        if "_devices" not in self.__dict__:
            await asyncio.to_thread(getattr, self, "_devices")

    def _calls(self, person: ProgramUser) -> ProgramCalls:
        return ProgramCalls(self._devices, self._caller, self._store, person, self._seconds)

    async def _check(self, code: str) -> Checked:
        return await run_bounded(
            len(code), lambda: check(parse_program(code), self._devices.manifests)
        )

    async def _load_devices(self, user: str) -> ConfiguredDevices:
        return ConfiguredDevices(await self._store.records(user, KIND))

    async def _entries(self, user: str) -> list[AgendaEntry]:
        return await self._store.entries(user, PROGRAMS)


def _code(program: Program, person: ProgramUser) -> str:
    return show_statement(put_constants(program, person).statements[0])


async def run_bounded(size: int, work: Callable[[], T]) -> T:
    """Do work on a program of `size` characters, in a thread if it may take long."""
    return await asyncio.to_thread(work) if size > LARGE_CHARACTERS else work()


def program_size(source: ProgramSource) -> int:
    """Return the number of characters of a program, with its entities."""
    text = len(source.text or "") + sum(len(token) + 1 for token in source.code)
    return text + len(str(source.entities))


def log_in_messages(error: Forbidden) -> list[dict[str, Any]]:
    """Return the messages that lead an anonymous person to the registration page."""
    link = {"type": "link", "title": "Register", "url": "/user/register"}
    return [result_messages.text(str(error)), link]


def refusal(source: str, error: ProlocutorError) -> str:
    """Return the sentence with the reason why a program is not run."""
    what = f"“{source}”" if source else "it"
    why = str(error).rstrip(".")
    return f"Sorry, I cannot run {what}: {why}{'' if why.endswith('?') else '.'}"
