"""Running programs: as entries of the agenda, and the messages about their runs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.contracts.programs import (
    CreatedProgram,
    ProgramInfo,
    RunningProgram,
    StatementResult,
)
from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import schedules
from prolocutor.dialog.schedules import NOTIFICATION, Notice
from prolocutor.plugins.almond.programs import result_messages
from prolocutor.plugins.almond.programs.statements import ShownResult, StatementOutcome

PROGRAMS: Final = "@program"
"""The skill name of agenda entries of running programs; no real skill has it."""

MAX_PROGRAMS: Final = 50
"""The number of programs that one person may run at the same time."""


Message = dict[str, Any]


class AppState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a running program, stored in its agenda entry; `code` is one statement.

    - `created` is its start (UNIX seconds), `timezone` the person's.
    - `seen` are digests of its monitor's last results; None before the first run.
    - `held`: the condition of its edge held for the last result.
    - `error` is the reason of its last failure, `runs` the number of its runs.
    - `told`: the person has been told of its action.
    """

    id: str
    code: str
    name: str
    description: str
    created: float
    icon: str | None = None
    timezone: str | None = None
    seen: list[str] | None = None
    held: bool = False
    error: str | None = None
    runs: int = 0
    told: bool = False


def program_id(run_id: str, number: int) -> str:
    """Return the program id of a run's statement, equal in a second run."""
    return f"uuid-{uuid.uuid5(uuid.NAMESPACE_OID, f'{run_id}-{number}')}"


def make_entry(app: AppState, user: str, dialog_name: str, due: float) -> AgendaEntry:
    """Return the agenda entry for a program's next run."""
    return AgendaEntry(
        user=user,
        dialog_name=dialog_name,
        skill=PROGRAMS,
        key=app.id,
        due=due,
        body=schedules.encode(Notice(program=msgspec.to_builtins(app))),
    )


def read_app(entry: AgendaEntry) -> AppState:
    """Read the state of a program from its entry; raise `msgspec.ValidationError` if missing."""
    return msgspec.convert(schedules.decode(entry.body).program, AppState)


def describe_app(app: AppState) -> RunningProgram:
    """Return the public description of a running program."""
    return RunningProgram(
        id=app.id,
        name=app.name,
        description=app.description,
        code=app.code,
        icon=app.icon,
        error=app.error,
    )


def announcement(app: AppState, done: StatementOutcome) -> list[Message]:
    """Return the message that announces an executed statement, then its own messages."""
    program = {
        "type": "new-program",
        "uniqueId": app.id,
        "name": app.name,
        "code": app.code,
        "results": result_messages.objects(done.rows),
        "errors": done.errors,
        "icon": app.icon,
    }
    return [program, *add_icon(done.messages, app), *map(result_messages.text, done.errors)]


def notify(app: AppState, done: StatementOutcome) -> list[Message]:
    """Return the messages of a run between turns; a repeated error only once, until a run succeeds.

    The first message of each result carries the data for `/api/results`.
    """
    messages = add_icon(_mark_messages(done, app), app)
    title = f"Notification from {app.name}"
    if len(messages) == 1 and messages[0]["type"] == "text":
        text = messages[0]["text"]
        messages = [{**messages[0], "text": f"{title}: {text}"}]
        if NOTIFICATION in messages[0]:
            messages[0][NOTIFICATION]["text"] = text
    elif messages:
        messages = [{**result_messages.text(title), "icon": app.icon}, *messages]
    new = [error for error in done.errors if app.error is None]
    return [*messages, *(_error_message(app, error) for error in new)]


def quiet(app: AppState, done: StatementOutcome) -> StatementOutcome:
    """Return the outcome of a timer without "Done."; its action is announced the first time
    only.
    """
    if not done.acted:
        return done
    messages = [message for message in done.messages if message.get("text") != result_messages.DONE]
    if not app.told:
        done_now = f"Done: {app.description}. From now on I say so only if it fails."
        messages.append(result_messages.text(done_now))
    return replace(done, messages=messages)


def _mark_messages(done: StatementOutcome, app: AppState) -> list[Message]:
    """Return the messages of an outcome, with each result's data in its first message."""
    firsts = {id(one.messages[0]): one for one in done.shown if one.messages}
    return [
        {**message, NOTIFICATION: {"appId": app.id, **_found(firsts[id(message)])}}
        if id(message) in firsts
        else message
        for message in done.messages
    ]


def add_icon(messages: list[Message], app: AppState) -> list[Message]:
    """Add the icon of a program to messages without an icon."""
    return [{"icon": app.icon, **message} for message in messages]


def creation_result(
    made: Sequence[tuple[AppState, StatementOutcome]], entries: Sequence[AgendaEntry]
) -> CreatedProgram:
    """Return the outcome of the statements of a new program."""
    first, _ = made[0]
    return CreatedProgram(
        id=first.id,
        description=" and ".join(dict.fromkeys(app.description for app, _ in made)),
        code=" ".join(app.code for app, _ in made),
        icon=first.icon,
        results=[_result(app, one) for app, done in made for one in done.shown],
        errors=[error for _, done in made for error in done.errors],
        entries=entries,
    )


def refusal_result(code: str, info: ProgramInfo, error: Exception) -> CreatedProgram:
    """Return the outcome of a program that does not run, with the reason."""
    return CreatedProgram(
        id="", description=info.description or "", code=code, icon=info.icon, errors=[str(error)]
    )


def _found(result: ShownResult) -> dict[str, Any]:
    return {"raw": result_messages.result_object(result.row), "type": _function_name(result)}


def _function_name(result: ShownResult) -> str | None:
    call = result.row.call
    return f"{call.owner.name}:{call.function.name}" if call is not None else None


def _error_message(app: AppState, error: str) -> Message:
    notification = {"appId": app.id, "error": error}
    return {**result_messages.text(error), "icon": app.icon, NOTIFICATION: notification}


def _result(app: AppState, result: ShownResult) -> StatementResult:
    return StatementResult(
        raw=result_messages.result_object(result.row),
        type=_function_name(result),
        formatted=add_icon(result.messages, app),
    )
